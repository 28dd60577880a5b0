r"""Reads a named function and what it is applied to: `gcd(12, 18)`, `\log_2 8`, `\sin^2 30^\circ`, `6C2`."""

import re
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType

from rafs.grammar.commands import read_argument
from rafs.grammar.cursor import Cursor, Unreadable, deepen
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable, literal_of
from rafs.grammar.tokens import Kind

_SAME = (
    "sqrt abs gcd lcm binom perm floor ceil min max mean log ln lg exp root factorial subfactorial det tr Re Im arg "
    "conj sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh"
).split()
FUNCTION_NAMES = MappingProxyType(
    {name: name for name in _SAME}
    | {written: name for name in _SAME if len(name) > 2 for written in (name.capitalize(), name.upper())}
    | dict.fromkeys(["binomial", "choose", "C", "nCr", "comb", "combinations", "Binom", "Choose"], "binom")
    | dict.fromkeys(["P", "nPr", "permutations", "perms"], "perm")
    | dict.fromkeys(["GCD", "gcf", "GCF", "hcf", "HCF"], "gcd")
    | {"LCM": "lcm", "SQRT": "sqrt", "ABS": "abs", "MIN": "min", "MAX": "max"}
    | {"average": "mean", "avg": "mean", "ceiling": "ceil", "fact": "factorial", "cbrt": "cbrt", "trace": "tr"}
    | {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "cosec": "csc", "Log": "log"}
)
"""How functions are written, each with the name that the tree gives it."""
TRIGONOMETRIC = frozenset("sin cos tan cot sec csc".split())
INVERSE = MappingProxyType({"sin": "arcsin", "cos": "arccos", "tan": "arctan"})
LOGARITHMS = frozenset("log ln lg".split())
BARE = (
    TRIGONOMETRIC | frozenset(INVERSE.values()) | LOGARITHMS | {"det", "exp", "sinh", "cosh", "tanh", "Re", "Im", "arg"}
)
"""Functions that are applied without brackets too: `sin x`, `ln 2`."""
_OF_SEVERAL = frozenset(["gcd", "lcm", "min", "max"])
_BASED = re.compile(r"log(?:_?\{?(\d{1,6})\}?|_([a-z]))")
_COUNTED = re.compile(r"([CP])_?\{?(\d{1,4})\}?")


def function_name(text: str) -> str | None:
    """Return what the tree calls the function of that spelling; None for any other word."""
    if text.startswith("log") and _BASED.fullmatch(text):
        return "log"
    return FUNCTION_NAMES.get(text)


def starts_call(cursor: Cursor, ahead: int) -> bool:
    """Say whether a function with its argument stands that many places ahead."""
    name, following = function_name(cursor.symbol(ahead)), cursor.peek(ahead + 1)
    if name is None or following is None or is_given(cursor, ahead):
        return False
    if following.kind is Kind.OPEN:
        return not following.spaced or name in BARE
    return name in BARE and (
        following.kind in (Kind.NUMBER, Kind.FUNCTION)
        or cursor.symbol(ahead + 1) in ("^", "_", "|", "begin", "-")
        or (following.kind is Kind.WORD and (len(following.text) == 1 or following.text == "pi"))
        or function_name(cursor.symbol(ahead + 1)) in BARE
    )


GIVEN_REACH = 120
"""Tokens before a letter in which it may have been given a value."""


def is_given(cursor: Cursor, ahead: int) -> bool:
    """Say whether a letter that may be a function has been given a value: `P = 100` before `P(1 + r)`."""
    place = cursor.position + ahead
    token = cursor.tokens[place]
    if len(token.text) > 1:
        return False
    if token.text in cursor.names:
        return True
    before = [one.text for one in cursor.tokens[max(0, place - GIVEN_REACH) : place]]
    return "=" in before and (token.text, "=") in pairwise(before)


def read_call(cursor: Cursor) -> Expression:
    """Read a function at its name, with its base, its exponent and its arguments."""
    text = cursor.symbol()
    name = function_name(text)
    if name is None:
        raise Unreadable
    cursor.take()
    deepen(cursor)
    base, power = _base(cursor, text), None
    if name in BARE and cursor.symbol() == "^":
        cursor.take()
        power = _exponent(cursor)
    if base is None:
        base = _base(cursor, "")
    args = read_arguments(cursor) if cursor.at(Kind.OPEN, "(", "[", "{") else (_bare_argument(cursor),)
    cursor.depth -= 1
    return _applied(name, base, power, args)


