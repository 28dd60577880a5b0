"""Real values of expressions to any number of digits, each with a bound on its error.

A ball is a decimal and a radius that surely covers the value, so that two values whose balls do not touch are
different. Roots of rationals also have a separation bound: a ball around 0 that is smaller than it proves a zero.
`rafs.grammar.enclosure` bounds with a fixed number of digits, and so can only refute.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, DecimalException, getcontext, localcontext
from fractions import Fraction
from functools import cache
from math import log10

from rafs.grammar.expressions import evaluate
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable, walk

DIGITS = 60
"""Digits that are computed at first."""
MAX_DIGITS = 600
"""Digits that are computed to prove a zero; a nest of roots that needs more stays open."""
MAX_ANGLE = 10**6
"""Angles beyond it are not reduced."""
MAX_POWER = 10**5
MAX_NODES = 400
"""Nodes of an expression that is computed."""
_GUARD = 12


class _NoValue(Exception):
    """Not a real number that can be bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball:
    """All reals within `radius` of `middle`."""

    middle: Decimal
    radius: Decimal

    def excludes_zero(self) -> bool:
        """Say whether the value is surely not 0."""
        return abs(self.middle) > self.radius

    def below(self) -> Decimal:
        """Return the lower end."""
        return self.middle - self.radius


def ball_of(expression: Expression, bindings: Mapping[str, Ball], digits: int = DIGITS) -> Ball | None:
    """Return a ball around the value; None where it is no real number or cannot be bounded."""
    if sum(1 for _ in walk(expression)) > MAX_NODES:
        return None
    with localcontext(Context(prec=digits + _GUARD, Emax=10**6, Emin=-(10**6))):
        try:
            return _ball(expression, bindings)
        except (_NoValue, DecimalException, OverflowError, RecursionError):
            return None


def is_zero(expression: Expression) -> bool | None:
    """Say whether a constant is 0; None where neither is proven."""
    ball = ball_of(expression, {})
    if ball is None or ball.excludes_zero():
        return None if ball is None else False
    needed = _separation_digits(expression)
    if needed is None or needed > MAX_DIGITS:
        return None
    ball = ball_of(expression, {}, needed + DIGITS)
    if ball is None or ball.excludes_zero():
        return None if ball is None else False
    return True if abs(ball.middle) + ball.radius < Decimal(10) ** -needed else None


def rational(value: Fraction) -> Ball:
    """Return the ball of a rational number in enough digits for `ball_of`."""
    with localcontext(Context(prec=DIGITS + _GUARD)):
        return _of_fraction(value)


def _rounded(middle: Decimal, radius: Decimal) -> Ball:
    precision = Decimal(10) ** (3 - _precision())
    return Ball(middle=middle, radius=radius * (1 + Decimal("1e-9")) + abs(middle) * precision)


def _precision() -> int:
    return getcontext().prec


def _ball(expression: Expression, bindings: Mapping[str, Ball]) -> Ball:
    match expression:
        case Number():
            return _of_fraction(expression.value)
        case Variable(name="pi"):
            return _rounded(_pi(_precision()), Decimal(0))
        case Variable(name="e"):
            return _rounded(Decimal(1).exp(), Decimal(0))
        case Variable():
            if expression.name not in bindings:
                raise _NoValue
            return bindings[expression.name]
        case Unary(op="-"):
            inner = _ball(expression.operand, bindings)
            return Ball(middle=-inner.middle, radius=inner.radius)
        case Binary(op="^"):
            return _power(_ball(expression.left, bindings), _ball(expression.right, bindings), expression.right)
        case Binary():
            return _combined(expression.op, _ball(expression.left, bindings), _ball(expression.right, bindings))
        case Call(name="sin" | "cos", args=(angle,)) if evaluate(angle):
            raise _NoValue  # nothing tells degrees from radians
        case Call():
            return _called(expression.name, [_ball(arg, bindings) for arg in expression.args])
    raise _NoValue


def _of_fraction(value: Fraction) -> Ball:
    middle = Decimal(value.numerator) / Decimal(value.denominator)
    return _rounded(middle, Decimal(0)) if value.denominator != 1 else Ball(middle=+middle, radius=Decimal(0))


def _combined(op: str, a: Ball, b: Ball) -> Ball:
    match op:
        case "+":
            return _rounded(a.middle + b.middle, a.radius + b.radius)
        case "-":
            return _rounded(a.middle - b.middle, a.radius + b.radius)
        case "*":
            spread = abs(a.middle) * b.radius + abs(b.middle) * a.radius + a.radius * b.radius
            return _rounded(a.middle * b.middle, spread)
        case "/":
            least = abs(b.middle) - b.radius
            if least <= 0:
                raise _NoValue
            middle = a.middle / b.middle
            return _rounded(middle, (a.radius + abs(middle) * b.radius) / least)
    raise _NoValue


def _power(base: Ball, exponent: Ball, written: Expression) -> Ball:
    whole = exponent.middle == exponent.middle.to_integral_value() and not exponent.radius
    if whole and abs(exponent.middle) <= MAX_POWER:
        n = int(exponent.middle)
        if n < 0:
            return _combined("/", Ball(middle=Decimal(1), radius=Decimal(0)), _whole_power(base, -n))
        return _whole_power(base, n)
    if base.below() <= 0:
        raise _NoValue
    return _exp(_combined("*", exponent, _ln(base)))


def _whole_power(base: Ball, n: int) -> Ball:
    if n == 0 and not base.excludes_zero():
        raise _NoValue
    middle, widest = base.middle**n, (abs(base.middle) + base.radius) ** n
    return _rounded(middle, (widest - abs(middle)) + widest * Decimal(n) * Decimal(10) ** (3 - _precision()))


