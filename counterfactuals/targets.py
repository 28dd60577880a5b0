"""What the answer hangs on, and what it becomes when one result is changed."""

from fractions import Fraction

from rafs.interventions import Target
from rafs.quantities.replaying import leading_to, replay, replay_told
from rafs.types import Implied, QuantityGraph


def answer_of(graph: QuantityGraph, target: Target | None) -> Fraction | None:
    """Return the answer that the unedited derivation leads to; None where it is no result of the graph."""
    if isinstance(target, Implied):
        return target.value
    return None if target is None else graph.claims[target].result


def leading_claims(graph: QuantityGraph, target: Target) -> frozenset[int]:
    """Return the claims that the answer is computed from, over every path."""
    if isinstance(target, Implied):
        return frozenset().union(*(leading_to(graph, one.claim, one.implied) for one in target.operands))
    return leading_to(graph, target)


def replayed_answer(graph: QuantityGraph, claim: int, new: Fraction, target: Target | None) -> Fraction | None:
    """Return the answer that exact replay of one changed result leads to, also where the answer is said in words.

    None where the answer is no result of the graph, and where it hangs on the claim but cannot be computed again.
    """
    if isinstance(target, Implied):
        return replay_told(graph, claim, new, target)
    if target is None or claim == target:
        return None if target is None else new
    replayed = replay(graph, claim, new)
    if target in replayed:
        return replayed[target]
    return None if claim in leading_to(graph, target) else graph.claims[target].result
