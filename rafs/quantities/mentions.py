"""Which numbers of a derivation stand in prose, and which of those conclude something."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from rafs.grammar.tokens import Kind, Token
from rafs.types import Claim, Span


def numbers_in_prose(tokens: Mapping[int, Sequence[Token]], claims: Iterable[Claim]) -> deque[tuple[int, int]]:
    """Return (step, position) of the numbers that stand in no claim and number no step, in order."""
    spans: dict[int, list[Span]] = {}
    for claim in claims:
        spans.setdefault(claim.step, []).append(claim.span)
    found: deque[tuple[int, int]] = deque()
    for step, pieces in tokens.items():
        inside = iter(sorted(spans.get(step, ()), key=lambda span: span.start))
        following, end = next(inside, None), -1
        for position in [position for position, token in enumerate(pieces) if token.kind is Kind.NUMBER]:
            start = pieces[position].start
            while following is not None and following.start <= start:
                end, following = max(end, following.end), next(inside, None)
            if start >= end and not is_numbering(pieces, position):
                found.append((step, position))
    return found


def is_numbering(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a number only counts steps or items: `Step 3:`, `2.` at the start of a line."""
    before = tokens[position - 1] if position else None
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if before is None or before.text == "\n":
        return after is not None and (after.text in (".", ":", ")") or after.kind is Kind.CLOSE)
    return before.kind is Kind.WORD and before.text.lower() in _NUMBERED


_NUMBERED = frozenset("step part case equation day question".split())
_AROUND = frozenset("total totals altogether left remain remains remaining overall".split())
"""Words on either side of a number that make it a new result, though the problem may give it too."""
_AHEAD = _AROUND | frozenset(
    "so therefore thus hence means leaves leaving now finally which result sum difference".split()
)
"""Words that announce a result behind them; `a fee of $5, so she has` announces nothing of the 5."""
WORDS_AROUND = 12
"""Tokens on either side of a number that are searched for them."""


def concludes(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a word beside the number, in its sentence, announces a result."""
    before = reversed(tokens[max(0, position - WORDS_AROUND) : position])
    behind = tokens[position + 1 : position + WORDS_AROUND]
    return _announces(before, _AHEAD) or _announces(behind, _AROUND)


def _announces(tokens: Iterable[Token], words: frozenset[str]) -> bool:
    for token in tokens:
        kind = token.kind
        if kind is Kind.WORD:
            if token.text.lower() in words:
                return True
        elif kind is Kind.BREAK and token.text in (".", "\n", "?", ";"):
            return False
    return False
