"""A precedence cursor over tokens; it reads the longest expression at a place and says where it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rafs.grammar.counted import (
    FUNCTION_NAMES,
    FUNCTIONS,
    is_known_letter,
    is_variable,
    skip_remark,
    starts_operand,
    with_unit,
)
from rafs.grammar.cursor import Cursor, Unreadable, deepen
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable
from rafs.grammar.tokens import Kind, Token
from rafs.types import Span

NAMED_OPERATIONS = {
    "sum": "+",
    "product": "*",
    "average": "mean",
    "mean": "mean",
    "difference": "-",
    "quotient": "/",
}
"""Words that name an operation on the list behind them."""
OPAQUE = frozenset("fghFGHPQ")
"""Letters that before a bracket name a function: `f(2)` is not a product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """An expression, its first token, the one after it, and why a contradiction with it would not be certain."""

    expression: Expression
    start: int
    end: int
    doubts: frozenset[str]


def parse_at(
    tokens: Sequence[Token],
    position: int,
    names: frozenset[str] = frozenset(),
    *,
    spaced_product: bool = True,
) -> Parsed | None:
    """Read the longest expression that starts at a token.

    Args:
        tokens: Tokens of a text.
        position: Index of the first token to read.
        names: Words of several letters that are variables here.
        spaced_product: Whether `3 (4)` multiplies; in running text it is more often a remark in brackets.

    Returns:
        The expression and the index of the token after it (units included), or None.
    """
    cursor = Cursor(tokens=tokens, names=names, spaced_product=spaced_product, position=position)
    try:
        expression = _sum(cursor)
    except Unreadable:
        return None
    return Parsed(expression=expression, start=position, end=cursor.position, doubts=frozenset(cursor.doubts))


def _sum(cursor: Cursor) -> Expression:
    deepen(cursor)
    left = _product(cursor)
    while cursor.at(Kind.OPERATOR, "+", "-") and starts_operand(cursor, 1):
        op = cursor.take().text
        right = _product(cursor)
        if _is_percent(right) != _is_percent(left):
            cursor.doubts.add("percent")
        left = Binary(op=op, left=left, right=right)
    cursor.depth -= 1
    return left


def _is_percent(expression: Expression) -> bool:
    match expression:
        case Number():
            return expression.percent
        case Unary():
            return _is_percent(expression.operand)
        case Binary():
            return expression.op in "+-" and _is_percent(expression.right)
    return False


def _product(cursor: Cursor) -> Expression:
    left = _signed(cursor)
    divided = False
    while True:
        if cursor.at(Kind.OPERATOR, "*", "/") and starts_operand(cursor, 1):
            sign = cursor.take()
            left = Binary(op=sign.text, left=left, right=_signed(cursor))
            divided = sign.text == "/"
            behind = cursor.peek()
            if divided and sign.spaced and cursor.at(Kind.OPERATOR, "/") and behind and not behind.spaced:
                left = Call(name="ambiguous", args=(left,))  # `6 / 3/4` is 8 to most who write it so
        elif cursor.at(Kind.WORD, "mod") and starts_operand(cursor, 1):
            cursor.take()
            left = Binary(op="mod", left=left, right=_signed(cursor))
        elif cursor.at(Kind.WORD, "of") and starts_operand(cursor, 1) and _is_share(left):
            cursor.take()
            left = Binary(op="*", left=left, right=_signed(cursor))
        elif _starts_implicit(cursor):
            right = _power(cursor)
            product = Binary(op="*", left=left, right=right)
            left = Call(name="ambiguous", args=(product,)) if divided else product
        else:
            return left


def _is_share(expression: Expression) -> bool:
    """Say whether `of` multiplies after it: a percentage, a fraction, or a number word such as `half`."""
    match expression:
        case Number():
            return expression.percent or expression.value.denominator > 1
        case Binary():
            return expression.op == "/"
    return False


def _signed(cursor: Cursor) -> Expression:
    if cursor.at(Kind.OPERATOR, "-"):
        cursor.take()
        return Unary(op="-", operand=_signed_again(cursor))
    if cursor.at(Kind.OPERATOR, "+"):
        cursor.take()
        return _signed_again(cursor)
    return _power(cursor)


def _signed_again(cursor: Cursor) -> Expression:
    deepen(cursor)
    operand = _signed(cursor)
    cursor.depth -= 1
    return operand


def _power(cursor: Cursor) -> Expression:
    base = _postfix(cursor)
    if not cursor.at(Kind.OPERATOR, "^"):
        return base
    cursor.take()
    return Binary(op="^", left=base, right=_signed_again(cursor))


def _postfix(cursor: Cursor) -> Expression:
    operand = _primary(cursor)
    while True:
        if cursor.at(Kind.OPERATOR, "!", "!!"):
            operand = Unary(op=cursor.take().text, operand=operand)
        elif cursor.at(Kind.OPERATOR, "%"):
            cursor.take()
            operand = Binary(op="/", left=operand, right=Number(value=Fraction(100)))
            cursor.doubts.add("percent")
        elif not skip_remark(cursor):
            return with_unit(cursor, operand)


