"""Reads a number written in digits: `1,234.5`, `2 1/2`, `3½`, `25%`, `2.5e3`, `0x1F`, `47_8`, `0.(3)`."""

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from rafs.grammar.bases import read_based
from rafs.grammar.number_words import MAGNITUDES, PARTS
from rafs.grammar.tokens import ZERO

MAX_DIGITS = 1000
"""Digits of one literal: beyond any honest arithmetic, below the 4300 at which `int(str)` refuses."""
MAX_EXPONENT = 400
"""Largest power of ten of a literal such as `1e400`."""
_PLAIN = re.compile(
    r"[1-9]\d?(?:,\d{2}){1,6},\d{3}(?!\d)(?:\.\d+)?"
    r"|[1-9]\d{0,2}(?:(?:,\\!|,|\{,\}|\\,|['’_\u00a0\u2009\u202f])\d{3}){1,12}(?![\d_])(?:\.\d+)?"
    r"|\d+(?:\.\d+)?|\.\d+"
)
_BRACED = re.compile(r"\d{1,12}\{,\}(?:\d{1,2}|\d{4,12})(?!\d)")
r"""A decimal comma as LaTeX writes it: `2{,}5`."""
_KEYCAPS = re.compile(r"(?:\d\ufe0f?\u20e3)+")
_SEPARATORS = re.compile(r"[^\d.]")
_POINT_AT_END = re.compile(r"\.(?=\s?[+/=×÷])")
_EXPONENT = re.compile(r"[eE]([+\-−]?\d{1,6})(?!\w|\.\d)")
_SCIENTIFIC = re.compile(
    r"\s?(?:[×·*⋅]|\\times|\\cdot|[xX](?=\s?10\b))\s?10\s?(?:\^\s?(?:\{\s?([-−+]?\d{1,6})\s?\}|\(([-−+]?\d{1,6})\)"
    r"|([-−+]?\d{1,6}))|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}))(?![\d^!⁰¹²³⁴⁵⁶⁷⁸⁹]|\.\d)"
)
_MIXED = re.compile(r"[ \u00a0](\d{1,3})\s?[/⁄]\s?(\d{1,3})(?![.,]?\d|\s?[/⁄(])")
_AND_HALF = re.compile(r" and (?:a|one)(?: |-)(half|third|quarter)\b", re.IGNORECASE)
_REPEATING = re.compile(
    r"(\d{0,40})\.(\d{0,40})(?:\\overline\s?\{(\d{1,40})\}|\\bar\s?\{?(\d)\}?|\\dot\s?\{?(\d)\}?|(\d)\u0305)"
    r"|(\d{1,40})\.()\((\d{1,40})\)(?!\s?\()"
)
_GOING_ON = re.compile(r"(\d{0,40})\.(\d{2,60})(?:\.\.\.|…|\\l?dots\b|\\cdots\b)")
MAX_BLOCK = 12
"""Digits of a block that is found to repeat; 1/13 has six."""
MAX_BEFORE_BLOCK = 2
"""Digits before it, as the 08 of `0.08333...`."""
_PERCENT = re.compile(
    r"\s?(?:(?<!\s)\\?[%％](?!\d)|(?<=\s)\\?[%％](?!\s?\d|[sdif(])|per ?cent(?:age points?)?\b"
    r"|percentage points?\b|pct\b"
    r"|(?P<mille>‰|per ?mille?\b)"
    r"|(?P<points>basis points?\b))",
    re.IGNORECASE,
)
_MAGNITUDE = re.compile(
    r"\s?(hundred|thousand|million|billion|trillion|lakh|crore|mn|bn|tn|tens|ones)s?\b", re.IGNORECASE
)
_PARTS = re.compile(r"\s(halves|thirds|\w{3,8}ths)\b", re.IGNORECASE)
_LETTER_MAGNITUDE = re.compile(r"\s?([kKmMbBT])(?![\w^])")
_LETTERS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_HAN_MAGNITUDE = re.compile(r"\s?([百千万萬亿億])(?![\d一二三四五六七八九十])")
_HAN = {"百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_IN_BASE = re.compile(r"\s(?:in |to )?base[ -](?!10\b)(?:\d|two\b|eight\b|twelve\b|sixteen\b)", re.IGNORECASE)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")


