"""The syntax tree of an expression: frozen nodes, the only form in which mathematics leaves the reader."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from rafs.types import Span

_NOWHERE = Span(start=0, end=0)

Tree = list["str | Tree"]
"""Nested lists for the algebra worker: `["number", "1/2"]`, `["+", [...], [...]]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A literal; `25%` has value 1/4 and `percent` set."""

    value: Fraction
    percent: bool = False
    unit: str = ""
    """Word that stands after it, or the currency before it."""
    decimals: int = 0
    """Digits after its decimal point."""
    spelled: bool = False
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A name; `pi` is the only name with a value of its own."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    """`-`, `!` or `!!` applied to one operand."""

    op: str
    operand: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """`+`, `-`, `*`, `/`, `^` or `mod` between two operands."""

    op: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A named function: sqrt, root, abs, gcd, lcm, binom, min, max, floor, ceil, mean, log, or an opaque one."""

    name: str
    args: "tuple[Expression, ...]"


Expression = Number | Variable | Unary | Binary | Call


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield every node, parents before children, left before right."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        match node:
            case Unary():
                pending.append(node.operand)
            case Binary():
                pending.extend((node.right, node.left))
            case Call():
                pending.extend(reversed(node.args))


def leaves(expression: Expression) -> list[Number | Variable]:
    """Return the literals and names, left to right."""
    return [node for node in walk(expression) if isinstance(node, Number | Variable)]


def literal_of(expression: Expression | None) -> Number | None:
    """Return the literal that an expression is, with its sign; None for anything computed."""
    match expression:
        case Number():
            return expression
        case Unary(op="-", operand=Number() as inner):
            return replace(inner, value=-inner.value)
    return None


def variables(expression: Expression) -> frozenset[str]:
    """Return the names that have no value of their own."""
    return frozenset(node.name for node in walk(expression) if isinstance(node, Variable) and node.name != "pi")


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
        case Call():
            return ["call", expression.name, *(to_tree(arg) for arg in expression.args)]
