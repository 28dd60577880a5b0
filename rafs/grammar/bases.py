"""Whole numbers in another base: `0x1F`, `0b101`, `47_8`, `1011_{2}`."""

import re
from fractions import Fraction

BASE_NAMES = {"two": 2, "eight": 8, "ten": 10, "twelve": 12, "sixteen": 16}
_NAME = "|".join(BASE_NAMES)
_BASED = re.compile(
    r"([0-9A-Fa-f]{1,64})(?:_(?:\{\s?(?:\\text\s?\{)?(\d{1,2}|" + _NAME + r")\}{1,2}|(\d{1,2})(?!\w))|([₀-₉]{1,2}))"
)
_PREFIXED = re.compile(r"0(?:[xX]([0-9A-Fa-f]{1,64})|[bB]([01]{1,200})|[oO]([0-7]{1,80}))(?!\w|\.\d)")
_HEXADECIMAL = re.compile(r"\b0x[0-9]*[A-Fa-f]|\bhex", re.IGNORECASE)
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
MAX_BASE = 36
"""Digits and letters suffice up to here."""
NEAR = 200
"""Characters around `0x10` in which another hexadecimal number, or the word, is looked for."""

Based = tuple[int, Fraction | None]


def read_based(text: str, position: int) -> Based | None:
    """Read `0x1F`, `0b101`, `47_8`, `1011_{2}`, `2F₁₆` at a digit, and `FF_{16}` at a letter.

    Returns:
        Where it ends, and its value; no value where the digits are none of the base, or `0x10` may be nought times ten.
    """
    if (prefixed := _PREFIXED.match(text, position)) is not None:
        which = prefixed.lastindex or 1
        said = _HEXADECIMAL.search(text, max(0, position - NEAR), position + NEAR)
        if which == 1 and prefixed[1].isdecimal() and said is None:
            return _read_zero_times(text, position, prefixed)
        return prefixed.end(), Fraction(int(prefixed[which], (16, 2, 8)[which - 1]))
    found = _BASED.match(text, position)
    if found is None:
        return None
    written = found[2] or found[3] or found[4].translate(_SUBSCRIPTS)
    base = BASE_NAMES.get(written) or int(written)
    if base <= 10 and not found[1].isdecimal():
        return None
    if not 2 <= base <= MAX_BASE or any(int(digit, 16) >= base for digit in found[1]):
        return found.end(), None
    if base > 10 and not found[1][0].isdecimal() and (base != 16 or len(found[1]) < 2):
        return found.end(), None  # A_{12} is a name
    return found.end(), Fraction(int(found[1], base))


_EQUALS = re.compile(r"\s?=\s?0*([0-9]{1,40})(?!\w|[.,]\d)")


def _read_zero_times(text: str, position: int, prefixed: re.Match[str]) -> Based | None:
    """Read `0x10 = 16` as hexadecimal and `0x10 = 0` as nought times ten; anywhere else it may be either."""
    said = _EQUALS.match(text, prefixed.end())
    if said is None:
        return prefixed.end(), None
    return None if said[1] == "0" else (prefixed.end(), Fraction(int(prefixed[1], 16)))
