"""Parts of numbers and of expressions: places, numerators, terms."""

from fractions import Fraction

from rafs.grammar.terms import Binary, Expression, Number, Unary, Variable


def places(whole: Fraction) -> tuple[Fraction, ...]:
    """Return the parts of a whole number by its places, 400, 30 and 2 of 432; none where it has only one."""
    if whole.denominator != 1 or not 10 < whole.numerator < 10**MAX_PLACES:
        return ()
    digits = str(whole.numerator)
    parts = tuple(Fraction(int(digit) * 10**at) for at, digit in enumerate(reversed(digits)) if digit != "0")
    return parts if len(parts) > 1 else ()


MAX_PLACES = 7
"""Digits of a number that is split into its places."""


def fraction_parts(expression: Expression) -> list[Fraction]:
    """Return the numerator and the denominator of a plain fraction: 3 and 12 of `3/12`."""
    if isinstance(expression, Binary) and expression.op == "/":
        return [side.value for side in (expression.left, expression.right) if isinstance(side, Number)]
    return []


def is_in_fraction(expression: Expression, leaf: Number | Variable) -> bool:
    """Say whether a leaf of an expression divides, or is divided, there."""
    match expression:
        case Binary(op="/"):
            return expression.left is leaf or expression.right is leaf or _in_any(expression, leaf)
        case Binary():
            return _in_any(expression, leaf)
        case Unary():
            return is_in_fraction(expression.operand, leaf)
    return False


def _in_any(expression: Binary, leaf: Number | Variable) -> bool:
    return is_in_fraction(expression.left, leaf) or is_in_fraction(expression.right, leaf)


def n_terms(expression: Expression) -> int:
    """Return the number of terms of the longest sum inside an expression."""
    return max(_terms(expression))


def _terms(expression: Expression) -> tuple[int, int]:
    """Return the number of terms that are added up at the top, and of the longest sum inside."""
    if not isinstance(expression, Binary):
        return _ONE_TERM
    left, right = _terms(expression.left), _terms(expression.right)
    if expression.op in _ADDING:
        return left[0] + right[0], max(left[1], right[1])
    return 1, max(*left, *right)


_ONE_TERM = (1, 1)
_ADDING = ("+", "-")
