"""Says whether an equation is asserted as a rewriting of one expression, so that it must hold for every value."""

import re
from collections.abc import Mapping
from fractions import Fraction

from rafs.grammar.expressions import evaluate
from rafs.grammar.polynomials import Polynomial, normal_form
from rafs.grammar.terms import Binary, Expression, Unary, variables

REACH = 60
"""Characters before an equation in which its rewriting is announced."""
_LEADING = r"[^.!?;\n]{0,50}(?:\b(?:gives?|get|as|to|into|obtain|yields?|have|find|becomes)\b|[:,])\W{0,6}\Z"
"""What stands between the announcement and a result; without it the equation may be what is rewritten."""
_FACTORED = re.compile(rf"\bfactor(?:s|ed|ing|i[sz]\w+)?\b{_LEADING}", re.IGNORECASE)
_EXPANDED = re.compile(
    rf"\b(?:expand(?:s|ed|ing)?|multiply(?:ing)? out|distribut\w{{1,5}}|foil)\b{_LEADING}", re.IGNORECASE
)
_SIMPLIFIED = re.compile(rf"\b(?:simplif\w{{1,6}}|rewrit\w{{1,4}})\b{_LEADING}", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:solv\w*|equations?|sides?|roots?|solutions?|zero|set|where|when|if|such|given|suppose|let|find|want)\b",
    re.IGNORECASE,
)
"""Words of a step whose equation may be one to be solved."""


def is_rewriting(text: str, start: int, left: Expression, right: Expression) -> bool:
    """Say whether text[start:] begins an identity: `it factors as x^2 - 1 = (x - 1)(x + 1)`.

    It must be announced in its sentence, in a step that speaks of no equation; sum and product must stand where the
    announcement says; and both sides must be polynomials in one name that agree in degree and leading coefficient, and
    differ by no linear term alone, as slips do and equations to be solved seldom do.
    """
    before = text[max(0, start - REACH) : start]
    shapes = _is_product(left), _is_product(right)
    announced = (
        (shapes == (False, True) and (_FACTORED.search(before) or _SIMPLIFIED.search(before)))
        or (shapes == (True, False) and (_EXPANDED.search(before) or _SIMPLIFIED.search(before)))
    )  # fmt: skip
    return bool(announced) and _CONDITION.search(text) is None and _are_alike(left, right)


def _is_product(expression: Expression) -> bool:
    """Say whether a product or power of sums with names stands there."""
    match expression:
        case Binary(op="+" | "-"):
            return _is_product(expression.left) or _is_product(expression.right)
        case Binary(op="*"):
            return any(_is_product(side) or _is_sum(side) for side in (expression.left, expression.right))
        case Binary(op="^"):
            return _is_sum(expression.left)
        case Unary():
            return _is_product(expression.operand)
    return False


def _is_sum(expression: Expression) -> bool:
    return isinstance(expression, Binary) and expression.op in "+-" and bool(variables(expression))


def _are_alike(left: Expression, right: Expression) -> bool:
    names = variables(left)
    sides = normal_form(left), normal_form(right)
    if len(names) != 1 or variables(right) != names or sides[0] is None or sides[1] is None:
        return False
    if any(set(side.bottom) != {()} or side.atoms() != names for side in sides if side is not None):
        return False
    powers = [_coefficients(side.top, side.bottom) for side in sides if side is not None]
    degrees = [max(by_power) for by_power in powers]
    differing = {power for power in range(max(degrees)) if powers[0].get(power, 0) != powers[1].get(power, 0)}
    if degrees[0] != degrees[1] or powers[0][degrees[0]] != powers[1][degrees[0]]:
        return False
    return degrees[0] > 1 or differing <= {0}  # `4x - 6 = 4x - 2` has no solution that anybody could look for


def _coefficients(top: Polynomial, bottom: Polynomial) -> dict[int, Fraction]:
    """Return the coefficients of a polynomial in one name, by power."""
    by_power = {sum(power for _, power in term): value / bottom[()] for term, value in top.items() if value}
    return by_power or {0: Fraction(0)}


def is_same_division(left: Expression, right: Expression, bindings: Mapping[str, Fraction]) -> bool:
    """Say whether two divisions have the same dividend and the same divisor."""
    match left, right:
        case Binary(op="/"), Binary(op="/"):
            sides = [evaluate(side, bindings) for side in (left.left, right.left, left.right, right.right)]
            return None not in sides and sides[0] == sides[1] and sides[2] == sides[3]
    return False
