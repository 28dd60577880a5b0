"""Operations told as actions: `multiplying 12 by 5`, `adding 15 and 27`, `squaring 7`."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from rafs.grammar.cursor import Cursor, Unreadable
from rafs.grammar.phrase_words import is_share, read_operand, scaled, take_words, word_at
from rafs.grammar.terms import Binary, Expression, Number
from rafs.grammar.tokens import Kind

_WITH_TWO: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["adding", "add", "adds", "added"], "+"),
        **dict.fromkeys(["subtracting", "subtract", "subtracts", "deducting", "deduct", "taking", "take"], "-"),
        **dict.fromkeys(["multiplying", "multiply", "multiplies"], "*"),
        **dict.fromkeys(["dividing", "divide", "divides"], "/"),
        **dict.fromkeys(["increasing", "increase", "raising"], "up"),
        **dict.fromkeys(["decreasing", "decrease", "reducing", "reduce", "lowering"], "down"),
    }
)
_JOINED_BY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "+": frozenset(["and", "to", "with"]),
        "-": frozenset(["from"]),
        "*": frozenset(["by", "and", "with"]),
        "/": frozenset(["by"]),
        "up": frozenset(["by"]),
        "down": frozenset(["by"]),
    }
)
_WITH_ONE: Mapping[str, tuple[str, Fraction]] = MappingProxyType(
    {
        "squaring": ("^", Fraction(2)),
        "cubing": ("^", Fraction(3)),
        "doubling": ("*", Fraction(2)),
        "tripling": ("*", Fraction(3)),
        "quadrupling": ("*", Fraction(4)),
        "halving": ("*", Fraction(1, 2)),
    }
)
ACTIONS = frozenset([*_WITH_TWO, *_WITH_ONE])
"""Words with which an action begins."""


def starts_action(cursor: Cursor, ahead: int) -> bool:
    """Say whether an action on a number stands that many places ahead."""
    if word_at(cursor, ahead) not in ACTIONS:
        return False
    token = cursor.peek(ahead + 1)
    return token is not None and (
        token.kind in (Kind.NUMBER, Kind.OPEN, Kind.FUNCTION) or word_at(cursor, ahead + 1) in ("the", "away", "both")
    )


def read_action(cursor: Cursor) -> Expression:
    """Read the action that stands here.

    Raises:
        Unreadable: Its operands are none that this grammar reads.
    """
    word = cursor.take().text.lower()
    if word in _WITH_ONE:
        op, value = _WITH_ONE[word]
        return Binary(op=op, left=read_operand(cursor), right=Number(value=value, spelled=True))
    op = _WITH_TWO[word]
    if op == "-" and word_at(cursor, 0) == "away":
        cursor.take()
    first = read_operand(cursor)
    joiner = word_at(cursor, 0)
    if joiner not in _JOINED_BY[op] and not (op in "+*" and cursor.at(Kind.COMMA)):
        raise Unreadable
    if joiner == "to" and word_at(cursor, 1) == "the" and word_at(cursor, 2) == "power":
        raise Unreadable
    cursor.take()
    result = _on_two(cursor, op, joiner, first)
    if cursor.at(Kind.OPERATOR, "+", "-", "*", "/"):
        cursor.doubts.add("joined")  # `adding 5 and 1/2` is 5.5
    return result


def _on_two(cursor: Cursor, op: str, joiner: str, first: Expression) -> Expression:
    second = read_operand(cursor)
    if op == "-" or (op == "+" and joiner == "to"):
        return Binary(op=op, left=second, right=first)
    if op in ("up", "down"):
        if is_share(second):
            return scaled(first, second, up=op == "up")
        return Binary(op="+" if op == "up" else "-", left=first, right=second)
    result = Binary(op=op, left=first, right=second)
    while op in "+*" and (cursor.at(Kind.COMMA) or word_at(cursor, 0) == "and"):
        n_signs = 2 if cursor.at(Kind.COMMA) and word_at(cursor, 1) == "and" else 1
        following = cursor.peek(n_signs)
        if following is None or following.kind is not Kind.NUMBER:
            break
        take_words(cursor, n_signs)
        result = Binary(op=op, left=result, right=read_operand(cursor))
    return result
