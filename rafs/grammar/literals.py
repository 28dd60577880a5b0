"""Reads a number literal: `1,234.5`, `2 1/2`, `3½`, `1.5 million`, `25%`, `2.5e3`, `12,34,567`, `1.234,56`."""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from rafs.grammar.number_words import MAGNITUDES

MAX_DIGITS = 1000
"""Digits of one literal: beyond any honest arithmetic, below the 4300 at which `int(str)` refuses."""
MAX_EXPONENT = 400
"""Largest power of ten of a literal such as `1e400`."""
_PLAIN = re.compile(
    r"\d{1,2}(?:,\d{2}){1,6},\d{3}(?!\d)(?:\.\d+)?"
    r"|\d{1,3}(?:(?:,\\!|,|\{,\}|\\,|[\u00a0\u2009\u202f])\d{3}){1,12}(?!\d)(?:\.\d+)?"
    r"|\d+(?:\.\d+)?|\.\d+"
)
_EUROPEAN_SIGN = re.compile(r"(?<![\d.,])\d{1,3}\.\d{3},\d{2}(?![\d.,])")
_EUROPEAN = re.compile(r"\d{1,3}(?:\.\d{3}){0,12}(?!\d)(?:,\d{1,2}(?!\d))?|\d+")
_SEPARATORS = re.compile(r"[^\d.]")
_EXPONENT = re.compile(r"[eE]([+-]?\d{1,6})(?![\w.])")
_MIXED = re.compile(r"[ \u00a0](\d{1,3})\s?[/⁄]\s?(\d{1,3})(?![.,]?\d|\s?[/⁄(])")
_PERCENT = re.compile(r"\s?(?:\\?[%％]|percent\b|per cent\b)")
_MAGNITUDE = re.compile(r"\s?(hundred|thousand|million|billion|trillion)s?\b", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_CLOCK = re.compile(r"\d{1,2}:\d{2}\s?(?:[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A number as written, or the reason why the digits are none."""

    end: int
    value: Fraction = Fraction(0)
    decimals: int = 0
    """Digits after the decimal point."""
    percent: bool = False
    ordinal: bool = False
    """`3rd` counts a place and is no quantity."""
    unreadable: bool = False
    """A clock time, or a number over the caps."""


def is_european(text: str) -> bool:
    """Say whether the text writes `1.234,56`, so that commas are decimal points in all of it."""
    return _EUROPEAN_SIGN.search(text) is not None


def read_literal(text: str, position: int, *, european: bool = False, after_word: bool = False) -> Literal:
    """Read the longest literal at a digit, or at a point before a digit.

    Args:
        text: Any text with ASCII digits.
        position: Index of its first character.
        european: Whether commas are decimal points.
        after_word: Whether a word stands before it, so that `day 2 1/2` holds no mixed number.
    """
    clock = _CLOCK.match(text, position)
    if clock:
        return Literal(end=clock.end(), unreadable=True)
    found = (_EUROPEAN if european else _PLAIN).match(text, position)
    assert found is not None
    end, written = found.end(), found.group()
    digits = _SEPARATORS.sub("", written.replace(".", "").replace(",", ".") if european else written)
    if len(digits) > MAX_DIGITS:
        return Literal(end=end, unreadable=True)
    if _ORDINAL.match(text, end):
        return Literal(end=end + 2, ordinal=True)
    value, decimals = Fraction(digits), len(digits.partition(".")[2])
    exponent = _EXPONENT.match(text, end)
    if exponent:
        power = int(exponent.group(1))
        if abs(power) > MAX_EXPONENT:
            return Literal(end=exponent.end(), unreadable=True)
        value, end, decimals = value * Fraction(10) ** power, exponent.end(), max(0, decimals - power)
    mixed = _MIXED.match(text, end) if value.denominator == 1 and not decimals and not after_word else None
    if mixed and 0 < int(mixed.group(1)) < int(mixed.group(2)):
        value, end = value + Fraction(int(mixed.group(1)), int(mixed.group(2))), mixed.end()
    elif (part := read_vulgar(text, end)) is not None and value.denominator == 1:
        value, end = value + part, end + 1
    return _with_suffix(text, Literal(end=end, value=value, decimals=decimals))


def _with_suffix(text: str, literal: Literal) -> Literal:
    """Read a magnitude word and a percent sign behind a literal."""
    value, end, decimals = literal.value, literal.end, literal.decimals
    magnitude = _MAGNITUDE.match(text, end)
    if magnitude:
        scale = MAGNITUDES[magnitude.group(1).lower()]
        value, end, decimals = value * scale, magnitude.end(), max(0, decimals - len(str(scale)) + 1)
    percent = _PERCENT.match(text, end)
    if percent:
        return Literal(end=percent.end(), value=value / 100, decimals=decimals + 2, percent=True)
    return Literal(end=end, value=value, decimals=decimals)


def read_vulgar(text: str, position: int) -> Fraction | None:
    """Return the value of a sign such as `½` at `position`."""
    sign = text[position : position + 1]
    name = unicodedata.name(sign, "") if sign and not sign.isascii() else ""
    if not name.startswith("VULGAR FRACTION"):
        return None
    return Fraction(unicodedata.numeric(sign)).limit_denominator(100)
