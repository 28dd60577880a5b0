"""Reads an expression from plain text, Unicode mathematics or LaTeX, and computes it exactly.

Nothing is ever evaluated as code, and everything is capped: a cap that is hit gives None, never an error.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import comb, factorial, gcd, isqrt, lcm, log, perm
from types import MappingProxyType

from rafs.grammar.lexing import lex
from rafs.grammar.parsing import parse_at
from rafs.grammar.terms import (
    Binary,
    Call,
    Expression,
    Number,
    Unary,
    Undefined,
    Unknown,
    Variable,
)
from rafs.grammar.tokens import Kind

MAX_LENGTH = 2000
"""Characters of one expression."""
MAX_BITS = 70_000
"""Bits of a numerator or denominator, some 21 000 decimal digits: computed within a millisecond."""
MAX_FACTORIAL = 1000
"""1000! has 8530 bits."""
MAX_LOG_PARTS = 6
"""Largest denominator of an exact logarithm: log_4 8 is 3/2."""
SHOWN_DIGITS = 60
"""Digits of a number that are printed; longer ones are described."""
_NOTHING: Mapping[str, Fraction] = MappingProxyType({})


def parse_expression(text: str, names: frozenset[str] = frozenset()) -> Expression | None:
    r"""Read the whole of `text` as one expression.

    Args:
        text: An expression, with or without units: `24 clips`, `\\frac12`, `(1/2)x + 3`.
        names: Words of several letters that are variables in it.

    Returns:
        The expression, or None when the text is not wholly an expression of the grammar or a cap was hit.
    """
    if len(text) > MAX_LENGTH:
        return None
    tokens = [token for token in lex(text) if token.kind is not Kind.BREAK or token.text not in ("", ".", "\n")]
    tokens = [replace(token, text="!") if token.text == "!?" else token for token in tokens]
    parsed = parse_at(tokens, 0, names)
    return parsed.expression if parsed is not None and parsed.end == len(tokens) else None


def evaluate(expression: Expression, bindings: Mapping[str, Fraction] = _NOTHING) -> Fraction | None:
    """Compute the exact value.

    Returns:
        A rational number; None when the value is not rational, undefined (x/0), hangs on a name without a binding
        or on a convention, or would pass a cap.
    """
    return outcome(expression, bindings)[0]


def outcome(expression: Expression, bindings: Mapping[str, Fraction] = _NOTHING) -> tuple[Fraction | None, bool]:
    """Return the exact value as `evaluate` does, and whether there is none for sure."""
    if isinstance(expression, Number):
        return expression.value, False
    try:
        return _value(expression, bindings), False
    except Undefined:
        return None, True
    except Unknown:
        return None, False


def undefined(expression: Expression, bindings: Mapping[str, Fraction] = _NOTHING) -> bool:
    """Say whether the expression has no value for sure, as 5/0; such an expression equals nothing."""
    return outcome(expression, bindings)[1]


def show(value: Fraction) -> str:
    """Print a number as people write it: a short decimal where that is exact, else a fraction; never raises."""
    if value.numerator.bit_length() + value.denominator.bit_length() > SHOWN_DIGITS * 4:
        return f"a number of about {int(value.numerator.bit_length() * 0.30103) + 1} digits"
    if value.denominator == 1:
        return str(value.numerator)
    for places in range(1, 7):
        if (value * 10**places).denominator == 1:
            whole, part = divmod(abs(value) * 10**places, 10**places)
            return f"{'-' if value < 0 else ''}{whole}.{int(part):0{places}d}"
    return f"{value.numerator}/{value.denominator}"


def _capped(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise Unknown
    return value


def _value(expression: Expression, bindings: Mapping[str, Fraction]) -> Fraction:
    match expression:
        case Number():
            return expression.value
        case Variable():
            if expression.name not in bindings:
                raise Unknown
            return bindings[expression.name]
        case Unary(op="-"):
            return -_value(expression.operand, bindings)
        case Unary():
            return _factorial(_value(expression.operand, bindings), 2 if expression.op == "!!" else 1)
        case Binary():
            return arithmetic(expression.op, _value(expression.left, bindings), _value(expression.right, bindings))
        case Call():
            return _call(expression.name, [_value(arg, bindings) for arg in expression.args])


def arithmetic(op: str, left: Fraction, right: Fraction) -> Fraction:
    """Return `left op right`; raises `Unknown` over a cap and for a root that is not rational, `Undefined` for x/0."""
    if op in ("/", "mod") and right == 0:
        raise Undefined
    match op:
        case "+":
            return _capped(left + right)
        case "-":
            return _capped(left - right)
        case "*":
            return _capped(left * right)
        case "/":
            return _capped(left / right)
        case "mod":
            return left % right
    return _power(left, right)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        return _power(_root(base, exponent.denominator), Fraction(exponent.numerator))
    if base == 0 and exponent <= 0:
        raise Undefined if exponent < 0 else Unknown
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) * bits > MAX_BITS and abs(base) != 1:
        raise Unknown
    return Fraction(base ** (exponent.numerator % 2 if abs(base) == 1 else exponent.numerator))


def _root(value: Fraction, degree: int) -> Fraction:
    """Return the exact real root; raises `Unknown` when it is not rational."""
    if not 1 <= degree <= 64 or (value < 0 and degree % 2 == 0):
        raise Unknown
    top, bottom = _integer_root(abs(value.numerator), degree), _integer_root(value.denominator, degree)
    return Fraction(top if value >= 0 else -top, bottom)


def _integer_root(value: int, degree: int) -> int:
    if degree == 2:
        root = isqrt(value)
    else:
        root = 1 << (value.bit_length() // degree + 1)
        while (step := ((degree - 1) * root + value // root ** (degree - 1)) // degree) < root:
            root = step
    if root**degree != value:
        raise Unknown
    return root


def _factorial(value: Fraction, step: int) -> Fraction:
    if value.denominator != 1 or value < 0:
        raise Undefined
    if value > MAX_FACTORIAL:
        raise Unknown
    if step == 1:
        return Fraction(factorial(int(value)))
    product = 1
    for factor in range(int(value), 1, -2):
        product *= factor
    return Fraction(product)


def _call(name: str, args: list[Fraction]) -> Fraction:
    match name, args:
        case "sqrt", [value]:
            return _root(value, 2)
        case "root", [value, degree] if degree.denominator == 1:
            return _root(value, int(degree))
        case "abs", [value]:
            return abs(value)
        case "floor", [value]:
            return Fraction(value.numerator // value.denominator)
        case "ceil", [value]:
            return Fraction(-(-value.numerator // value.denominator))
        case "factorial", [value]:
            return _factorial(value, 1)
        case "mean", [_, *_]:
            return _capped(sum(args, Fraction(0)) / len(args))
        case (("min" | "max"), [_, _, *_]):
            return min(args) if name == "min" else max(args)
        case (("median" | "mode" | "range"), [_, _, *_]):
            return _of_data(name, sorted(args))
        case "log", [base, value]:
            return _logarithm(base, value)
        case (("log" | "ln" | "lg"), [value]) if value <= 1:
            return _logarithm(Fraction(10), value, whole=True)
        case "subfactorial", [value]:
            return _subfactorial(value)
    return _whole_call(name, args)


def _of_data(name: str, ordered: list[Fraction]) -> Fraction:
    """Compute a statistic of numbers in order; raises `Unknown` where there are several modes."""
    if name == "range":
        return ordered[-1] - ordered[0]
    if name == "median":
        middle = len(ordered) // 2
        return (ordered[middle] + ordered[-1 - middle]) / 2
    counts = Counter(ordered).most_common(2)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        raise Unknown
    return counts[0][0]


def _whole_call(name: str, args: list[Fraction]) -> Fraction:
    """Compute the functions of whole numbers."""
    if any(arg.denominator != 1 for arg in args):
        raise Unknown
    match name, [int(arg) for arg in args]:
        case "gcd", [_, _, *_] as numbers:
            return Fraction(gcd(*numbers))
        case "lcm", [_, _, *_] as numbers:
            return _capped(Fraction(lcm(*numbers)))
        case (("binom" | "perm"), [top, bottom]) if 0 <= top <= MAX_FACTORIAL and bottom >= 0:
            return Fraction((comb if name == "binom" else perm)(top, bottom))
    raise Unknown


def _logarithm(base: Fraction, value: Fraction, *, whole: bool = False) -> Fraction:
    """Return the logarithm where it is rational; with `whole` only 0, which every base gives for 1."""
    if base <= 0 or base == 1 or value <= 0:
        raise Undefined
    if value == 1:
        return Fraction(0)
    if whole:
        raise Unknown
    if base < 1:
        return -_logarithm(1 / base, value)
    if value < 1:
        return -_logarithm(base, 1 / value)
    for parts in range(1, MAX_LOG_PARTS + 1):
        exponent = _whole_logarithm(base, value**parts)
        if exponent is not None:
            return Fraction(exponent, parts)
    raise Unknown


def _whole_logarithm(base: Fraction, value: Fraction) -> int | None:
    """Return n with base^n = value, for base and value above 1."""
    size, unit = (log(number.numerator) - log(number.denominator) for number in (value, base))
    exponent = round(size / unit) if unit else 0  # floats only find the candidate
    if not 0 < exponent <= MAX_FACTORIAL or exponent * base.numerator.bit_length() > MAX_BITS:
        return None
    return exponent if base**exponent == value else None


def _subfactorial(value: Fraction) -> Fraction:
    """Count the permutations of that many things that leave none in its place."""
    if value.denominator != 1 or not value >= 0:
        raise Undefined
    if value > MAX_FACTORIAL:
        raise Unknown
    count = 1
    for number in range(1, int(value) + 1):
        count = count * number + (-1) ** number
    return Fraction(count)
