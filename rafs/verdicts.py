"""The truth of one link: exact where it can be, unknown where a convention, a unit or a name decides it."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from fractions import Fraction

from rafs.conversions import RATIOS, conversion, family_of
from rafs.enclosure import Bounds, enclose
from rafs.expressions import (
    Binary,
    Call,
    Expression,
    Number,
    Unary,
    Variable,
    evaluate,
    leaves,
    show,
    undefined,
    variables,
)
from rafs.links import Link
from rafs.types import Span, Truth

NEEDS_ALGEBRA = "needs algebra"
"""Reason of a claim that exact arithmetic cannot decide and `rafs.algebra.settle` may."""
LOOSE_APPROXIMATION = Fraction(1, 20)
"""`≈` before a whole number is not called wrong below 5 %, for it may be rounded to tens or hundreds."""
CLOSE_APPROXIMATION = Fraction(1, 200)
"""`≈` before a decimal is not called wrong below 0.5 %: careless, but near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a link comes to."""

    truth: Truth
    value: Fraction | None
    result: Fraction | None
    result_span: Span | None
    reason: str = ""
    rounded: bool = False
    """The result is a rounding of the value."""


def rule(link: Link, bindings: Mapping[str, Fraction], rounded: Mapping[Fraction, Fraction]) -> Ruling:
    """Decide one link.

    Args:
        link: Left side, relation and right side as written.
        bindings: Values of the names so far.
        rounded: Earlier results that were roundings, each with the exact value behind it.

    Returns:
        TRUE and FALSE only where the reading leaves no doubt.
    """
    value = evaluate(link.left, bindings)
    if link.right is None:
        return Ruling(truth=Truth.UNKNOWN, value=value, result=value, result_span=None, reason="the answer stands here")
    result = evaluate(link.right, bindings)
    span = link.right_span
    if link.relation in ("=", "≈") and (undefined(link.left, bindings) or undefined(link.right, bindings)):
        return _doubted(link, value, result, "a division by zero has no value, so it equals nothing")
    if value is None or result is None:
        return _without_values(link, bindings, value, result)
    if link.modulus is not None or link.relation == "≡":
        return _congruent(link, bindings, value, result)
    if link.remainder is not None:
        return _with_remainder(link, bindings, value, result)
    if link.relation not in ("=", "≈"):
        holds = _compare(link.relation, value, result)
        if holds:
            return Ruling(truth=Truth.TRUE, value=value, result=result, result_span=span)
        return _doubted(link, value, result, f"{show(value)} {link.relation} {show(result)} does not hold")
    return _equal(link, bindings, value, result, rounded)


def _equal(
    link: Link,
    bindings: Mapping[str, Fraction],
    value: Fraction,
    result: Fraction,
    rounded: Mapping[Fraction, Fraction],
) -> Ruling:
    span = link.right_span
    if value == result:
        return Ruling(truth=Truth.TRUE, value=value, result=result, result_span=span)
    assert link.right is not None
    first = _run_on(link, value)
    if first is not None:
        truth = Truth.TRUE if link.continued else Truth.UNKNOWN
        return Ruling(
            truth=truth, value=value, result=first.value, result_span=first.span, reason="run-on, read step by step"
        )
    loose = _reading(link, value, result) or _carried(link, value, result, rounded)
    if loose is not None:
        truth, reason = loose
        return Ruling(
            truth=truth, value=value, result=result, result_span=span, reason=reason, rounded=reason == "rounded"
        )
    return _doubted(link, value, result, f"{_source(link.left)} is {show(value)}, not {show(result)}")


def _source(expression: Expression) -> str:
    return "the left side" if not isinstance(expression, Number) else show(expression.value)


def _doubted(link: Link, value: Fraction | None, result: Fraction | None, reason: str) -> Ruling:
    """Rule FALSE, or UNKNOWN where the reading itself is in doubt."""
    doubts = set(link.doubts)
    if any(leaf.spelled for leaf in leaves(link.left) if isinstance(leaf, Number)):
        doubts.add("spelled")
    truth = Truth.UNKNOWN if doubts else Truth.FALSE
    because = reason if not doubts else f"{reason}, unless it reads otherwise ({', '.join(sorted(doubts))})"
    return Ruling(truth=truth, value=value, result=result, result_span=link.right_span, reason=because)


def _compare(relation: str, left: Fraction, right: Fraction) -> bool:
    match relation:
        case "<":
            return left < right
        case ">":
            return left > right
        case "<=":
            return left <= right
        case ">=":
            return left >= right
    return left != right


def _run_on(link: Link, value: Fraction) -> Number | None:
    """Return the number that ends this equation and begins the next, as the 12 of `3*4 = 12 + 5 = 17`."""
    if not isinstance(link.right, Binary):
        return None
    first = leaves(link.right)[0]
    return first if isinstance(first, Number) and first.value == value else None


def is_rounding(value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether `result`, written with that many decimals, is `value` correctly rounded (ties either way)."""
    return abs(value - result) * 2 * 10**decimals <= 1


def _is_cut(value: Fraction, result: Fraction, decimals: int) -> bool:
    scale = 10**decimals
    cut = Fraction(int(value * scale), scale)
    return cut == result


