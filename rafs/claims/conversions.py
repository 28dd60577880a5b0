"""Which units stand for the same quantity in other numbers: cents and dollars, minutes and hours, a dozen."""

from fractions import Fraction

_FAMILIES: tuple[dict[str, Fraction], ...] = (
    {
        **dict.fromkeys(["second", "sec", "s"], Fraction(1)),
        **dict.fromkeys(["minute", "min"], Fraction(60)),
        **dict.fromkeys(["hour", "hr", "h"], Fraction(3600)),
        "day": Fraction(86400),
        "week": Fraction(604800),
    },
    {"month": Fraction(1), "year": Fraction(12), "decade": Fraction(120)},
    {
        **dict.fromkeys(["cent", "penny", "pennie"], Fraction(1)),
        "nickel": Fraction(5),
        "dime": Fraction(10),
        "quarter": Fraction(25),
        **dict.fromkeys(["$", "dollar"], Fraction(100)),
    },
    {
        **dict.fromkeys(["millimeter", "mm", "millimetre"], Fraction(1)),
        **dict.fromkeys(["centimeter", "cm", "centimetre"], Fraction(10)),
        **dict.fromkeys(["meter", "m", "metre"], Fraction(1000)),
        **dict.fromkeys(["kilometer", "km", "kilometre"], Fraction(10**6)),
    },
    {
        **dict.fromkeys(["inch", "inche", "in"], Fraction(1)),
        **dict.fromkeys(["foot", "feet", "ft"], Fraction(12)),
        **dict.fromkeys(["yard", "yd"], Fraction(36)),
        **dict.fromkeys(["mile", "mi"], Fraction(63360)),
    },
    {
        **dict.fromkeys(["gram", "g"], Fraction(1)),
        **dict.fromkeys(["kilogram", "kg"], Fraction(1000)),
        "ton": Fraction(10**6),
    },
    {**dict.fromkeys(["ounce", "oz"], Fraction(1)), **dict.fromkeys(["pound", "lb"], Fraction(16))},
    {
        **dict.fromkeys(["milliliter", "ml", "millilitre"], Fraction(1)),
        **dict.fromkeys(["liter", "l", "litre"], Fraction(1000)),
    },
    {"cup": Fraction(1), "pint": Fraction(2), "quart": Fraction(4), "gallon": Fraction(16)},
    {"": Fraction(1), "dozen": Fraction(12), "pair": Fraction(2), "score": Fraction(20)},
)
_CALENDAR = frozenset(Fraction(factor) for factor in (365, 30, 52, 4, 28, 31))
"""Factors between the time families, which calendars and not definitions make."""


def family_of(unit: str) -> dict[str, Fraction] | None:
    """Return the units that convert into `unit`, each in the family's smallest one; None for an unknown word."""
    name = _singular(unit)
    return next((family for family in _FAMILIES if name and name in family), None)


def conversion(unit_from: str, unit_to: str) -> Fraction | None:
    """Return how many `unit_to` one `unit_from` is: `conversion("hours", "minutes")` is 60; None when unknown."""
    family = family_of(unit_from)
    if family is None or _singular(unit_to) not in family:
        return None
    return family[_singular(unit_from)] / family[_singular(unit_to)]


def _singular(unit: str) -> str:
    name = unit.lower()
    return name[:-1] if len(name) > 2 and name.endswith("s") else name


def may_convert(unit: str, ratio: Fraction) -> bool:
    """Say whether two sides that differ by `ratio` may only differ by an unsaid change of that unit."""
    family = family_of(unit)
    if family is None:
        return False
    own = family[_singular(unit)]
    others = (Fraction(1), Fraction(100)) if unit == "$" else tuple(family.values())
    factors = {own / other for other in others} | (_CALENDAR if "week" in family or "year" in family else frozenset())
    return ratio != 1 and (ratio in factors or 1 / ratio in factors)
