"""Replay: change one result, and recompute exactly what hangs on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from rafs.grammar.expressions import evaluate, parse_expression
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable
from rafs.quantities.grounding import MAX_HEADS
from rafs.quantities.prose import compute
from rafs.types import Claim, Implied, Operand, QuantityGraph

_SCALED = ("units converted",)
"""Reasons of claims whose result is their value in another unit: the factor is kept in a replay."""


@dataclass(slots=True, kw_only=True)
class _Changes:
    """New values of claims and of numbers worked out in words; None where one cannot be computed."""

    claims: dict[int, Fraction | None]
    implied: dict[int, Fraction | None] = field(default_factory=dict)

    def touch(self, operand: Operand) -> bool:
        return operand.claim in self.claims or operand.implied in self.implied


def replay(graph: QuantityGraph, claim: int, new_result: Fraction) -> dict[int, Fraction]:
    """Recompute everything downstream of one changed result, in one pass over the graph.

    An operand whose source is that result, or a result that changed with it, is replaced in the left side of its
    claim, and the left side is computed again, exactly. Numbers worked out in words are computed again on the way,
    unless how they are made is a guess.
    Where the old result was its value in another unit, the factor is kept; where it was a rounding and its value is
    not changed, the rounding stays. The last link of a chain takes over the new value of the link before it.

    Args:
        graph: A quantity graph.
        claim: Index of the claim whose result is changed.
        new_result: What it is changed to.

    Returns:
        New results by claim index, without `claim` itself; a claim whose new value is undefined or cannot be computed
        is left out, and so is what hangs on it alone.
    """
    changes = _changes(graph, claim, new_result)
    return {index: value for index, value in changes.claims.items() if value is not None and index != claim}


def replay_told(graph: QuantityGraph, claim: int, new_result: Fraction, told: Implied) -> Fraction | None:
    """Return what a number in words becomes once one result is changed; None where that cannot be computed.

    It need not stand in the graph: the answer's own sentence may tell it.
    """
    changes = _changes(graph, claim, new_result)
    return _said_again(graph, told, changes) if any(map(changes.touch, told.operands)) else told.value


def leading_to(graph: QuantityGraph, claim: int | None, implied: int | None = None) -> frozenset[int]:
    """Return the claims that a result is computed from, through numbers worked out in words; itself included."""
    reached: set[int] = set()
    said: set[int] = set()
    pending = [(claim, implied)]
    while pending:
        index, word = pending.pop()
        operands: tuple[Operand, ...] = ()
        if index is not None and index not in reached:
            reached.add(index)
            operands += graph.claims[index].operands
        if word is not None and word not in said:
            said.add(word)
            operands += graph.implied[word].operands
        pending += [(operand.claim, operand.implied) for operand in operands]
    return frozenset(reached)


def _changes(graph: QuantityGraph, claim: int, new_result: Fraction) -> _Changes:
    """Walk claims and implied numbers in the order of the text; what an operand points at stands before it."""
    changes = _Changes(claims={claim: new_result})
    said = 0
    for index, one in enumerate(graph.claims):
        said = _say(graph, said, (one.step, one.span.start), changes)
        if index > claim and any(changes.touch(operand) for operand in one.operands):
            changes.claims[index] = _recomputed(graph, index, changes)
    _say(graph, said, None, changes)
    return changes


def _say(graph: QuantityGraph, said: int, until: tuple[int, int] | None, changes: _Changes) -> int:
    """Compute the implied numbers before a place again; return the index of the first one after it."""
    while said < len(graph.implied):
        one = graph.implied[said]
        if until is not None and (one.step, one.span.start) >= until:
            break
        if any(map(changes.touch, one.operands)):
            new = _said_again(graph, one, changes)
            changes.implied[said] = new if one.is_said or new == one.value else None
        said += 1
    return said


def _said_again(graph: QuantityGraph, one: Implied, changes: _Changes) -> Fraction | None:
    """Compute a number in words from the new values of its operands; a rounded one stays where they are the old."""
    values = [_new_value(graph, operand, changes) for operand in one.operands]
    known = [value for value in values if value is not None]
    if known == [operand.value for operand in one.operands]:
        return one.value
    return compute(one.op, known) if len(known) == len(values) else None


def _new_value(graph: QuantityGraph, operand: Operand, changes: _Changes) -> Fraction | None:
    """Return the value of an operand after the change; an operand may be the result in another scale (25%, 25)."""
    if operand.claim in changes.claims and operand.claim is not None:
        new, old = changes.claims[operand.claim], graph.claims[operand.claim].result
        if new is None or old is None:
            return None
        return new * (operand.value / old) if old else new
    if operand.implied in changes.implied and operand.implied is not None:
        return changes.implied[operand.implied]
    return operand.value


def _recomputed(graph: QuantityGraph, index: int, changes: _Changes) -> Fraction | None:
    claim = graph.claims[index]
    values: dict[int, Fraction] = {}
    touched = [operand for operand in claim.operands if changes.touch(operand)]
    if any(_may_be_given(graph, one) for one in touched if sum(one.claim == other.claim for other in touched) > 1):
        return None
    for operand in touched:
        new = _new_value(graph, operand, changes)
        if new is None:
            return None
        if operand.span.start == claim.span.start and len(operand.text) == len(claim.left) and len(claim.operands) == 1:
            return _concluded(claim, new, operand.value)
        values[operand.span.start - claim.span.start] = new
    value = _evaluate_with(claim, values)
    return None if value is None else _concluded(claim, value, claim.value)


def _may_be_given(graph: QuantityGraph, repeated: Operand) -> bool:
    """Say whether one of two equal operands may be another number than the result: 3 feet by 3 feet, one of them given.

    Which one it is, nothing says.
    """
    return repeated.value <= MAX_HEADS or repeated.value in graph.problem_values


def _concluded(claim: Claim, value: Fraction, old: Fraction | None) -> Fraction:
    if value == old and claim.result is not None:
        return claim.result
    if claim.reason in _SCALED and claim.value and claim.result is not None:
        return value * claim.result / claim.value
    return value


def _evaluate_with(claim: Claim, values: Mapping[int, Fraction]) -> Fraction | None:
    """Compute the left side with new numbers at some offsets; None where the text alone does not give its old value."""
    bindings = {operand.text: operand.value for operand in claim.operands}
    expression = parse_expression(claim.left, frozenset(name for name in bindings if name.isalpha()))
    if expression is None or evaluate(expression, bindings) != claim.value:
        return None
    return evaluate(substitute(expression, values), bindings)


def substitute(expression: Expression, values: Mapping[int, Fraction], *, with_exponents: bool = True) -> Expression:
    """Put new numbers in the place of those at some offsets.

    Args:
        expression: As it was read.
        values: New number by the offset where the old one, or a variable, starts.
        with_exponents: Whether exponents take part; a drawn one would be without end.
    """
    match expression:
        case Number() | Variable():
            new = values.get(expression.span.start) if expression.span.end else None
            return expression if new is None else Number(value=new)
        case Unary():
            return replace(expression, operand=substitute(expression.operand, values, with_exponents=with_exponents))
        case Binary():
            left = substitute(expression.left, values, with_exponents=with_exponents)
            if expression.op == "^" and not with_exponents:
                return replace(expression, left=left)
            return replace(
                expression, left=left, right=substitute(expression.right, values, with_exponents=with_exponents)
            )
        case Call():
            args = (substitute(arg, values, with_exponents=with_exponents) for arg in expression.args)
            return replace(expression, args=tuple(args))