def _applied(name: str, base: Expression | None, power: Expression | None, args: tuple[Expression, ...]) -> Expression:
    if base is not None:
        if name != "log" or len(args) != 1:
            raise Unreadable
        args = (base, *args)
    elif name in LOGARITHMS and len(args) != 1:
        raise Unreadable  # `log(2, 8)` and `log(8, 2)` are both written
    if power == Unary(op="-", operand=Number(value=Fraction(1))):
        if name not in INVERSE:
            raise Unreadable
        return Call(name=INVERSE[name], args=args)
    if name in _OF_SEVERAL and len(args) == 1:
        raise Unreadable  # `max(1,200)`, where the comma may part two numbers
    call = Call(name="root", args=(*args, Number(value=Fraction(3)))) if name == "cbrt" else Call(name=name, args=args)
    return call if power is None else Binary(op="^", left=call, right=power)


def _base(cursor: Cursor, text: str) -> Expression | None:
    """Read the base of a logarithm, which the name holds (`log_2`, `log2`) or a subscript behind it."""
    found = _BASED.fullmatch(text)
    if found:
        digits, letter = found.groups()
        return Variable(name=letter) if letter else Number(value=Fraction(int(digits)))
    if cursor.symbol() != "_":
        return None
    cursor.take()
    return read_argument(cursor)


def _exponent(cursor: Cursor) -> Expression:
    """Read the exponent of a function: the 2 of `sin^2 x`, the -1 of `sin^{-1}(x)`."""
    if cursor.symbol() == "-":
        cursor.take()
        return Unary(op="-", operand=read_argument(cursor))
    power = read_argument(cursor)
    literal = literal_of(power)
    return Unary(op="-", operand=Number(value=-literal.value)) if literal is not None and literal.value < 0 else power


def read_arguments(cursor: Cursor) -> tuple[Expression, ...]:
    """Read `(a, b, c)`, or one argument in braces."""
    cursor.take()
    deepen(cursor)
    args = [cursor.sum()]
    while cursor.symbol() == ",":
        cursor.take()
        args.append(cursor.sum())
    if not cursor.at(Kind.CLOSE):
        raise Unreadable
    cursor.take()
    cursor.depth -= 1
    return tuple(args)


def _bare_argument(cursor: Cursor) -> Expression:
    """Read `30°` of `sin 30°` and `2x` of `sin 2x`: factors that touch, and a fraction of pi."""
    if cursor.symbol() == "-":
        cursor.take()
        return Unary(op="-", operand=_bare_argument(cursor))
    argument = cursor.power()
    while _touches(cursor):
        argument = Binary(op="*", left=argument, right=cursor.power())
    slash = cursor.peek()
    if cursor.at(Kind.OPERATOR, "/") and slash is not None and not slash.spaced:
        following = cursor.peek(1)
        if following is not None and following.kind is Kind.NUMBER and not following.spaced:
            cursor.take()
            cursor.doubts.add("slash")  # `sin pi/6` may be (sin pi)/6 to somebody
            argument = Binary(op="/", left=argument, right=cursor.power())
    return argument


def _touches(cursor: Cursor) -> bool:
    """Say whether the next token goes on the bare argument of a function: `2x`, `2 pi`."""
    token = cursor.peek()
    if token is None or token.kind is not Kind.WORD or cursor.position == cursor.unit_end or cursor.closes():
        return False
    return token.text == "pi" or (len(token.text) == 1 and token.text != "°" and not token.spaced)


def read_count(cursor: Cursor, top: Expression) -> Expression | None:
    """Read `C2` behind the 6 of `6C2`, `C_2` behind that of `^6C_2`, `C(2)` never; None where no count stands."""
    token = cursor.peek()
    if token is None or token.kind is not Kind.WORD or not isinstance(top, Number) or top.unit:
        return None
    name = {"C": "binom", "P": "perm"}
    found = _COUNTED.fullmatch(token.text)
    if found:
        cursor.take()
        return Call(name=name[found.group(1)], args=(top, Number(value=Fraction(int(found.group(2))))))
    following = cursor.peek(1)
    if token.text == "choose" and following is not None and following.kind is Kind.NUMBER:
        cursor.take()
        return Call(name="binom", args=(top, cursor.number()))
    if token.text not in name or following is None:
        return None
    if following.kind is Kind.NUMBER and not following.spaced:
        cursor.take()
        return Call(name=name[token.text], args=(top, cursor.number()))
    if cursor.symbol(1) == "_":
        cursor.take()
        cursor.take()
        return Call(name=name[token.text], args=(top, read_argument(cursor)))
    return None