def _reading(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    """Say what makes two different values fit after all: rounding, percent, units."""
    right = link.right
    assert right is not None
    decimals = right.decimals if isinstance(right, Number) else None
    if decimals is not None and (found := _rounding(link, value, result, decimals)):
        return found
    if _has_percent(link.left) or _has_percent(right):
        if isinstance(right, Number) and right.percent and is_rounding(value, result * 100, max(0, right.decimals - 2)):
            return Truth.TRUE, "percent"
        if value == 100 * result or result == 100 * value:
            return Truth.UNKNOWN, "percent or number"
        if _is_percent_literal(link.left):
            return Truth.UNKNOWN, "a share of something unsaid"
    if value < 1 and isinstance(right, Number) and _is_ratio(link.left) and result >= 1:
        return Truth.UNKNOWN, "a share of something unsaid"
    return _converted(link, value, result)


def _rounding(link: Link, value: Fraction, result: Fraction, decimals: int) -> tuple[Truth, str] | None:
    if is_rounding(value, result, decimals) and (decimals or link.relation == "≈"):
        return Truth.TRUE, "rounded"
    if decimals and _is_cut(value, result, decimals):
        return Truth.UNKNOWN, "cut off rather than rounded"
    if not decimals and value.denominator > 1 and abs(value - result) < 1:
        return Truth.UNKNOWN, "a whole number for one that is none"
    if link.relation == "≈" and _is_near(value, result, decimals):
        return Truth.UNKNOWN, "a rough approximation"
    return None


def _is_near(value: Fraction, result: Fraction, decimals: int) -> bool:
    return abs(value - result) <= (CLOSE_APPROXIMATION if decimals else LOOSE_APPROXIMATION) * abs(value)


def _has_percent(expression: Expression) -> bool:
    return any(isinstance(leaf, Number) and leaf.percent for leaf in leaves(expression))


def _is_percent_literal(expression: Expression) -> bool:
    return isinstance(expression, Number) and expression.percent


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
    if len(left) == 1 and len(right) <= 1 and _is_sum(link.left):
        source = next(iter(left))
        factor = conversion(source, unit)
        if factor is None and source.startswith("dozen"):
            factor = Fraction(12)
        if factor is not None and factor != 1:
            if value * factor == result:
                return Truth.TRUE, "units converted"
    if isinstance(link.left, Number) and left and right and left != right:
        return Truth.UNKNOWN, "one thing for another"
    known = any(family_of(name) is not None for name in left | right)
    if known and value and result and result / value in RATIOS:
        return Truth.UNKNOWN, "units may differ"
    return None


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


def _carried(
    link: Link, value: Fraction, result: Fraction, rounded: Mapping[Fraction, Fraction]
) -> tuple[Truth, str] | None:
    """Forgive a result that was computed from the exact value behind an earlier rounding."""
    if not any(isinstance(leaf, Number) and leaf.value in rounded for leaf in leaves(link.left)):
        return None
    exact = evaluate(_unround(link.left, rounded))
    if exact is None or not isinstance(link.right, Number):
        return None
    if is_rounding(exact, result, link.right.decimals):
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


def _congruent(link: Link, bindings: Mapping[str, Fraction], value: Fraction, result: Fraction) -> Ruling:
    modulus = evaluate(link.modulus, bindings) if link.modulus is not None else None
    if modulus is None or modulus <= 0:
        return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason="no modulus")
    if ((value - result) / modulus).denominator == 1:
        return Ruling(truth=Truth.TRUE, value=value, result=result, result_span=link.right_span)
    return _doubted(link, value, result, f"the two sides differ by {show(value - result)}")


def _with_remainder(link: Link, bindings: Mapping[str, Fraction], value: Fraction, result: Fraction) -> Ruling:
    rest = evaluate(link.remainder, bindings) if link.remainder is not None else None
    division = link.left
    if rest is not None and isinstance(division, Binary) and division.op == "/":
        top, bottom = evaluate(division.left, bindings), evaluate(division.right, bindings)
        if top is not None and bottom:
            if top == bottom * result + rest and 0 <= rest < abs(bottom):
                return Ruling(truth=Truth.TRUE, value=result, result=result, result_span=link.right_span)
            return _doubted(link, value, result, f"{show(bottom)} * {show(result)} + {show(rest)} is not {show(top)}")
    return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason="a remainder")


def _without_values(
    link: Link, bindings: Mapping[str, Fraction], value: Fraction | None, result: Fraction | None
) -> Ruling:
    """Rule on roots and pi by bounds; leave names and identities to algebra."""
    assert link.right is not None
    left, right = enclose(link.left, bindings), enclose(link.right, bindings)
    if left is not None and right is not None:
        ruled = _bounded(link, left, right, value, result)
        if ruled is not None:
            return ruled
    free = (variables(link.left) | variables(link.right)) - set(bindings)
    reason = f"{NEEDS_ALGEBRA}: depends on {', '.join(sorted(free))}" if free else NEEDS_ALGEBRA
    return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason=reason)


def _bounded(link: Link, left: Bounds, right: Bounds, value: Fraction | None, result: Fraction | None) -> Ruling | None:
    """Decide a relation between bounds; None while they overlap."""
    if link.relation == "≈" or (link.relation == "=" and isinstance(link.right, Number)):
        decimals = link.right.decimals if isinstance(link.right, Number) else 0
        target = right[0]
        if isinstance(link.right, Number) and all(is_rounding(side, target, decimals) for side in left):
            if decimals or link.relation == "≈":
                return Ruling(
                    truth=Truth.TRUE, value=None, result=result, result_span=link.right_span, reason="rounded"
                )
        loose = link.relation == "≈" and _is_near(left[0], target, decimals)
        if loose or _is_cut(left[0], target, decimals):
            return Ruling(
                truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason="roughly"
            )
    if left[1] >= right[0] and right[1] >= left[0]:
        return None
    below = left[1] < right[0]
    if link.relation in ("<", "<=", "!=") if below else link.relation in (">", ">=", "!="):
        return Ruling(truth=Truth.TRUE, value=value, result=result, result_span=link.right_span)
    return _doubted(link, value, result, "the two sides differ")
