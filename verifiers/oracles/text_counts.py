"""Counting in a text what people do not count alike: each count is the least and the most it may be."""

import re
from bisect import bisect_left
from dataclasses import dataclass

from rafs.types import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number that lies between two, both included."""

    low: int
    high: int

    def between(self, at_least: int, at_most: int | None) -> Truth:
        """Say whether it lies within bounds; UNKNOWN where that depends on how one counts."""
        if self.high < at_least or (at_most is not None and self.low > at_most):
            return Truth.FALSE
        if self.low >= at_least and (at_most is None or self.high <= at_most):
            return Truth.TRUE
        return Truth.UNKNOWN


def exactly(n: int) -> Count:
    """Return a count that nobody makes another one."""
    return Count(low=n, high=n)


def truth_of(holds: bool) -> Truth:
    """Return TRUE or FALSE."""
    return Truth.TRUE if holds else Truth.FALSE


_WORD = re.compile(r"[^\W_]+")
_BLANK_LINE = re.compile(r"\n[ \t]{0,100}\n")
_END = re.compile(r"[.!?…。！？]{1,100}[\"'”’)\]*_]{0,10}(?P<gap>\s|\Z|(?<=[。！？]))")
_SURE_END = re.compile(r"[!?。！？]")
_SHORT = re.compile(
    r"(?:\b[a-z]|\b(?:mr|mrs|ms|dr|prof|st|vs|etc|approx|no|fig|eq|cf|al|inc|ltd|jr|sr|e\.g|i\.e)|\d)\Z", re.IGNORECASE
)
_LOOK_BACK = 12
"""Characters before a full stop that an abbreviation has at most."""
# Scripts that put no spaces between words: their words cannot be counted without a dictionary.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def count_words(text: str) -> Count:
    """Count words: runs of letters and digits at most; at the least what spaces part, `well-known` being one.

    A text in a script without spaces has between one word and one for each of its characters.
    """
    parted = sum(1 for part in text.split() if _WORD.search(part))
    runs = sum(1 for _ in _WORD.finditer(text))
    return Count(low=parted, high=runs + len(_UNSPACED.findall(text)))


def count_sentences(text: str) -> Count:
    """Count sentences: at the least those whose end is sure, at most one for every mark and line that may end one.

    A full stop behind an abbreviation, an initial or a number may end a sentence or not, and so may the end of a line.
    """
    sure = possible = 0
    for paragraph in paragraphs(text):
        lines = [line for line in paragraph.splitlines() if _WORD.search(line)]
        for number, line in enumerate(lines):
            low, high, is_open = _ends(line)
            sure += low + (is_open and number == len(lines) - 1)
            possible += high + is_open
    return Count(low=sure, high=possible)


def _ends(line: str) -> tuple[int, int, bool]:
    """Return sure ends, possible ends, and whether words stand behind the last of them."""
    words = [word.start() for word in _WORD.finditer(line)]
    sure = possible = behind = 0
    for mark in _END.finditer(line):
        n_before = bisect_left(words, mark.start())
        if n_before > behind:
            before = line[max(0, mark.start() - _LOOK_BACK) : mark.start()]
            possible += 1
            sure += n_before == len(words) or bool(_SURE_END.search(mark[0])) or not _SHORT.search(before)
        behind = n_before
    return sure, possible, behind < len(words)


def paragraphs(text: str) -> list[str]:
    """Return what blank lines part, without what holds no word."""
    return [part for part in _BLANK_LINE.split(text.replace("\r\n", "\n")) if _WORD.search(part)]


def lines_of(text: str) -> list[str]:
    """Return the lines that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


def count_occurrences(text: str, phrase: str) -> Count:
    """Count how often a phrase stands in a text, letter case aside: at the least as words, at most within words too."""
    folded, sought = text.casefold(), phrase.casefold()
    whole = re.findall(rf"(?<!\w){re.escape(sought)}(?!\w)", folded)
    return Count(low=len(whole), high=folded.count(sought))
