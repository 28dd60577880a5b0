"""What makes two different values fit after all: rounding, percent, units, a rounding carried on."""

from collections.abc import Mapping, Set
from fractions import Fraction

from rafs.claims.conversions import conversion, may_convert
from rafs.grammar.expressions import Binary, Call, Expression, Number, Unary, Variable, evaluate, leaves
from rafs.claims.relations import Link
from rafs.grammar.terms import literal_of
from rafs.types import Truth

LOOSE_APPROXIMATION = Fraction(1, 20)
"""`≈` before a whole number is not called wrong below 5 %, for it may be rounded to tens or hundreds."""
CLOSE_APPROXIMATION = Fraction(1, 200)
"""`≈` before a decimal is not called wrong below 0.5 %: careless, but near."""


def is_rounding(value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether `result`, written with that many decimals, is `value` correctly rounded (ties either way)."""
    return abs(value - result) * 2 * Fraction(10) ** decimals <= 1


def is_cut(value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether `result` is `value` with the digits behind that many decimals cut off."""
    scale = Fraction(10) ** decimals
    return int(value * scale) / scale == result


def loose_reading(link: Link, value: Fraction, result: Fraction) -> tuple[Truth, str] | None:
    """Say what makes two different values fit after all: rounding, percent, units."""
    right = link.right
    assert right is not None
    literal = literal_of(right)
    decimals = literal.decimals if literal is not None else None
    if decimals is not None and (found := _rounding(link, value, result, decimals)):
        return found
    if _has_percent(link.left) or _has_percent(right):
        if literal is not None and literal.percent and is_rounding(value, result * 100, max(0, literal.decimals - 2)):
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
    if decimals and is_cut(value, result, decimals):
        return Truth.UNKNOWN, "cut off rather than rounded"
    if not decimals and value.denominator > 1 and abs(value - result) < 1:
        return Truth.UNKNOWN, "a whole number for one that is none"
    if link.relation == "≈" and is_near(value, result, decimals):
        return Truth.UNKNOWN, "a rough approximation"
    return None


def is_near(value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether an approximation, though not a correct rounding, is near enough not to be called wrong."""
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
        if factor is not None and factor != 1 and value * factor == result:
            return Truth.TRUE, "units converted"
    several = len(left) > 1 or isinstance(link.left, Number)
    if left and right and several and _is_sum(link.left) and not _same_things(left, right):
        return Truth.UNKNOWN, "one thing for another"
    if value and result and any(may_convert(name, result / value) for name in left | right):
        return Truth.UNKNOWN, "units may differ"
    return None


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
