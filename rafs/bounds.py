"""Between which scores a trace still lies, while its evidence grows."""

from rafs.aggregation import aggregate
from rafs.conclusion import measure_components
from rafs.outcomes import Component, ComponentName, Measured, Unmeasured
from rafs.padding import carrying_steps
from rafs.policy import Policy, Preset
from rafs.result import Evidence
from rafs.types import Judged, Verdict
from rafs.usage import Stage
from rafs.validity import step_validity

STAGE_OF = {
    ComponentName.VALIDITY: Stage.VERIFY,
    ComponentName.SUPPORT: Stage.INTERVENE,
    ComponentName.CONSENSUS: Stage.AGREE,
    ComponentName.STABILITY: Stage.AGREE,
}
"""The stage at whose end a component is what it will be."""


def score_bounds(evidence: Evidence, policy: Policy) -> tuple[float, float]:
    """Return the lowest and the highest score that can still come of the evidence.

    The score with every component that is not settled at 0, and at 1; of P, what a checker refuted is settled before
    the rest. A component that ends unmeasured leaves the score between the two as well, since a weighted geometric
    mean without a part lies between those with that part at 0 and at 1. So the bounds only narrow as stages end, and
    at the end they are the score.

    Args:
        evidence: As far as it goes.
        policy: The operator's constants.

    Returns:
        Two numbers in [0, 100]; 0 and 100 where nothing is known.
    """
    low, high = _ends(evidence, policy)
    ends = (aggregate(parts, policy.weights, policy.epsilon) for parts in (low, high))
    lowest, highest = (None if end is None else end.score for end in ends)
    return (0.0, 100.0) if lowest is None or highest is None else (lowest, highest)


def is_out_of_reach(evidence: Evidence, policy: Policy, preset: Preset) -> bool:
    """Whether the score of an accepted trace would be below the smallest accepted one, whatever is still to come.

    It is the highest score that can still come, with S at most e^alpha, its value where every edit moves the answer,
    unless an Accept does without S. False where no step was judged: then there is nothing to conclude from.

    Args:
        evidence: As the checkers or, behind them, the models left it.
        policy: The operator's constants.
        preset: What the decision needs.
    """
    validity, (_, high) = measure_components(evidence, policy)[ComponentName.VALIDITY], _ends(evidence, policy)
    if policy.tau_accept is None or isinstance(validity, Unmeasured):
        return False
    is_needed = ComponentName.SUPPORT not in preset.accept_without
    if is_needed and Stage.INTERVENE in evidence.cut_off and not isinstance(evidence.entailment, Unmeasured):
        high[ComponentName.SUPPORT] = Measured(value=evidence.entailment.p**policy.alpha, coverage=1.0)
    score = aggregate(high, policy.weights, policy.epsilon)
    return score is not None and score.score < policy.tau_accept


def _ends(evidence: Evidence, policy: Policy) -> tuple[dict[ComponentName, Component], dict[ComponentName, Component]]:
    """Return the components where all that is open turns out for the worst, and for the best."""
    known = measure_components(evidence, policy)
    low: dict[ComponentName, Component] = {}
    high: dict[ComponentName, Component] = {}
    for name, part in known.items():
        is_open = STAGE_OF[name] in evidence.cut_off
        low[name] = Measured(value=0.0, coverage=1.0) if is_open else part
        high[name] = Measured(value=1.0, coverage=1.0) if is_open else part
    if Stage.VERIFY in evidence.cut_off and isinstance(known[ComponentName.VALIDITY], Measured):
        best = [_at_best(verdict) for verdict in evidence.verdicts.combined]
        high[ComponentName.VALIDITY] = step_validity(best, carrying_steps(evidence.reading), policy.mean_weight)
    return low, high


def _at_best(verdict: Verdict) -> Verdict:
    """Return a verdict that no model can raise: a refuted step stays, all others may turn out right."""
    return verdict if isinstance(verdict, Judged) and verdict.refuted else Judged(p_correct=1.0)
