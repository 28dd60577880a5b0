"""Reads one operand: a number, a name, a bracket, a function, with what stands right behind it."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from string import ascii_letters

from rafs.grammar.brackets import OPENERS, opens, read_bracket
from rafs.grammar.calculus import BINDERS, at_derivative, read_binder, read_derivative, read_prime
from rafs.grammar.commands import COMMANDS, read_argument, read_command
from rafs.grammar.counted import GREEK, is_numbered, is_variable, skip_remark, starts_operand, with_unit
from rafs.grammar.cursor import ENDING, MEANT, Cursor, Unreadable, name_of
from rafs.grammar.functions import FUNCTION_NAMES, is_given, read_call, read_count, starts_call
from rafs.grammar.phrases import PHRASE_WORDS, SIGN_WORDS, read_phrase, starts_phrase
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary
from rafs.grammar.tokens import CLOSE, FUNCTION, NUMBER, OPEN, OPERATOR, WORD, Kind, Token

OPAQUE = frozenset("fghFGHPQ")
"""Letters that before a bracket name a function: `f(2)` is not a product."""
_CONSTANTS = frozenset("∅∞")
_WORDS = PHRASE_WORDS | SIGN_WORDS
_ARTICLES = ("the", "a", "an")
_FIRST_NAMES = frozenset([*FUNCTION_NAMES, *MEANT, *COMMANDS, *BINDERS, *GREEK, "subfactorial"])
_NO_NAMES = frozenset([*COMMANDS, *BINDERS, *OPENERS, *_CONSTANTS, "d", "subfactorial", "^", "_"])
"""What begins something else than a name, or may."""
PLAIN_LETTERS = frozenset(ascii_letters) - OPAQUE - set("aAICd")
"""Letters that begin nothing but a name, whatever stands behind them."""
_JOINING = frozenset("+*^")
"""Signs with which no operand goes on, as it may with those of `24-hour` and `60/tire`."""


def may_begin(tokens: Sequence[Token], position: int, names: frozenset[str]) -> bool:
    """Say whether an operand may begin with a word; with most words of a sentence none does, which this tells at once.

    Without it, finding that out took a third of the time of all parsing.
    """
    word = tokens[position].text
    if word in names or "_" in word:
        return True
    lowered = word.lower()
    if lowered in _ARTICLES and position + 1 < len(tokens):
        following = tokens[position + 1]
        if following.kind is WORD and following.spaced:
            return following.text.lower() in _WORDS
    if len(word) == 1 or word in _FIRST_NAMES or lowered in _WORDS or lowered in _ARTICLES:
        return True
    return word.startswith("log") or is_numbered(word)


def read_factor(cursor: Cursor) -> Expression:
    """Read an operand with its factorials, its percent sign and its unit."""
    operand = _primary(cursor)
    while True:
        token = cursor.peek()
        if token is None or token.kind in ENDING or (token.kind is OPERATOR and token.text in _JOINING):
            return operand
        if token.kind is OPERATOR and token.text in ("!", "!!"):
            operand = Unary(op=cursor.take().text, operand=operand)
        elif token.kind is OPERATOR and token.text == "%":
            if starts_operand(cursor, 1) and cursor.symbol(1) not in ("+", "-"):
                return operand
            cursor.take()
            operand = Binary(op="/", left=operand, right=Number(value=Fraction(100)))
            cursor.doubts.add("percent")
        elif cursor.symbol() == "'" and cursor.tokens[cursor.position - 1].kind is CLOSE:
            operand = read_prime(cursor, operand)
        elif token.kind is WORD and (count := read_count(cursor, operand)) is not None:
            operand = count
        elif not skip_remark(cursor):
            return with_unit(cursor, operand)


def _primary(cursor: Cursor) -> Expression:
    token = cursor.peek()
    if token is None:
        raise Unreadable
    if token.kind is NUMBER:
        return _number(cursor)
    if token.kind is WORD and token.text in PLAIN_LETTERS:
        return cursor.name()
    symbol = cursor.symbol()
    is_name = token.kind is WORD and symbol not in _NO_NAMES and not symbol.startswith("begin ")
    return _name(cursor) if is_name else _sign(cursor, token, symbol)


def _sign(cursor: Cursor, token: Token, symbol: str) -> Expression:
    """Read an operand that begins with a sign, or with a word that is more than a name."""
    if token.kind is Kind.CLOCK:
        return Call(name=f"clock {token.text}", args=(cursor.number(),))
    if at_derivative(cursor):
        return read_derivative(cursor)
    if symbol in COMMANDS:
        return read_command(cursor)
    if symbol in BINDERS:
        return read_binder(cursor)
    if symbol == "{" and cursor.symbol(1) == "}" and cursor.symbol(2) in ("^", "_"):
        cursor.take()  # nothing, which carries the raised number of `{}^6C_2`
        cursor.take()
        return _raised_count(cursor)
    if opens(cursor):
        return read_bracket(cursor)
    if symbol in _CONSTANTS:
        return replace(cursor.name(), name=symbol)
    if symbol == "subfactorial":
        cursor.take()
        return Call(name="subfactorial", args=(_primary(cursor),))
    if symbol in ("^", "_"):
        return _raised_count(cursor)
    if token.kind is WORD or starts_call(cursor, 0):
        return _name(cursor)
    raise Unreadable


def _raised_count(cursor: Cursor) -> Expression:
    """Read `^6C_2`, a count whose first number is raised."""
    cursor.take()
    top = read_argument(cursor)
    count = read_count(cursor, top)
    if count is None:
        raise Unreadable
    return count


def _number(cursor: Cursor) -> Expression:
    number = cursor.number()
    if cursor.at(FUNCTION, "frac") and number.value.denominator == 1 and not number.decimals:
        if at_derivative(cursor):
            return number
        part = read_command(cursor)
        if isinstance(part, Binary) and isinstance(part.left, Number) and isinstance(part.right, Number):
            if part.left.value < part.right.value:
                return Binary(op="+", left=number, right=part)
            raise Unreadable
        return Binary(op="*", left=number, right=part)
    return number


def _name(cursor: Cursor) -> Expression:
    if starts_phrase(cursor):
        return read_phrase(cursor)
    if starts_call(cursor, 0):
        return read_call(cursor)
    token, following = cursor.take(), cursor.peek()
    opened = following is not None and following.kind is OPEN and not following.spaced
    if not is_variable(cursor, token, following) or (opened and token.text in OPAQUE and not is_given(cursor, -1)):
        raise Unreadable
    if opened and token.text == "pi":
        cursor.doubts.add("pi of something")
    return name_of(token)
