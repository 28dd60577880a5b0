"""Units: what the words behind a number mean, which convert into each other, and by what exact factor.

The text of a trace never reaches the unit library: words are looked up in `unit_words`, and only the names found there
are asked about, each once. Nouns such as `apples` are labels and convert into nothing.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product

from rafs.grammar.measures import TEMPERATURES, Factor, Meaning, Measure, calendar_factor, compound
from rafs.grammar.unit_words import PHRASES, SPELLINGS

CALENDAR_FACTORS = frozenset(Fraction(days) for days in (4, 28, 30, 31, 52, 360, 364, 365, 366))
"""Weeks in a month or year and days in a month or year, as they are commonly taken."""
_COUNTS = {"dozen": 12, "pair": 2, "score": 20}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The words behind a number."""

    meanings: tuple[Meaning, ...]
    """What it may mean; none for mere nouns."""
    nouns: frozenset[str]
    """The words that name what is counted or measured, in the singular."""

    @property
    def is_measure(self) -> bool:
        """Say whether it measures something rather than only naming it."""
        return bool(self.meanings)

    @property
    def scale(self) -> str:
        """The temperature scale that it is; empty for what a factor converts."""
        return next((name for name, _ in self.meanings[0] if name in TEMPERATURES), "") if self.meanings else ""

    def measures(self) -> tuple[Measure, ...]:
        """Return its meanings with dimensions and factors, for which the unit library may have to be loaded."""
        return tuple(dict.fromkeys(compound(meaning) for meaning in self.meanings))


def is_known_unit(word: str) -> bool:
    """Say whether one word is a measure."""
    return bool(_spelled(word)) or word.lower() in PHRASES


@lru_cache(maxsize=1024)
def read_unit(text: str) -> Unit | None:
    """Read the words behind a number: `square feet`, `km/h`, `kg·m/s^2`, `dollars per hour`, `red apples`.

    Returns:
        None where there are no words. A unit without measures where the first word is none: then all are nouns.
    """
    words = _words(text)
    if not words:
        return None
    powers, at = _powers(words)
    nouns = frozenset(_singular(word) for word in words[at:] if word not in _FILLERS and word[0].isalpha())
    if not powers:
        return Unit(meanings=(), nouns=nouns) if nouns else None
    meanings = product(*([(name, power) for name in SPELLINGS[word]] for word, power in powers.items()))
    return Unit(meanings=tuple(tuple(sorted(meaning)) for meaning in meanings), nouns=nouns)


def factors(unit_from: Unit, unit_to: Unit) -> tuple[Factor, ...]:
    """Return how many `unit_to` one `unit_from` may be, one factor for each meaning that they share.

    Returns:
        Nothing where they measure different things, so that no factor converts them.
    """
    if unit_from.meanings == unit_to.meanings and unit_from.is_measure:
        return (Factor(low=Fraction(1), high=Fraction(1)),)
    pairs = [
        (one, other)
        for one, other in product(unit_from.measures(), unit_to.measures())
        if one.system == other.system or not (one.system and other.system)
    ]
    exact = [one.factor / other.factor for one, other in pairs if one.dimension == other.dimension]
    if exact:
        return tuple(Factor(low=each, high=each) for each in dict.fromkeys(exact))
    calendar = (calendar_factor(one, other) for one, other in pairs)
    return tuple(dict.fromkeys(found for found in calendar if found is not None))


def conversion(unit_from: str, unit_to: str) -> Fraction | None:
    """Return how many `unit_to` one `unit_from` is: `conversion("hours", "minutes")` is 60; None when unknown.

    A factor that a calendar or a choice of meanings decides is unknown. Nothing as a unit counts things: a dozen is 12.
    """
    if _singular(unit_from) in _COUNTS:
        return Fraction(_COUNTS[_singular(unit_from)], _COUNTS.get(_singular(unit_to), 1)) if _counts(unit_to) else None
    one, other = read_unit(unit_from), read_unit(unit_to)
    if one is None or other is None or one.scale or other.scale:
        return None
    found = factors(one, other)
    return found[0].low if len(found) == 1 and found[0].low == found[0].high else None


def family_of(unit: str) -> Mapping[str, Fraction] | None:
    """Return the common units of what `unit` measures, each in the dimension's own one; None for mere nouns."""
    if _singular(unit) in _COUNTS:
        return {"": Fraction(1)} | {name: Fraction(count) for name, count in _COUNTS.items()}
    name = _plain_name(unit)
    return next((family for family in _families() if name in family), None)


def may_convert(unit: str, ratio: Fraction, *, by_calendar: bool = True) -> bool:
    """Say whether two sides that differ by `ratio` may only differ by an unsaid change of that unit."""
    family = family_of(unit)
    if family is None or ratio in (0, 1):
        return False
    own = family[_plain_name(unit)]
    others = [family["0.01 USD"]] if unit.strip() == "$" else family.values()
    calendar = CALENDAR_FACTORS if by_calendar and {"week", "year"} & family.keys() else frozenset()
    return bool({ratio, 1 / ratio} & ({own / other for other in others} | calendar))


def _plain_name(unit: str) -> str:
    """Return the first meaning of a unit of one word: `minute`, `USD`; empty where it has none or several parts."""
    if _singular(unit) in _COUNTS:
        return _singular(unit)
    own = read_unit(unit)
    meaning = own.meanings[0] if own is not None and own.meanings else ()
    return meaning[0][0] if len(meaning) == 1 and meaning[0][1] == 1 else ""


