"""Patterns that are slow to look for, each behind a quick look for the signs without which it cannot match."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence

_NONE: tuple[re.Match[str], ...] = ()


class GatedPattern:
    """A pattern, and a few fixed strings of which every match of it holds one.

    Python tries a pattern that begins with a word boundary, or with letters of either case, at every place of a text.
    A fixed string is found a hundred times faster, and most texts hold none of them, or hold the first near their end.
    """

    __slots__ = ("ascii_signs", "core", "lead", "pattern", "reach", "signs")

    def __init__(
        self,
        pattern: str,
        signs: Iterable[str],
        *,
        lead: int | None = None,
        reach: int | None = None,
        core: str = "",
        flags: int = re.IGNORECASE,
    ) -> None:
        """Compile a pattern.

        Args:
            pattern: A regular expression.
            signs: In small letters; a match holds at least one, in letters of any size.
            lead: Characters of a match before its first sign, at most; None where there is no such bound.
            reach: Characters from its first sign to its end and what is looked at there, at most: with both bounds a
                text is searched around its signs alone.
            core: With both bounds, another expression that every match holds and that is cheaper to look for.
            flags: Of the pattern.
        """
        self.pattern = re.compile(pattern, flags)
        self.signs = tuple(signs)
        self.ascii_signs = tuple(sign for sign in self.signs if sign.isascii())
        self.core = re.compile(core)
        self.lead = lead
        self.reach = reach

    def first_place(self, text: str) -> int | None:
        """Return where the first match may begin at the earliest; None where there can be none."""
        folded = text.casefold()
        first: int | None = None
        for sign in self.ascii_signs if folded.isascii() else self.signs:
            if sign in folded:  # the operator is quicker than a call of `find`, and most are not there
                if self.lead is None:
                    return 0
                at = folded.find(sign)
                first = at if first is None else min(first, at)
        if first is None or self.lead is None or len(folded) != len(text):
            return None if first is None else 0
        return max(0, first - self.lead)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match; as `re.Pattern.search`."""
        if self.reach is not None and start == 0 and end >= len(text):
            return next(self.finditer(text), None)
        first = self.first_place(text)
        return None if first is None else self.pattern.search(text, max(start, first), end)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return all matches; as `re.Pattern.finditer`."""
        if self.reach is not None and self.lead is not None and len(folded := text.casefold()) == len(text):
            signs = [sign for sign in (self.ascii_signs if folded.isascii() else self.signs) if sign in folded]
            return self._around_signs(text, folded, signs, self.lead, self.reach) if signs else iter(_NONE)
        first = self.first_place(text)
        return iter(_NONE) if first is None else self.pattern.finditer(text, first)

    def _around_signs(
        self, text: str, folded: str, signs: Sequence[str], lead: int, reach: int
    ) -> Iterator[re.Match[str]]:
        """Yield the matches that begin before a sign, in order; places that overlap are searched as one."""
        places: list[int] = []
        for sign in signs:
            at = folded.find(sign)
            while at >= 0:
                places.append(at)
                at = folded.find(sign, at + 1)
        places.sort()
        for index, place in enumerate(places):
            if index and place - lead <= places[index - 1] + reach:
                continue  # was searched with the one before
            last = index
            while last + 1 < len(places) and places[last + 1] - lead <= places[last] + reach:
                last += 1
            start, end = max(0, place - lead), places[last] + reach
            if self.core.search(text, start, end) is None:
                continue
            for found in self.pattern.finditer(text, start, end):
                if found.start() > places[last]:
                    break
                yield found
