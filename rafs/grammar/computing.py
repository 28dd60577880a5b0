"""Computes what `evaluate` leaves open: surds, complex numbers, sets, intervals, vectors, matrices, sums."""

from collections.abc import Mapping
from fractions import Fraction

from rafs.grammar.angles import inverse, trigonometric
from rafs.grammar.expressions import evaluate, undefined
from rafs.grammar.functions import TRIGONOMETRIC
from rafs.grammar.logarithms import logarithm_of
from rafs.grammar.polynomials import Quotient, TooLarge, named, normal_form, square_root
from rafs.grammar.series import bounded_total, is_series, listed_total
from rafs.grammar.shapes import as_matrix, joined, member_of
from rafs.grammar.terms import NUMBER_SETS, Binary, Call, Expression, Number, Unary, Undefined, Unknown, Variable
from rafs.grammar.values import (
    SCALARS,
    FiniteSet,
    Infinite,
    Listed,
    Matrix,
    NumberSet,
    Scalar,
    Value,
    add,
    calculate,
    determinant,
    form_of,
    matrix_power,
    multiply,
    scalar,
    total,
    transposed,
)

Bindings = Mapping[str, Fraction]
_E, _I = "ⅇ", "ⅈ"
_SET_SIGNS = frozenset("∪∩∖△")


def compute(expression: Expression, bindings: Bindings) -> Value | None:
    """Compute the exact value, of whatever kind; names without a binding stay names.

    Returns:
        None where it is undefined, over a cap, or no value of `rafs.grammar.values`.
    """
    try:
        return value_of(expression, bindings)
    except (Unknown, Undefined, TooLarge, RecursionError):
        return None


def value_of(expression: Expression, bindings: Bindings) -> Value:
    """Compute as `compute` does.

    Raises:
        Unknown: It is outside of what is computed, or over a cap.
        Undefined: It has no value at all.
    """
    match expression:
        case Number():
            return expression.value
        case Variable():
            return bindings[expression.name] if expression.name in bindings else _named(expression.name)
        case Unary(op="-"):
            return _negated(value_of(expression.operand, bindings))
        case Binary():
            return _binary(expression, bindings)
    plain = evaluate(expression, bindings)
    if plain is not None:
        return plain
    if isinstance(expression, Call):
        return _call(expression, bindings)
    if undefined(expression, bindings):
        raise Undefined
    raise Unknown


def _named(name: str) -> Value:
    match name:
        case "∅":
            return FiniteSet(members=frozenset())
        case "∞":
            return Infinite(1)
        case _ if name in NUMBER_SETS:
            return NumberSet(name)
    return named({_E: "e", _I: "i"}.get(name, name))


def _negated(value: Value) -> Value:
    return Infinite(-value.sign) if isinstance(value, Infinite) else multiply(Fraction(-1), value)


def _binary(expression: Binary, bindings: Bindings) -> Value:
    left = value_of(expression.left, bindings)
    if expression.op == "^":
        return _power(expression, left, bindings)
    right = value_of(expression.right, bindings)
    if expression.op in _SET_SIGNS:
        return joined(expression.op, left, right)
    if expression.op in "+-":
        return add(expression.op, left, right)
    if expression.op == "*":
        return multiply(left, right)
    if isinstance(right, SCALARS):
        if expression.op == "/" and not isinstance(left, SCALARS):
            return multiply(calculate("/", Fraction(1), right), left)
        if isinstance(left, SCALARS):
            return calculate(expression.op, left, right)
    raise Unknown


def _power(expression: Binary, base: Value, bindings: Bindings) -> Value:
    exponent = expression.right
    if isinstance(base, Listed):
        base = as_matrix(base) or base
    if isinstance(base, Matrix):
        if exponent == Variable(name="T"):
            return transposed(base)
        power = evaluate(exponent, bindings)
        if power is None:
            raise Unknown
        return matrix_power(base, power)
    match exponent:
        case Call(name="log", args=(of, inside)) if evaluate(of, bindings) == base:
            return value_of(inside, bindings)
    power_value = value_of(exponent, bindings)
    if not isinstance(base, SCALARS) or not isinstance(power_value, SCALARS):
        raise Unknown
    if not isinstance(base, Quotient) and not isinstance(power_value, Quotient):
        plain = evaluate(Binary(op="^", left=Number(value=base), right=Number(value=power_value)))
        if plain is not None:
            return plain
    if expression.left == Variable(name=_E):
        return _exponential(power_value, exponent)
    return calculate("^", base, power_value)


def _exponential(power: Scalar, exponent: Expression) -> Scalar:
    """Return e^(i pi c) by Euler's formula, e^(ln x) as x, and every other power of e as a form."""
    if isinstance(exponent, Call) and exponent.name == "ln":
        value = value_of(exponent.args[0], {})
        if isinstance(value, Fraction | Quotient):
            return value
    turn = form_of(power)
    if set(turn.top) == {(("i", 1), ("pi", 1))} and set(turn.bottom) == {()}:
        share = next(iter(turn.top.values())) / turn.bottom[()]
        angle = Number(value=share * 180, unit="°")
        cosine, sine = (scalar(trigonometric(name, angle, {})) for name in ("cos", "sin"))
        return calculate("+", cosine, calculate("*", named("i"), sine))
    return calculate("^", named("e"), power)


