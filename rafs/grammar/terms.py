"""The syntax tree of an expression: frozen nodes, the only form in which mathematics leaves the reader."""

from collections.abc import Callable
from dataclasses import field, replace
from fractions import Fraction

from rafs.immutable import immutable, placed
from rafs.types import Span

_NOWHERE = Span(start=0, end=0)

Tree = list["str | Tree"]
"""Nested lists for the algebra worker: `["number", "1/2"]`, `["+", [...], [...]]`."""


NUMBER_SETS = "ℕℤℚℝℂ"
"""Names of the natural, whole, rational, real and complex numbers, each a part of the next."""
CONSTANTS = frozenset(["pi", "∞", "∅", "ⅇ", "ⅈ", *NUMBER_SETS])
"""Names with a value of their own; Euler's number and the imaginary unit have these once a reading has settled it."""
BINDING = frozenset(["sum", "product", "integral", "limit", "limit+", "limit-"])
"""Calls whose second argument is a name of their own."""


class Unknown(Exception):
    """A value outside of what is computed exactly, or over a cap."""


class Undefined(Exception):
    """There is no such value at all: 5/0."""


@placed
class Number:
    """A literal; `25%` has value 1/4 and `percent` set."""

    value: Fraction
    percent: bool = False
    unit: str = ""
    """Word that stands after it, or the currency before it."""
    measure: str = field(default="", compare=False)
    """All the words of its unit: `km per h`; empty where `unit` says it all."""
    decimals: int = 0
    """Digits after its decimal point."""
    spelled: bool = False
    continues: bool = False
    """Its digits go on: `0.142857...`."""
    span: Span = field(default=_NOWHERE, compare=False)


@placed
class Variable:
    """A name; `pi` is the only name with a value of its own."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)


@placed
class Unary:
    """`-`, `!` or `!!` applied to one operand."""

    op: str
    operand: "Expression"


@placed
class Binary:
    """`+`, `-`, `*`, `/`, `^` or `mod` between two operands."""

    op: str
    left: "Expression"
    right: "Expression"
    spoken: bool = field(default=False, compare=False)
    """Words tell it, which may group or order otherwise: `10 minus 3 times 2`."""


@immutable
class Call:
    """A named function, a collection, a binder, a time of day, a length in two units, or an opaque name.

    Functions: sqrt, gcd, log, sin, ... Collections: set, tuple, list, interval, matrix, ratio. Binders: sum, product,
    integral, derivative, limit. Others: `clock am`, compound, ambiguous.
    """

    name: str
    args: "tuple[Expression, ...]"


Expression = Number | Variable | Unary | Binary | Call
_LEAVES = (Number, Variable)


def walk(expression: Expression) -> list[Expression]:
    """Return every node, parents before children, left before right."""
    if isinstance(expression, _LEAVES):
        return [expression]
    nodes: list[Expression] = []
    pending: list[Expression] = [expression]
    while pending:
        node = pending.pop()
        nodes.append(node)
        if isinstance(node, Binary):
            pending += (node.right, node.left)
        elif isinstance(node, _LEAVES):
            continue
        elif isinstance(node, Unary):
            pending.append(node.operand)
        else:
            pending += reversed(node.args)
    return nodes


def calls(expression: Expression) -> list[Call]:
    """Return the calls in an expression, parents before children, left before right."""
    if isinstance(expression, _LEAVES):
        return []
    found: list[Call] = []
    pending: list[Expression] = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary):
            pending += (node.right, node.left)
        elif isinstance(node, Unary):
            pending.append(node.operand)
        elif isinstance(node, Call):
            found.append(node)
            pending += reversed(node.args)
    return found


def mapped(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return the expression with every node changed, leaves first."""
    match expression:
        case Unary():
            expression = replace(expression, operand=mapped(expression.operand, change))
        case Binary():
            expression = replace(
                expression, left=mapped(expression.left, change), right=mapped(expression.right, change)
            )
        case Call():
            expression = replace(expression, args=tuple(mapped(arg, change) for arg in expression.args))
    return change(expression)


def leaves(expression: Expression) -> list[Number | Variable]:
    """Return the literals and names, left to right."""
    if isinstance(expression, _LEAVES):
        return [expression]
    found: list[Number | Variable] = []
    pending: list[Expression] = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary):
            pending += (node.right, node.left)
        elif isinstance(node, _LEAVES):
            found.append(node)
        elif isinstance(node, Unary):
            pending.append(node.operand)
        else:
            pending += reversed(node.args)
    return found


def literal_of(expression: Expression | None) -> Number | None:
    """Return the literal that an expression is, with its sign; None for anything computed."""
    match expression:
        case Number():
            return expression
        case Unary(op="-", operand=Number() as inner):
            return replace(inner, value=-inner.value)
    return None


def variables(expression: Expression) -> frozenset[str]:
    """Return the names that have no value of their own and are not bound by a sum or an integral around them."""
    if isinstance(expression, Number):
        return _NO_NAMES
    found: set[str] = set()
    pending: list[Expression] = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary):
            pending += (node.left, node.right)
        elif isinstance(node, Number):
            continue
        elif isinstance(node, Variable):
            if node.name not in CONSTANTS:
                found.add(node.name)
        elif isinstance(node, Unary):
            pending.append(node.operand)
        elif (name := _bound_name(node)) is not None:
            found |= variables(node.args[0]) - {name}
            pending += node.args[2:]
        else:
            pending += node.args
    return frozenset(found) if found else _NO_NAMES


def _bound_name(call: Call) -> str | None:
    """Return the name that a sum, a limit or an integral with bounds has for itself."""
    if call.name not in BINDING or len(call.args) < (3 if call.name == "integral" else 2):
        return None
    name = call.args[1]
    return name.name if isinstance(name, Variable) else None


_NO_NAMES: frozenset[str] = frozenset()


DEGREE_WORDS = frozenset(["°", "degree", "degrees", "deg"])
_ANGLE_FREE = frozenset(["abs", "floor", "ceil", "sqrt", "arcsin", "arccos", "arctan"])
"""Functions of one argument for which degrees are a unit like any other."""


def in_degrees(expression: Expression) -> bool:
    """Say whether an angle is written in degrees; what stands inside of a function is no part of it."""
    match expression:
        case Number():
            return expression.unit in DEGREE_WORDS
        case Unary():
            return in_degrees(expression.operand)
        case Binary():
            return in_degrees(expression.left) or in_degrees(expression.right)
    return False


def to_tree(expression: Expression) -> Tree:
    """Return the expression as nested JSON lists, with exact numbers as text."""
    match expression:
        case Number():
            return ["number", str(expression.value)]
        case Variable():
            return ["variable", expression.name]
        case Unary():
            return [expression.op, to_tree(expression.operand)]
        case Binary():
            return [expression.op, to_tree(expression.left), to_tree(expression.right)]
        case Call(args=(arg,)) if expression.name not in _ANGLE_FREE and in_degrees(arg):
            return ["call", expression.name, ["*", to_tree(arg), ["/", ["variable", "pi"], ["number", "180"]]]]
        case Call():
            return ["call", expression.name, *(to_tree(arg) for arg in expression.args)]
