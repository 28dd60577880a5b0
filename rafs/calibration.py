"""Numbers that come from data: how much each verifier's word is worth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LOGIT_LIMIT = 6.0
"""Probabilities are read no closer to 0 or 1 than sigmoid(-+6): no single member is certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerRates:
    """How often a step is right, given what the symbolic checker says of it; measured on labelled traces."""

    proven: float
    """All claims hold and every operand is grounded."""
    ungrounded: float
    """All claims hold, but an operand comes from nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A versioned set of measured numbers."""

    id: str
    """`default`, or the hash of an artefact."""
    data: str
    """Where the numbers were measured."""
    prior: float
    """Share of right steps among those labelled."""
    checker: CheckerRates
    member_weights: Mapping[str, float]
    """Weight of each kind of member (`symbolic`, `judge`, `prm`) in the combination; 0 is deaf, 1 takes it at its word."""


def logit(p: float) -> float:
    """log(p / (1 - p)), clipped to [-LOGIT_LIMIT, LOGIT_LIMIT]."""
    if p <= 0:
        return -LOGIT_LIMIT
    if p >= 1:
        return LOGIT_LIMIT
    return max(-LOGIT_LIMIT, min(LOGIT_LIMIT, math.log(p / (1 - p))))


def combine(opinions: Sequence[tuple[str, float]], calibration: Calibration) -> float:
    """Pool opinions on one step in log-odds.

    logit q = logit(prior) + sum_i w_i * (logit(p_i) - logit(prior)): each member moves the prior by the evidence it
    adds beyond it, and a member that did not answer moves nothing.

    Args:
        opinions: (kind, P(step correct)) of each member that answered; at least one.
        calibration: Prior and weights.

    Returns:
        q_t in (0, 1).

    Source:
        Logarithmic opinion pool, Genest and Zidek 1986, "Combining Probability Distributions"; the prior shift is ours.
    """
    base = logit(calibration.prior)
    shift = sum(calibration.member_weights[kind] * (logit(p) - base) for kind, p in opinions)
    return 1 / (1 + math.exp(-(base + shift)))


DEFAULT_CALIBRATION = Calibration(
    id="default",
    data="not yet measured",
    prior=0.85,
    checker=CheckerRates(proven=0.95, ungrounded=0.5),
    member_weights={"symbolic": 1.0, "judge": 0.1},
)
