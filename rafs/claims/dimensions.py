"""What the two sides of an equation may measure, and whether that undoes it: `5 m = 5 s`, `3 kg + 2 m = 5`."""

from collections import Counter
from itertools import product

from rafs.claims.measured import MAX_LITERALS, is_unconverted, unit_words
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, leaves
from rafs.grammar.units import read_unit
from rafs.types import Truth


def truth_of_equals(left: Expression, right: Expression, *, converted: bool) -> tuple[Truth, str]:
    """Rule on two sides of one number: open where their units cannot be of one dimension, as in `5 m = 5 s`.

    A sum of terms of different dimensions, as `5 m + 3 s`, equals nothing for sure.
    """
    if converted:
        return Truth.TRUE, "units converted"
    has_unit, left_has_unit = (
        any(isinstance(leaf, Number) and leaf.unit for leaf in leaves(side)) for side in (right, left)
    )
    if not (has_unit or left_has_unit) or max(len(leaves(side)) for side in (left, right)) > MAX_LITERALS:
        return Truth.TRUE, ""
    if has_unit and left_has_unit and is_unconverted(left, right):
        return Truth.UNKNOWN, "units may differ"
    one = _dimensions(left)
    if one is None or frozenset() in one:
        return Truth.TRUE, ""
    other = _dimensions(right) if has_unit and one else None
    apart = not one or (other is not None and frozenset() not in other and not one & other)
    return (Truth.UNKNOWN, "units of other dimensions") if apart else (Truth.TRUE, "")


_Dimension = frozenset[tuple[str, int]]


def _dimensions(expression: Expression) -> frozenset[_Dimension] | None:
    """Return what a side may measure; None where it may be anything, and an empty dimension for mere things.

    Nothing where terms are added that cannot be of one dimension.

    A factor may stand for one `per` another, so its unit may be missing in the result: `5 hours * 20 miles` may be
    miles, and `4 feet * 12 inches` inches. `km/h` says it all, and `cm * cm` is an area.
    """
    match expression:
        case Number():
            unit = None if expression.percent else read_unit(unit_words(expression))
            if unit is None:
                return frozenset([frozenset()]) if expression.percent else None
            return frozenset(frozenset(each.dimension) for each in unit.measures()) or frozenset([frozenset()])
        case Unary(op="-"):
            return _dimensions(expression.operand)
        case Call(name="compound"):
            return _dimensions(expression.args[-1])
        case Binary(op="+" | "-"):
            return _added([part for part in map(_dimensions, (expression.left, expression.right)) if part is not None])
        case Binary(op="*" | "/"):
            one, other = _dimensions(expression.left), _dimensions(expression.right)
            if one is None or other is None or len(one) * len(other) > MAX_LITERALS:
                return None
            units = {read_unit(unit_words(leaf)) for leaf in leaves(expression) if isinstance(leaf, Number)}
            return _multiplied(expression.op, one, other, are_alike=len(units) == 1)
    return None


def _added(parts: list[frozenset[_Dimension]]) -> frozenset[_Dimension] | None:
    every = frozenset[_Dimension]().union(*parts)
    are_apart = frozenset() not in every and not frozenset.intersection(*parts) if parts else False
    return (frozenset() if are_apart else every) if parts else None


def _multiplied(
    op: str, one: frozenset[_Dimension], other: frozenset[_Dimension], *, are_alike: bool
) -> frozenset[_Dimension]:
    found: set[_Dimension] = set()
    for first, second in product(one, other):
        powers = Counter(dict(first))
        for base, power in second:
            powers[base] += power if op == "*" else -power
        found.add(frozenset((base, power) for base, power in powers.items() if power))
        if not (op == "*" and are_alike and _is_length(first) and _is_length(second)):
            found |= {part for part, rest in ((first, second), (second, first)) if part and len(rest) < 2}
    return frozenset(found)


def _is_length(dimension: _Dimension) -> bool:
    """Say whether it is a length, an area or a volume."""
    return all(base == "[length]" for base, _ in dimension)
