"""Numbers that everybody knows, each beside the words without which they are not that."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

_CONSTANTS: tuple[tuple[int, str], ...] = (
    (7, r"week|day"),
    (24, r"hour|day|dozen"),
    (60, r"minute|hour|second|\bmin|mph"),
    (3600, r"hour|second"),
    (1440, r"minute|day"),
    (12, r"month|year|annual|dozen|inch|f[eo]+t|noon|o'clock|\bam\b|\bpm\b|a\.m|p\.m"),
    (52, r"week|year"),
    (365, r"day|year|annual|dail"),
    (366, r"leap"),
    (30, r"month|day|november|april|june|september"),
    (31, r"month|day|january|march|may|july|august|october|december"),
    (28, r"month|february"),
    (29, r"february"),
    (5, r"weekday|work ?week|school|work|nickel"),
    (4, r"week|month|quarter|square|side|rectang|gallon|quart|seasons|leg|wheel|tire"),
    (3, r"yard|feet|triang|quarter"),
    (36, r"yard|inch"),
    (144, r"square|gross"),
    (16, r"ounce|pound|oz|lb|gallon|cup"),
    (8, r"pint|cup|ounce|gallon|octop|spider|work"),
    (2000, r"ton|pound"),
    (5280, r"mile|f[eo]+t"),
    (1760, r"mile|yard"),
    (25, r"quarter|cent"),
    (50, r"half|percent|%|state"),
    (20, r"score|nickel"),
    (180, r"angle|triang|degree|hour|minute"),
    (360, r"angle|circle|degree|circular"),
    (90, r"angle|right|degree|minute"),
    (6, r"cube|face|half|dozen|die\b|dice"),
    (26, r"letter|alphabet"),
    (52, r"card|deck"),
    (13, r"card|suit"),
)
_COINS = ((1, r"penn|cent"), (5, "nickel"), (10, "dime"), (25, "quarter"), (50, "half"))
_STRUCTURAL = frozenset([Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2)])
"""Numbers of the operation, not of the story: a rest of a whole, an average of two."""
_MAX_POWER = 10**12
"""Largest power of ten that is a scale, and its inverse the smallest."""
_MONTH_DAYS = {
    **dict.fromkeys(["january", "march", "may", "july", "august", "october", "december"], (31,)),
    **dict.fromkeys(["april", "june", "september", "november"], (30,)),
    "february": (28, 29),
}
_NAMED_MONTH = re.compile(
    r"\b(?i:in|of|during|for|throughout|this|last|next)\s("
    r"January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_ROUND_MONTH = re.compile(r"\b(?:assum\w*|approx\w*|about|average|roughly|standard|suppos\w*)\b", re.IGNORECASE)
_IN_MONTH = range(28, 32)


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words that one text or another holds."""

    small: re.Pattern[str]
    any_case: re.Pattern[str]
    """The same without regard to case, which is slower to look for."""

    @classmethod
    def of(cls, words: str) -> "Words":
        """Compile an expression in small letters."""
        return cls(re.compile(words), re.compile(words, re.IGNORECASE))

    def stand_in(self, text: str) -> bool:
        """Say whether one of them stands there, in letters of any size."""
        found = self.small.search(text.lower()) if text.isascii() else self.any_case.search(text)
        return found is not None


def _by_value() -> Mapping[Fraction, tuple[Words, ...]]:
    found: dict[Fraction, list[Words]] = {}
    for value, words in _CONSTANTS:
        found.setdefault(Fraction(value), []).append(Words.of(words))
    return {value: tuple(patterns) for value, patterns in found.items()}


_BY_VALUE = _by_value()
_COIN_WORDS = {Fraction(cents, 100): Words.of(words) for cents, words in _COINS}


@dataclass(slots=True, kw_only=True)
class Constants:
    """Which constants the words of the problem and of a step call up; each text is searched once for each."""

    problem: str
    texts: Mapping[int, str]
    called: dict[tuple[int, Words], bool] = field(default_factory=dict)

    def knows(self, value: Fraction, unit: str, step: int) -> bool:
        """Say whether a number is a constant that everybody knows in this context.

        Args:
            value: The number.
            unit: Its unit as written; an amount of money is never a constant, but a coin's worth.
            step: Index of the step that uses it.
        """
        coin = _COIN_WORDS.get(value)
        if coin is not None and self._calls(coin, step):
            return True
        if unit.startswith(("$", "£", "€", "dollar")):
            return False
        if value in _STRUCTURAL or _is_scale(value):
            return True
        patterns = _BY_VALUE.get(value) or (_BY_VALUE.get(1 / value) if value else None)
        if patterns is None or not any(self._calls(words, step) for words in patterns):
            return False
        return not self._is_wrong_month(value, step)

    def _calls(self, words: Words, step: int) -> bool:
        return self._searched(words, -1, self.problem) or self._searched(words, step, self.texts[step])

    def _searched(self, words: Words, key: int, text: str) -> bool:
        known = self.called.get((key, words))
        if known is None:
            known = self.called[key, words] = words.stand_in(text)
        return known

    def _is_wrong_month(self, value: Fraction, step: int) -> bool:
        """Say whether the step names one month, and the number is the length of others."""
        if value.denominator != 1 or int(value) not in _IN_MONTH:
            return False
        named = {name.lower() for name in _NAMED_MONTH.findall(self.texts[step])}
        if len(named) != 1 or _ROUND_MONTH.search(self.texts[step]):
            return False
        return int(value) not in _MONTH_DAYS[named.pop()]


def _is_scale(value: Fraction) -> bool:
    """Say whether the number is 10, 100, ... or 0.1, 0.01, ..."""
    large = value.numerator if value.denominator == 1 else value.denominator if value.numerator == 1 else 0
    return 10 <= large <= _MAX_POWER and str(large).rstrip("0") == "1"
