"""The same equation, solved for another of its numbers."""

from collections.abc import Sequence, Set
from fractions import Fraction

from rafs.quantities.prose import compute
from rafs.types import Implied, Operand, SourceKind

_SOLVED = {
    ("+", 0): ("-", False),
    ("+", 1): ("-", False),
    ("*", 0): ("/", False),
    ("*", 1): ("/", False),
    ("-", 0): ("+", False),
    ("-", 1): ("-", True),
    ("/", 0): ("*", False),
    ("/", 1): ("/", True),
}
"""By the operation and the place of the unknown operand: the operation that gives it, and whether the other operand
comes first there."""


def solve_for(implied: Implied, place: int) -> Implied | None:
    """Return how one of two operands follows from the other and from the result: 13 = 22 - 9 from `9 = 22 - 13`.

    Args:
        implied: A number that the problem gives, as the result of two others.
        place: Index of the operand that nothing else explains.

    Returns:
        The operand as a result, in the step of `implied`; None where it is not exactly that, as with a rounded one.
    """
    if len(implied.operands) > 2 or (implied.op, place) not in _SOLVED:
        return None
    unknown, other = implied.operands[place], implied.operands[1 - place]
    given = Operand(text="", value=implied.value, span=implied.span, source=SourceKind.PROBLEM)
    op, is_swapped = _SOLVED[implied.op, place]
    operands = (other, given) if is_swapped else (given, other)
    if compute(op, [one.value for one in operands]) != unknown.value:
        return None
    return Implied(step=implied.step, span=unknown.span, value=unknown.value, op=op, operands=operands)


def unsure_place(operands: Sequence[Operand], own: Set[tuple[int, Fraction]]) -> int | None:
    """Return which operand has no source, or is a new number of the sentence itself; None where all are sure.

    Args:
        operands: What a given number would follow from.
        own: (start, value) of the numbers that its sentence brings.
    """
    for place, one in enumerate(operands):
        if one.source is SourceKind.UNGROUNDED or (one.claim is None and (one.span.start, one.value) in own):
            return place
    return None


def solve_for_unknown(given: Implied, place: int, own: Set[tuple[int, Fraction]]) -> Implied | None:
    """Return a new number of a sentence as what follows from a given one there and an earlier result.

    None where it has another explanation too, for then it is not known which of the two follows.
    """
    solved = solve_for(given, place)
    if solved is None or given.operands[place].source is not SourceKind.UNGROUNDED:
        return None
    is_own = (solved.span.start, solved.value) in own
    return (
        solved if is_own and any(one.claim is not None or one.implied is not None for one in solved.operands) else None
    )
