"""What each named measure is: its dimension and its exact size, as the unit library or we define it."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from typing import TYPE_CHECKING

from rafs.grammar.unit_words import CALENDAR_MONTHS, MONEY, US_MEASURES

if TYPE_CHECKING:
    import pint

DAYS_OF_MONTH = (Fraction(28), Fraction(31))
"""A month has at least and at most so many days; which it is, is a convention."""
DAYS_OF_YEAR = (Fraction(360), Fraction(366))
"""The same for a year: some count 360 or 364 days, others 365 or 366."""
_DAY_S = Fraction(86400)
_FOOT_M = Fraction(3048, 10000)
TEMPERATURES = {
    "celsius": (Fraction(1), Fraction(0)),
    "fahrenheit": (Fraction(5, 9), Fraction(-160, 9)),
    "kelvin": (Fraction(1), Fraction(-27315, 100)),
}
"""Size of a degree of each scale in degrees Celsius, and where the scale begins on theirs."""
_IMPERIAL = frozenset(f"imperial_{name}" for name in US_MEASURES)

Dimension = tuple[tuple[str, int], ...]
Meaning = tuple[tuple[str, int], ...]
"""Names of the unit library, or ours, with their powers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One meaning of a unit: its dimension, and how many of the dimension's own units it is."""

    dimension: Dimension
    factor: Fraction
    system: str
    """`us` or `imperial` where the two differ; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """How many of one unit another is: between `low` and `high`, which only a convention sets apart."""

    low: Fraction
    high: Fraction


@cache
def compound(parts: Meaning) -> Measure:
    """Return the measure that names with powers make together."""
    dimension: Counter[str] = Counter()
    for name, power in parts:
        for base, exponent in _measure(name).dimension:
            dimension[base] += exponent * power
    factor = prod((_measure(name).factor ** power for name, power in parts), start=Fraction(1))
    us, imperial = (bool(names & {name for name, _ in parts}) for names in (US_MEASURES, _IMPERIAL))
    return Measure(
        dimension=tuple(sorted((base, power) for base, power in dimension.items() if power)),
        factor=factor,
        system="us" if us else "imperial" if imperial else "",
    )


@cache
def _measure(name: str) -> Measure:
    """Return a named measure: our own ones at once, others from the unit library, asked once for each name."""
    amount, _, currency = name.rpartition(" ")
    if currency in MONEY:
        return Measure(dimension=((currency, 1),), factor=Fraction(amount or 1), system="")
    ours = {
        "acre": (("[length]", 2), 43560 * _FOOT_M**2),
        "degree": (("[angle]", 1), Fraction(1)),
        "revolution": (("[angle]", 1), Fraction(360)),
        "radian": (("[radian]", 1), Fraction(1)),
        "byte": (("[data]", 1), Fraction(8)),
        "bit": (("[data]", 1), Fraction(1)),
        **{scale: ((f"[{scale}]", 1), Fraction(1)) for scale in TEMPERATURES},
        **{unit: (("[month]", 1), Fraction(months)) for unit, months in CALENDAR_MONTHS.items()},
    }
    if name in ours:
        return Measure(dimension=(ours[name][0],), factor=ours[name][1], system="")
    base = _registry().Quantity(Fraction(1), name).to_base_units()
    dimension = tuple(sorted((str(kind), int(Fraction(str(power)))) for kind, power in base.dimensionality.items()))
    return Measure(dimension=dimension, factor=Fraction(base.magnitude), system="")


def in_celsius(value: Fraction, scale: str) -> Fraction:
    """Return a temperature in degrees Celsius."""
    size, shift = TEMPERATURES[scale]
    return value * size + shift


def load_units() -> None:
    """Load the unit library, a quarter of a second that else the first comparison of two units waits for."""
    _registry()


@cache
def _registry() -> "pint.UnitRegistry[Fraction]":
    import pint

    return pint.UnitRegistry(non_int_type=Fraction)


def calendar_factor(one: Measure, other: Measure) -> Factor | None:
    """Convert months or years into days and shorter, or back, with the bounds that every calendar keeps."""
    first, second = _in_time(one), _in_time(other)
    if first is None or second is None or first[0] != second[0]:
        return None
    ratios = [a / b for a in first[1] for b in second[1]]
    return Factor(low=min(ratios), high=max(ratios))


def _in_time(measure: Measure) -> tuple[Dimension, tuple[Fraction, Fraction]] | None:
    """Write months as seconds: the dimension without months, and the least and largest factor."""
    dimension = dict(measure.dimension)
    months = dimension.pop("[month]", 0)
    dimension["[time]"] = dimension.get("[time]", 0) + months
    if months == 0:
        days = [Fraction(1)]
    elif abs(months) != 1:
        return None
    else:
        years = measure.factor % 12 == 0
        days = [each / 12 * _DAY_S for each in DAYS_OF_YEAR] if years else [each * _DAY_S for each in DAYS_OF_MONTH]
    ends = sorted(measure.factor * each ** (months or 1) for each in days)
    return tuple(sorted((base, power) for base, power in dimension.items() if power)), (ends[0], ends[-1])
