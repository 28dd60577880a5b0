"""Reading a chain of thought: atomic steps that tile its text, the statement of the answer apart."""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from rafs.answers.extraction import choose_answer
from rafs.answers.statements import Statement, read_statements
from rafs.claims.links import VALUE_REACH, is_calculation, stands_in_claim
from rafs.grammar.notation import read_notation
from rafs.splitting.segments import split_spans
from rafs.splitting.step_kinds import Numerals, classify_step
from rafs.types import ANSWER_PLACEHOLDER, COVERED_PLACEHOLDER, Span, Step, Trace

_OWN = re.compile(re.escape(ANSWER_PLACEHOLDER))
_MAX_LEAD = 12
"""Characters from a relation sign to its number: blanks, a currency, an opening bracket."""
_RELATION_END = re.compile(
    r"(?:[=≈<>≤≥≠≡＝＜＞]|[等大小][于於]|\\(?:approx|equiv|leq?|geq?|neq?|lt|gt)|\bmod|\\[pb]?mod)[\s$€£\\({*_`]*[-−–－]?"
    r"(?:US|(?:USD|EUR|GBP|CHF|INR|Rs\.?)(?=\s))?[\s$€£¥￥₹\\({]*\Z"
)


def read_trace(problem: str, text: str | Sequence[str], stated: str | None = None) -> Trace:
    """Split a chain of thought into steps and set the statement of its answer apart.

    Everything but `Trace.answer` is decided on the text with each statement's value replaced by
    `ANSWER_PLACEHOLDER`, so another answer of the same kind changes no step, no kind and no blind text.

    The answer is `stated` where that is given; else the last marked statement (box, `####`, label, phrase); else
    the number in the closing sentence, which is replaced in the blind text too, unless it is the right side of an
    equation or another part of a claim: `so 6 * 7 = 42` is the derivation itself, and must be checked, in a box too. A
    placeholder that the writer put there is made another word. Nothing inside `<think>` is the answer, yet marked
    statements are replaced there as well; the tags are in no blind text, nor is the white space around a step. The
    steps of a text are its segments. The steps of a list are its items one for one, blank ones too, with
    a line break added to the span of each but the last.

    Args:
        problem: The problem.
        text: The chain of thought, or the caller's own steps.
        stated: The answer the caller sent in a field of its own.
    """
    items = [text] if isinstance(text, str) else [item + "\n" for item in text[:-1]] + list(text[-1:])
    whole = "".join(items)
    found = read_statements(whole, problem)
    guessed = [one.start for one in found.final if one.source == "last_number"]
    hidden = [one for one in found.hidden if not _is_derived_there(whole, one, guessed=one.start in guessed)]
    cover = _Cover.of(whole, [(one.start, one.end) for one in hidden], found.tags)
    spans = cover.segments() if isinstance(text, str) else _item_spans(items)
    steps: list[Step] = []
    known = Numerals(problem)
    for start, end in spans:
        blind = cover.blind(start, end)
        kind = classify_step(blind, known, guessed=any(start <= at < end for at in guessed))
        known.add(blind)
        span = Span(start=start, end=end)
        steps.append(Step(index=len(steps), span=span, text=whole[start:end], blind_text=blind, kind=kind))
    answer = choose_answer(found.final, None if stated is None else read_notation([problem, whole]).in_english(stated))
    return Trace(problem=problem, text=whole, steps=tuple(steps), answer=answer)


def _is_derived_there(text: str, one: Statement, *, guessed: bool) -> bool:
    """Say whether a statement is a piece of the derivation: a guessed one in a claim, a boxed calculation."""
    start, end = one.start, one.end
    if not guessed:
        written = text[start:end].partition("{")[2].removesuffix("}") if one.source == "boxed" else one.text
        return is_calculation(written)
    if _RELATION_END.search(text[max(0, start - _MAX_LEAD) : start]) is not None:
        return True
    return stands_in_claim(text[max(0, start - VALUE_REACH) : start], text[start:end], text[end : end + VALUE_REACH])


def _item_spans(items: Sequence[str]) -> list[tuple[int, int]]:
    """Return the span of every item of the caller's list; none when all are blank."""
    if not any(item.strip() for item in items):
        return []
    return list(pairwise(accumulate(map(len, items), initial=0)))


@dataclass(frozen=True, slots=True)
class _Cover:
    """A text and the sorted, disjoint pieces of it that are replaced before anything looks at its steps."""

    text: str
    pieces: tuple[tuple[int, int, str], ...]

    @classmethod
    def of(cls, text: str, hidden: Sequence[tuple[int, int]], tags: Sequence[tuple[int, int]]) -> "_Cover":
        """Cover statements with the placeholder, tags with a line break, and the placeholders already there."""
        wanted = [(start, end, ANSWER_PLACEHOLDER) for start, end in hidden] + [(*tag, "\n") for tag in tags]
        pieces: list[tuple[int, int, str]] = []
        at = 0
        for piece in sorted([*wanted, (len(text), len(text), "")]):
            if piece[0] >= at:
                pieces += [(*own.span(), COVERED_PLACEHOLDER) for own in _OWN.finditer(text, at, piece[0])]
                pieces.append(piece)
                at = piece[1]
        return cls(text, tuple(pieces[:-1]))

    def blind(self, start: int, end: int) -> str:
        """Return text[start:end] with the covered pieces replaced, and no white space around it."""
        parts: list[str] = []
        first = bisect.bisect_right(self.pieces, start, key=lambda piece: piece[1])
        for index in range(first, len(self.pieces)):  # a slice would copy all that follow, for every step
            begin, stop, cover = self.pieces[index]
            if begin >= end:
                break
            parts += [self.text[start : max(start, begin)], cover]
            start = min(stop, end)
        return "".join([*parts, self.text[start:end]]).strip()

    def segments(self) -> list[tuple[int, int]]:
        """Return the segments of the covered text as spans of the text; a cover is never cut."""
        parts: list[str] = []
        behind: list[tuple[int, int]] = [(0, 0)]  # (offset in the covered text, same offset in the text)
        length = at = 0
        for start, end, cover in self.pieces:
            parts += [self.text[at:start], cover]
            length += start - at + len(cover)
            at = end
            behind.append((length, at))
        covered = "".join([*parts, self.text[at:]])

        def original(offset: int) -> int:
            known, same = behind[bisect.bisect_right(behind, (offset, len(self.text))) - 1]
            return same + offset - known

        cuts = split_spans(covered)
        return list(pairwise([original(start) if start else 0 for start, _ in cuts] + [len(self.text)])) if cuts else []
