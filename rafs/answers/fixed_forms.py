"""Answers of a fixed form: options, standing words, times of day, dates, ratios, numbers of another base."""

import re
from fractions import Fraction

from rafs.answers.forms import Ambiguous, Context, Date, Form, Group, Interval, Moment, Option, Quantity, Region, Words
from rafs.grammar.number_words import read_number_words
from rafs.grammar.terms import Number

MISSING = frozenset(
    "|n/a|na|nan|null|nil|no answer|no final answer|i don't know|i do not know|don't know|not sure|idk|[invalid]"
    "|[no answer]|(no answer)|no answer found|?|??|???|-|--".split("|")
)
"""What a text says that gives no answer."""
_STANDARD = {
    name: meaning
    for meaning, names in {
        "yes": "yes|true|correct",
        "no": "no|false|incorrect",
        "none": "none",
        "no solution": "no solution|no solutions|∅|{}|\\{\\}|\\{ \\}|no real solution|no real solutions|empty set"
        "|the empty set|does not exist|dne|undefined|no such number|no such numbers|impossible|no solution exists"
        "|no solutions exist|there is no solution|there are no solutions|no values|no real roots|no such value",
        "infinity": "\\infty|+\\infty|infinity|infinite|positive infinity|+ \\infty",
        "-infinity": "-\\infty|-infinity|- \\infty|negative infinity|minus infinity",
        "infinitely many": "infinitely many|infinitely many solutions|infinite solutions|an infinite number"
        "|infinite number of solutions",
    }.items()
    for name in names.split("|")
}
_YES_OR_NO = re.compile(r"(yes|no|true|false)(?:[,.;:]\s|\s(?:because|since|as)\s)\S")
_ALL_REALS = frozenset(["all real numbers", "all reals", "r", "any real number", "all real x", "x ∈ r"])
_OPTION = re.compile(r"(?:\((?P<a>[A-Za-z])\)|\[(?P<c>[A-Z])\]|(?P<b>[A-Za-z])(?P<mark>[).:]?))(?:\s+(?P<text>\S.*))?")
_VARIABLES = frozenset("xyznktmpqrsuvwie")
_CLOCK = re.compile(
    r"(?:at )?(?P<h>\d{1,2})(?::(?P<m>\d{2})(?::(?P<s>\d{2}))?)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\.?|\s?(?P<o>o'clock)|\s?h(?:rs)?)?",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"(?P<minutes>half|(?:a )?quarter|\d{1,2}(?= minutes|\spast))(?: minutes)? (?P<way>past|to) "
    r"(?P<hour>\d{1,2}|[a-z]{3,6})",
    re.IGNORECASE,
)
_PARTS_OF_HOUR = {"half": 30, "quarter": 15, "a quarter": 15}
_NAMED_TIMES = {"noon": 12, "midday": 12, "midnight": 0, "12 noon": 12, "12 midnight": 0, "noon (12:00 pm)": 12}
_RATIO = re.compile(r"(\d+(?:\.\d+)?)(?:\s?:\s?(\d+(?:\.\d+)?)){1,4}|(\d+(?:\.\d+)?)\s+to\s+(\d+(?:\.\d+)?)")
_BASED = re.compile(r"\(?([0-9A-Fa-f]{1,60})\)?_\s?\{?\s?\(?(\d{1,2}|[a-z]{3,12})\)?\s?\}?")
_IN_BASE = re.compile(r"([0-9A-Fa-f]{1,60}) (?:in )?\(?base[- ](\d{1,2}|[a-z]{3,12})\)?")
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?P<{0}>[A-Za-z]{{3,9}})\.?"
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(rf"(?:the )?{_MONTH.format('month')} {_DAY.format('day')}(?:,? (?P<year>\d{{4}}))?"),
    re.compile(rf"(?:the )?{_DAY.format('day')} (?:of )?{_MONTH.format('month')},?(?: (?P<year>\d{{4}}))?"),
    re.compile(rf"{_MONTH.format('month')},? (?P<year>\d{{4}})"),
    re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"),
)
_NUMERIC_DATE = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})")
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day,? ", re.IGNORECASE)


def is_missing(text: str) -> bool:
    """Say whether a text gives no answer at all."""
    return text.lower().strip(" .!$") in MISSING


def read_fixed(text: str, context: Context) -> Form | None:
    """Read an answer of a fixed form; None for any other."""
    lower = text.lower()
    opening = _YES_OR_NO.match(lower)
    if opening:
        return Words(text=_STANDARD[opening[1]], standard=True)
    if lower in _STANDARD:
        return Words(text=_STANDARD[lower], standard=True)
    if lower in _ALL_REALS and text != "r":
        return Region(parts=(Interval(low=None, high=None, has_low=False, has_high=False),))
    return _option(text, context) or _time(text, context) or _date(text) or _based(text)


