r"""Reads the notations that bind a name: sums, products, integrals, derivatives, limits, and sums with an ellipsis."""

from fractions import Fraction

from rafs.grammar.commands import read_argument
from rafs.grammar.cursor import Cursor, Unreadable, deepen
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable, variables
from rafs.grammar.tokens import Kind
from rafs.types import Span

BINDERS = frozenset(["∑", "∏", "∫", "lim"])
_SERIES = {"∑": "sum", "∏": "product"}
MAX_LISTED = 6
"""Terms that are written out before an ellipsis."""
DIFFERENTIAL_REACH = 60
"""Tokens in which the `dx` of an integral is looked for."""


def read_binder(cursor: Cursor) -> Expression:
    """Read a sum, a product, an integral or a limit at its sign."""
    symbol = cursor.symbol()
    cursor.take()
    deepen(cursor)
    if symbol in _SERIES:
        expression = _series(cursor, _SERIES[symbol])
    elif symbol == "∫":
        expression = _integral(cursor)
    else:
        expression = _limit(cursor)
    cursor.depth -= 1
    if cursor.at(Kind.OPERATOR, "+", "-"):
        cursor.doubts.add("scope")  # what follows may still stand under the sign
    return expression


def _series(cursor: Cursor, name: str) -> Expression:
    cursor.expect("_")
    bracketed = cursor.symbol() in ("{", "(")
    if bracketed:
        cursor.take()
    index = cursor.take()
    if index.kind is not Kind.WORD or len(index.text) != 1:
        raise Unreadable
    cursor.expect("=")
    low = cursor.sum() if bracketed else read_argument(cursor)
    if bracketed:
        cursor.expect("}", ")")
    cursor.expect("^")
    high = read_argument(cursor)
    return Call(name=name, args=(cursor.product(), Variable(name=index.text), low, high))


def _integral(cursor: Cursor) -> Expression:
    bounds: dict[str, Expression] = {}
    while cursor.symbol() in ("_", "^") and len(bounds) < 2:
        sign = cursor.expect("_", "^")
        bounds[sign] = _bound(cursor)
    differential = _differential(cursor)
    cursor.closers.append(differential)
    body = Number(value=Fraction(1)) if cursor.closes() else cursor.sum()
    cursor.closers.pop()
    token = cursor.peek()
    cursor.expect(differential)
    assert token is not None
    args = (body, Variable(name=differential[1:], span=Span(start=token.start, end=token.end)))
    if len(bounds) == 1:
        raise Unreadable
    return Call(name="integral", args=(*args, bounds["_"], bounds["^"]) if bounds else args)


def _bound(cursor: Cursor) -> Expression:
    if cursor.symbol() == "-":
        cursor.take()
        return Unary(op="-", operand=read_argument(cursor))
    return read_argument(cursor)


def _differential(cursor: Cursor) -> str:
    """Return the `dx` that ends the integrand."""
    for ahead in range(DIFFERENTIAL_REACH):
        token = cursor.peek(ahead)
        if token is None or token.kind is Kind.RELATION:
            break
        if token.kind is Kind.WORD and len(token.text) == 2 and token.text[0] == "d" and token.text[1].isalpha():
            return token.text
    raise Unreadable


def _limit(cursor: Cursor) -> Expression:
    cursor.expect("_")
    cursor.expect("{", "(")
    name = cursor.take()
    if len(name.text) != 1:
        raise Unreadable
    if cursor.symbol() == "→" or cursor.at(Kind.BREAK):  # `parse_expression` leaves breaks out
        cursor.take()
    target = _target(cursor)
    side = ""
    if cursor.symbol() == "^":
        cursor.take()
        braced = cursor.symbol() == "{"
        if braced:
            cursor.take()
        side = cursor.expect("+", "-")
        if braced:
            cursor.expect("}")
    elif cursor.symbol() in ("+", "-"):
        side = cursor.expect("+", "-")
    cursor.expect("}", ")")
    return Call(name=f"limit{side}", args=(cursor.product(), Variable(name=name.text), target))


def _target(cursor: Cursor) -> Expression:
    """Read where a limit goes, without the sign above it that names a side: the 0 of `0^+`."""
    if cursor.symbol() == "-":
        cursor.take()
        return Unary(op="-", operand=_target(cursor))
    return cursor.sum() if cursor.symbol(1) != "^" else read_argument(cursor)


def at_derivative(cursor: Cursor) -> bool:
    r"""Say whether `d/dx` or `\frac{d}{dx}` stands here."""
    symbol = cursor.symbol()
    if symbol == "d":
        return cursor.symbol(1) == "/" and _is_differential(cursor.symbol(2))
    if symbol != "frac" or cursor.symbol(2) != "d":
        return False
    texts = [cursor.symbol(ahead) for ahead in range(7)]
    return texts[:5] == ["frac", "{", "d", "}", "{"] and _is_differential(texts[5]) and texts[6] == "}"


def _is_differential(text: str) -> bool:
    return len(text) == 2 and text[0] == "d" and text[1].isalpha()


def read_derivative(cursor: Cursor) -> Expression:
    """Read `d/dx` and what it is applied to."""
    fraction = cursor.symbol() == "frac"
    for _ in range(5 if fraction else 2):
        cursor.take()
    name = cursor.take().text[1:]
    if fraction:
        cursor.take()
    deepen(cursor)
    body = cursor.product()
    cursor.depth -= 1
    if cursor.at(Kind.OPERATOR, "+", "-"):
        cursor.doubts.add("scope")
    return Call(name="derivative", args=(body, Variable(name=name)))


def read_prime(cursor: Cursor, body: Expression) -> Expression:
    """Read `(x^2)'` behind its body; the body must have one name."""
    cursor.take()
    names = variables(body)
    if len(names) != 1:
        raise Unreadable
    return Call(name="derivative", args=(body, Variable(name=next(iter(names)))))


def at_ellipsis(cursor: Cursor) -> bool:
    """Say whether `+ ...` stands here."""
    return cursor.symbol() in ("+", "*") and cursor.symbol(1) == "..."


def read_ellipsis(cursor: Cursor, listed: Expression) -> Expression:
    """Read `+ ... + 10` behind the terms that are written out; `+ ...` alone goes on for ever."""
    sign = cursor.expect("+", "*")
    cursor.take()
    terms = _flattened(listed, sign)
    if not 2 <= len(terms) <= MAX_LISTED:
        raise Unreadable
    name = "sum on" if sign == "+" else "product on"
    if cursor.symbol() != sign:
        return Call(name=f"{name} for ever", args=tuple(terms))
    cursor.take()
    last = cursor.product() if sign == "+" else cursor.power()
    return Call(name=name, args=(*terms, last))


def _flattened(expression: Expression, sign: str) -> list[Expression]:
    terms: list[Expression] = []
    while isinstance(expression, Binary) and expression.op == sign and len(terms) < MAX_LISTED:
        terms.append(expression.right)
        expression = expression.left
    return [expression, *reversed(terms)]
