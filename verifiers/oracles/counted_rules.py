"""Rules on how much of something a text holds; `at_least` and `at_most` are both included."""

import re
from typing import Annotated, Literal

from pydantic import Field

from rafs.types import Truth
from verifiers.oracles.rule_fields import Least, Most, Phrase, a_rule
from verifiers.oracles.text_counts import (
    count_occurrences,
    count_sentences,
    count_words,
    exactly,
    lines_of,
    paragraphs,
)

_BULLET = re.compile(r"^[ \t]{0,20}[-*+•][ \t]+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]{0,20}\d{1,4}[.)][ \t]+\S", re.MULTILINE)
_HIGHLIGHT = re.compile(r"(?<![*\w])\*{1,2}(?=[^\s*])[^*\n]{1,500}(?<=[^\s*])\*{1,2}(?![*\w])")
_PLACEHOLDER = re.compile(r"(?<!\\)\[[^\[\]\n]{1,200}\](?!\()")
_LETTERED = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@a_rule
class Words:
    """So many words."""

    rule: Literal["words"] = "words"
    at_least: Least = 0
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return count_words(text).between(self.at_least, self.at_most)


@a_rule
class Sentences:
    """So many sentences."""

    rule: Literal["sentences"] = "sentences"
    at_least: Least = 0
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return count_sentences(text).between(self.at_least, self.at_most)


@a_rule
class Paragraphs:
    """So many paragraphs, parted by blank lines."""

    rule: Literal["paragraphs"] = "paragraphs"
    at_least: Least = 0
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(len(paragraphs(text))).between(self.at_least, self.at_most)


@a_rule
class Characters:
    """So many characters, those at either end of the text that are blank left out."""

    rule: Literal["characters"] = "characters"
    at_least: Least = 0
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(len(text.strip())).between(self.at_least, self.at_most)


@a_rule
class Lines:
    """So many lines that are not blank."""

    rule: Literal["lines"] = "lines"
    at_least: Least = 0
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(len(lines_of(text))).between(self.at_least, self.at_most)


@a_rule
class Sections:
    """So many sections, each opened by a line that begins with the mark: `SECTION`, `##`."""

    mark: Phrase
    rule: Literal["sections"] = "sections"
    at_least: Least = 1
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        opened = re.findall(rf"^[ \t]{{0,20}}{re.escape(self.mark)}(?=\s|\Z)", text, re.MULTILINE)
        return exactly(len(opened)).between(self.at_least, self.at_most)


@a_rule
class BulletList:
    """So many bullet points: lines that begin with `-`, `*`, `+` or `•`."""

    rule: Literal["bullet_list"] = "bullet_list"
    at_least: Least = 1
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(len(_BULLET.findall(text))).between(self.at_least, self.at_most)


@a_rule
class NumberedList:
    """So many points that begin with a number: `1.` or `1)`."""

    rule: Literal["numbered_list"] = "numbered_list"
    at_least: Least = 1
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(len(_NUMBERED.findall(text))).between(self.at_least, self.at_most)


@a_rule
class Highlights:
    """So many passages between `*` or `**`."""

    rule: Literal["highlights"] = "highlights"
    at_least: Least = 1
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(len(_HIGHLIGHT.findall(text))).between(self.at_least, self.at_most)


@a_rule
class Placeholders:
    """So many placeholders in square brackets: `[name]`."""

    rule: Literal["placeholders"] = "placeholders"
    at_least: Least = 1
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(len(_PLACEHOLDER.findall(text))).between(self.at_least, self.at_most)


@a_rule
class Occurs:
    """A phrase stands in the text so many times, letter case aside."""

    phrase: Phrase
    rule: Literal["occurs"] = "occurs"
    at_least: Least = 1
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return count_occurrences(text, self.phrase).between(self.at_least, self.at_most)


@a_rule
class Letter:
    """A letter stands in the text so many times, capital or not."""

    letter: Annotated[str, Field(min_length=1, max_length=1)]
    rule: Literal["letter"] = "letter"
    at_least: Least = 1
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        return exactly(text.casefold().count(self.letter.casefold())).between(self.at_least, self.at_most)


@a_rule
class CapitalWords:
    """So many words of two letters or more in capitals alone."""

    rule: Literal["capital_words"] = "capital_words"
    at_least: Least = 0
    at_most: Most = None

    def check(self, text: str) -> Truth:
        """Check a text."""
        capital = sum(len(word) > 1 and word.isupper() for word in _LETTERED.findall(text))
        return exactly(capital).between(self.at_least, self.at_most)
