"""The small pieces of values in words: matching words, articles, operands, lists, and changes by a share."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from rafs.grammar.cursor import Cursor, Unreadable
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary
from rafs.grammar.tokens import CLOSE, COMMA, DIGIT_COMMA, JUNK, NUMBER, OPEN, OPERATOR, WORD
from rafs.types import Span

ARTICLES = frozenset(["the", "a", "an", "its", "these", "those", "that", "this"])
"""Words that change nothing before an operand."""
_COLLECTIONS = frozenset("numbers values integers terms data set list scores digits dataset points".split())
"""Words that may stand between `of` and the list that they announce."""
SHARES: Mapping[str, int] = MappingProxyType(
    {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
)
"""Shares that stand behind an article: `a third`."""
MAX_ITEMS = 60


def word_at(cursor: Cursor, ahead: int) -> str:
    """Return the word that many places ahead in small letters; "" where none stands."""
    index = cursor.position + ahead
    if index >= len(cursor.tokens) or cursor.tokens[index].kind is not WORD:
        return ""
    return cursor.tokens[index].text.lower()


def find_words(cursor: Cursor, ahead: int, table: Mapping[str, str], longest: int) -> tuple[str, int]:
    """Return what the longest entry of `table` that stands there means, and its number of words; ("", 0) for none."""
    words: list[str] = []
    while len(words) < longest and (word := word_at(cursor, ahead + len(words)) or _percent_at(cursor, ahead, words)):
        words.append(word)
    for n_words in range(len(words), 0, -1):
        if (meaning := table.get(" ".join(words[:n_words]))) is not None:
            return meaning, n_words
    return "", 0


def _percent_at(cursor: Cursor, ahead: int, words: list[str]) -> str:
    """Return `%` where the phrase begins with that sign, as in `the % increase from 40 to 50`."""
    token = cursor.peek(ahead)
    return "%" if not words and token is not None and token.kind is OPERATOR and token.text == "%" else ""


def take_words(cursor: Cursor, n_words: int) -> None:
    """Step over that many tokens."""
    for _ in range(n_words):
        cursor.take()


def skip_article(cursor: Cursor) -> None:
    """Step over an article."""
    if word_at(cursor, 0) in ARTICLES:
        cursor.take()


def number_follows(cursor: Cursor, ahead: int) -> bool:
    """Say whether a number stands that many places ahead."""
    token = cursor.peek(ahead)
    return token is not None and token.kind is NUMBER


def read_operand(cursor: Cursor) -> Expression:
    """Read one factor, behind its article and its sign, or `a third`."""
    if word_at(cursor, 0) in ("a", "one") and (parts := SHARES.get(word_at(cursor, 1))) is not None:
        first, last = cursor.take(), cursor.take()
        return Number(value=Fraction(1, parts), spelled=True, span=Span(start=first.start, end=last.end))
    skip_article(cursor)
    if cursor.at(OPERATOR, "-") and number_follows(cursor, 1):
        cursor.take()
        return Unary(op="-", operand=cursor.power())
    return cursor.power()


def list_items(cursor: Cursor) -> list[Expression]:
    """Read `4, 6 and 8`, `the numbers 4, 6, 8`, `{4, 6, 8}`; at least two.

    Raises:
        Unreadable: No list stands here, or its first number counts the others: `of the two numbers, 4 and 5`.
    """
    skip_article(cursor)
    if word_at(cursor, 0) in _COLLECTIONS:
        cursor.take()
        if word_at(cursor, 0) == "of":
            cursor.take()
    before = cursor.position
    if cursor.at(OPEN):
        cursor.take()
        items = _separated(cursor)
        if len(items) > 1 and cursor.at(CLOSE):
            cursor.take()
            return items
        cursor.position = before
    items = _separated(cursor)
    first = items[0]
    if len(items) < 2 or (isinstance(first, Number) and first.unit in _COLLECTIONS):
        raise Unreadable
    return items


def _separated(cursor: Cursor) -> list[Expression]:
    items = [_item(cursor)]
    while cursor.at(COMMA) or word_at(cursor, 0) in ("and", "to") or cursor.at(JUNK, DIGIT_COMMA):
        if cursor.at(JUNK):
            cursor.doubts.add("digit comma")
        cursor.take()
        if word_at(cursor, 0) == "and":
            cursor.take()
        items.append(_item(cursor))
        if len(items) > MAX_ITEMS:
            raise Unreadable
    return items


def _item(cursor: Cursor) -> Expression:
    """Read an item; one that is a sum or product without brackets may as well end the list before its sign."""
    start = cursor.position
    item = cursor.sum()
    bracketed = cursor.tokens[start].kind is OPEN and cursor.tokens[cursor.position - 1].kind is CLOSE
    if isinstance(item, Binary) and item.op in "+-*" and not bracketed:
        cursor.doubts.add("joined")
    return item


def is_share(expression: Expression) -> bool:
    """Say whether a change by it is one by a part of the whole: `20 %`, `half`."""
    return isinstance(expression, Number) and (
        expression.percent or (expression.spelled and expression.value.denominator > 1)
    )


def scaled(whole: Expression, share: Expression, *, up: bool) -> Expression:
    """Return the whole after a change by a share of it."""
    factor = Binary(op="+" if up else "-", left=Number(value=Fraction(1)), right=share)
    return Binary(op="*", left=whole, right=factor)


def change(kind: str, before: Expression, after: Expression) -> Expression:
    """Return a change as a share of what was before; positive where it goes the way that its name says."""
    up, down = Binary(op="-", left=after, right=before), Binary(op="-", left=before, right=after)
    moved: Expression = {"increase": up, "decrease": down}.get(kind) or Call(name="abs", args=(up,))
    return Binary(op="/", left=moved, right=before)
