"""Numbers written as English words: `forty-two`, `two thousand and five`, `two and a half`, `half a dozen`."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

_UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
MAGNITUDES = {
    "ones": 1,
    "tens": 10,
    "hundred": 100,
    **_SCALES,
    "lakh": 10**5,
    "crore": 10**7,
    "mn": 10**6,
    "bn": 10**9,
    "tn": 10**12,
}
"""Words that multiply the digits before them."""
_GROUPS = {**{name: value for name, value in MAGNITUDES.items() if len(name) > 4}, "dozen": 12}
"""What `a` and `half a` can count."""
_PARTS = {
    **{"half": 2, "third": 3, "fourth": 4, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8},
    **{"ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "fifteenth": 15, "sixteenth": 16, "twentieth": 20},
    **{"thirtieth": 30, "fiftieth": 50, "sixtieth": 60, "hundredth": 100, "thousandth": 1000},
}
_PLURALS = {"halves": "half", **{f"{name}s": name for name in _PARTS if name != "half"}}
PARTS = {plural: _PARTS[name] for plural, name in _PLURALS.items() if name != "quarter"}
"""Words behind digits that make parts of a whole of them, as in `7 tenths`; `3 quarters` may be coins."""
ARTICLES = frozenset(["a", "an"])
COUNTED_ARTICLE = rf"(?i:an?[ \u00a0-](?:{'|'.join([*_GROUPS, *_PARTS])})\b)"
"""An article that a number begins with: `a dozen`, `a third`."""
_VOCABULARY = frozenset([*_UNITS, *_TENS, *_GROUPS, *_PARTS, *_PLURALS, *ARTICLES, "and", "point"])
NUMBER_STARTS = frozenset([*_UNITS, *_TENS, *_PARTS, *ARTICLES])
"""The words that a spelled number can begin with."""
_ARTICLE = re.compile(r"[Aa][nN]?\b")
_COUNTED_ARTICLE = re.compile(COUNTED_ARTICLE)
_WORD = re.compile(r"[ \u00a0-]?([A-Za-z]+)")
_ENDS_PART = re.compile(r" of\b|\s*(?:[.,;:!?)\n]|\Z)")
_GRADE = re.compile(r"[ -]?grade")
MAX_WORDS = 24
"""Words of one spelled number; `nine hundred and ninety-nine` has five, and as many with every magnitude."""
_MAX_PARTED = 20
"""Numerators up to here go before `thirds`; `twenty fifths` are as likely twenty pieces."""

_Read = tuple[Fraction, int]
"""A value, and the number of words that it took."""


def read_number_words(text: str, position: int, *, in_list: bool = False) -> tuple[Fraction, int] | None:
    """Read the longest spelled number that starts at `position`.

    Args:
        text: Any text.
        position: Index of the first letter of a word.
        in_list: Whether an `and` may part two numbers, as in `the product of two and a half`; none is crossed then.

    Returns:
        The value and the index after its last letter, or None when no number is spelled there. `half` alone is a
        number; `a third` and `a quarter` are ones before `of` and at the end of a clause, `third` alone only before
        `of`, and `second` never.
    """
    if _ARTICLE.match(text, position) and not _COUNTED_ARTICLE.match(text, position):
        return None  # most of what is asked
    words = list(_words(text, position))
    if not words or words[0][0] not in NUMBER_STARTS:
        return None
    names = [name for name, _ in words]
    if in_list and "and" in names:
        names = names[: names.index("and")]
    first = names[0]
    if first in _UNITS or first in _TENS or (first in ARTICLES and names[1:2] and names[1] in _GROUPS):
        read: _Read | None = _scaled(names, _counted(names))
    else:
        read = _part(text, words)
    if read is None:
        return None
    if read[1] > 1 and _GRADE.match(text, words[read[1] - 1][1]):
        read = Fraction(_UNITS.get(first, 0)), 1  # one fifth grader
    return read[0], words[read[1] - 1][1]


def _words(text: str, position: int) -> Iterator[tuple[str, int]]:
    """Yield the words of numbers from there on in lower case, each with where it ends; a blank or hyphen parts them."""
    for n_words in range(MAX_WORDS):
        found = _WORD.match(text, position)
        if found is None or (n_words == 0 and not text[position].isalpha()):
            return
        position, name = found.end(), found.group(1).lower()
        if name not in _VOCABULARY:
            return
        yield name, position


def _counted(names: Sequence[str]) -> _Read:
    """Read a cardinal number, with `point five`, `thirds` or `and a half` behind it."""
    value, at = _cardinal(names)
    if names[at : at + 1] == ["point"] and (digits := _digits(names[at + 1 :])):
        return value + Fraction(int(digits), 10 ** len(digits)), at + 1 + len(digits)
    if (parts := _parts_after(names[at:], value)) is not None:
        return Fraction(value, parts), at + 1
    rest = _and_part(names[at:]) if names[at - 1] not in MAGNITUDES else None
    return (Fraction(value), at) if rest is None else (value + rest[0], at + rest[1])


def _digits(names: Sequence[str]) -> str:
    """Return the decimal digits that words spell one by one, as in `three point one four`."""
    digits = ""
    for name in names:
        if _UNITS.get(name, 10) > 9:
            break
        digits += str(_UNITS[name])
    return digits


def _parts_after(names: Sequence[str], value: int) -> int | None:
    """Return the denominator that the next word names: `third` behind one, `thirds` behind two."""
    name = names[0] if names else ""
    name, is_plural = _PLURALS.get(name, name), name in _PLURALS
    fits = name in _PARTS and value > 0 and is_plural == (value != 1)
    return _PARTS[name] if fits and (value < _MAX_PARTED or _PARTS.get(name, 0) >= 100) else None


def _and_part(names: Sequence[str]) -> _Read | None:
    """Read `and a half`, `and two thirds` behind a whole number."""
    if len(names) < 3 or names[0] != "and":
        return None
    value = 1 if names[1] in ARTICLES else _UNITS.get(names[1], 0)
    parts = _parts_after(names[2:], value)
    return None if parts is None or value >= parts else (Fraction(value, parts), 3)


def _scaled(names: Sequence[str], read: _Read) -> _Read:
    """Multiply `two and a half`, or `three point two`, by the `million` behind it."""
    value, at = read
    scale = _SCALES.get(names[at]) if at < len(names) and value.denominator > 1 else None
    return (value * scale, at + 1) if scale is not None and names[at - 1] not in _PLURALS else read


def _cardinal(names: Sequence[str]) -> tuple[int, int]:
    """Read a whole number: groups below a thousand with falling magnitudes, `and` before what is below a hundred."""
    total, at, limit = 0, 0, 10**15
    while True:
        skip = 1 if total and names[at : at + 1] == ["and"] else 0
        group, after = _group(names, at + skip)
        scale = _SCALES.get(names[after], 0) if after < len(names) else 0
        if after == at + skip or group >= limit or scale >= limit or (skip and (group >= 100 or scale)):
            return total, at
        if names[after - 1] == "dozen" or not scale:
            return total + group, after
        total, at, limit = total + group * scale, after + 1, scale


def _group(names: Sequence[str], at: int) -> tuple[int, int]:
    """Read a number below a thousand, `a dozen`, or `twelve hundred`; `at` itself comes back where there is none."""
    if names[at : at + 1] and names[at] in ARTICLES and names[at + 1 : at + 2] and names[at + 1] in _GROUPS:
        if names[at + 1] == "dozen":
            return 12, at + 2
        value, after = 1, at + 1
    else:
        value, after = _below_hundred(names, at)
    if not value or names[after : after + 1] != ["hundred"]:
        return value, after
    skip = 1 if names[after + 1 : after + 2] == ["and"] else 0
    rest, end = _below_hundred(names, after + 1 + skip)
    is_next = names[end : end + 1] == ["hundred"] or _parts_after(names[end:], rest) is not None
    return (100 * value, after + 1) if not rest or is_next else (100 * value + rest, end)


def _below_hundred(names: Sequence[str], at: int) -> tuple[int, int]:
    name = names[at] if at < len(names) else ""
    if name in _UNITS:
        return _UNITS[name], at + 1
    if name not in _TENS:
        return 0, at
    unit = _UNITS.get(names[at + 1], 0) if at + 1 < len(names) else 0
    return (_TENS[name] + unit, at + 2) if 0 < unit < 10 else (_TENS[name], at + 1)


def _part(text: str, words: Sequence[tuple[str, int]]) -> _Read | None:
    """Read `half`, `a half`, `half a dozen`, `a third of`, `quarter of`."""
    names = [name for name, _ in words]
    skip = 1 if names[0] in ARTICLES else 0
    name = names[skip] if len(names) > skip else ""
    if name not in _PARTS:
        return None
    counted = names[skip + 1 : skip + 3]
    if name == "half" and len(counted) == 2 and counted[0] in ARTICLES and counted[1] in _GROUPS:
        return Fraction(_GROUPS[counted[1]], 2), skip + 3
    end = words[skip][1]
    stands = _ENDS_PART.match(text, end) if skip else text[end : end + 4] == " of "
    return (Fraction(1, _PARTS[name]), skip + 1) if name == "half" or stands else None