class Literal(NamedTuple):
    """A number as written, or the reason why the digits are none."""

    end: int
    value: Fraction = ZERO
    decimals: int = 0
    """Digits after the decimal point; negative where a magnitude stands behind them."""
    percent: bool = False
    ordinal: bool = False
    """`3rd` counts a place and is no quantity."""
    unreadable: bool = False
    """Over the caps, or in a base that it may be converted to rather than written in."""


@lru_cache(maxsize=2048)
def plain_value(written: str) -> tuple[Fraction, int]:
    """Return the value of digits with at most one point, and how many of them stand behind it."""
    whole, _, part = written.partition(".")
    return Fraction(int(whole + part), 10 ** len(part)), len(part)


class Place(NamedTuple):
    """What stands around a literal and decides how it is read."""

    after_label: bool = False
    """A word such as `day` stands before it, so that `day 2 1/2` holds no mixed number."""
    after_relation: bool = False
    """It is the result of something, so that `1.2 × 10^5` is a rounded number."""
    currency: bool = False
    """A currency sign stands before it, so that the M of `$3M` counts millions."""


_ANYWHERE = Place()


def read_literal(text: str, position: int, place: Place = _ANYWHERE) -> Literal:
    """Read the longest literal at a digit, or at a point before a digit, of a text whose digits are ASCII."""
    special = _read_in_base(text, position) or _read_repeating(text, position) or _read_keycaps(text, position)
    if special is not None:
        return _with_percent(text, special)
    braced = _BRACED.match(text, position)
    found = braced or _PLAIN.match(text, position)
    assert found is not None
    end, written = found.end(), found.group().replace("{,}", "." if braced else ",")
    digits = _SEPARATORS.sub("", written)
    if len(digits) > MAX_DIGITS or (_IN_BASE.match(text, end) and text[position - 5 : position] != "base "):
        return Literal(end=end, unreadable=True)
    if _ORDINAL.match(text, end):
        return Literal(end=end + 2, ordinal=True)
    if "." not in written and (point := _POINT_AT_END.match(text, end)) is not None:
        end = point.end()
    value, decimals = plain_value(digits) if len(digits) < MAX_KEPT else plain_value.__wrapped__(digits)
    return _with_suffix(text, Literal(end=end, value=value, decimals=decimals), place)


MAX_KEPT = 20
"""Digits of a number whose value is remembered."""


def _with_suffix(text: str, literal: Literal, place: Place) -> Literal:
    """Read what belongs to the digits before it: a power of ten or a fraction, a magnitude, a percent sign."""
    power = _power_of_ten(text, literal.end, place.after_relation and literal.decimals > 0)
    if power is not None:
        exponent, end = power
        if abs(exponent) > MAX_EXPONENT:
            return Literal(end=end, unreadable=True)
        shown = literal.decimals - exponent
        decimals = shown if literal.decimals else max(0, shown)
        literal = Literal(end=end, value=literal.value * Fraction(10) ** exponent, decimals=decimals)
    elif literal.value.denominator == 1 and not literal.decimals:
        part, end = _part_behind(text, literal.end, place.after_label)
        literal = Literal(end=end, value=literal.value + part)
        if (parts := _PARTS.match(text, end)) is not None and (n_parts := PARTS.get(parts[1].lower())) is not None:
            literal = Literal(end=parts.end(), value=literal.value / n_parts)
    return _with_percent(text, _with_magnitude(text, literal, place.currency))


def _power_of_ten(text: str, end: int, rounded: bool) -> tuple[int, int] | None:
    r"""Read `e3`, and `× 10^3` where it is no factor of a calculation but the size of a rounded result."""
    found = _EXPONENT.match(text, end) or (_SCIENTIFIC.match(text, end) if rounded else None)
    return None if found is None else (int(found[found.lastindex or 1].translate(_SUPERSCRIPTS)), found.end())


def _part_behind(text: str, end: int, after_label: bool) -> tuple[Fraction, int]:
    """Read what makes a whole number mixed: the `1/2` of `2 1/2`, the `½` of `2½` and `2 ½`, `and a half`."""
    mixed = None if after_label else _MIXED.match(text, end)
    if mixed and 0 < int(mixed.group(1)) < int(mixed.group(2)):
        return Fraction(int(mixed.group(1)), int(mixed.group(2))), mixed.end()
    gap = 1 if text[end : end + 1] in (" ", "\u00a0") and not after_label else 0
    if (part := read_vulgar(text, end + gap)) is not None:
        return part, end + gap + 1
    if (spelled := _AND_HALF.match(text, end)) is not None:
        return Fraction(1, {"half": 2, "third": 3, "quarter": 4}[spelled.group(1).lower()]), spelled.end()
    return ZERO, end


