"""Values that are no rational number: surds, complex numbers, sets, intervals, tuples, matrices. All exact."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product as pairs
from itertools import starmap

from rafs.grammar.expressions import arithmetic
from rafs.grammar.polynomials import Quotient, TooLarge, combine, constant, raised, rational_of, same_quotient
from rafs.grammar.reals import Region
from rafs.grammar.terms import Undefined, Unknown

Scalar = Fraction | Quotient
"""A rational number, or a form with roots, pi, i and names."""
SCALARS = (Quotient, Fraction)
"""The same for `isinstance`, a form first: `Fraction` is an abstract class's, and slow to tell from anything else."""
_RATIONAL = frozenset(["+", "-", "*", "/", "mod"])
MAX_MEMBERS = 400
"""Members of a set, cells of a matrix."""
MAX_SIZE = 5
"""Rows of a matrix whose determinant or inverse is computed."""
MAX_MATRIX_POWER = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteSet:
    """A set by its members; a form is a member by its text, which is unique."""

    members: "frozenset[Fraction | str | FiniteSet | Listed]"

    @property
    def has_names(self) -> bool:
        """Say whether a member is known by a name only, so that two of them may be one."""
        return any(isinstance(member, str) for member in self.members)


@dataclass(frozen=True, slots=True)
class Listed:
    """Values in order and the brackets around them: a vector, a point, or the ends of an interval."""

    items: "tuple[Value, ...]"
    brackets: str = "()"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of equal length."""

    rows: tuple[tuple[Scalar, ...], ...]


@dataclass(frozen=True, slots=True)
class Infinite:
    """Plus or minus infinity, as the end of an interval; nothing is computed with it."""

    sign: int


@dataclass(frozen=True, slots=True)
class NumberSet:
    """All numbers of a kind, such as ℤ."""

    name: str


Value = Fraction | Quotient | FiniteSet | Listed | Matrix | Region | Infinite | NumberSet


def scalar(form: Quotient) -> Scalar:
    """Return a rational number where the form is one."""
    value = rational_of(form)
    return form if value is None else value


def form_of(value: Scalar) -> Quotient:
    """Return a scalar as a form."""
    return value if isinstance(value, Quotient) else constant(value)


def calculate(op: str, a: Scalar, b: Scalar) -> Scalar:
    """Return `a op b` for numbers; raises `Unknown` over a cap, `Undefined` for a division by zero."""
    if op in ("/", "mod") and b == 0:
        raise Undefined
    if not (isinstance(a, Quotient) or isinstance(b, Quotient)) and op in _RATIONAL:
        return arithmetic(op, a, b)
    if op == "^" and a == 0 and not (isinstance(b, Fraction) and b > 0):
        raise Unknown
    try:
        return scalar(raised(form_of(a), form_of(b)) if op == "^" else combine(op, form_of(a), form_of(b)))
    except TooLarge as error:
        raise Unknown from error


def same(a: Value, b: Value) -> bool | None:
    """Say whether two values are equal; None where a name or a cap hides it, or where they are of different kinds."""
    match a, b:
        case ((Quotient() | Fraction()), (Quotient() | Fraction())):
            if isinstance(a, Quotient) or isinstance(b, Quotient):
                return same_quotient(form_of(a), form_of(b))
            return a == b
        case FiniteSet(), FiniteSet():
            return a.members == b.members
        case Matrix(), Matrix():
            if [len(row) for row in a.rows] != [len(row) for row in b.rows]:
                return False
            return _all_same(
                [(x, y) for one, other in zip(a.rows, b.rows, strict=True) for x, y in zip(one, other, strict=True)]
            )
        case Listed(), Listed():
            if len(a.items) != len(b.items):
                return False
            return _all_same(list(zip(a.items, b.items, strict=True))) if a.brackets == b.brackets else None
        case Region(), Region():
            return a.parts == b.parts
        case NumberSet(), NumberSet():
            return a == b
        case (NumberSet(), FiniteSet()) | (FiniteSet(), NumberSet()):
            return False
    return None


def _all_same(couples: "list[tuple[Value, Value]]") -> bool | None:
    found = list(starmap(same, couples))
    return False if False in found else None if None in found else True


def add(op: str, a: Value, b: Value) -> Value:
    """Add or subtract two values of one kind."""
    match a, b:
        case ((Quotient() | Fraction()), (Quotient() | Fraction())):
            return calculate(op, a, b)
        case FiniteSet(), FiniteSet() if op == "-":
            return FiniteSet(members=a.members - b.members)
        case Matrix(), Matrix() if len(a.rows) == len(b.rows) and len(a.rows[0]) == len(b.rows[0]):
            cells = [
                [calculate(op, x, y) for x, y in zip(*rows, strict=True)] for rows in zip(a.rows, b.rows, strict=True)
            ]
            return Matrix(tuple(map(tuple, cells)))
        case Matrix(), Matrix():
            raise Undefined
        case Listed(), Listed() if len(a.items) == len(b.items) and a.brackets == b.brackets:
            return Listed(tuple(add(op, x, y) for x, y in zip(a.items, b.items, strict=True)), a.brackets)
    raise Unknown


def multiply(a: Value, b: Value) -> Value:
    """Multiply numbers, matrices, a number and a list; two vectors give their dot product, two sets their pairs."""
    match a, b:
        case ((Quotient() | Fraction()), (Quotient() | Fraction())):
            return calculate("*", a, b)
        case ((Quotient() | Fraction()), Matrix()):
            return Matrix(tuple(tuple(calculate("*", a, cell) for cell in row) for row in b.rows))
        case ((Quotient() | Fraction()), Listed()):
            return Listed(tuple(multiply(a, item) for item in b.items), b.brackets)
        case ((Matrix() | Listed()), (Quotient() | Fraction())):
            return multiply(b, a)
        case Matrix(), Matrix() if len(a.rows[0]) == len(b.rows[0]) == 1 and len(a.rows) == len(b.rows) > 1:
            return _dot(*(tuple(row[0] for row in column.rows) for column in (a, b)))
        case Matrix(), Matrix():
            return _matrix_product(a, b)
        case FiniteSet(), FiniteSet() if len(a.members) * len(b.members) <= MAX_MEMBERS:
            couples = (Listed((_value(x), _value(y))) for x, y in pairs(a.members, b.members))
            return FiniteSet(members=frozenset(couples))
        case Listed(), Listed() if len(a.items) == len(b.items) and a.brackets == b.brackets:
            return total([multiply(x, y) for x, y in zip(a.items, b.items, strict=True)])
    raise Unknown


def _value(member: "Fraction | str | FiniteSet | Listed") -> Value:
    if isinstance(member, str):
        raise Unknown
    return member


def cross(a: Listed, b: Listed) -> Listed:
    """Return the cross product of two vectors of three."""
    x, y = a.items, b.items
    places = ((1, 2), (2, 0), (0, 1))
    return Listed(tuple(add("-", multiply(x[i], y[j]), multiply(x[j], y[i])) for i, j in places), a.brackets)


def total(values: list[Value]) -> Value:
    """Add the values up."""
    result: Value = values[0]
    for value in values[1:]:
        result = add("+", result, value)
    return result


def _matrix_product(a: Matrix, b: Matrix) -> Matrix:
    if len(a.rows[0]) != len(b.rows):
        raise Undefined
    columns = list(zip(*b.rows, strict=True))
    return Matrix(tuple(tuple(_dot(row, column) for column in columns) for row in a.rows))


def _dot(row: tuple[Scalar, ...], column: tuple[Scalar, ...]) -> Scalar:
    result: Scalar = Fraction(0)
    for x, y in zip(row, column, strict=True):
        result = calculate("+", result, calculate("*", x, y))
    return result


def transposed(a: Matrix) -> Matrix:
    """Return rows as columns."""
    return Matrix(tuple(zip(*a.rows, strict=True)))


def determinant(a: Matrix) -> Scalar:
    """Return the determinant, by its first row; raises `Undefined` for a matrix that is not square."""
    size = len(a.rows)
    if size != len(a.rows[0]):
        raise Undefined
    if size > MAX_SIZE:
        raise Unknown
    if size == 1:
        return a.rows[0][0]
    result: Scalar = Fraction(0)
    for index, cell in enumerate(a.rows[0]):
        term = calculate("*", cell, determinant(_minor(a, 0, index)))
        result = calculate("+" if index % 2 == 0 else "-", result, term)
    return result


def _minor(a: Matrix, row: int, column: int) -> Matrix:
    return Matrix(tuple(cells[:column] + cells[column + 1 :] for at, cells in enumerate(a.rows) if at != row))


def matrix_power(a: Matrix, power: Fraction) -> Matrix:
    """Return a whole power of a square matrix, the inverse for -1."""
    size = len(a.rows)
    if power.denominator != 1 or size != len(a.rows[0]) or abs(power) > MAX_MATRIX_POWER:
        raise Unknown
    if power < 0:
        a = _inverse(a)
    result = Matrix(tuple(tuple(Fraction(row == column) for column in range(size)) for row in range(size)))
    for _ in range(abs(int(power))):
        result = _matrix_product(result, a)
    return result


def _inverse(a: Matrix) -> Matrix:
    divisor, size = determinant(a), len(a.rows)
    if divisor == 0:
        raise Undefined
    if size == 1:
        return Matrix(((calculate("/", Fraction(1), divisor),),))
    cells = [
        [
            calculate(
                "/", calculate("*", Fraction((-1) ** (row + column)), determinant(_minor(a, column, row))), divisor
            )
            for column in range(size)
        ]
        for row in range(size)
    ]
    return Matrix(tuple(map(tuple, cells)))
