r"""Exact values of trigonometric functions at angles such as 30° and pi/4, and of their inverses."""

from collections.abc import Mapping
from fractions import Fraction

from rafs.grammar.expressions import evaluate
from rafs.grammar.polynomials import Quotient, combine, constant, named, square_root
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Undefined, Unknown, Variable, in_degrees, leaves

_WHOLE = Fraction(360)


def is_bare(angle: Expression) -> bool:
    """Say whether nothing tells degrees from radians: `sin 30`. Zero is the same in both."""
    if in_degrees(angle) or any(isinstance(leaf, Variable) for leaf in leaves(angle)):
        return False
    return evaluate(angle) != 0 and not any(isinstance(leaf, Number) and leaf.unit for leaf in leaves(angle))


def degrees_of(angle: Expression, bindings: Mapping[str, Fraction]) -> Fraction:
    """Return an angle in degrees where it is a rational number of them; raises `Unknown` otherwise."""
    if in_degrees(angle):
        value = evaluate(angle, bindings)
    else:
        share = _share_of_pi(angle, bindings)
        value = None if share is None else share * 180
    if value is None:
        raise Unknown
    return value


def _share_of_pi(angle: Expression, bindings: Mapping[str, Fraction]) -> Fraction | None:
    """Return the c of an angle c * pi."""
    if evaluate(angle, bindings) == 0:
        return Fraction(0)
    match angle:
        case Variable(name="pi"):
            return Fraction(1)
        case Unary(op="-"):
            inner = _share_of_pi(angle.operand, bindings)
            return None if inner is None else -inner
        case Binary(op="+" | "-"):
            left, right = _share_of_pi(angle.left, bindings), _share_of_pi(angle.right, bindings)
            if left is None or right is None:
                return None
            return left + right if angle.op == "+" else left - right
        case Binary(op="*" | "/"):
            for of_pi, factor in ((angle.left, angle.right), (angle.right, angle.left)):
                share, number = _share_of_pi(of_pi, bindings), evaluate(factor, bindings)
                if share is not None and number and (angle.op == "*" or factor is angle.right):
                    return share * number if angle.op == "*" else share / number
    return None


def trigonometric(name: str, angle: Expression, bindings: Mapping[str, Fraction]) -> Quotient:
    """Return the exact value at a multiple of 15 degrees (tangent and its like included).

    Raises:
        Unknown: The angle is no such multiple.
        Undefined: The function has no value there.
    """
    degrees = degrees_of(angle, bindings) % _WHOLE
    sine, cosine = _sine(degrees), _sine((degrees + 90) % _WHOLE)
    top, bottom = {
        "sin": (sine, _ONE),
        "cos": (cosine, _ONE),
        "tan": (sine, cosine),
        "cot": (cosine, sine),
        "sec": (_ONE, cosine),
        "csc": (_ONE, sine),
    }[name]
    if not bottom.top:
        raise Undefined
    return combine("/", top, bottom)


_ONE = constant(Fraction(1))


def _root(radicand: int) -> Quotient:
    return square_root(constant(Fraction(radicand)))


def _halved(form: Quotient, by: int = 2) -> Quotient:
    return combine("/", form, constant(Fraction(by)))


def _sine(degrees: Fraction) -> Quotient:
    """Return the sine of an angle in [0, 360)."""
    if degrees >= 180:
        return combine("-", constant(Fraction(0)), _sine(degrees - 180))
    if degrees > 90:
        return _sine(180 - degrees)
    match degrees:
        case 0:
            return constant(Fraction(0))
        case 15:
            return _halved(combine("-", _root(6), _root(2)), 4)
        case 30:
            return constant(Fraction(1, 2))
        case 45:
            return _halved(_root(2))
        case 60:
            return _halved(_root(3))
        case 75:
            return _halved(combine("+", _root(6), _root(2)), 4)
        case 90:
            return _ONE
        case 18:
            return _halved(combine("-", _root(5), _ONE), 4)
        case 54:
            return _halved(combine("+", _root(5), _ONE), 4)
    raise Unknown


def inverse(name: str, value: Quotient) -> Quotient:
    """Return the principal angle in radians, a multiple of pi; raises `Unknown` for every other value."""
    low, high = _PRINCIPAL[name]
    for degrees in range(low, high + 1, 15):
        angle = Number(value=Fraction(degrees), unit="°")
        if not combine("-", trigonometric(name.removeprefix("arc"), angle, {}), value).top:
            return combine("*", constant(Fraction(degrees, 180)), named("pi"))
    raise Unknown


_PRINCIPAL = {"arcsin": (-90, 90), "arccos": (0, 180), "arctan": (-75, 75)}


def in_radians(expression: Expression) -> Expression:
    """Return an angle in degrees as the same in radians, for a comparison with one."""
    return Binary(
        op="*", left=expression, right=Binary(op="/", left=Variable(name="pi"), right=Number(value=Fraction(180)))
    )


def has_inverse(expression: Expression) -> bool:
    """Say whether an expression is an angle that an inverse function gives, perhaps with a factor or sign."""
    match expression:
        case Call():
            return expression.name in ("arcsin", "arccos", "arctan")
        case Unary():
            return has_inverse(expression.operand)
        case Binary(op="+" | "-" | "*" | "/"):
            return has_inverse(expression.left) or has_inverse(expression.right)
    return False
