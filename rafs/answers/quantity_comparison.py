"""Compares two quantities: their values, units, percent signs and roundings."""

from decimal import Decimal
from fractions import Fraction

from rafs.answers.balls import ball_of, is_zero
from rafs.answers.forms import Context, Quantity
from rafs.answers.identities import all_names, free_names, same_expression
from rafs.answers.open_functions import all_readings
from rafs.grammar.expressions import undefined
from rafs.grammar.measures import TEMPERATURES, Factor, in_celsius
from rafs.grammar.terms import Binary, Number, Variable
from rafs.grammar.unit_words import MONEY
from rafs.grammar.units import Unit, factors, may_convert
from rafs.types import Truth

_HALF_TURN = Binary(op="/", left=Variable(name="pi"), right=Number(value=Fraction(180)))
_DEGREE, _RADIAN = "degree", "radian"
MIN_ROUNDED_DIGITS = 2
"""Significant digits of a decimal that may be a rounding: 0.8 for 5/6 is another value."""


def compare_quantities(a: Quantity, b: Quantity, context: Context) -> Truth:
    """Compare two quantities; symmetric."""
    if undefined(a.expression) or undefined(b.expression):
        return Truth.FALSE
    if a.percent != b.percent and a.unit is None and b.unit is None:
        return _compare_percent(a, b, context)
    angle = _as_angles(a, b)
    if angle is not None:
        return truth_of(angle)
    if a.unit is None or b.unit is None or not (a.unit.is_measure and b.unit.is_measure):
        verdict = _compare_values(a, b, open_if_equal=_other_nouns(a.unit, b.unit) or _other_labels(a, b))
        return Truth.UNKNOWN if verdict is Truth.FALSE and _may_be_converted(a, b) else verdict
    if a.unit.scale or b.unit.scale:
        return _compare_temperatures(a, a.unit, b, b.unit)
    found = {_compare_converted(a, b, factor) for factor in factors(a.unit, b.unit)} or {_without_rate(a, b)}
    verdict = found.pop() if len(found) == 1 else Truth.UNKNOWN
    return Truth.UNKNOWN if verdict is Truth.TRUE and _other_labels(a, b) else verdict


def truth_of(equal: bool | None) -> Truth:
    """Return what a proof or refutation says."""
    return Truth.UNKNOWN if equal is None else Truth.TRUE if equal else Truth.FALSE


def _compare_values(a: Quantity, b: Quantity, *, open_if_equal: bool = False) -> Truth:
    equal = same_value(a, b)
    if equal is False and (_rounds_to(a, b) or _rounds_to(b, a)):
        return Truth.UNKNOWN
    return Truth.UNKNOWN if equal and open_if_equal else truth_of(equal)


def same_value(a: Quantity, b: Quantity) -> bool | None:
    """Say whether two quantities have the same value, their units aside."""
    if a.value is not None and b.value is not None:
        return a.value == b.value
    return same_expression(a.expression, b.expression)


def _compare_converted(a: Quantity, b: Quantity, factor: Factor) -> Truth:
    """Compare a in b's unit with b; between the bounds of a convention both may be meant."""
    if factor.low == factor.high == 1:
        return _compare_values(a, b)
    if a.value is None or b.value is None:
        if factor.low != factor.high:
            return Truth.UNKNOWN
        scaled = Binary(op="*", left=a.expression, right=Number(value=factor.low))
        return truth_of(same_expression(scaled, b.expression))
    low, high = sorted((a.value * factor.low, a.value * factor.high))
    if low == high == b.value:
        return Truth.TRUE
    rounded = (b.decimals and _is_near(low, b)) or (a.decimals and _is_near(b.value / factor.low, a))
    return Truth.UNKNOWN if low <= b.value <= high or rounded else Truth.FALSE


def _may_be_converted(a: Quantity, b: Quantity) -> bool:
    """Say whether a bare number may be meant in another unit of the other's family: `120` beside `2 hours`."""
    bare, named = (a, b) if a.unit is None else (b, a)
    if bare.unit is not None or named.unit is None or not bare.value or not named.value:
        return False
    return may_convert(named.unit_text, bare.value / named.value)