_FILLERS = frozenset(
    "of the a an in total altogether each left more remaining all and long wide tall high deep old away apart exactly "
    "about approximately only overall".split()
)
_POWER_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_AFTER_WORDS = {"squared": 2, "cubed": 3}
_MACRO = re.compile(r"\\(?:text|mathrm|mbox|textrm|operatorname|rm)\s?\{([^{}]{0,60})\}")
_LATEX = re.compile(r"\\[,;:! ]|[{}~]")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{1,40})\}\s?\{([^{}]{1,40})\}")
_SUPERSCRIPTS = str.maketrans("²³⁻¹", "23-1")
_WORD = re.compile(
    r"(?P<word>[A-Za-z]{1,2}\$|°?[^\W\d_]+(?:[-.][^\W\d_]+)*\.?|[°$€£¥₹₩₽¢′″℃℉])(?:\^?(?P<power>-?[1-4])(?!\d))?|(?P<per>/)"
)
_PHRASE = re.compile("|".join(rf"(?<!\w){re.escape(phrase)}(?!\w)" for phrase in sorted(PHRASES, key=len)[::-1]), re.I)
MAX_UNIT_CHARS = 120
"""Characters of a unit; longer text is no unit."""
MAX_UNIT_WORDS = 12


def _words(text: str) -> list[str]:
    r"""Cut a unit into words, `per`, and powers such as `^2`; LaTeX clothes fall away."""
    text = _FRACTION.sub(r"\1 / \2", _MACRO.sub(r" \1 ", text[:MAX_UNIT_CHARS]))
    text = _LATEX.sub(" ", text).replace("\\cdot", " ")
    text = text.replace("\\circ", "°").translate(_SUPERSCRIPTS).replace("^ ", "^").replace(" ^", "^")
    text = _PHRASE.sub(lambda found: PHRASES[found.group().lower()], " ".join(text.split()))
    words: list[str] = []
    for found in _WORD.finditer(text):
        words.append("per" if found["per"] else found["word"].rstrip("."))
        words += [f"^{found['power']}"] if found["power"] else []
    return words[:MAX_UNIT_WORDS]


def _powers(words: list[str]) -> tuple[Mapping[str, int], int]:
    """Return the measures at the beginning, with their powers, and the index of the first word behind them."""
    powers: Counter[str] = Counter()
    sign, ahead, at = 1, 1, 0
    while at < len(words):
        word = words[at]
        if word.lower() in ("per", "a", "an", "each", "every") and powers and _spelled_ahead(words, at + 1):
            sign = -1
        elif word.lower() in _POWER_WORDS and _spelled_ahead(words, at + 1):
            ahead = _POWER_WORDS[word.lower()]
        elif (spelled := _spelled(word)) and not (word == "in" and _is_word(words, at + 1)):
            behind = words[at + 1] if at + 1 < len(words) else ""
            power = _AFTER_WORDS.get(behind.lower(), int(behind[1:]) if behind[:1] == "^" else ahead)
            at += power != ahead or behind[:1] == "^" or behind.lower() in _AFTER_WORDS
            powers[spelled] += sign * power
            ahead = 1
        else:
            break
        at += 1
    rest = [word for word in words[at:] if word.lower() == "per"]
    return ({}, 0) if rest else ({name: power for name, power in powers.items() if power}, at)


def _spelled_ahead(words: list[str], at: int) -> bool:
    return at < len(words) and bool(_spelled(words[at]) or words[at].lower() in _POWER_WORDS)


def _is_word(words: list[str], at: int) -> bool:
    """Say whether a plain word stands there: `in total` is no inch."""
    return at < len(words) and words[at][0].isalpha() and words[at].lower() not in ("per", "of", "in", *_AFTER_WORDS)


def _spelled(word: str) -> str:
    """Return the entry of the table that a word is spelled like; empty for none."""
    word = word.rstrip(".")
    forms = (word, word.lower(), _singular(word))
    return next((form for form in forms if form in SPELLINGS and not (len(word) == 1 and form != word)), "")


def _singular(word: str) -> str:
    word = word.lower().rstrip(".")
    if len(word) > 3 and word.endswith(("shes", "ches", "xes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


def _counts(unit: str) -> bool:
    """Say whether a unit counts things, or is not named at all."""
    own = read_unit(unit)
    return _singular(unit) in _COUNTS or own is None or not own.is_measure


_FAMILIES = (
    "second minute hour day week",
    "month year decade",
    "millimeter centimeter meter kilometer",
    "inch foot yard mile",
    "milligram gram kilogram metric_ton",
    "ounce pound",
    "milliliter liter",
    "cup pint quart gallon",
)
_COINS = {"0.01 USD": 1, "0.05 USD": 5, "0.1 USD": 10, "0.25 USD": 25, "USD": 100}


@cache
def _families() -> tuple[Mapping[str, Fraction], ...]:
    """Units that people change between without a word, each in the dimension's own unit."""
    named = [{name: compound(((name, 1),)).factor for name in family.split()} for family in _FAMILIES]
    return (*named, {coin: Fraction(cents, 100) for coin, cents in _COINS.items()})