def _call(call: Call, bindings: Bindings) -> Value:
    if is_series(call):
        return bounded_total(call, bindings, value_of)
    if call.name.startswith(("sum on", "product on")):
        return listed_total(call, bindings)
    if call.name in TRIGONOMETRIC:
        return scalar(trigonometric(call.name, call.args[0], bindings))
    values = [value_of(arg, bindings) for arg in call.args]
    collected = _collected(call.name, values)
    if collected is not None:
        return collected
    match call.name, values:
        case (("det" | "tr" | "abs" | "norm"), [value]):
            return _measured(call.name, value)
        case "log", [Fraction() as base, Fraction() as value]:
            return calculate("/", logarithm_of(value), logarithm_of(base))
        case name, [Fraction() | Quotient() as value] if name in _OF_ONE:
            return _of_number(call, value)
    return _opaque(call, values)


_OF_ONE = frozenset(["sqrt", "conj", "Re", "Im", "arcsin", "arccos", "arctan", "ln", "exp"])


def _collected(name: str, values: list[Value]) -> Value | None:
    """Return a set, a tuple, a list, an interval, a ratio or a matrix; None for other names."""
    match name, values:
        case "set", _:
            return FiniteSet(members=frozenset(map(member_of, values)))
        case "tuple", _:
            return Listed(tuple(values), "()")
        case (("list" | "matrix"), _):
            return as_matrix(Listed(tuple(values), "[]")) or Listed(tuple(values), "[]")
        case (("interval (]" | "interval [)"), _):
            return Listed(tuple(values), name[-2:])
        case "ratio", [Fraction() as first, *_] if first:
            return Listed(tuple(multiply(1 / first, value) for value in values), "::")
    return None


def _measured(name: str, value: Value) -> Value:
    """Return a determinant, a trace, the number of members, a length, or an absolute value."""
    matrix = as_matrix(value)
    if matrix is not None and name in ("abs", "norm") and 1 in (len(matrix.rows), len(matrix.rows[0])):
        value, matrix = Listed(tuple(cell for row in matrix.rows for cell in row)), None
    if matrix is not None and name == "norm":
        raise Unknown
    if matrix is not None and name != "tr":
        return determinant(matrix)
    if matrix is not None:
        return total([matrix.rows[at][at] for at in range(min(len(matrix.rows), len(matrix.rows[0])))])
    if isinstance(value, FiniteSet) and name == "abs":
        return Fraction(len(value.members))
    if isinstance(value, Listed) and name != "det":
        square = total([multiply(item, item) for item in value.items])
        if isinstance(square, Fraction | Quotient):
            return scalar(square_root(form_of(square)))
    if isinstance(value, Fraction) and name in ("abs", "norm"):
        return abs(value)
    if isinstance(value, Quotient) and name == "abs" and "i" in value.atoms() and not value.variables():
        return scalar(square_root(form_of(calculate("*", value, conjugate(value)))))
    raise Unknown


def conjugate(value: Scalar) -> Scalar:
    """Return the complex conjugate of a number."""
    if isinstance(value, Fraction):
        return value
    flip = [
        {term: -part if ("i", 1) in term else part for term, part in side.items()} for side in (value.top, value.bottom)
    ]
    return scalar(Quotient(top=flip[0], bottom=flip[1]))


def _of_number(call: Call, value: Scalar) -> Scalar:
    half = Fraction(1, 2)
    match call.name:
        case "sqrt":
            return scalar(square_root(form_of(value)))
        case "conj":
            return conjugate(value)
        case "Re":
            return calculate("*", half, calculate("+", value, conjugate(value)))
        case "Im":
            twice = calculate("-", value, conjugate(value))
            return calculate("/", twice, calculate("*", Fraction(2), named("i")))
        case "exp":
            return _exponential(value, call.args[0])
        case "ln":
            return logarithm_of(value) if isinstance(value, Fraction) else _logarithm(call.args[0])
    return scalar(inverse(call.name, form_of(value)))


def _logarithm(argument: Expression) -> Scalar:
    """Return ln e as 1 and ln e^x as x."""
    match argument:
        case Variable(name="ⅇ"):
            return Fraction(1)
        case Binary(op="^", left=Variable(name="ⅇ"), right=power):
            value = value_of(power, {})
            if isinstance(value, Fraction | Quotient):
                return value
    raise Unknown


def _opaque(call: Call, values: list[Value]) -> Value:
    """Keep a call of numbers as it stands, so that equal calls are equal; it proves no difference."""
    if call.name == "ambiguous" or not all(isinstance(value, Fraction | Quotient) for value in values):
        raise Unknown
    form = normal_form(call)
    if form is None:
        raise Unknown
    return form
