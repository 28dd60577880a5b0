"""Patterns that are slow to look for, each behind a quick look for the signs without which it cannot match."""

import re
import sys
from collections.abc import Iterable, Iterator

_NOWHERE: tuple[re.Match[str], ...] = ()


class GatedPattern:
    """A pattern, and a few fixed strings of which every match of it holds one.

    Python tries a pattern that begins with a word boundary, or with letters of either case, at every place of a text.
    A fixed string is found a hundred times faster, and most texts hold none of them.
    """

    __slots__ = ("pattern", "signs")

    def __init__(self, pattern: str, signs: Iterable[str], flags: int = re.IGNORECASE) -> None:
        """Compile a pattern.

        Args:
            pattern: A regular expression.
            signs: In small letters; a match holds at least one, in letters of any size.
            flags: Of the pattern.
        """
        self.pattern = re.compile(pattern, flags)
        self.signs = tuple(signs)

    def may_match(self, text: str) -> bool:
        """Say whether a sign stands anywhere in the text."""
        folded = text.casefold()
        for sign in self.signs:  # noqa: SIM110  a generator takes three times as long
            if sign in folded:
                return True
        return False

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match; as `re.Pattern.search`."""
        return self.pattern.search(text, start, end) if self.may_match(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return all matches; as `re.Pattern.finditer`."""
        return self.pattern.finditer(text) if self.may_match(text) else iter(_NOWHERE)
