"""Changes told in words: `fell from 50 to 40, a decrease of 20 %`, `a 25 % rise from 40 to 50`."""

from collections.abc import Sequence

from rafs.claims.relations import Link
from rafs.claims.right_sides import is_steered, span_of
from rafs.grammar.cursor import number_of
from rafs.grammar.expressions import evaluate
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.phrase_words import change
from rafs.grammar.terms import Binary, Expression, Number, Unary, variables
from rafs.grammar.tokens import Kind, Token
from rafs.types import Span

_UP = frozenset(
    "increase increased increases rise rose risen gain gained growth grew jump jumped raise raised climbed up".split()
)
_DOWN = frozenset(
    "decrease decreased decreases drop dropped fall fell fallen reduction reduced decline declined loss lost dip "
    "discount down shrank".split()
)
_EITHER = frozenset(["change", "changed", "difference"])
_NOUNS = frozenset(
    "increase rise gain growth jump raise climb decrease drop fall reduction decline loss dip discount change".split()
)
_FILLERS = frozenset(
    "which that this is was a an the for or by of with representing giving meaning means corresponds to percent "
    "percentage about so it exactly total overall".split()
)
_REACH = 8
"""Tokens around `from 50 to 40` in which the size of the change is looked for."""


def read_change(tokens: Sequence[Token], index: int, names: frozenset[str]) -> Link | None:
    """Return what is said of the change whose `from` stands at a token; None where its size is not told."""
    if tokens[index].text.lower() != "from":
        return None
    before = _number(tokens, index + 1, names)
    if before is None or before.end >= len(tokens) or tokens[before.end].text.lower() != "to":
        return None
    after = _number(tokens, before.end + 1, names)
    told = None if after is None else _told_after(tokens, after.end) or _told_before(tokens, index)
    if after is None or told is None:
        return None
    size, kind = told
    left, doubts = _meant(kind, before.expression, after.expression, size)
    start = span_of(tokens, before).start
    return Link(
        relation="=",
        left=left,
        right=size,
        left_span=Span(start=start, end=span_of(tokens, after).end),
        right_span=size.span,
        doubts=doubts | before.doubts | after.doubts,
        in_words=True,
        names=variables(left),
    )


def _number(tokens: Sequence[Token], start: int, names: frozenset[str]) -> Parsed | None:
    parsed = parse_at(tokens, start, names, spaced_product=False) if start < len(tokens) else None
    return parsed if parsed is not None and isinstance(parsed.expression, Number | Unary) else None


def _kind(word: str) -> str:
    return "increase" if word in _UP else "decrease" if word in _DOWN else "either" if word in _EITHER else ""


def _told_after(tokens: Sequence[Token], end: int) -> tuple[Number, str] | None:
    """Read `, a decrease of 20 %`, `, which is a 20 % decrease`."""
    size, kind = None, ""
    for position in range(end, min(end + _REACH, len(tokens))):
        token, word = tokens[position], tokens[position].text.lower()
        if token.kind is Kind.NUMBER and size is None and not is_steered(tokens, position + 1):
            size = number_of(token)
        elif word in _NOUNS:
            kind = _kind(word)
        elif token.kind is not Kind.COMMA and word not in _FILLERS:
            break
        if size is not None and kind:
            return size, kind
    return None


def _told_before(tokens: Sequence[Token], index: int) -> tuple[Number, str] | None:
    """Read `rose by 25 %`, `a 25 % increase`, `an increase of 25 %` before `from`."""
    size, kind = None, ""
    for position in range(index - 1, max(-1, index - 5), -1):
        token, word = tokens[position], tokens[position].text.lower()
        if token.kind is Kind.NUMBER and size is None and token.percent:
            size = number_of(token)
        elif _kind(word) and not kind:
            kind = _kind(word)
        elif word not in _FILLERS:
            break
    return (size, kind) if size is not None and kind else None


def _meant(kind: str, before: Expression, after: Expression, size: Number) -> tuple[Expression, frozenset[str]]:
    """Return the change as a share of what was, or as a difference where the size is none of a share."""
    share = change(kind, before, after)
    assert isinstance(share, Binary)
    plain = not size.percent
    in_points = isinstance(before, Number) and before.percent
    if plain and evaluate(share) == size.value:
        return share, frozenset()
    if plain or (in_points and evaluate(share.left) == size.value):
        return share.left, frozenset(["share or difference"]) if size.value < 1 else frozenset()
    return share, frozenset(["points"]) if in_points else frozenset()
