"""Units of answers: which can be converted into each other, and which are only nouns."""

import re
from dataclasses import dataclass
from fractions import Fraction

_SCALES: dict[str, dict[str, str]] = {
    "length": {
        "1/1000": "mm millimeter millimetre", "1/100": "cm centimeter centimetre", "1/10": "dm decimeter decimetre",
        "1": "m meter metre", "1000": "km kilometer kilometre", "0.0254": "inch inches in", "0.3048": "foot feet ft",
        "0.9144": "yard yd", "1609.344": "mile mi",
    },
    "mass": {
        "1/1000": "mg milligram", "1": "g gram gramme", "1000": "kg kilogram kilo", "1000000": "tonne",
        "28.349523125": "ounce oz", "453.59237": "pound lb lbs",
    },
    "time": {
        "1/1000": "millisecond ms", "1": "second sec s", "60": "minute min", "3600": "hour hr h", "86400": "day",
        "604800": "week",
    },
    "months": {"1": "month", "12": "year yr", "120": "decade", "1200": "century centuries"},
    "volume": {"1/1000": "ml milliliter millilitre", "1/100": "cl", "1/10": "dl", "1": "l liter litre"},
    "US volume": {"1": "cup", "2": "pint", "4": "quart", "16": "gallon"},
    "USD": {"1": "$ dollar usd buck", "1/100": "cent ¢", "1/20": "nickel", "1/10": "dime", "1/4": "quarter"},
    "EUR": {"1": "€ euro eur"}, "GBP": {"1": "£ gbp", "1/100": "pence"}, "INR": {"1": "₹ rupee inr"},
    "JPY": {"1": "¥ yen jpy"},
    "angle": {"1": "° degree deg"}, "radian": {"1": "radian rad"},
}  # fmt: skip
_UNITS = {
    name: (dimension, Fraction(factor))
    for dimension, scale in _SCALES.items()
    for factor, names in scale.items()
    for name in names.split()
}
_SHORT = {
    "mph": "mile per hour",
    "kph": "km per hour",
    "kmh": "km per hour",
    "kmph": "km per hour",
    "bpm": "beat per minute",
}
_POWERS = {"square": "2", "sq": "2", "cubic": "3", "²": "2", "³": "3"}
_FILLERS = frozenset("of the a an in total altogether each left more remaining per-person us u.s. all and".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit: a scale where it is a known measure, the nouns it consists of otherwise."""

    dimension: str
    """`length`, `length^2`, `length/time`, `USD`; empty for mere nouns."""
    factor: Fraction
    nouns: frozenset[str]


def is_known_unit(word: str) -> bool:
    """Say whether one word is a measure of the table."""
    return _singular(word) in _UNITS or word.lower() in _SHORT


def read_unit(text: str) -> Unit | None:
    """Read the words behind a number; None where there are none."""
    spaced = re.sub(r"\^?\{?([23])\}?$|\^\{?([23])\}?", lambda power: f" ^{power[1] or power[2]} ", text.lower())
    spaced = spaced.replace("/", " per ").replace("²", " ^2 ").replace("³", " ^3 ")
    words = [part for word in spaced.split() for part in _SHORT.get(word.strip(".,()"), word.strip(".,()")).split()]
    words = [word for word in words if word and word not in _FILLERS]
    if not words:
        return None
    nouns = frozenset(_singular(word) for word in words)
    above, slash, below = " ".join(words).partition(" per ")
    over, under = _scale(above.split()), _scale(below.split())
    if over is None or (slash and under is None):
        return Unit(dimension="", factor=Fraction(1), nouns=nouns)
    if under is None:
        return Unit(dimension=over[0], factor=over[1], nouns=nouns)
    return Unit(dimension=f"{over[0]}/{under[0]}", factor=over[1] / under[1], nouns=nouns)


def _scale(words: list[str]) -> tuple[str, Fraction] | None:
    """Read `square feet`, `cm ^2`, `hours`: the one measure among the words, with its power."""
    power = next((_POWERS.get(word, word[1:]) for word in words if word in _POWERS or word[0] == "^"), "")
    plain = [word for word in words if word not in _POWERS and word[0] != "^"]
    if len(plain) != 1 or _singular(plain[0]) not in _UNITS:
        return None
    dimension, factor = _UNITS[_singular(plain[0])]
    return (f"{dimension}^{power}", factor ** int(power)) if power else (dimension, factor)


def _singular(word: str) -> str:
    word = word.lower().rstrip(".")
    if word in _UNITS:
        return word
    if len(word) > 3 and word.endswith(("shes", "ches", "xes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word
