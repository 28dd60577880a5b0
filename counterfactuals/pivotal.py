"""Which steps to edit: those the answer depends on."""

import random
from collections.abc import Mapping, Sequence

from counterfactuals.numerals import read_result
from rafs.quantities.replaying import leading_to
from rafs.types import Reading


def rank_pivots(reading: Reading, target: int | None, q_by_step: Mapping[int, float], seed: int) -> Sequence[int]:
    """Rank the claims worth editing, no two of one step; most doubtful step (smallest q_t) first, ties by seed.

    They are the claims that the answer is computed from, as far as their results are plain numbers. Where the answer
    is no result of any claim, all are ranked: they show that the steps are decoration.

    Args:
        reading: The trace and its quantity graph.
        target: The claim whose result is the answer; None where the answer is no result of any claim.
        q_by_step: Combined q_t by step index; a step without a verdict is as doubtful as any.
        seed: Breaks ties.
    """
    claims, steps = reading.graph.claims, reading.trace.steps
    pool = range(len(claims)) if target is None else sorted(leading_to(reading.graph, target))
    editable = (i for i in pool if read_result(claims[i], steps[claims[i].step].blind_text) is not None)
    ranked = list({claims[i].step: i for i in editable}.values())  # the last one of a step
    random.Random(seed).shuffle(ranked)
    ranked.sort(key=lambda claim: q_by_step.get(claims[claim].step, 0.0))
    return ranked
