"""Equations that do not hold as they stand, but that people write so: sums begun, digits in base two."""

from collections.abc import Callable
from fractions import Fraction

from rafs.claims.measured import amount_in
from rafs.claims.relations import Link
from rafs.claims.roundings import is_near
from rafs.grammar.expressions import evaluate
from rafs.grammar.terms import Binary, Expression, Number, leaves

MIN_BITS = 4
"""Zeros and ones that may be a number in base two; `10 = 2` is an error."""
SIMPLE_MARGIN = Fraction(1, 100)
"""How far a quotient of measured decimals may be from the simple fraction that it was rounded to (ours)."""


def _is_begun(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a sum is only begun to be added up on the right: `2 + 3 + 4 = 2 + 3 = 5, plus 4 is 9`."""
    left = link.left
    if not link.continued or not isinstance(link.right, Binary) or link.right.op != "+":
        return False
    begun = _values(link.right)
    while isinstance(left, Binary) and left.op == "+":
        left = left.left
        if _values(left) == begun:
            return True
    return False


def _values(expression: Expression) -> list[Fraction | None]:
    return [leaf.value if isinstance(leaf, Number) else None for leaf in leaves(expression)]


def _reads_in_binary(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a number of zeros and ones is the other side in base two: `1101 = 8 + 4 + 1`."""
    for side, digits, other in ((link.left, value, result), (link.right, result, value)):
        written = str(digits) if isinstance(side, Number) else ""
        if len(written) >= MIN_BITS and not written.strip("01"):
            return int(written, 2) == other
    return False


def _is_near_fraction(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a quotient of decimals was rounded to a simple fraction: `0.026/0.079 = 1/3`."""
    if not isinstance(link.left, Binary) or abs(value - result) > SIMPLE_MARGIN * abs(value):
        return False
    match link.right:
        case Binary(op="/", left=Number(decimals=0), right=Number(decimals=0)):
            return any(isinstance(leaf, Number) and leaf.decimals > 1 for leaf in leaves(link.left))
    return False


def _adds_unlike_units(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether units are converted without a word: `15 minutes + 3 hours = 15 + 180`."""
    assert link.right is not None
    numbers = [leaf for side in (link.left, link.right) for leaf in leaves(side) if isinstance(leaf, Number)]
    left = {leaf.unit for leaf in leaves(link.left) if isinstance(leaf, Number) and leaf.unit}
    if len(left) < 2 or {leaf.unit for leaf in numbers if leaf.unit} != left or evaluate(link.right) is None:
        return False
    return any(amount_in(link.left, unit) == result for unit in left)


def _is_rough(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a calculation with rounded numbers stands for the exact one: `612^2 ≈ 610^2`."""
    return link.relation == "≈" and not isinstance(link.right, Number) and is_near(value, result, 0)


SHORTHANDS: dict[str, Callable[[Link, Fraction, Fraction], bool]] = {
    "a sum added up bit by bit": _is_begun,
    "digits in base two": _reads_in_binary,
    "a simple fraction nearby": _is_near_fraction,
    "units converted": _adds_unlike_units,
    "a rough approximation": _is_rough,
}
