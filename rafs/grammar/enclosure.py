"""Bounds of real expressions with roots, pi, e, logarithms and angles, by interval arithmetic on exact rationals."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from rafs.grammar.expressions import evaluate
from rafs.grammar.series import is_series
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable, in_degrees
from rafs.grammar.transcendental import (
    PI,
    Bounds,
    arctangent,
    cosine,
    exponential,
    logarithm,
    root_above,
    root_below,
    sine,
)

__all__ = ["Bounds", "enclose"]

MAX_POWER = 64
MAX_BITS = 8000
"""Bits of a bound; wider ones are given up."""
MAX_SERIES = 100
"""Terms of a sum that is bounded term by term."""
_ONE: Bounds = (Fraction(1), Fraction(1))


def enclose(expression: Expression, bindings: Mapping[str, Fraction]) -> Bounds | None:
    """Return (low, high) with low <= value <= high.

    Returns:
        Bounds within about 1e-35 relative to the value; None where the expression is not a real number that can be
        bounded, or has a name without a binding.
    """
    match expression:
        case Number():
            return (expression.value, expression.value)
        case Variable(name="pi") if "pi" not in bindings:
            return PI
        case Variable(name="ⅇ"):
            return exponential(_ONE)
        case Variable():
            return (bindings[expression.name],) * 2 if expression.name in bindings else None
        case Unary(op="-"):
            inner = enclose(expression.operand, bindings)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary():
            left = enclose(expression.left, bindings)
            right = None if left is None else enclose(expression.right, bindings)
            return None if left is None or right is None else _combine(expression.op, left, right)
    exact = evaluate(expression, bindings)
    if exact is not None:
        return (exact, exact)
    if not isinstance(expression, Call):
        return None
    if is_series(expression):
        return _series(expression, bindings)
    args = [enclose(arg, bindings) for arg in expression.args]
    known = [arg for arg in args if arg is not None]
    degrees = len(expression.args) == 1 and in_degrees(expression.args[0])
    return None if len(known) < len(args) or not args else _call(expression.name, known, degrees=degrees)


def _call(name: str, args: list[Bounds], *, degrees: bool) -> Bounds | None:
    first = args[0]
    match name, len(args):
        case "sqrt", 1:
            return None if first[0] < 0 else _bounded(root_below(first[0]), root_above(first[1]))
        case "root", 2:
            return _root(first, args[1])
        case "abs", 1:
            low, high = sorted(map(abs, first))
            return (Fraction(0) if first[0] <= 0 <= first[1] else low, high)
        case (("floor" | "ceil"), 1):
            ends = {end.__floor__() if name == "floor" else end.__ceil__() for end in first}
            return (Fraction(min(ends)), Fraction(max(ends))) if len(ends) == 1 else None
        case (("min" | "max"), _):
            pick = min if name == "min" else max
            return pick(low for low, _ in args), pick(high for _, high in args)
        case "exp", 1:
            return _cut(exponential(first))
        case "ln", 1:
            return _cut(logarithm(first))
        case "log", 2:
            top, bottom = logarithm(args[1]), logarithm(first)
            return None if top is None or bottom is None else _combine("/", top, bottom)
    return _cut(_angular(name, _in_radians(first) if degrees else first)) if len(args) == 1 else None


def _in_radians(degrees: Bounds) -> Bounds:
    corners = [end * pi / 180 for end in degrees for pi in PI]
    return min(corners), max(corners)


def _angular(name: str, inside: Bounds) -> Bounds | None:
    match name:
        case "sin":
            return sine(inside)
        case "cos":
            return cosine(inside)
        case "tan" | "cot" | "sec" | "csc":
            top = {"tan": sine, "cot": cosine}.get(name, lambda _: _ONE)(inside)
            bottom = (cosine if name in ("tan", "sec") else sine)(inside)
            return None if top is None or bottom is None else _combine("/", top, bottom)
        case "arctan":
            return arctangent(inside)
        case "arcsin" | "arccos" if inside[0] > -1 and inside[1] < 1:
            angle = arctangent(tuple(end / root_below(1 - end * end) for end in inside))  # type: ignore[arg-type]
            margin = Fraction(1, 10**35)
            low, high = angle[0] - margin, angle[1] + margin
            return (low, high) if name == "arcsin" else (PI[0] / 2 - high, PI[1] / 2 - low)
    return None


def _root(inside: Bounds, degree: Bounds) -> Bounds | None:
    if degree[0] != degree[1] or degree[0].denominator != 1 or degree[0] < 1:
        return None
    if inside[1] < 0 and degree[0] % 2 == 1:
        positive = _root((-inside[1], -inside[0]), degree)
        return None if positive is None else (-positive[1], -positive[0])
    return _real_power(inside, (1 / degree[0], 1 / degree[0]))


def _series(call: Call, bindings: Mapping[str, Fraction]) -> Bounds | None:
    body, index, low, high = call.args
    first, last = evaluate(low, bindings), evaluate(high, bindings)
    if first is None or last is None or first.denominator != 1 or not 0 <= last - first < MAX_SERIES:
        return None
    assert isinstance(index, Variable)
    total: Bounds | None = _ONE if call.name == "product" else (Fraction(0), Fraction(0))
    for value in range(int(first), int(last) + 1):
        term = enclose(body, {**bindings, index.name: Fraction(value)})
        if term is None or total is None:
            return None
        total = _combine("*" if call.name == "product" else "+", total, term)
    return total


def _combine(op: str, left: Bounds, right: Bounds) -> Bounds | None:
    if left[0] == left[1] and right[0] == right[1]:
        exact = evaluate(Binary(op=op, left=Number(value=left[0]), right=Number(value=right[0])))
        if exact is not None:
            return _bounded(exact, exact)
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
        return _real_power(base, exponent)
    corners = [base[0] ** power.numerator, base[1] ** power.numerator]
    if base[0] < 0 < base[1] and power.numerator % 2 == 0:
        corners.append(Fraction(0))
    return _bounded(Fraction(min(corners)), Fraction(max(corners)))


def _real_power(base: Bounds, exponent: Bounds) -> Bounds | None:
    """Bound a power of a positive number as e^(exponent * ln base)."""
    log = logarithm(base)
    product = None if log is None else _combine("*", log, exponent)
    return None if product is None else _cut(exponential(product))


def _cut(bounds: Bounds | None) -> Bounds | None:
    """Round bounds outwards to 60 significant places, so that their fractions stay short."""
    if bounds is None:
        return None
    size = max(map(abs, bounds))
    scale = 10 ** (60 - len(str(int(size)))) if size < 10**60 else 1
    return _bounded(Fraction((bounds[0] * scale).__floor__(), scale), Fraction((bounds[1] * scale).__ceil__(), scale))


def _bounded(low: Fraction, high: Fraction) -> Bounds | None:
    if max(low.denominator.bit_length(), high.denominator.bit_length(), low.numerator.bit_length()) > MAX_BITS:
        return None
    return low, high
