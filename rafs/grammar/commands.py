r"""Reads the LaTeX commands with arguments: `\frac12`, `\sqrt[3]{8}`, `\binom{6}{2}`; and the roots `√2`, `∛8`."""

from fractions import Fraction

from rafs.grammar.cursor import NOTHING, Cursor, Unreadable, deepen
from rafs.grammar.terms import Binary, Call, Expression, Number, variables
from rafs.grammar.tokens import Kind

ROOTS = {"√": 2, "∛": 3, "∜": 4}
COMMANDS = frozenset(["frac", "binom", "sqrt", "‾", *ROOTS])
"""Signs that `read_command` reads."""


def read_command(cursor: Cursor) -> Expression:
    """Read a command at its name."""
    symbol = cursor.symbol()
    deepen(cursor)
    cursor.take()
    if symbol == "sqrt" and cursor.at(Kind.OPEN, "["):
        cursor.take()
        degree = cursor.sum()
        cursor.expect("]")
        expression: Expression = Call(name="root", args=(read_argument(cursor), degree))
    elif symbol in ("sqrt", "√"):
        expression = Call(name="sqrt", args=(read_argument(cursor),))
    elif symbol in ROOTS:
        expression = Call(name="root", args=(read_argument(cursor), Number(value=Fraction(ROOTS[symbol]))))
    elif symbol in ("frac", "binom"):
        top, bottom = read_argument(cursor), read_argument(cursor)
        frac = symbol == "frac"
        expression = Binary("/", top, bottom) if frac else Call(name="binom", args=(top, bottom))
    elif symbol == "‾":
        inside = read_argument(cursor)
        if not variables(inside):
            raise Unreadable  # digits that repeat, not a conjugate
        expression = Call(name="conj", args=(inside,))
    else:
        raise Unreadable
    cursor.depth -= 1
    return expression


def read_argument(cursor: Cursor) -> Expression:
    """Read an argument of a LaTeX command, an index or an exponent: a group in brackets, a number or a letter."""
    token = cursor.peek()
    if token is None:
        raise Unreadable
    if token.kind is Kind.NUMBER:
        return cursor.number()
    if token.kind is Kind.WORD and (len(token.text) == 1 or token.text == "pi" or token.text in cursor.names):
        return cursor.name()
    if token.kind is not Kind.OPEN:
        raise Unreadable
    opener = cursor.take().text
    cursor.closers.append(NOTHING)
    inner = cursor.sum()
    cursor.closers.pop()
    cursor.expect({"(": ")", "[": "]"}.get(opener, "}"))
    return inner