def _without_rate(a: Quantity, b: Quantity) -> Truth:
    """Compare units that nothing converts: different, but for `$15` beside `$15 per week`, which may go unsaid."""
    assert a.unit is not None and b.unit is not None
    amounts = [{part for part in unit.meanings[0] if part[1] > 0} for unit in (a.unit, b.unit)]
    paid = amounts[0] == amounts[1] and all(name in MONEY for name, _ in amounts[0])
    rates = [any(power < 0 for _, power in unit.meanings[0]) for unit in (a.unit, b.unit)]
    return Truth.UNKNOWN if paid and rates[0] != rates[1] and same_value(a, b) else Truth.FALSE


def _other_nouns(a: Unit | None, b: Unit | None) -> bool:
    """Say whether both sides name things, and not the same ones."""
    if a is None or b is None or (a.is_measure and b.is_measure):
        return False
    return not (a.nouns <= b.nouns or b.nouns <= a.nouns) or a.is_measure != b.is_measure


def _other_labels(a: Quantity, b: Quantity) -> bool:
    return bool(a.label and b.label and a.label != b.label)


def _as_angles(a: Quantity, b: Quantity) -> bool | None:
    """Compare degrees with radians, which may be bare multiples of pi; None where they are no two such angles."""
    kinds = [_angle_unit(side) for side in (a, b)]
    if sorted(kinds) != [_DEGREE, _RADIAN]:
        return None
    degrees, radians = (a, b) if kinds[0] == _DEGREE else (b, a)
    turned = Binary(op="*", left=degrees.expression, right=_HALF_TURN)
    equal = is_zero(Binary(op="-", left=turned, right=radians.expression))
    form = same_expression(turned, radians.expression)
    return form if form is not None else equal


def _angle_unit(quantity: Quantity) -> str:
    if quantity.unit is None:
        bare = all_names(quantity.expression) == {"pi"}
        return _RADIAN if bare else ""
    names = [name for meaning in quantity.unit.meanings for name, _ in meaning]
    return names[0] if len(names) == 1 and names[0] in (_DEGREE, _RADIAN) else ""


def _compare_temperatures(a: Quantity, unit_a: Unit, b: Quantity, unit_b: Unit) -> Truth:
    """Compare degrees of two scales: surely different only where neither points nor differences of them agree."""
    if unit_a.meanings == unit_b.meanings:
        return _compare_values(a, b)
    if not (unit_a.scale and unit_b.scale):
        bare = _DEGREE in (_angle_unit(a), _angle_unit(b))  # `68°` leaves the scale out
        return _compare_values(a, b) if bare else Truth.FALSE
    if a.value is None or b.value is None:
        return Truth.UNKNOWN
    point = in_celsius(a.value, unit_a.scale) == in_celsius(b.value, unit_b.scale)
    step = a.value * TEMPERATURES[unit_a.scale][0] == b.value * TEMPERATURES[unit_b.scale][0]
    return Truth.UNKNOWN if point or step else Truth.FALSE


def _compare_percent(a: Quantity, b: Quantity, context: Context) -> Truth:
    """Compare `35%` with a bare number: its value, or its figure where the problem asks for percent."""
    share, bare = (a, b) if a.percent else (b, a)
    equal = same_value(share, bare)
    figure = share.value is not None and bare.value is not None and share.value * 100 == bare.value
    if equal or not figure or bare.fraction:
        return _compare_values(a, b)
    if context.asks_percent is None:
        return Truth.UNKNOWN
    return truth_of(context.asks_percent)


def _rounds_to(rounded: Quantity, exact: Quantity) -> bool:
    """Say whether a decimal is the correct rounding of a value that has more digits."""
    if not rounded.decimals or rounded.value is None or exact.decimals or free_names(exact.expression):
        return False
    if abs(rounded.value) * 10 ** (rounded.decimals + 1 - MIN_ROUNDED_DIGITS) < 1:
        return False
    if exact.value is not None:
        return exact.value.denominator != 1 and _is_near(exact.value, rounded)
    balls = (ball_of(reading, {}) for reading in all_readings(exact.expression))
    return any(
        ball is not None and ball.radius < Decimal("1e-30") and _is_near(Fraction(ball.middle), rounded)
        for ball in balls
    )


def _is_near(value: Fraction, rounded: Quantity) -> bool:
    return rounded.value is not None and abs(value - rounded.value) <= Fraction(1, 2 * 10**rounded.decimals)
