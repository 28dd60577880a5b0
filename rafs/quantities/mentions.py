"""Which numbers of a derivation stand in prose, and which of those conclude something."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from rafs.grammar.tokens import BREAK, CLOSE, NUMBER, WORD, Token
from rafs.quantities.restating import Restating
from rafs.types import Claim, Span


class InProse(NamedTuple):
    """A number in prose."""

    step: int
    position: int
    """Index of its token."""
    token: Token
    restates: bool
    """It tells what the result before it, in its sentence, is made of."""


def numbers_in_prose(tokens: Mapping[int, Sequence[Token]], claims: Iterable[Claim]) -> deque[InProse]:
    """Return the numbers that stand in no claim and number no step, in order."""
    spans: dict[int, list[Span]] = {}
    for claim in claims:
        spans.setdefault(claim.step, []).append(claim.span)
    found: deque[InProse] = deque()
    for step, pieces in tokens.items():
        inside = iter(sorted(spans.get(step, ()), key=lambda span: span.start))
        following, end, restating = next(inside, None), -1, Restating(tokens=pieces)
        for position in [position for position, token in enumerate(pieces) if token.kind is NUMBER]:
            start = pieces[position].start
            while following is not None and following.start <= start:
                end, following = max(end, following.end), next(inside, None)
            if start < end:
                restating.pass_result(position)
            elif not is_numbering(pieces, position):
                found.append(InProse(step, position, pieces[position], restating.restates(position)))
    return found


def take_before(pending: deque[InProse], step: int, start: int) -> Sequence[InProse]:
    """Take the numbers that stand before a place out of the pending ones."""
    taken: list[InProse] = []
    while pending and (pending[0].step, pending[0].token.start) < (step, start):
        taken.append(pending.popleft())
    return taken


def told_first(mentions: Sequence[InProse], is_known: Callable[[Fraction], bool]) -> Iterator[InProse]:
    """Yield numbers in the order of thought: the known ones that restate what a result is made of before it."""
    at = 0
    while at < len(mentions):
        result, end = mentions[at], at + 1
        if not result.restates:
            while end < len(mentions) and mentions[end].restates and mentions[end].step == result.step:
                end += 1
        if end == at + 1:  # as for most
            yield result
        else:
            behind = mentions[at + 1 : end]
            yield from (one for one in behind if is_known(one.token.value))
            yield result
            yield from (one for one in behind if not is_known(one.token.value))
        at = end


def is_numbering(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a number only counts steps or items: `Step 3:`, `2.` at the start of a line."""
    before = tokens[position - 1] if position else None
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if before is None or before.text == "\n":
        return after is not None and (after.text in (".", ":", ")") or after.kind is CLOSE)
    return before.kind is WORD and before.text.lower() in _NUMBERED


_NUMBERED = frozenset("step part case equation day question".split())
_AROUND = frozenset("total totals altogether left remain remains remaining overall".split())
"""Words on either side of a number that make it a new result, though the problem may give it too."""
_AHEAD = _AROUND | frozenset(
    "so therefore thus hence means leaves leaving totaling totalling now finally which result sum difference".split()
)
"""Words that announce a result behind them; `a fee of $5, so she has` announces nothing of the 5."""
WORDS_AROUND = 12
"""Tokens on either side of a number that are searched for them."""


def concludes(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a word beside the number, in its sentence, announces a result; `finally times it by 10` does not."""
    if position and tokens[position - 1].text.lower() == "by":
        return False
    before = tokens[max(0, position - WORDS_AROUND) : position]
    behind = tokens[position + 1 : position + WORDS_AROUND]
    return _announces(before[::-1], _AHEAD) or _announces(behind, _AROUND)


def _announces(tokens: Sequence[Token], words: frozenset[str]) -> bool:
    for token in tokens:
        kind = token.kind
        if kind is WORD:
            if token.text.lower() in words:
                return True
        elif kind is BREAK and token.text in _ENDS:
            return False
    return False


_ENDS = frozenset([".", "\n", "?", ";"])
