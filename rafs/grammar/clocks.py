"""Digits that are no quantity: times of day, which have a value of their own, and dates and telephone numbers."""

import re
from typing import NamedTuple

_CLOCK = re.compile(
    r"(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d:])(?:\s?(?P<half>[ap])(?:m\b|\.m\b\.?))?"
    r"|(?P<full>0?[1-9]|1[0-2])(?:\s?(?P<half_of_full>[ap])(?:m\b|\.m\b\.?)|\s?o['’]clock\b)",
    re.IGNORECASE,
)
_RATIO_STEMS = ("ratio", "proportion", "odds", "scale", "simplif", "reduc")
_RATIO_WORD = re.compile(r"\b(?:ratios?|proportions?|odds|scale|simplif\w{1,6}|reduc\w{1,4})\b", re.IGNORECASE)
_RATIO = re.compile(
    r":(?<=\d:)(?:\d(?![\d:])|(?<=\d{3}:)\d|(?:[6-9]\d|\d{3})(?!\d)|\d{1,6}:\d"
    r"|(?!00)\d{2}\s?=\s?\d{1,6}(?:[./]\d{1,6})?(?![\d:./]|\s?(?:[ap]\.?m\b|h(?:ou)?rs?\b|h\b|min|o['’]clock)))"
)
"""A pair that no clock shows: one digit or too many behind the colon, three terms, `10:15 = 0.67`."""
_DATE = re.compile(
    r"(?:\d{4}-(?:0?[1-9]|1[0-2])-(?:[0-2]?\d|3[01])|(?:[0-2]?\d|3[01])/(?:[0-2]?\d|3[01])/(?:1[89]|20)\d\d"
    r"|(?:[0-2]?\d|3[01])-(?:[0-2]?\d|3[01])-(?:1[89]|20)\d\d|\d{3}-\d{3}-\d{4}|\d{3}-0\d{2,4}|24/7)"
    r"(?![\w/]|-\d|\.\d|\s?[-–−+*/=≈^×÷·<>])",
)


DATE = "date"
"""Text of the token of a date that something is added to, taken from or compared with."""
DATE_CALL = f"clock {DATE}"
"""Name of the call that such a token becomes."""
_CALCULATED_DATE = re.compile(
    r"(?P<one>0?[1-9]|[12]\d|3[01])/(?P<other>0?[1-9]|[12]\d|3[01])/(?P<year>(?:1[89]|20)\d\d)(?![\w/]|\.\d)"
)
_DAYS_FOLLOW = re.compile(r"\s?[-+–−]\s?(?:\d{1,6}\s(?:days?|weeks?)\b|\d{1,2}/\d{1,2}/\d{4})")


class Clock(NamedTuple):
    """A time of day as written."""

    end: int
    minutes: int
    """Since midnight, as if before noon where nothing is said."""
    half: str
    """`am`, `pm`, or `unsaid`."""
    may_divide: bool = False
    """It is a bare `10:15`, which may be a ratio in its text."""


def read_clock(text: str, position: int) -> Clock | None:
    """Read `9:45`, `11:30 am`, `5 p.m.`, `3 o'clock` at a digit."""
    found = _CLOCK.match(text, position)
    if found is None:
        return None
    half = (found["half"] or found["half_of_full"] or "").lower()
    hour, minute = int(found["hour"] or found["full"]), int(found["minute"] or 0)
    if not half:
        return Clock(found.end(), 60 * hour + minute, "unsaid", may_divide=found["hour"] is not None)
    if not 0 < hour <= 12:
        return Clock(found.end(), 60 * hour + minute, "pm" if hour >= 12 else "am")
    return Clock(found.end(), 60 * (hour % 12 + 12 * (half == "p")) + minute, f"{half}m")


def shows_ratio(text: str) -> bool:
    """Say whether the colons between the numbers of a text divide, so that `10:15` is no time of day."""
    if _RATIO.search(text) is not None:
        return True
    lowered = text.lower()
    return any(stem in lowered for stem in _RATIO_STEMS) and _RATIO_WORD.search(text) is not None


def read_date(text: str, position: int, *, after_relation: bool) -> tuple[int, int] | None:
    """Read a date that is calculated with: days follow it, or an operator or a relation stands before it.

    Returns:
        Where it ends, and year, first and second number in one: 20160229 for `02/29/2016`.
    """
    found = _CALCULATED_DATE.match(text, position)
    if found is None or not (after_relation or _DAYS_FOLLOW.match(text, found.end())):
        return None
    return found.end(), int(found["year"]) * 10_000 + int(found["one"]) * 100 + int(found["other"])


def date_end(text: str, position: int) -> int:
    """Return where a date, a telephone number or `24/7` that begins at a digit ends; `position` where there is none."""
    found = _DATE.match(text, position)
    return found.end() if found else position
