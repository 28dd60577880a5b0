"""Finds the expression that ends before a relation, among the words of the sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from rafs.grammar.counted import FUNCTIONS, NOT_UNITS
from rafs.grammar.parsing import NAMED_OPERATIONS, Parsed, parse_at
from rafs.grammar.terms import Number
from rafs.grammar.tokens import Kind, Token

MAX_SEGMENT = 160
"""Tokens read back from a relation; longer left sides are not arithmetic that anybody wrote by hand."""
MAX_STARTS = 10
"""Places at which a left side is tried to begin, counted from the relation backwards."""
MAX_NAMED = 40
"""Tokens of a named operation and its list."""
_SEPARATORS = NOT_UNITS - {"than", "minus", "plus", "to", "into", "of", "or", "mod", "remainder"}
"""Words after which a new left side may begin though another number stands before them."""
_JOINED = frozenset("sum difference product average mean ratio between median quotient".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftSide:
    """An expression before a relation."""

    parsed: Parsed
    doubts: frozenset[str]
    """Why a contradiction found with it would not be certain."""


def find_left(
    tokens: Sequence[Token], end: int, names: frozenset[str], *, across_breaks: bool = True
) -> LeftSide | None:
    """Return the longest expression that ends right before token `end`.

    Args:
        tokens: Tokens of a text.
        end: Index of the relation, or of the words that lead to it.
        names: Words of several letters that are variables here.
        across_breaks: Whether a line end may stand between the expression and the relation.
    """
    while across_breaks and end > 0 and tokens[end - 1].kind is Kind.BREAK and tokens[end - 1].text in ("", "\n"):
        end -= 1
    if (named := _named_left(tokens, end, names)) is not None:
        return named
    start = segment_start(tokens, end)
    for index in _starts(tokens, start, end):
        for spaced_product in (False, True):
            parsed = parse_at(tokens, index, names, spaced_product=spaced_product)
            if parsed is not None and parsed.end == end:
                doubts = parsed.doubts | _doubts_before(tokens, start, index)
                extra = {"spaced product"} if spaced_product else set[str]()
                if index > start and isinstance(parsed.expression, Number):
                    extra.add("label")
                return LeftSide(parsed=parsed, doubts=doubts | extra)
    return None


def _named_left(tokens: Sequence[Token], end: int, names: frozenset[str]) -> LeftSide | None:
    """Return `product of 6 and 7` where that ends at `end`; its commas do not end it."""
    for index in range(end - 1, max(-1, end - MAX_NAMED), -1):
        token = tokens[index]
        if token.kind in (Kind.BREAK, Kind.RELATION, Kind.PLACEHOLDER, Kind.JUNK):
            return None
        if token.text.lower() in NAMED_OPERATIONS:
            parsed = parse_at(tokens, index, names, spaced_product=False)
            return LeftSide(parsed=parsed, doubts=parsed.doubts) if parsed is not None and parsed.end == end else None
    return None


def segment_start(tokens: Sequence[Token], end: int) -> int:
    """Go back from `end` to the nearest break, relation or comma outside brackets."""
    depth, index = 0, end
    while index > max(0, end - MAX_SEGMENT):
        token = tokens[index - 1]
        if token.kind is Kind.CLOSE:
            depth += 1
        elif token.kind is Kind.OPEN:
            if depth == 0:
                break
            depth -= 1
        elif token.kind in (Kind.BREAK, Kind.RELATION, Kind.PLACEHOLDER) or (token.kind is Kind.COMMA and depth == 0):
            break
        index -= 1
    return index


def _starts(tokens: Sequence[Token], start: int, end: int) -> list[int]:
    """Return the places where an expression may begin: at the start, or after a word that is none of its own."""
    places = []
    for index in range(start, end):
        token = tokens[index]
        before = tokens[index - 1] if index > start else None
        if token.kind in (Kind.CLOSE, Kind.COMMA, Kind.JUNK) or (
            token.kind is Kind.OPERATOR and token.text not in "-+"
        ):
            continue
        if before is None or (before.kind is Kind.WORD and token.spaced and not _is_name(tokens, index - 1)):
            if token.kind is Kind.OPERATOR and before is not None:
                continue
            places.append(index)
    return places[-MAX_STARTS:]


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Say whether the word there belongs to mathematics, so that a left side cannot begin behind it."""
    text = tokens[index].text
    return text in FUNCTIONS or text in ("pi", "mod", "rem") or (len(text) == 1 and text not in "aAI°")


def _doubts_before(tokens: Sequence[Token], start: int, index: int) -> frozenset[str]:
    """Say why the words before a left side may belong to it."""
    if index == start:
        return frozenset()
    words = tokens[start:index]
    texts = [token.text.lower() for token in words if token.kind is Kind.WORD]
    doubts = set[str]()
    ends = [position for position, text in enumerate(texts) if text in _SEPARATORS - {"and", "or"}]
    if _JOINED & set(texts[ends[-1] if ends else 0 :]):
        doubts.add("joined")
    for token in reversed(words):
        if token.kind is Kind.WORD and token.text.lower() in _SEPARATORS:
            break
        if token.kind is not Kind.WORD:
            doubts.add("unread")
            break
    return frozenset(doubts)