def _with_magnitude(text: str, literal: Literal, currency: bool) -> Literal:
    end, scale = literal.end, 1
    if (magnitude := _MAGNITUDE.match(text, end)) is not None:
        scale = MAGNITUDES[magnitude.group(1).lower()]
    elif currency and (magnitude := _LETTER_MAGNITUDE.match(text, end)) and not _is_in_math(text, magnitude.end()):
        scale = _LETTERS[magnitude.group(1).lower()]
    elif (magnitude := _HAN_MAGNITUDE.match(text, end)) is not None:
        scale = _HAN[magnitude.group(1)]
    if magnitude is not None:
        decimals = literal.decimals - len(str(scale)) + 1 if literal.decimals else 0
        literal = Literal(end=magnitude.end(), value=literal.value * scale, decimals=decimals)
    return literal


def _is_in_math(text: str, position: int) -> bool:
    """Say whether the next dollar sign closes a formula, so that the one before `$8k + 5$` opened it."""
    dollar = text.find("$", position, position + MAX_FORMULA)
    return dollar >= 0 and not text[dollar + 1 : dollar + 2].isdecimal()


MAX_FORMULA = 200
"""Characters in which the end of a formula is looked for."""


def _with_percent(text: str, literal: Literal) -> Literal:
    found = None if literal.unreadable else _PERCENT.match(text, literal.end)
    if found is None:
        return literal
    zeros = 4 if found["points"] else 3 if found["mille"] else 2
    value = literal.value / 10**zeros
    return Literal(end=found.end(), value=value, decimals=literal.decimals + zeros, percent=True)


def read_percent(text: str, end: int, value: Fraction) -> Literal:
    """Read a percent sign or word behind a number that was not written in digits."""
    return _with_percent(text, Literal(end=end, value=value))


def read_vulgar(text: str, position: int) -> Fraction | None:
    """Return the value of a sign such as `½` at `position`."""
    sign = text[position : position + 1]
    name = unicodedata.name(sign, "") if sign and not sign.isascii() else ""
    if not name.startswith("VULGAR FRACTION"):
        return None
    return Fraction(unicodedata.numeric(sign)).limit_denominator(100)


def _read_in_base(text: str, position: int) -> Literal | None:
    found = read_based(text, position)
    if found is None:
        return None
    end, value = found
    return Literal(end=end, unreadable=True) if value is None else Literal(end=end, value=value)


def _read_keycaps(text: str, position: int) -> Literal | None:
    found = _KEYCAPS.match(text, position)
    if found is None:
        return None
    digits = "".join(sign for sign in found.group() if sign.isdecimal())
    if len(digits) > MAX_DIGITS:
        return Literal(end=found.end(), unreadable=True)
    return Literal(end=found.end(), value=Fraction(int(digits)))


def _read_repeating(text: str, position: int) -> Literal | None:
    r"""Read `0.1\overline{6}`, `0.(3)`, and `0.333...`, `0.8333...`, `0.0909...` where all the digits repeat."""
    if (found := _REPEATING.match(text, position)) is not None:
        whole, before, block = (piece for piece in found.groups() if piece is not None)
    elif (found := _GOING_ON.match(text, position)) is not None and (parts := _repeated(found[2])) is not None:
        whole, (before, block) = found[1], parts
    else:
        return None
    nines = (10 ** len(block) - 1) * 10 ** len(before)
    value = Fraction(int(whole or "0") * nines + int(before + block) - int(before or "0"), nines)
    return Literal(end=found.end(), value=value)


def _repeated(digits: str) -> tuple[str, str] | None:
    """Part digits into what stands before a block and the block that fills the rest, three digits and two turns of it.

    Three turns are needed behind other digits: e is `2.7 1828 1828...`.
    """
    for n_before in range(MAX_BEFORE_BLOCK + 1):
        rest = digits[n_before:]
        for size in range(1, MAX_BLOCK + 1):
            turns = 3 if n_before or size == 1 else 2
            block = rest[:size]
            if len(rest) >= turns * size and rest == (block * len(rest))[: len(rest)] and block.strip("0"):
                return digits[:n_before], block
    return None
