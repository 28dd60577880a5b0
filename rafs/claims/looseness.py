"""What makes two different values fit after all: rounding, percent, units, a rounding carried on."""

from collections.abc import Mapping, Set
from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from rafs.claims.relations import Link
from rafs.claims.roundings import CLOSE_APPROXIMATION, is_cut, is_near, is_rounding
from rafs.grammar.enclosure import enclose
from rafs.grammar.expressions import evaluate
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable, leaves, literal_of, mapped, walk
from rafs.grammar.units import conversion, family_of, is_known_unit, may_convert
from rafs.types import Truth


def loose_reading(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    """Say what makes two different values fit after all: rounding, percent, units."""
    rounding = _rounding if literal_of(link.right) is not None else _turned_rounding
    return (
        rounding(link, value, result)
        or _percent(link, value, result)
        or (None if _are_percentages(link) else _share(link, value, result) or _converted(link, value, result))
    )


MIN_SHOWN = 2
"""Decimals with which `0.33 = 1/3` may be a rounding told the other way round; `0.3 = 1/3` is wrong."""


def _rounding(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    literal = literal_of(link.right)
    assert literal is not None
    decimals = literal.decimals
    if is_rounding(value, result, decimals) and (decimals or link.relation == "≈"):
        return Truth.TRUE, "rounded"
    if decimals and is_cut(value, result, decimals):
        return (Truth.TRUE, "the first digits") if literal.continues else (Truth.UNKNOWN, "cut off rather than rounded")
    whole = not decimals and value.denominator > 1 and abs(value - result) < 1
    if whole and not (_is_exact_sum(link.left) or _is_statistic(link)):
        return Truth.UNKNOWN, "a whole number for one that is none"
    if link.relation == "≈" and is_near(value, result, decimals):
        return Truth.UNKNOWN, "a rough approximation"
    return None


def _turned_rounding(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    """Take the left side for a rounding of what is computed on the right: `0.67 ≈ 2/3`."""
    literal = literal_of(link.left)
    if literal is None or (link.relation != "≈" and literal.decimals < MIN_SHOWN):
        return None
    if is_rounding(result, value, literal.decimals):
        return (Truth.TRUE if link.relation == "≈" else Truth.UNKNOWN), "rounded"
    return (Truth.UNKNOWN, "cut off rather than rounded") if is_cut(result, value, literal.decimals) else None


def _percent(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    """Take a number for a percentage, or the other way round."""
    literal = literal_of(link.right)
    if literal is not None and literal.percent and is_rounding(value, result * 100, max(0, literal.decimals - 2)):
        return (Truth.TRUE, "percent") if _makes_percentage(link.left, value) else (Truth.UNKNOWN, "percent or number")
    has_percent = any(map(_is_percentage, _sides(link)))
    hundredfold = result == 100 * value or value == 100 * result
    if has_percent and hundredfold and not _is_part(link.left) and not _are_percentages(link):
        return Truth.UNKNOWN, "percent or number"
    is_quotient = isinstance(link.left, Binary) and link.left.op == "/"
    if result == 100 * value and abs(value) < 1 and (is_quotient or literal_of(link.left) is not None):
        return Truth.UNKNOWN, "a percentage without its sign"
    return None


def adds_percentage(expression: Expression) -> bool:
    """Say whether a percentage is added to a number or taken off it: `100 + 10%`, not `100% - 20%`."""
    return any(
        isinstance(node, Binary) and node.op in "+-" and _is_percentage(node.right) and not _is_percentage(node.left)
        for node in walk(expression)
    )


def _is_percentage(expression: Expression) -> bool:
    return any(isinstance(leaf, Number) and leaf.percent for leaf in leaves(expression))


def _makes_percentage(left: Expression, value: Fraction) -> bool:
    """Say whether a number is surely a percentage without its sign: `0.25 * 100`, not `0.05` or `50% of 10`."""
    numbers = [leaf for leaf in leaves(left) if isinstance(leaf, Number)]
    if any(leaf.value == PERCENT and not leaf.percent for leaf in numbers):
        return True
    return not isinstance(left, Number) and value >= 1 and not any(leaf.percent for leaf in numbers)


PERCENT = 100
"""What a share is multiplied by to be told in percent."""


def _share(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    """Take the left side for a share of something: `1/4 = 15`, `20% = 8`."""
    is_percentage = isinstance(link.left, Number) and link.left.percent
    is_ratio = value < 1 and isinstance(link.right, Number) and _is_ratio(link.left)
    counts = result >= 1 or (is_percentage and any(_units(side) for side in _sides(link)))
    return (Truth.UNKNOWN, "a share of something unsaid") if counts and (is_percentage or is_ratio) else None


def _sides(link: Link) -> tuple[Expression, Expression]:
    assert link.right is not None
    return link.left, link.right


def _are_percentages(link: Link) -> bool:
    """Say whether percentages are added up to one, so that nothing about them is open."""
    literal = literal_of(link.right)
    every = all(isinstance(leaf, Number) and leaf.percent for leaf in leaves(link.left))
    return every and literal is not None and literal.percent


def _is_exact_sum(expression: Expression) -> bool:
    """Say whether whole and mixed numbers and proper fractions are added: `3½ + 1¼` is never rounded to a whole."""
    match expression:
        case Binary(op="+" | "-"):
            return _is_exact_term(expression.left) and _is_exact_term(expression.right)
    return False


def _is_exact_term(expression: Expression) -> bool:
    match expression:
        case Number():
            return not expression.decimals and not expression.percent
        case Binary(op="/", left=Number() as top, right=Number() as bottom):
            return top.value < bottom.value and not top.decimals and not bottom.decimals
        case Unary(op="-"):
            return _is_exact_term(expression.operand)
    return _is_exact_sum(expression)


def is_forgiven(left: Expression, value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether an approximation of an irrational value may come from rounding on the way.

    `√19`, `π` and `2π/3` stand as they are, but for 3.14 or 22/7 in the place of π; other values may be computed from
    roots that were rounded before.
    """
    if not decimals:
        return is_near(value, result, decimals)
    if isinstance(left, Variable) or (isinstance(left, Call) and all(isinstance(arg, Number) for arg in left.args)):
        return False
    names = {leaf.name for leaf in leaves(left) if isinstance(leaf, Variable)}
    roots = any(isinstance(node, Call) for node in walk(left))
    if names == {"pi"} and not roots:
        return abs(value - result) <= PI_SHORTENED * abs(value) + Fraction(1, 2 * 10**decimals)
    terms = enclose(
        mapped(left, lambda node: replace(node, op="+") if isinstance(node, Binary) and node.op == "-" else node), {}
    )
    return is_near(value, result, decimals) or (
        terms is not None and abs(value - result) <= CLOSE_APPROXIMATION * terms[1]
    )


PI_SHORTENED = Fraction(6, 10_000)
"""Relative error of 3.14 and of 22/7, rounded up."""


def _is_statistic(link: Link) -> bool:
    """Say whether a mean or median is told in words; nobody counts those in whole things."""
    return link.in_words and isinstance(link.left, Call) and link.left.name in ("mean", "median")


def _is_part(expression: Expression) -> bool:
    """Say whether a percentage of a whole stands there, whose value is a plain amount: `20 % of 50`."""
    match expression:
        case Binary(op="*", left=Number(percent=True) as share, right=Number(percent=False) as whole):
            return share.value != 1 and whole.value >= 1
    return False


def _is_ratio(expression: Expression) -> bool:
    return (
        isinstance(expression, Binary)
        and expression.op == "/"
        and isinstance(expression.left, Number)
        and isinstance(expression.right, Number)
    )


def _units(expression: Expression) -> Set[str]:
    return {leaf.unit for leaf in leaves(expression) if isinstance(leaf, Number) and leaf.unit}


def _converted(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    """Convert the left side's unit into the right side's, or leave it open where the factor is a known one."""
    assert link.right is not None
    left, right = _units(link.left), _units(link.right)
    unit = next(iter(right), "")
    if left and not right and _mixes_things(link.left):
        return Truth.UNKNOWN, "one thing for another"
    if len(left) == 1 and len(right) <= 1 and _is_sum(link.left):
        source = next(iter(left))
        factor = conversion(source, unit)
        if factor is not None and factor != 1 and value * factor == result:
            return Truth.TRUE, "units converted"
    several = len(left) > 1 or isinstance(link.left, Number)
    if left and right and several and _is_sum(link.left) and not _same_things(left, right):
        return Truth.UNKNOWN, "one thing for another"
    if value and result and any(may_convert(name, result / value) for name in left | right):
        return Truth.UNKNOWN, "units may differ"
    return None


def _mixes_things(expression: Expression) -> bool:
    """Say whether things and plain numbers are added up, as in `2 circles + 3 = 13`, so that a thing has a value."""
    if not isinstance(expression, Binary) or expression.op not in "+-":
        return False
    units = {leaf.unit for leaf in leaves(expression) if isinstance(leaf, Number)}
    return "" in units and not any(is_known_unit(unit) or family_of(unit) for unit in units - {""})


def _same_things(left: Set[str], right: Set[str]) -> bool:
    """Say whether both sides count the same things: `3 pencils + 1 eraser = 124 cents` does not."""
    return {name.removesuffix("s") for name in left} >= {name.removesuffix("s") for name in right}


def _is_sum(expression: Expression) -> bool:
    match expression:
        case Number():
            return True
        case Unary():
            return _is_sum(expression.operand)
        case Binary(op="+" | "-"):
            return _is_sum(expression.left) and _is_sum(expression.right)
        case Binary(op="*"):
            sides = (expression.left, expression.right)
            return all(_is_sum(side) for side in sides) and sum(bool(_units(side)) for side in sides) == 1
    return False


def dozen_reading(link: Link, value: Fraction, result: Fraction) -> bool | None:
    """Say whether a link with dozens holds: they count twelve each, but in a product they may be what is priced.

    Returns:
        None where no dozen stands in it.
    """
    assert link.right is not None
    sides = (link.left, link.right)
    if not any(_is_dozen(leaf) for side in sides for leaf in leaves(side)):
        return None
    one, other = (evaluate(_counted(side)) for side in sides)
    mixed = any(_is_dozen(leaf) != _is_dozen(leaves(link.left)[0]) for leaf in leaves(link.left) + leaves(link.right))
    by_twelve = any(isinstance(leaf, Number) and leaf.value == 12 and not leaf.unit for leaf in leaves(link.left))
    unsaid = isinstance(link.left, Binary) and not any(_is_dozen(leaf) for leaf in leaves(link.left))
    counts_only = mixed and _is_sum(link.left) and not (by_twelve or unsaid)
    return (one is not None and one == other) or (value == result and not counts_only)


def _is_dozen(leaf: Expression) -> TypeGuard[Number]:
    return isinstance(leaf, Number) and leaf.unit.startswith("dozen")


def _counted(expression: Expression) -> Expression:
    """Return an expression with every dozen as twelve, and `1/2 dozen` as six."""
    return mapped(
        mapped(expression, _as_fraction), lambda node: Number(value=12 * node.value) if _is_dozen(node) else node
    )


def _as_fraction(node: Expression) -> Expression:
    match node:
        case Binary(op="/", left=Number(unit="") as top, right=Number() as bottom) if _is_dozen(bottom):
            return replace(bottom, value=top.value / bottom.value) if bottom.value else node
    return node


def carried_rounding(
    link: Link, value: Fraction, result: Fraction, rounded: Mapping[Fraction, Fraction]
) -> tuple[Truth, str] | None:
    """Forgive a result that was computed from the exact value behind an earlier rounding."""
    if not any(isinstance(leaf, Number) and leaf.value in rounded for leaf in leaves(link.left)):
        return None
    exact = evaluate(_unround(link.left, rounded))
    literal = literal_of(link.right)
    if exact is None or literal is None:
        return None
    if is_rounding(exact, result, literal.decimals):
        return Truth.TRUE, "carried from an earlier rounding"
    return (Truth.UNKNOWN, "carried from an earlier rounding") if abs(exact - result) < 1 else None


def _unround(expression: Expression, rounded: Mapping[Fraction, Fraction]) -> Expression:
    match expression:
        case Number():
            return Number(value=rounded.get(expression.value, expression.value))
        case Unary():
            return Unary(op=expression.op, operand=_unround(expression.operand, rounded))
        case Binary():
            return Binary(
                op=expression.op, left=_unround(expression.left, rounded), right=_unround(expression.right, rounded)
            )
        case Call():
            return Call(name=expression.name, args=tuple(_unround(arg, rounded) for arg in expression.args))
        case Variable():
            return expression
