"""Equal numbers in one calculation, such as the two 6 of `15 + 6 + 6`: they may be different results."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

from rafs.types import Claim, Operand

RECENT = 60
"""Claims before a calculation among which the results that it joins are looked for."""


def tell_apart(operands: Sequence[Operand], claims: Sequence[Claim], doubtful: Set[int]) -> tuple[Operand, ...]:
    """Let equal operands of one claim be different results, in order, where as many of that value are still unused.

    Args:
        operands: Operands of the next claim, each of which points at the latest result of its value.
        claims: The claims before it.
        doubtful: Those whose results have no source.
    """
    results = [operand.claim for operand in operands if operand.claim is not None]
    if len(set(results)) == len(results):
        return tuple(operands)
    counts = Counter(results)
    first = max(0, len(claims) - RECENT)
    used = {operand.claim for one in claims[first:] for operand in one.operands} | doubtful
    told = list(operands)
    for latest in [claim for claim, count in counts.items() if count > 1]:
        places = [at for at, operand in enumerate(operands) if operand.claim == latest]
        value = operands[places[0]].value
        unused = [at for at in range(first, len(claims)) if claims[at].result == value and at not in used]
        if len(unused) >= len(places):
            for place, claim in zip(places, unused[-len(places) :], strict=True):
                told[place] = replace(told[place], claim=claim)
    return tuple(told)
