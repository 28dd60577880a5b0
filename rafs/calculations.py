"""The operations in an expression, each in a form in which order, grouping and the names of unknowns do not count."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations

from rafs.grammar.expressions import evaluate, show
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable, literal_of, mapped, variables

MAX_RENAMED = 3
"""Unknowns of one equation that are renamed, in 6 ways at most; more keep their names."""
SHOWN_BITS = 200
"""Longer numbers are named by their hash, which is one of 2^61: nobody reads them."""
_INVERSE = {"+": "-", "*": "/"}
_NEUTRAL = {"+": 0, "*": 1}

Part = tuple[bool, Fraction]
"""Whether it is taken away or divided by, and its value."""


def operation_of(expression: Expression) -> str:
    """Return what an expression does: `+` for sums and differences, `*` for products and quotients, else its name.

    Empty for a number and a name.
    """
    match expression:
        case Number() | Variable():
            return ""
        case Unary(op="-"):
            return "" if literal_of(expression) else "+"
        case Binary(op="-"):
            return "+"
        case Binary(op="/"):
            return "*"
        case Unary() | Binary():
            return expression.op
        case Call():
            return expression.name


def operands_of(expression: Expression, kind: str) -> list[tuple[bool, Expression]]:
    """Return what a sum or product joins, left to right, with whether it is taken away or divided by."""
    if kind not in _INVERSE:
        match expression:
            case Unary():
                return [(False, expression.operand)]
            case Binary():
                return [(False, expression.left), (False, expression.right)]
            case Call():
                return [(False, arg) for arg in expression.args]
        return []
    found: list[tuple[bool, Expression]] = []
    pending = [(False, expression)]
    while pending:
        inverse, node = pending.pop()
        if isinstance(node, Binary) and node.op in (kind, _INVERSE[kind]):
            pending += [(inverse ^ (node.op != kind), node.right), (inverse, node.left)]
        elif kind == "+" and isinstance(node, Unary) and node.op == "-" and not isinstance(node.operand, Number):
            pending.append((not inverse, node.operand))
        else:
            found.append((inverse, node))
    return found


def operations(expression: Expression) -> list[Expression]:
    """Return every operation of an expression, the whole first; a sum within a sum is no operation of its own."""
    found, pending = [], [expression]
    while pending:
        node = pending.pop()
        if kind := operation_of(node):
            found.append(node)
            pending += [operand for _, operand in reversed(operands_of(node, kind))]
    return found


def name_calculation(kind: str, parts: Iterable[Part]) -> str:
    """Write one operation on known numbers, so that `8 / 2 * 3`, `3 * 8 / 2` and `0.5 * 3 * 8` read the same.

    Sums and products are sorted, without zeros and ones; a fraction is a factor and a divisor.
    """
    if kind == "+":
        names = sorted(name_number(-value if inverse else value) for inverse, value in parts if value)
    elif kind == "*":
        names = sorted(name for inverse, value in parts for name in _factors(inverse, value))
    else:
        names = [name_number(value) for _, value in parts]
    return f"({' '.join((kind, *names))})"


def _factors(inverse: bool, value: Fraction) -> list[str]:
    ends = [value.numerator, value.denominator]
    top, bottom = reversed(ends) if inverse else ends
    return [name_number(Fraction(top))] * (top != 1) + [f"/{name_number(Fraction(bottom))}"] * (bottom != 1)


def name_number(value: Fraction) -> str:
    """Write a number so that equal ones read the same."""
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    return str(value) if bits <= SHOWN_BITS else f"#{hash(value)}"


def values_of(expression: Expression, kind: str, bindings: Mapping[str, Fraction]) -> list[Part] | None:
    """Return what an operation joins as numbers; None where one of them is not known."""
    parts = [(inverse, evaluate(operand, bindings)) for inverse, operand in operands_of(expression, kind)]
    known = [(inverse, value) for inverse, value in parts if value is not None]
    return known if len(known) == len(parts) else None


def name_equation(sides: tuple[Expression, Expression], relation: str, kept: Set[str] = frozenset()) -> str:
    """Write an equation with unknowns, under the names that make it come first in the alphabet, but for those kept.

    Its sides may be swapped where the relation has no direction; else the lesser stands left.
    """
    names = sorted((variables(sides[0]) | variables(sides[1])) - kept)
    renamings = (
        [dict(zip(names, order, strict=True)) for order in permutations([f"v{i}" for i in range(len(names))])]
        if len(names) <= MAX_RENAMED
        else [{}]
    )
    written = []
    for renaming in renamings:
        left, right = (canonical_form(mapped(side, partial(_renamed, renaming))) for side in sides)
        if relation in ("=", "≈", "!="):
            left, right = sorted((left, right))
        elif relation.startswith(">"):
            left, right = right, left
        written.append(f"{left} {relation.replace('≈', '=').replace('>', '<')} {right}")
    return min(written)


def _renamed(renaming: Mapping[str, str], node: Expression) -> Expression:
    return replace(node, name=renaming.get(node.name, node.name)) if isinstance(node, Variable) else node


def canonical_form(expression: Expression) -> str:
    """Write an expression so that the order and grouping of terms and factors do not matter; units are left out."""
    if isinstance(expression, Variable):
        return expression.name
    if (literal := literal_of(expression)) is not None:
        return name_number(literal.value)
    kind = operation_of(expression)
    parts = [
        (_INVERSE[kind] if inverse else "") + canonical_form(operand)
        for inverse, operand in operands_of(expression, kind)
        if not (kind in _NEUTRAL and isinstance(operand, Number) and operand.value == _NEUTRAL[kind])
    ]
    return f"({' '.join((kind, *(sorted(parts) if kind in _INVERSE else parts)))})"


def write(expression: Expression) -> str:
    """Write an expression as people do, for those who read the evidence."""
    match expression:
        case Number():
            return show(expression.value)
        case Variable():
            return expression.name
        case Unary():
            return (
                f"-{_inner(expression.operand)}"
                if expression.op == "-"
                else f"{_inner(expression.operand)}{expression.op}"
            )
        case Binary():
            return f"{_inner(expression.left)} {expression.op} {_inner(expression.right)}"
        case Call():
            return f"{expression.name}({', '.join(map(write, expression.args))})"


def _inner(expression: Expression) -> str:
    text = write(expression)
    return f"({text})" if isinstance(expression, Binary) else text