def _primary(cursor: Cursor) -> Expression:
    token = cursor.peek()
    if token is None:
        raise Unreadable
    match token.kind:
        case Kind.NUMBER:
            return _number(cursor)
        case Kind.OPEN:
            cursor.take()
            inner = _sum(cursor)
            if not cursor.at(Kind.CLOSE):
                raise Unreadable
            cursor.take()
            return inner
        case Kind.FUNCTION:
            return _latex_call(cursor)
        case Kind.WORD:
            return _name(cursor)
    raise Unreadable


def _number(cursor: Cursor) -> Expression:
    token = cursor.take()
    span = Span(start=token.start, end=token.end)
    number = Number(
        value=token.value, percent=token.percent, unit=token.currency, decimals=token.decimals,
        spelled=token.spelled, span=span,
    )  # fmt: skip
    if cursor.at(Kind.FUNCTION, "frac") and token.value.denominator == 1 and not token.decimals:
        part = _latex_call(cursor)
        if isinstance(part, Binary) and isinstance(part.left, Number) and isinstance(part.right, Number):
            if part.left.value < part.right.value:
                return Binary(op="+", left=number, right=part)
            raise Unreadable
        return Binary(op="*", left=number, right=part)
    return number


def _argument(cursor: Cursor) -> Expression:
    """Read one argument of a LaTeX command: a braced group, a digit or a letter."""
    if cursor.at(Kind.NUMBER) or cursor.at(Kind.WORD):
        return _number(cursor) if cursor.at(Kind.NUMBER) else _name(cursor)
    if not cursor.at(Kind.OPEN):
        raise Unreadable
    return _primary(cursor)


def _latex_call(cursor: Cursor) -> Expression:
    name = cursor.take().text
    if name == "sqrt" and cursor.at(Kind.OPEN, "["):
        return _root(cursor)
    if name == "sqrt":
        return Call(name="sqrt", args=(_argument(cursor),))
    if name not in ("frac", "binom"):
        raise Unreadable
    deepen(cursor)
    top, bottom = _argument(cursor), _argument(cursor)
    cursor.depth -= 1
    return Binary(op="/", left=top, right=bottom) if name == "frac" else Call(name="binom", args=(top, bottom))


def _root(cursor: Cursor) -> Expression:
    degree = _primary(cursor)
    return Call(name="root", args=(_argument(cursor), degree))


def _named_operation(cursor: Cursor) -> Expression:
    """Read `the product of 6 and 7`, `the average of 4, 6 and 8`."""
    name = NAMED_OPERATIONS[cursor.take().text.lower()]
    if not cursor.at(Kind.WORD, "of", "between"):
        raise Unreadable
    cursor.take()
    deepen(cursor)
    items = [_sum(cursor)]
    while cursor.at(Kind.COMMA) or cursor.at(Kind.WORD, "and"):
        cursor.take()
        if cursor.at(Kind.WORD, "and"):
            cursor.take()
        items.append(_sum(cursor))
    cursor.depth -= 1
    if len(items) < 2 or (name in "-/" and len(items) > 2):
        raise Unreadable
    if name == "mean":
        return Call(name=name, args=tuple(items))
    result = items[0]
    for item in items[1:]:
        result = Binary(op=name, left=result, right=item)
    return Call(name="abs", args=(result,)) if name == "-" else result


def _name(cursor: Cursor) -> Expression:
    start = cursor.peek()
    if start is not None and start.text.lower() in NAMED_OPERATIONS:
        return _named_operation(cursor)
    token, following = cursor.take(), cursor.peek()
    opens = following is not None and following.kind is Kind.OPEN and not following.spaced
    name = FUNCTION_NAMES.get(token.text, token.text)
    if name in FUNCTIONS and opens:
        return Call(name=name, args=_call_args(cursor))
    if not is_variable(cursor, token, following) or (opens and name in OPAQUE):
        raise Unreadable
    if opens and name == "pi":
        cursor.doubts.add("pi of something")
    return Variable(name=name, span=Span(start=token.start, end=token.end))


def _call_args(cursor: Cursor) -> tuple[Expression, ...]:
    cursor.take()
    deepen(cursor)
    args = [_sum(cursor)]
    while cursor.at(Kind.COMMA):
        cursor.take()
        args.append(_sum(cursor))
    if not cursor.at(Kind.CLOSE):
        raise Unreadable
    cursor.take()
    cursor.depth -= 1
    return tuple(args)


def _starts_implicit(cursor: Cursor) -> bool:
    r"""Say whether the next token multiplies without a sign: `2x`, `2(3 + 4)`, `2\\sqrt{3}`."""
    token = cursor.peek()
    if token is None or cursor.position == cursor.unit_end:
        return False
    if token.kind is Kind.OPEN:
        return token.text in "([{" and (cursor.spaced_product or not token.spaced)
    if token.kind is Kind.FUNCTION:
        return token.text != "pmod"
    if token.kind is not Kind.WORD or (token.spaced and not is_known_letter(cursor, token)):
        return False
    return starts_operand(cursor, 0)