def plain_number(value: Fraction) -> Quantity:
    """Return a number without a unit."""
    return Quantity(expression=Number(value=value), value=value)


def _option(text: str, context: Context) -> Form | None:
    option = _OPTION.fullmatch(text)
    if not option or not (not option["text"] or option["a"] or option["c"] or option["mark"]):
        return None
    letter = option["a"] or option["b"] or option["c"]
    if option["text"] and option["b"] and (option["mark"] == "." and letter.islower()):
        return None if letter.upper() not in context.choices else Option(letter=letter.upper(), text=option["text"])
    if text in _VARIABLES and text.upper() not in context.choices:
        return None
    return Option(letter=letter.upper(), text=option["text"] or "")


def _time(text: str, context: Context) -> Form | None:
    """Read a time of day or a ratio; `9:30` alone may be either."""
    if text.lower() in _NAMED_TIMES:
        return Moment(seconds=_NAMED_TIMES[text.lower()] * 3600, half_known=True)
    past = _PAST.fullmatch(text)
    if past:
        return _spoken_time(past)
    clock, ratio = _CLOCK.fullmatch(text), _RATIO.fullmatch(text)
    moment = _moment(clock) if clock and (clock["m"] or clock["half"] or clock["o"]) else None
    if ratio is None:
        return moment
    parts = tuple(plain_number(Fraction(part)) for part in re.findall(r"\d+(?:\.\d+)?", text))
    group = Group(shape="ratio", items=parts)
    if moment is None or context.ratio:
        return group
    return Ambiguous(convention="time or ratio", readings=(moment, group), settled_by=(Moment, Group))


def _spoken_time(past: re.Match[str]) -> Moment | None:
    spelled = (Fraction(past["hour"]), 0) if past["hour"].isdigit() else read_number_words(past["hour"], 0)
    minutes = _PARTS_OF_HOUR.get(past["minutes"].lower()) or int(past["minutes"])
    if spelled is None or not 1 <= spelled[0] <= 12 or minutes > 59:
        return None
    minutes = minutes if past["way"].lower() == "past" else -minutes
    return Moment(seconds=(int(spelled[0]) * 60 + minutes) * 60, half_known=False)


def _moment(clock: re.Match[str]) -> Moment | None:
    hour, minute, second = (int(clock[name] or 0) for name in "hms")
    if hour > 24 or minute > 59 or second > 59 or (clock["half"] and not 1 <= hour <= 12):
        return None
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"].lower() == "p" else 0)
    known = bool(clock["half"]) or hour > 12 or hour == 0 or clock["h"].startswith("0")
    return Moment(seconds=hour % 24 * 3600 + minute * 60 + second, half_known=known)


def _date(text: str) -> Form | None:
    text = _WEEKDAY.sub("", text, count=1) if _WEEKDAY.match(text) else text
    for form in _DATES:
        found = form.fullmatch(text)
        parts = found.groupdict() if found else {}
        month = _month(parts.get("month") or "")
        if month:
            day, year = parts.get("day"), parts.get("year")
            return Date(month=month, day=int(day) if day else None, year=int(year) if year else None)
    numeric = _NUMERIC_DATE.fullmatch(text)
    if not numeric:
        return None
    first, second, year = (int(part) for part in numeric.groups())
    dates = [
        Date(month=month, day=day, year=year)
        for month, day in ((first, second), (second, first))
        if 1 <= month <= 12 and 1 <= day <= 31
    ]
    if not dates or first == second or len(dates) == 1:
        return dates[0] if dates else None
    return Ambiguous(convention="month or day first", readings=tuple(dates))


def _month(name: str) -> int | None:
    if name.isdigit():
        return int(name) if 1 <= int(name) <= 12 else None
    found = [k for k, month in enumerate(_MONTHS, start=1) if len(name) >= 3 and month.startswith(name.lower())]
    return found[0] if len(found) == 1 else None


def _based(text: str) -> Form | None:
    """Read `47_8`: its value, beside its digits."""
    based = _BASED.fullmatch(text) or _IN_BASE.fullmatch(text)
    if not based:
        return None
    spelled = None if based[2].isdigit() else read_number_words(based[2], 0)
    base = int(based[2]) if based[2].isdigit() else int(spelled[0]) if spelled else 0
    try:
        value = Fraction(int(based[1], base if 2 <= base <= 36 else 1))
    except ValueError:
        return None
    return Group(shape="base", items=(plain_number(value), Words(text=based[1].upper())))
