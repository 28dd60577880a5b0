"""Reads an expression from plain text, Unicode mathematics or LaTeX, and computes it exactly.

Nothing is ever evaluated as code, and everything is capped: a cap that is hit gives None, never an error.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import comb, factorial, gcd, isqrt, lcm
from types import MappingProxyType

from rafs.grammar.lexing import lex
from rafs.grammar.parsing import parse_at
from rafs.grammar.terms import Binary, Call, Expression, Number, Tree, Unary, Variable, leaves, to_tree, variables
from rafs.grammar.tokens import Kind

__all__ = [
    "Binary",
    "Call",
    "Expression",
    "Number",
    "Tree",
    "Unary",
    "Variable",
    "evaluate",
    "leaves",
    "parse_expression",
    "show",
    "to_tree",
    "undefined",
    "variables",
]

MAX_LENGTH = 2000
"""Characters of one expression."""
MAX_BITS = 70_000
"""Bits of a numerator or denominator, some 21 000 decimal digits: computed within a millisecond."""
MAX_FACTORIAL = 1000
"""1000! has 8530 bits."""
SHOWN_DIGITS = 60
"""Digits of a number that are printed; longer ones are described."""
_NOTHING: Mapping[str, Fraction] = MappingProxyType({})


class _Unknown(Exception):
    """Not a rational number, or a cap was hit."""


class _Undefined(Exception):
    """Has no value at all, such as 5/0."""


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
    try:
        return _value(expression, bindings)
    except (_Unknown, _Undefined):
        return None


def undefined(expression: Expression, bindings: Mapping[str, Fraction] = _NOTHING) -> bool:
    """Say whether the expression has no value for sure, as 5/0; such an expression equals nothing."""
    try:
        _value(expression, bindings)
    except _Undefined:
        return True
    except _Unknown:
        return False
    return False


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
        raise _Unknown
    return value


def _value(expression: Expression, bindings: Mapping[str, Fraction]) -> Fraction:
    match expression:
        case Number():
            return expression.value
        case Variable():
            if expression.name not in bindings:
                raise _Unknown
            return bindings[expression.name]
        case Unary(op="-"):
            return -_value(expression.operand, bindings)
        case Unary():
            return _factorial(_value(expression.operand, bindings), 2 if expression.op == "!!" else 1)
        case Binary():
            return _combine(expression.op, _value(expression.left, bindings), _value(expression.right, bindings))
        case Call():
            return _call(expression.name, [_value(arg, bindings) for arg in expression.args])


def _combine(op: str, left: Fraction, right: Fraction) -> Fraction:
    if op in ("/", "mod") and right == 0:
        raise _Undefined
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
        raise _Undefined if exponent < 0 else _Unknown
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) * bits > MAX_BITS and abs(base) != 1:
        raise _Unknown
    return Fraction(base ** (exponent.numerator % 2 if abs(base) == 1 else exponent.numerator))


def _root(value: Fraction, degree: int) -> Fraction:
    """Return the exact real root; raises `_Unknown` when it is not rational."""
    if not 1 <= degree <= 64 or (value < 0 and degree % 2 == 0):
        raise _Unknown
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
        raise _Unknown
    return root


def _factorial(value: Fraction, step: int) -> Fraction:
    if value.denominator != 1 or value < 0:
        raise _Undefined
    if value > MAX_FACTORIAL:
        raise _Unknown
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
        case "log", [base, value]:
            return _logarithm(base, value)
    return _whole_call(name, args)


def _whole_call(name: str, args: list[Fraction]) -> Fraction:
    """Compute the functions of whole numbers."""
    if any(arg.denominator != 1 for arg in args):
        raise _Unknown
    match name, [int(arg) for arg in args]:
        case "gcd", [_, _, *_] as numbers:
            return Fraction(gcd(*numbers))
        case "lcm", [_, _, *_] as numbers:
            return _capped(Fraction(lcm(*numbers)))
        case "binom", [top, bottom] if 0 <= bottom <= top <= MAX_FACTORIAL:
            return Fraction(comb(top, bottom))
    raise _Unknown


def _logarithm(base: Fraction, value: Fraction) -> Fraction:
    """Return the exact whole logarithm; raises `_Unknown` when it is none."""
    if base.denominator != 1 or base < 2 or value < 1:
        raise _Unknown
    power, exponent = Fraction(1), 0
    while power < value and exponent < MAX_FACTORIAL:
        power, exponent = power * base, exponent + 1
    if power != value:
        raise _Unknown
    return Fraction(exponent)
