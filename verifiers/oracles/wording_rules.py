"""Rules on what a text says and how it looks."""

import json
import re
from typing import Literal

from rafs.types import Truth
from verifiers.oracles.rule_fields import Phrase, Phrases, a_rule
from verifiers.oracles.text_counts import count_occurrences, lines_of, truth_of

_TITLE = re.compile(r"<<[^<>\n]{1,200}>>")
_HEADED = re.compile(r"(?<![\w'’-])[^\W\d_]+")
"""The beginning of a word; what stands behind a hyphen may be capital or not."""
_SMALL_WORDS = frozenset("a an and as at but by for from in into nor of on or per so the to up via with yet".split())
_CODE_FENCE = re.compile(r"\A```[a-z]{0,10}\n(.*)\n```\Z", re.DOTALL | re.IGNORECASE)


@a_rule
class Title:
    """A title between `<<` and `>>`."""

    rule: Literal["title"] = "title"

    def check(self, text: str) -> Truth:
        """Check a text."""
        return truth_of(bool(_TITLE.search(text)))


@a_rule
class TitleCase:
    """Every word begins with a capital; short ones such as `of` may, but for the first."""

    rule: Literal["title_case"] = "title_case"

    def check(self, text: str) -> Truth:
        """Check a text; UNKNOWN without a letter that has a case."""
        words = [word for word in _HEADED.findall(text) if word.lower() != word.upper()]
        if not words:
            return Truth.UNKNOWN
        return truth_of(all(word[0] != word[0].lower() or (t and word in _SMALL_WORDS) for t, word in enumerate(words)))


@a_rule
class Json:
    """The whole text is one JSON value, in a code fence or not."""

    rule: Literal["json"] = "json"

    def check(self, text: str) -> Truth:
        """Check a text."""
        fenced = _CODE_FENCE.match(text.strip())
        try:
            json.loads(fenced[1] if fenced else text, parse_constant=_refuse, parse_int=str, parse_float=str)
        except ValueError:
            return Truth.FALSE
        except RecursionError:
            return Truth.UNKNOWN
        return Truth.TRUE


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


@a_rule
class Includes:
    """Every phrase stands in the text, letter case aside."""

    phrases: Phrases
    rule: Literal["includes"] = "includes"

    def check(self, text: str) -> Truth:
        """Check a text; UNKNOWN for one that stands within a longer word alone."""
        said = [count_occurrences(text, phrase).between(1, None) for phrase in self.phrases]
        return next((truth for truth in (Truth.FALSE, Truth.UNKNOWN) if truth in said), Truth.TRUE)


@a_rule
class Excludes:
    """No phrase stands in the text, letter case aside."""

    phrases: Phrases
    rule: Literal["excludes"] = "excludes"

    def check(self, text: str) -> Truth:
        """Check a text; UNKNOWN for one that stands within a longer word alone."""
        said = [count_occurrences(text, phrase).between(0, 0) for phrase in self.phrases]
        return next((truth for truth in (Truth.FALSE, Truth.UNKNOWN) if truth in said), Truth.TRUE)


@a_rule
class UpperCase:
    """No small letter."""

    rule: Literal["upper_case"] = "upper_case"

    def check(self, text: str) -> Truth:
        """Check a text; UNKNOWN without a letter that has a case."""
        return truth_of(text.isupper()) if text.lower() != text.upper() else Truth.UNKNOWN


@a_rule
class LowerCase:
    """No capital."""

    rule: Literal["lower_case"] = "lower_case"

    def check(self, text: str) -> Truth:
        """Check a text; UNKNOWN without a letter that has a case."""
        return truth_of(text.islower()) if text.lower() != text.upper() else Truth.UNKNOWN


@a_rule
class StartsWith:
    """The text begins with a phrase, letter case aside."""

    phrase: Phrase
    rule: Literal["starts_with"] = "starts_with"

    def check(self, text: str) -> Truth:
        """Check a text."""
        return truth_of(text.strip().casefold().startswith(self.phrase.strip().casefold()))


@a_rule
class EndsWith:
    """The text ends with a phrase and nothing behind it, letter case aside."""

    phrase: Phrase
    rule: Literal["ends_with"] = "ends_with"

    def check(self, text: str) -> Truth:
        """Check a text."""
        return truth_of(text.strip().casefold().endswith(self.phrase.strip().casefold()))


@a_rule
class Quoted:
    """The whole text stands between double quotes."""

    rule: Literal["quoted"] = "quoted"

    def check(self, text: str) -> Truth:
        """Check a text; UNKNOWN where other quotes stand between the two, which may be two quotations."""
        bare = text.strip()
        if len(bare) < 2 or (bare[0], bare[-1]) not in {('"', '"'), ("“", "”"), ("„", "“"), ("«", "»")}:
            return Truth.FALSE
        return Truth.UNKNOWN if bare[0] in bare[1:-1] or bare[-1] in bare[1:-1] else Truth.TRUE


@a_rule
class NoCommas:
    """No comma, of any script."""

    rule: Literal["no_commas"] = "no_commas"

    def check(self, text: str) -> Truth:
        """Check a text."""
        return truth_of(not any(comma in text for comma in ",،，、"))


@a_rule
class Postscript:
    """Some line behind the first opens with the mark of a postscript."""

    rule: Literal["postscript"] = "postscript"
    mark: Phrase = "P.S."

    def check(self, text: str) -> Truth:
        """Check a text."""
        openings = [line.strip().casefold().startswith(self.mark.casefold()) for line in lines_of(text)[1:]]
        return truth_of(any(openings))
