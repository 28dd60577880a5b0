"""Bounds of exponentials, logarithms and angles at rational points, by exact arithmetic and decimals."""

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from math import isqrt

Bounds = tuple[Fraction, Fraction]

_PI_DIGITS = 3141592653589793238462643383279502884197169399375105820974944
PI: Bounds = (Fraction(_PI_DIGITS, 10**60), Fraction(_PI_DIGITS + 1, 10**60))
PLACES = 10**40
"""Values are bounded to 40 decimal places: far below any decimal that a trace writes."""
_CONTEXT = Context(prec=60)
"""`Decimal` rounds exp and ln correctly, so 60 digits are off by less than one in the last."""
_RELATIVE = Fraction(1, 10**50)
MAX_EXPONENT = 4000
"""Largest exponent of e; e^4000 has 1700 digits."""
MAX_ANGLE = 10**6
"""Largest angle: its multiples of pi eat the spare digits of pi."""
_TAYLOR_TERMS = 60
"""x^60/60! is below 10^-46 for x up to pi."""


def exponential(inside: Bounds) -> Bounds | None:
    """Bound e^x."""
    if max(abs(inside[0]), abs(inside[1])) > MAX_EXPONENT:
        return None
    low, high = _decimal(inside[0], _CONTEXT.exp), _decimal(inside[1], _CONTEXT.exp)
    return low * (1 - _RELATIVE), high * (1 + _RELATIVE)


def logarithm(inside: Bounds) -> Bounds | None:
    """Bound the natural logarithm of positive numbers."""
    if inside[0] <= 0:
        return None
    low, high = _decimal(inside[0], _CONTEXT.ln), _decimal(inside[1], _CONTEXT.ln)
    margin = _RELATIVE * (1 + abs(low) + abs(high))
    return low - margin, high + margin


def _decimal(value: Fraction, function: Callable[[Decimal], Decimal]) -> Fraction:
    return Fraction(function(_CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))))


def root_below(value: Fraction) -> Fraction:
    """Return a lower bound of a square root."""
    return Fraction(isqrt(int(value * PLACES**2)), PLACES)


def root_above(value: Fraction) -> Fraction:
    """Return an upper bound of a square root."""
    return Fraction(isqrt(int(value * PLACES**2) + 1) + 1, PLACES)


def sine(angle: Bounds) -> Bounds | None:
    """Bound the sine of an angle in radians, by Taylor's series around 0 after full turns are taken off."""
    if max(map(abs, angle)) > MAX_ANGLE:
        return None
    turns = round(angle[0] / (2 * PI[0]))
    pi = PI if turns < 0 else PI[::-1]
    low, high = angle[0] - 2 * turns * pi[0], angle[1] - 2 * turns * pi[1]
    middle = Fraction(int((low + high) / 2 * PLACES), PLACES)
    margin = (high - low) / 2 + Fraction(3, PLACES)  # the sine moves no faster than its angle
    x, square = int(middle * PLACES), int(middle * middle * PLACES)
    term, total = x, x
    for n in range(2, _TAYLOR_TERMS, 2):
        term = -term * square // PLACES // (n * (n + 1))
        total += term
    value, spare = Fraction(total, PLACES), Fraction(10 * _TAYLOR_TERMS, PLACES)
    return max(Fraction(-1), value - margin - spare), min(Fraction(1), value + margin + spare)


def cosine(angle: Bounds) -> Bounds | None:
    """Bound the cosine of an angle in radians."""
    return sine((angle[0] + PI[0] / 2, angle[1] + PI[1] / 2))


def arctangent(inside: Bounds) -> Bounds:
    """Bound the angle whose tangent is given."""
    return _arctangent(inside[0])[0], _arctangent(inside[1])[1]


def _arctangent(x: Fraction) -> Bounds:
    if x < 0:
        low, high = _arctangent(-x)
        return -high, -low
    if x > 1:
        low, high = _arctangent(1 / x)
        return PI[0] / 2 - high, PI[1] / 2 - low
    halvings = 3
    for _ in range(halvings):  # atan x = 2 atan(x / (1 + sqrt(1 + x^2))), so that the series is short
        x = Fraction(int(x / (1 + root_below(1 + x * x)) * PLACES), PLACES)
    scaled, square, total = int(x * PLACES), int(x * x * PLACES), 0
    for n in range(1, 2 * _TAYLOR_TERMS, 2):
        total += scaled // n if n % 4 == 1 else -(scaled // n)
        scaled = scaled * square // PLACES
    value, spare = Fraction(total, PLACES) * 2**halvings, Fraction(1000, PLACES)
    return value - spare, value + spare
