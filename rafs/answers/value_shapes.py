"""Values whose shape is known before their clause ends: tuples, dates, compound quantities, lists of equations."""

import re
from dataclasses import dataclass

from rafs.grammar.units import is_known_unit


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedValue:
    """The characters [start, end) of a value, and the answer they state."""

    start: int
    end: int
    text: str
    numeric: bool


MAX_BRACKET_CHARS = 200
"""Characters of a tuple, set or interval that is read whole."""
MATHS_WORD = re.compile(
    r"(?<![\\A-Za-z])(?!(?:pi|sqrt|sin|cos|tan|log|ln|exp|cup|cap|in|infty)(?![A-Za-z]))[A-Za-z]{2,}"
)
_WRAPPED_OPTION = re.compile(r"[<{\[]\s?(?P<letter>[A-Z])\s?[>}\]](?=[\s.,;:*]|$)")
_OPTIONS = re.compile(
    r"\(?(?P<first>[A-Z])\)?(?:\s?(?:,|&|,?\s(?:and|or))\s?\(?(?P<rest>[A-Z])\)?(?![\w'])){1,5}(?=[\s.;:*]|$)"
)
_OPENERS = re.compile(r"\\left\s?(?:\\\{|[(\[])|\\\{|[(\[{⟨]")
_BRACKET = re.compile(r"\\\\|[()\[\]{}⟨⟩]|\n")
_CONTINUED = re.compile(r"\s?(?:,|;|∪|\\cup|,?\s(?:and|or))\s?(?=\\left|\\\{|[(\[{⟨])")
_OPERATED = re.compile(r"\s?(?:[-+*/^=<>×·÷!%]|\\(?:cdot|times|div))")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"(?:the\s)?(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,?\s)?(?:{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?|\d{{4}}-\d{{2}}-\d{{2}})(?![\w-])"
)
_TIME = re.compile(
    r"(?:half|(?:a\s)?quarter|\d{1,2}(?=\sminutes|\spast)(?:\sminutes)?)\s(?:past|to)\s(?:\d{1,2}|[a-z]{3,6})(?=[\s.,;]|$)(?!\s(?:of|and)\b)",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?:\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,12})?|\d{1,4}\s\d{1,3}/\d{1,3})(?:\s|-)?(?P<unit>[A-Za-z°]{1,12})(?![A-Za-z])"
)
_PART_GAP = re.compile(r"(?:,?\s(?:and\s)?|,\s?)(?=\d)")
_EQUATION = re.compile(
    r"[A-Za-z](?:_\{?\w\}?)?\s?=\s?[^\s,;=<>.]{1,40}(?:\.\d+)?(?:\s?[-+/*^]\s?[^\s,;=<>.]{1,20}){0,4}"
)
_EQUATION_GAP = re.compile(r"\s?(?:[,;]\s?(?:and\s|or\s)?|\s?\\quad\s|\sand\s|\sor\s)\s?(?=[A-Za-z](?:_\{?\w\}?)?\s?=)")


def read_shape(text: str, start: int, end: int) -> StatedValue | None:
    """Read a value of a known shape at `start`; None where none stands there.

    Args:
        text: The text.
        start: Where the value begins.
        end: The furthest that it may reach.
    """
    option = _WRAPPED_OPTION.match(text, start, end)
    if option:
        return StatedValue(start=start, end=option.end(), text=option["letter"], numeric=False)
    options = _OPTIONS.match(text, start, end)
    if options:
        letters = ", ".join(re.findall(r"\b[A-Z]\b", options.group()))
        return StatedValue(start=start, end=options.end(), text=letters, numeric=False)
    stop = _brackets(text, start, end) or _date(text, start, end) or _compound(text, start, end)
    stop = stop or _equations(text, start, end)
    return StatedValue(start=start, end=stop, text=text[start:stop], numeric=True) if stop else None


def _brackets(text: str, start: int, end: int) -> int:
    """Return the end of tuples, sets or intervals, 0 where none begins: `(1; 2)`, `[2, 5) ∪ (7, 9]`."""
    at = stop = start
    while close := _closing(text, at, end):
        stop = close
        gap = _CONTINUED.match(text, stop, end)
        if gap is None:
            break
        at = gap.end()
    return 0 if stop == start or _OPERATED.match(text, stop, end) else stop


def _closing(text: str, start: int, end: int) -> int:
    """Return where the bracket opened at `start` ends, if parts in mathematics stand in it; else 0."""
    opener = _OPENERS.match(text, start, end)
    if opener is None:
        return 0
    depth = 0
    for bracket in _BRACKET.finditer(text, opener.end() - 1, min(end, start + MAX_BRACKET_CHARS)):
        if bracket.group() == "\n":
            return 0
        depth += (bracket.group() in "([{⟨") - (bracket.group() in ")]}⟩")
        if depth == 0:
            inner = text[opener.end() : bracket.start()].rstrip("\\")
            parts = re.search(r"[,;]|\\mid|[|:]", inner) or opener.group()[-1] == "{"
            wordy = MATHS_WORD.search(re.sub(r"\\[A-Za-z]{1,12}", "", inner))
            return bracket.end() if parts and inner.strip() and not wordy else 0
    return 0


def _date(text: str, start: int, end: int) -> int:
    date = _DATE.match(text, start, end) or _TIME.match(text, start, end)
    return date.end() if date else 0


def _compound(text: str, start: int, end: int) -> int:
    """Return the end of a quantity in several units, 0 for any other: `2 hours 15 minutes`, `5 ft 3 in`."""
    at, stop, count = start, 0, 0
    while (part := _PART.match(text, at, end)) and is_known_unit(part["unit"]) and (count or part["unit"] != "in"):
        stop, count = part.end(), count + 1
        gap = _PART_GAP.match(text, stop, end)
        if gap is None:
            break
        at = gap.end()
    return stop if count > 1 else 0


def _equations(text: str, start: int, end: int) -> int:
    """Return the end of several equations, 0 for one or none: `x = 2 or x = -2`, `x = 1, y = 2`."""
    at, stop, count = start, 0, 0
    while equation := _EQUATION.match(text, at, end):
        stop, count = equation.end(), count + 1
        gap = _EQUATION_GAP.match(text, stop, end)
        if gap is None:
            break
        at = gap.end()
    return stop if count > 1 else 0
