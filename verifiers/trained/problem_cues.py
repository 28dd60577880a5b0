"""What the problem says around its numbers: the words beside them, and the operation that those words suggest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![\w.])\d[\d,]{0,40}(?:\.\d{1,40})?")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n")
_COMMON = frozenset(
    "the and for are was were has have had she her his him they their them that this with from how many much what each "
    "will would can does did you your its not but all than then per out into who which when there been being our also "
    "more some any get got one two".split()
)
CUES: Mapping[str, re.Pattern[str]] = {
    "each": re.compile(r"\b(?:each|per|every|apiece)\b|/"),
    "more": re.compile(r"\b(?:more|extra|additional|older|taller|longer|plus|another)\b"),
    "less": re.compile(r"\b(?:less|fewer|left|remain\w*|younger|shorter|lost|gave|sold|spent|minus|away)\b"),
    "times": re.compile(r"\b(?:times|twice|thrice|double\w*|triple\w*)\b"),
    "part": re.compile(r"\b(?:half|third|quarter|fourth|fifth|split|divid\w*|shared?)\b"),
    "percent": re.compile(r"%|\bpercent"),
    "total": re.compile(r"\b(?:total|altogether|combined|sum|in all)\b"),
}
"""Words that go with an operation."""


def value_of(digits: str) -> float:
    """Return the value of a number as `NUMBER` finds it."""
    return float(digits.replace(",", "").rstrip("."))


def content_words(text: str) -> frozenset[str]:
    """Return the words that say what a text is about, in lower case, a plural without its s."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words) - _COMMON


def cues_in(text: str) -> frozenset[str]:
    """Return the names of the cues that stand in a text."""
    lower = text.lower()
    return frozenset(name for name, cue in CUES.items() if cue.search(lower))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of the problem."""

    words: frozenset[str]
    values: frozenset[float]
    cues: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem by its sentences."""

    sentences: tuple[Sentence, ...]
    order: Mapping[float, int]
    """Its numbers, each with the rank at which it first appears."""
    words: frozenset[str]
    asked: frozenset[str]
    """Words of the last sentence, most often the question."""
    n_chars: int

    def cues_of(self, value: float) -> frozenset[str]:
        """Return the cues of the sentences that hold a number."""
        return frozenset[str]().union(*(one.cues for one in self.sentences if value in one.values))

    def overlap(self, value: float, words: frozenset[str]) -> float:
        """Share of the words of the number's sentence that stand among `words`, in [0, 1]; of several, the largest."""
        shares = (len(words & one.words) / max(1, len(one.words)) for one in self.sentences if value in one.values)
        return max(shares, default=0.0)


def read_problem(text: str) -> Problem:
    """Split a problem into sentences, and note their numbers and words."""
    pieces = [piece for piece in _SENTENCE.split(text) if piece.strip()]
    numbers = [[value_of(digits) for digits in NUMBER.findall(piece)] for piece in pieces]
    sentences = [
        Sentence(words=content_words(piece), values=frozenset(values), cues=cues_in(piece))
        for piece, values in zip(pieces, numbers, strict=True)
    ]
    distinct = dict.fromkeys(value for values in numbers for value in values)
    return Problem(
        sentences=tuple(sentences),
        order={value: rank for rank, value in enumerate(distinct)},
        words=content_words(text),
        asked=sentences[-1].words if sentences else frozenset(),
        n_chars=len(text),
    )
