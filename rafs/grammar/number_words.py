"""Numbers written as English words: `forty-two`, `one hundred and five`, `two thirds`, `half`."""

import re
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
MAGNITUDES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {
    **{"half": 2, "halves": 2, "third": 3, "fourth": 4, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7},
    **{"eighth": 8, "ninth": 9, "tenth": 10, "twentieth": 20, "hundredth": 100},
}
_WORD = re.compile(r"[ \u00a0-]?([A-Za-z]+)")
MAX_WORDS = 12
"""Words of one spelled number; `nine hundred ninety-nine thousand nine hundred and ninety-nine` has nine."""


def _next_word(text: str, position: int, first: bool) -> tuple[str, int] | None:
    found = _WORD.match(text, position)
    if found is None or (first and not text[position].isalpha()):
        return None
    return found.group(1).lower(), found.end()


def read_number_words(text: str, position: int) -> tuple[Fraction, int] | None:
    """Read the longest spelled number that starts at `position`.

    Args:
        text: Any text.
        position: Index of the first letter of a word.

    Returns:
        The value and the index after its last letter, or None when no number is spelled there. `half` alone is a
        number; `third` or `quarter` alone is one only before `of`.
    """
    total, group, end, n_words = 0, 0, position, 0
    cursor, last = position, ""
    while n_words < MAX_WORDS and (word := _next_word(text, cursor, n_words == 0)) is not None:
        name, after = word
        if name in _UNITS and (last == "" or last in MAGNITUDES or (last in _TENS and 0 < _UNITS[name] < 10)):
            group += _UNITS[name]
        elif name in _TENS and (last == "" or last in MAGNITUDES):
            group += _TENS[name]
        elif name == "hundred" and last in _UNITS:
            group *= 100
        elif name in MAGNITUDES and name != "hundred" and last and last not in ("thousand", "million"):
            total, group = total + group * MAGNITUDES[name], 0
        elif name == "and" and last == "hundred":
            cursor = after
            last = "hundred"
            n_words += 1
            continue
        else:
            break
        last, cursor, end = name, after, after
        n_words += 1
    if last == "":
        return _read_part(text, position)
    return _with_part(text, Fraction(total + group), end)


def _read_part(text: str, position: int) -> tuple[Fraction, int] | None:
    word = _next_word(text, position, True)
    if word is None:
        return None
    name, end = word
    if name == "half":
        return Fraction(1, 2), end
    if name in _PARTS and not name.endswith("halves") and text[end : end + 4] == " of ":
        return Fraction(1, _PARTS[name]), end
    return None


def _with_part(text: str, value: Fraction, end: int) -> tuple[Fraction, int]:
    word = _next_word(text, end, False)
    if word is None:
        return value, end
    name, after = word
    singular = name[:-1] if name.endswith("s") and name != "halves" else name
    if singular in _PARTS and 0 < value < 20 and (value == 1) == (name == singular and name != "halves"):
        return value / _PARTS[singular], after
    return value, end
