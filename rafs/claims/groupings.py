"""Groupings that words leave open: `half of 10 plus 2`, `10 minus 3 times 2`, and the sign of `the difference of`."""

from fractions import Fraction

from rafs.grammar.expressions import evaluate
from rafs.grammar.terms import Binary, Call, Expression, Number, leaves, walk

MAX_OPERANDS = 6
"""Operands of one calculation that are grouped in every way: 42 ways for six."""
_SIGNS = frozenset(["+", "-", "*", "/"])


def spoken_values(expression: Expression) -> frozenset[Fraction]:
    """Return the values of a calculation told in words under every grouping; nothing where signs alone tell it."""
    if not any(_is_spoken(node) for node in walk(expression)):
        return frozenset()
    operands, signs = _in_order(expression)
    if len(operands) > MAX_OPERANDS:
        return frozenset()
    values = {(at, at + 1): _operand_values(operand) for at, operand in enumerate(operands)}
    for length in range(2, len(operands) + 1):
        for start in range(len(operands) - length + 1):
            end = start + length
            values[start, end] = {
                value
                for middle in range(start + 1, end)
                for left in values[start, middle]
                for right in values[middle, end]
                if (value := _calculate(*signs[middle - 1], left, right)) is not None
            }
    return frozenset(values[0, len(operands)])


def _is_spoken(node: Expression) -> bool:
    """Say whether words tell a step: `plus`, `the difference of`, or the `half of` and `twice` before an operand."""
    if not isinstance(node, Binary):
        return False
    return node.spoken or (node.op == "*" and isinstance(node.left, Number) and node.left.spelled)


def _in_order(expression: Expression) -> tuple[list[Expression], list[tuple[str, bool]]]:
    """Return the operands as they stand in the text, and between them the signs, with whether each is turned round."""
    if not isinstance(expression, Binary) or expression.op not in _SIGNS:
        return [expression], []
    first, last = leaves(expression.left), leaves(expression.right)
    turned = bool(first and last) and first[0].span.start > last[0].span.start and last[0].span.end > 0
    one, other = (expression.right, expression.left) if turned else (expression.left, expression.right)
    before, signs_before = _in_order(one)
    behind, signs_behind = _in_order(other)
    return before + behind, [*signs_before, (expression.op, turned), *signs_behind]


def _operand_values(operand: Expression) -> set[Fraction]:
    value = evaluate(operand)
    if value is None:
        return set()
    ordered = isinstance(operand, Call) and operand.name == "abs" and _is_spoken(operand.args[0])
    return {value, -value} if ordered else {value}


def _calculate(op: str, turned: bool, left: Fraction, right: Fraction) -> Fraction | None:
    if turned:
        left, right = right, left
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right if right else None
