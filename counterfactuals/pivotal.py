"""Which steps to edit: those the answer depends on, the influential and the doubtful ones first."""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, takewhile

from counterfactuals.numerals import read_result
from counterfactuals.targets import answer_of, leading_claims, replayed_answer
from rafs.interventions import Pivot, PivotReason, Target
from rafs.types import Reading, StepKind

MAX_WEIGHED = 24
"""Claims whose influence is measured; a replay for every one of a long trace would be quadratic (ours)."""
MAX_INFLUENCE = 10**15
"""A larger one is no fact about the trace: exact powers reach numbers that no float holds."""
_UNKNOWN_SHARE = {PivotReason.DERIVES: 1 / 2, PivotReason.LEADS: 1 / 2, PivotReason.TEXT: 1 / 3}
"""Share |e| / (1 + |e|) of an influence that is not known: of a claim that moves the answer, a zero having no relative
change, as of an elasticity of 1; of words, as of half the influence that they may have (ours)."""


def rank_pivots(
    reading: Reading,
    target: Target | None,
    q_by_step: Mapping[int, float],
    seed: int,
    is_over: Callable[[], bool] = lambda: False,
) -> Sequence[Pivot]:
    """Rank the claims worth editing, each with the reasons; no step comes twice before every step has come once.

    They are the claims that the answer is computed from, as far as their results are plain numbers. Where the answer
    is no result of the graph, all are ranked: they show that the steps are decoration. The weight is

        w = (1 - q_t) * |e| / (1 + |e|)

    with the influence e of `Pivot.influence`; where doubts are equal, or there is none, influence alone decides.

    Args:
        reading: The trace and its quantity graph.
        target: What the answer is in the graph; None where it is no result of it.
        q_by_step: Combined q_t by step index; a step without a verdict is as doubtful as any.
        seed: Breaks ties, and draws those that are weighed where they are too many: of equal doubt, at random.
        is_over: Asked before each claim is weighed; once it says so, those that were weighed by then are ranked.
    """
    claims, steps = reading.graph.claims, reading.trace.steps
    pool = sorted(range(len(claims)) if target is None else leading_claims(reading.graph, target), reverse=True)
    random.Random(seed).shuffle(pool)
    pool.sort(key=lambda claim: q_by_step.get(claims[claim].step, 0.0))
    editable = (i for i in pool if read_result(claims[i], steps[claims[i].step].blind_text) is not None)
    in_time = takewhile(lambda _: not is_over(), islice(editable, MAX_WEIGHED))
    pivots = sorted((_weighed(reading, i, target, q_by_step) for i in in_time), key=by_weight)
    firsts = {pivot.step: pivot for pivot in reversed(pivots)}
    return sorted(pivots, key=lambda pivot: pivot is not firsts[pivot.step])


def rank_text_pivots(reading: Reading, q_by_step: Mapping[int, float], seed: int) -> Sequence[Pivot]:
    """Rank the inference steps without any claim, the most doubtful first, ties by seed.

    No graph says what hangs on them; their influence is for a model to find out, see `ablation`.

    Args:
        reading: The trace and its quantity graph.
        q_by_step: Combined q_t by step index; a step without a verdict is as doubtful as any.
        seed: Breaks ties.
    """
    with_claims = {claim.step for claim in reading.graph.claims}
    pivots = [
        Pivot(
            step=step.index,
            claim=None,
            influence=None,
            doubt=1 - q_by_step.get(step.index, 0.0),
            reason=PivotReason.TEXT,
        )
        for step in reading.trace.derivation()
        if step.kind is StepKind.INFERENCE and step.index not in with_claims
    ]
    random.Random(seed).shuffle(pivots)
    return sorted(pivots, key=lambda pivot: -pivot.doubt)


def by_weight(pivot: Pivot) -> tuple[float, float]:
    """Sort by the weight of `rank_pivots`, the heaviest first; what is not known weighs as `_UNKNOWN_SHARE` says."""
    known = abs(pivot.influence) if pivot.influence is not None else None
    share = _UNKNOWN_SHARE.get(pivot.reason, 0.0) if known is None else known / (1 + known)
    return (-pivot.doubt * share, -share)


def _weighed(reading: Reading, index: int, target: Target | None, q_by_step: Mapping[int, float]) -> Pivot:
    claim = reading.graph.claims[index]
    influence, reason = (0.0, PivotReason.DECORATION) if target is None else _influence(reading, index, target)
    doubt = 1 - q_by_step.get(claim.step, 0.0)
    return Pivot(step=claim.step, claim=index, influence=influence, doubt=doubt, reason=reason)


def _influence(reading: Reading, index: int, target: Target) -> tuple[float | None, PivotReason]:
    """Change the result by one unit of its last digit, replay, and compare the relative changes."""
    graph, claim = reading.graph, reading.graph.claims[index]
    numeral, before = read_result(claim, reading.trace.steps[claim.step].blind_text), answer_of(graph, target)
    assert numeral is not None and claim.result is not None and before is not None
    change = numeral.unit / (1 if claim.result == numeral.value else 100)
    after = replayed_answer(graph, index, claim.result + change, target)
    if after is None:
        return None, PivotReason.UNCOMPUTABLE
    if after == before:
        return 0.0, PivotReason.INERT
    elasticity = (after - before) * claim.result / (before * change) if before and claim.result else None
    reason = PivotReason.DERIVES if index == target else PivotReason.LEADS
    return None if elasticity is None or abs(elasticity) > MAX_INFLUENCE else float(elasticity), reason
