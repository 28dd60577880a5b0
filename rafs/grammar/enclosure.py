"""Bounds of expressions with roots and pi, by interval arithmetic on exact rationals."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt

from rafs.grammar.expressions import Binary, Call, Expression, Number, Unary, Variable, evaluate

Bounds = tuple[Fraction, Fraction]

_PI_DIGITS = 31415926535897932384626433832795028841971693993751
_PI: Bounds = (Fraction(_PI_DIGITS, 10**49), Fraction(_PI_DIGITS + 1, 10**49))
_PLACES = 10**40
"""Roots are bounded to 40 decimal places: far below any decimal that a trace writes."""
MAX_POWER = 64
MAX_BITS = 8000
"""Bits of a bound; wider ones are given up."""


def enclose(expression: Expression, bindings: Mapping[str, Fraction]) -> Bounds | None:
    """Return (low, high) with low <= value <= high.

    Returns:
        Bounds within about 1e-38 relative to the value; None where the expression is not a real number that can be
        bounded, or has a name without a binding.
    """
    exact = evaluate(expression, bindings)
    if exact is not None:
        return (exact, exact)
    match expression:
        case Variable(name="pi"):
            return _PI
        case Number() | Variable():
            return None
        case Unary(op="-"):
            inner = enclose(expression.operand, bindings)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary():
            left, right = enclose(expression.left, bindings), enclose(expression.right, bindings)
            return None if left is None or right is None else _combine(expression.op, left, right)
        case Call(name="sqrt", args=(inside,)):
            inner = enclose(inside, bindings)
            return None if inner is None or inner[0] < 0 else (_root_below(inner[0]), _root_above(inner[1]))
    return None


def _root_below(value: Fraction) -> Fraction:
    return Fraction(isqrt(int(value * _PLACES**2)), _PLACES)


def _root_above(value: Fraction) -> Fraction:
    return Fraction(isqrt(int(value * _PLACES**2) + 1) + 1, _PLACES)


def _combine(op: str, left: Bounds, right: Bounds) -> Bounds | None:
    if op == "^":
        return _power(left, right)
    if op == "/" and right[0] <= 0 <= right[1]:
        return None
    operations: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }
    if op not in operations:
        return None
    corners = [operations[op](a, b) for a in left for b in right]
    return _bounded(min(corners), max(corners))


def _power(base: Bounds, exponent: Bounds) -> Bounds | None:
    power = exponent[0]
    if power != exponent[1] or power.denominator != 1 or not 0 < power <= MAX_POWER:
        return None
    corners = [base[0] ** power.numerator, base[1] ** power.numerator]
    if base[0] < 0 < base[1] and power.numerator % 2 == 0:
        corners.append(Fraction(0))
    return _bounded(Fraction(min(corners)), Fraction(max(corners)))


def _bounded(low: Fraction, high: Fraction) -> Bounds | None:
    if max(low.denominator.bit_length(), high.denominator.bit_length(), low.numerator.bit_length()) > MAX_BITS:
        return None
    return low, high
