"""The kinds of things an answer can be, once it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from rafs.grammar.terms import Expression
from rafs.grammar.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the problem says about how answers are to be read."""

    asks_percent: bool | None = None
    """None where there is no problem text to tell."""
    ordered: bool = False
    ratio: bool = False
    decimal_comma: bool = False
    decimal_point: bool = False
    """Neither is known of a problem whose language does not tell."""
    choices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    words: frozenset[str] = frozenset()
    """The problem's words in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number or an expression, with its unit."""

    expression: Expression
    value: Fraction | None
    """Exact value; None where it is not a plain number."""
    unit: Unit | None = None
    unit_text: str = ""
    """The unit as written."""
    percent: bool = False
    decimals: int = 0
    """Digits behind the decimal point of a plain decimal, else 0."""
    fraction: bool = False
    """Written as `a/b`."""
    label: str = ""
    """`x` of `x = 3`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A letter, perhaps with the option's text."""

    letter: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Text that is no mathematics, or none that is read here."""

    text: str
    standard: bool = False
    """True for answers with a fixed meaning: yes, no, no solution, infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Several values."""

    shape: str
    """`list`, `set`, `()`, `[]`, `ratio`, `base`, `matrix 2`, ..."""
    items: tuple["Form", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """An equation or inequality that does not merely name a value."""

    sign: str
    """`=`, `>`, `>=` or `!=`: the difference stands in this relation to 0."""
    difference: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """One stretch of the reals; an end that is None is infinite."""

    low: Expression | None
    high: Expression | None
    has_low: bool
    has_high: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A union of intervals, merged and in order."""

    parts: tuple[Interval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time of day."""

    seconds: int
    """Since midnight, in the half of the day that is stated; since 0:00 where none is."""
    half_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Date:
    """A day or a month; what is not stated is None."""

    month: int
    day: int | None
    year: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """What means one thing or another, by a convention that the answer does not state."""

    convention: str
    """Two answers that leave the same convention open are read alike."""
    readings: tuple["Form", ...]
    settled_by: tuple[type["Form"], ...] = ()
    """The kinds of the other answer that settle it, as `9:30` beside `8:00 pm` is a time."""


Form = Quantity | Option | Words | Group | Relation | Region | Moment | Date | Ambiguous
