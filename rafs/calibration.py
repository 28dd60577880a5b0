"""Numbers that come from data: how much each verifier's word is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rafs.log_odds import logit, sigmoid
from rafs.outcome_model import OutcomeModel
from rafs.types import kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerRates:
    """How often a step is right, given what the symbolic checker says of it; measured on labelled traces."""

    proven: float
    """All claims hold and every operand has a source."""
    ungrounded: float
    """All claims hold, but a bare number comes from nowhere: often a factor or a term that the reasoning found."""
    invented: float
    """The same for a quantity of the problem's world (money, counted things): often a fee that nobody charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Platt scaling of a verifier: logit p' = intercept + slope * logit p; with slope 0 its word counts for nothing."""

    intercept: float
    slope: float


AS_GIVEN = Scale(intercept=0.0, slope=1.0)
"""Taken at its word: a model that nobody has measured yet."""
AT_CHANCE = Scale(intercept=0.0, slope=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A versioned set of measured numbers."""

    id: str
    """`default`, or the hash of an artefact."""
    data: str
    """Where the numbers were measured."""
    prior: float
    """P(right) of a step on which nobody's word counts: what every member moves."""
    checker: CheckerRates
    scales: Mapping[str, Scale]
    """How the word of a verifier is to be taken, by its name in the ledger; `AS_GIVEN` for those not named."""
    outcomes: OutcomeModel | None = None
    """None where the outcomes of traces were not fitted."""

    def scale_of(self, member: str) -> Scale:
        """Return the scale of a member."""
        return self.scales.get(member, AS_GIVEN)

    def hears_on_answer(self, member: str) -> bool:
        """Whether the member was measured on whether an answer follows, and its word counts: no default stands in."""
        return member in self.scales and self.hears(member)

    def scaled(self, member: str, p: float) -> float:
        """Return the member's calibrated probability, sigmoid(a + b logit p)."""
        return sigmoid(_scaled(member, p, self))

    def hears(self, member: str) -> bool:
        """Whether the member's word counts; if not, a step that it alone judged is not measured."""
        return self.scale_of(member).slope != 0


def combine(opinions: Sequence[tuple[str, float]], calibration: Calibration) -> float:
    """Pool opinions on one step in log-odds.

    logit q = logit(prior) + sum_k mean_{i in k} (a_i + b_i * logit(p_i) - logit(prior)), over the kinds k of members
    (`symbolic`, `prm`, `judge`), with the scale (a_i, b_i) of the member: each kind moves the prior by the evidence it
    adds, and one that did not answer moves nothing. Within a kind the mean is taken: several judges read the same text
    and are asked the same question, so that they err together; a sum would count what they share once for each.

    Args:
        opinions: (name in the ledger, P(step correct)) of each member that is heard; at least one.
        calibration: Prior and scales.

    Returns:
        q_t in (0, 1).

    Source:
        Logarithmic opinion pool, Genest and Zidek 1986, "Combining Probability Distributions"; Platt 1999 for the
        scales. The mean within a kind is ours.
    """
    base = logit(calibration.prior)
    shifts: dict[str, list[float]] = {}
    for member, p in opinions:
        shifts.setdefault(kind_of(member), []).append(_scaled(member, p, calibration) - base)
    return sigmoid(base + sum(sum(kind) / len(kind) for kind in shifts.values()))


def spread(opinions: Sequence[tuple[str, float]], calibration: Calibration) -> float | None:
    """Largest minus smallest calibrated probability, sigmoid(a_i + b_i * logit(p_i)), of the members on one step.

    Returns:
        A number in [0, 1): 0 where all say the same. None for fewer than two members.
    """
    said = [sigmoid(_scaled(member, p, calibration)) for member, p in opinions]
    return max(said) - min(said) if len(said) > 1 else None


def _scaled(member: str, p: float, calibration: Calibration) -> float:
    scale = calibration.scale_of(member)
    return scale.intercept + scale.slope * logit(p)


DEFAULT_CALIBRATION = Calibration(
    id="default",
    data="1617 traces of ProcessBench, 7994 labelled steps; `invented` on 24 steps of ProcessBench, MR-GSM8K, MR-Ben "
    "and StepVerify; by benchmarks/measure_defaults.py",
    prior=0.888,
    checker=CheckerRates(proven=0.903, ungrounded=0.846, invented=0.375),
    # Measured on 760 steps of 150 traces: AUROC 0.47. A coin does as well, so it is asked, shown and not counted.
    scales={"judge:smollm2-135m-instruct": AT_CHANCE},
)
