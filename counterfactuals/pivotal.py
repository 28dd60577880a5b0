"""Which steps to edit: those the answer depends on."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rafs.quantities import replay
from rafs.types import QuantityGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Pivot:
    """A claim worth editing."""

    claim: int
    reaches_answer: bool
    """Whether a changed result changes the answer's claim, by exact replay."""


def reaches(graph: QuantityGraph, claim: int, target: int | None) -> bool:
    """Whether a change of the claim's result changes the result of the target claim.

    The change that is replayed is +1/7: no calculation in a trace cancels it by coincidence.
    """
    result = graph.claims[claim].result
    if target is None or result is None:
        return False
    if claim == target:
        return True
    return replay(graph, claim, result + Fraction(1, 7)).get(target) not in (
        None,
        graph.claims[target].result,
    )


def choose_pivots(
    graph: QuantityGraph, target: int | None, q_by_step: Mapping[int, float], budget: int, seed: int
) -> Sequence[Pivot]:
    """Choose at most `budget` claims, no two of one step.

    Claims that reach the answer come first, among them those of doubtful steps (small q_t), ties by seed. Claims that
    reach nothing are chosen only when none reaches the answer: then they show that the steps are decoration.

    Args:
        graph: The quantity graph.
        target: The claim whose result is the answer; None where the answer is no result of any claim.
        q_by_step: Combined q_t by step index; a step without a verdict is as doubtful as the most doubtful one.
        budget: Most pivots.
        seed: Breaks ties.
    """
    last_of_step = {
        claim.step: i for i, claim in enumerate(graph.claims) if claim.result is not None and claim.result_span
    }
    pivots = [Pivot(claim=i, reaches_answer=reaches(graph, i, target)) for i in last_of_step.values()]
    chosen = [pivot for pivot in pivots if pivot.reaches_answer] or pivots
    random.Random(seed).shuffle(chosen)
    chosen.sort(key=lambda pivot: q_by_step.get(graph.claims[pivot.claim].step, 0.0))
    return chosen[:budget]