def _exp(x: Ball) -> Ball:
    middle = x.middle.exp()
    return _rounded(middle, middle * (x.radius.exp() - 1))


def _ln(x: Ball) -> Ball:
    if x.below() <= 0:
        raise _NoValue
    return _rounded(x.middle.ln(), x.radius / x.below())


def _sqrt(x: Ball) -> Ball:
    if x.middle == 0 and x.radius == 0:
        return x
    if x.below() <= 0:
        raise _NoValue
    return _rounded(x.middle.sqrt(), x.radius / x.below().sqrt())


def _called(name: str, args: list[Ball]) -> Ball:
    match name, args:
        case "sqrt", [x]:
            return _sqrt(x)
        case "root", [x, degree] if not degree.radius and degree.middle == degree.middle.to_integral_value() > 0:
            if x.middle + x.radius < 0 and degree.middle % 2 == 1:
                inner = _called("root", [Ball(middle=-x.middle, radius=x.radius), degree])
                return Ball(middle=-inner.middle, radius=inner.radius)
            return _exp(_combined("/", _ln(x), degree))
        case "abs", [x]:
            return Ball(middle=abs(x.middle), radius=x.radius)
        case (("floor" | "ceil"), [x]):
            rounding = ROUND_FLOOR if name == "floor" else ROUND_CEILING
            ends = {(x.middle + way * x.radius).to_integral_value(rounding) for way in (-1, 1)}
            if len(ends) > 1:
                raise _NoValue
            return Ball(middle=ends.pop(), radius=Decimal(0))
        case "ln", [x]:
            return _ln(x)
        case "log", [base, x]:
            return _combined("/", _ln(x), _ln(base))
        case (("sin" | "cos"), [x]):
            return _rounded(_sine(x.middle, cosine=name == "cos"), x.radius + Decimal(10) ** (10 - _precision()))
    raise _NoValue


def _sine(x: Decimal, *, cosine: bool) -> Decimal:
    """Sum the Taylor series of the sine or cosine, the angle reduced to [-pi, pi]."""
    if abs(x) > MAX_ANGLE:
        raise _NoValue
    with localcontext() as wider:
        wider.prec += 10
        turn = 2 * _pi(wider.prec)
        x -= turn * (x / turn).to_integral_value()
        term = Decimal(1) if cosine else x
        total, n, least = term, 0 if cosine else 1, Decimal(10) ** -wider.prec
        while abs(term) > least or n < 2:
            term *= -x * x / ((n + 1) * (n + 2))
            total, n = total + term, n + 2
    return +total


@cache
def _pi(digits: int) -> Decimal:
    """Compute pi by Machin's formula."""
    with localcontext(Context(prec=digits + 10)):
        return +(16 * _arctangent_of_inverse(5) - 4 * _arctangent_of_inverse(239))


def _arctangent_of_inverse(n: int) -> Decimal:
    term = total = Decimal(1) / n
    k, least = 1, Decimal(10) ** -(_precision() + 2)
    while abs(term) > least:
        term = -term / (n * n)
        k += 2
        total += term / k
    return total


def _separation_digits(expression: Expression) -> int | None:
    """Return d with: the value is 0 or at least 10^-d away from it; None for what is not built of roots.

    Source:
        Burnikel, Fleischer, Mehlhorn, Schirra 2000, "A strong and easily computable separation bound for arithmetic
        expressions involving radicals".
    """
    degrees: dict[Expression, int] = {}
    try:
        top, bottom = _sizes(expression, degrees)
    except (_NoValue, OverflowError, RecursionError):
        return None
    degree = 1
    for each in degrees.values():
        degree *= each
        if degree > MAX_DIGITS:
            return None
    return int((degree - 1) * max(0.0, top) + max(0.0, bottom)) + degree + 2


def _sizes(node: Expression, degrees: dict[Expression, int]) -> tuple[float, float]:
    """Return log10 of the bounds u and l of the source, with a little to spare."""
    match node:
        case Number():
            return _log10(abs(node.value.numerator)), _log10(node.value.denominator)
        case Unary(op="-"):
            return _sizes(node.operand, degrees)
        case Binary(op="+" | "-" | "*" | "/"):
            (u, low), (v, down) = _sizes(node.left, degrees), _sizes(node.right, degrees)
            if node.op == "*":
                return u + v, low + down
            if node.op == "/":
                return u + down, low + v
            return max(u + down, low + v) + 0.302, low + down
        case Binary(op="^"):
            power = evaluate(node.right)
            if power is None or abs(power.numerator) > MAX_DIGITS:
                raise _NoValue
            u, low = _sizes(node.left, degrees)
            u, low = (abs(power.numerator) * each for each in ((u, low) if power > 0 else (low, u)))
            return _root_sizes(node, u, low, power.denominator, degrees)
        case Call(name="sqrt", args=(inner,)):
            return _root_sizes(node, *_sizes(inner, degrees), 2, degrees)
        case Call(name="root", args=(inner, Number(value=degree))) if degree.denominator == 1 and degree > 0:
            return _root_sizes(node, *_sizes(inner, degrees), int(degree), degrees)
        case Call(name="abs", args=(inner,)):
            return _sizes(inner, degrees)
    raise _NoValue


def _root_sizes(
    node: Expression, u: float, low: float, degree: int, degrees: dict[Expression, int]
) -> tuple[float, float]:
    if degree == 1:
        return u, low
    degrees[node] = degree
    if u >= low:
        return (u + (degree - 1) * low) / degree, low
    return u, ((degree - 1) * u + low) / degree


def _log10(value: int) -> float:
    return (value.bit_length() * 0.30103 if value.bit_length() > 1000 else log10(value)) if value else 0.0
