"""What a derivation may use without deriving it: the problem's numbers, and what they make without arithmetic."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd

from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import BREAK, COMMA, DIGIT_COMMA, NUMBER, WORD, Token
from rafs.quantities.conflicts import measures_of

NUMBER_WORDS: dict[str, Fraction] = {
    **dict.fromkeys(
        ["twice", "double", "doubled", "doubles", "doubling", "couple", "pair", "both", "pairs"], Fraction(2)
    ),
    **dict.fromkeys(["thrice", "triple", "tripled", "triples", "tripling", "triplets"], Fraction(3)),
    **dict.fromkeys(["quadruple", "quadrupled", "quadruples"], Fraction(4)),
    **dict.fromkeys(["dozen", "dozens"], Fraction(12)),
    **dict.fromkeys(["half", "halves", "halved", "halfway"], Fraction(1, 2)),
    **dict.fromkeys(["third", "thirds"], Fraction(1, 3)),
    **dict.fromkeys(["quarter", "quarters", "fourth", "fourths"], Fraction(1, 4)),
    **dict.fromkeys(["fifth", "fifths"], Fraction(1, 5)),
    **dict.fromkeys(["sixth", "sixths"], Fraction(1, 6)),
    **dict.fromkeys(["seventh", "sevenths"], Fraction(1, 7)),
    **dict.fromkeys(["eighth", "eighths"], Fraction(1, 8)),
    **dict.fromkeys(["ninth", "ninths"], Fraction(1, 9)),
    **dict.fromkeys(["tenth", "tenths"], Fraction(1, 10)),
    **dict.fromkeys(["twins", "duo"], Fraction(2)),
    **dict.fromkeys(["trio", "triplet", "tricycle", "tricycles"], Fraction(3)),
    **dict.fromkeys(["quadruplets", "quartet"], Fraction(4)),
    **dict.fromkeys(["quintuplets", "quintet"], Fraction(5)),
    "sextuplets": Fraction(6),
    "octuplets": Fraction(8),
    "decade": Fraction(10),
    "century": Fraction(100),
    "single": Fraction(1),
}
"""Words that bring a number into a problem."""

MAX_HEADS = 12
"""Up to here a number may be a given one and one more, or one less: somebody and four friends are five."""


Ratio = tuple[int, int]
"""Numerator and denominator: a hundred times in a trace a number is looked for, and a `Fraction` is slow to hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The numbers that a problem gives."""

    text: str
    is_latex: bool
    """The problem is written in LaTeX, the language of mathematics."""
    values: tuple[Fraction, ...]
    """As written, in order of appearance, each once."""
    stated: Set[Ratio]
    """The same."""
    measures: Mapping[Fraction, str]
    """Units of measure of its numbers."""
    counts: frozenset[int]
    """How many things its lists name, where nothing else gives that number."""
    derived: frozenset[Ratio]
    """What they make without arithmetic: percentages in the other scale, what a share leaves, one friend more."""
    only_shares: bool
    """It gives no amount, so that any whole may be assumed for its parts: `let there be 60 pupils`."""

    def gives(self, value: Fraction) -> bool:
        """Say whether the problem states the value, or a number that makes it without arithmetic."""
        ratio = value.as_integer_ratio()
        return ratio in self.derived or (ratio[1] == 1 and ratio[0] in self.counts)

    def states(self, value: Fraction) -> bool:
        """Say whether the problem states the value itself."""
        return value.as_integer_ratio() in self.stated

    def counts_to(self, value: Fraction) -> bool:
        """Say whether a list of the problem names so many things."""
        return value.denominator == 1 and value.numerator in self.counts

    def is_beside(self, value: Fraction) -> bool:
        """Say whether a number is one more or less than a stated one, which mathematics takes without a word.

        The 12 of `13 * 12` ordered pairs.
        """
        whole, bottom = value.as_integer_ratio()
        is_small = bottom == 1 and 0 < whole <= MAX_HEADS
        return is_small and ((whole - 1, 1) in self.stated or (whole + 1, 1) in self.stated)

    def is_open_to(self, whole: Fraction) -> bool:
        """Say whether a whole may be assumed: the problem gives shares alone, and it has them in whole things."""
        return self.only_shares and all((whole * share).denominator == 1 for share in self.values if share < 1)

    def factors_to(self, value: Fraction) -> Iterator[Fraction]:
        """Yield the unit factors that make the value out of a number of the problem: 7 for the 28 days of 4 weeks."""
        top, bottom = abs(value.numerator), value.denominator
        stated = {(abs(one), below) for one, below in self.stated if (one < 0) == (value.numerator < 0)}
        for factor in _FACTORS:
            shared = gcd(top, factor)
            small, large = top // shared, bottom * (factor // shared)  # the value is `small / large` factors
            if (small, large) in stated or (top and (large, small) in stated):
                yield Fraction(factor)


_LATEX = re.compile(r"\\|\$\s?[A-Za-z(]")
_FACTORS = (7, 12, 24, 52, 60, 365)
_CLOCK = re.compile(
    r"(\d(?<![\d:.].)\d?)(?:(?::(\d{2}))?(?!\d|:)(?:\s?([ap])\.?\s?m\b|(?=\s?o'clock))|:(\d{2})(?![\d:]))",
    re.IGNORECASE,
)
"""It looks back from its first digit, since Python skips to digits but tries a look back everywhere."""
_CENTS = GatedPattern(r"(\d{1,4})(?:\s|-)?(?:cents?\b|¢)", ["cent", "¢"], lead=5)
_HALF_DAY = 12


def _clock_numbers(text: str) -> Iterator[Fraction]:
    """Yield what a clock time may be counted in: 2:30 p.m. as 2, 14, 30, 2.5, 14.5 hours, 150 minutes."""
    for found in _CLOCK.finditer(text):
        hour, minute = int(found[1]), int(found[2] or found[4] or 0)
        if minute < 60 and hour <= 24:
            for at in {hour, hour + _HALF_DAY if (found[3] or "p") in "pP" and hour < _HALF_DAY else hour}:
                yield from (Fraction(at), Fraction(minute), at + Fraction(minute, 60), Fraction(60 * at + minute))


def _without_arithmetic(values: Iterable[Fraction], shares: Iterable[Fraction]) -> Iterator[Fraction]:
    """Yield percentages in both scales, 1 - p and 1 + p, whole parts."""
    for share in shares:
        for part in (share, 1 - share, 1 + share):
            yield from (part, 100 * part)
    for value in values:
        if value.denominator > 1:
            yield from (Fraction(floor(value)), Fraction(ceil(value)))


def _beside(values: Iterable[Fraction]) -> Iterator[Fraction]:
    """Yield one more and one less than each small whole number."""
    whole = [int(value) for value in values if value.denominator == 1]
    yield from (Fraction(near) for one in whole for near in (one - 1, one + 1) if 0 < near <= MAX_HEADS)


def _companies(tokens: Sequence[Token]) -> Iterator[Fraction]:
    """Yield how many friends or the like somebody has, who makes one more."""
    for at, token in enumerate(tokens):
        behind = tokens[at + 1 : at + 1 + COMPANION_REACH]
        if token.kind is NUMBER and any(one.text.lower() in _COMPANIONS for one in behind):
            yield token.value


_COMPANIONS = frozenset(
    "friends other brothers sisters siblings cousins children kids sons daughters others classmates colleagues "
    "coworkers teammates roommates housemates neighbors neighbours companions guests partners "
    "relatives grandchildren".split()
)
COMPANION_REACH = 3
"""Tokens behind a number in which its companions stand: `4 of her friends`."""


_ORDINAL = re.compile(r"(\d{1,15})(?:st|nd|rd|th)", re.IGNORECASE)


def read_ground(problem: str) -> Ground:
    """Collect the numbers of a problem: digits, words, percentages, fractions."""
    tokens = lex(problem)
    values = list(numbers_in(tokens))
    shares = {token.value for token in tokens if token.kind is NUMBER and (token.percent or _is_share(token.value))}
    shares |= set(_written_fractions(tokens))
    words = [part for token in tokens if token.kind is WORD for part in token.text.lower().split("-")]
    for word in dict.fromkeys(words):
        if (value := NUMBER_WORDS.get(word)) is not None:
            values.append(value)
            if value < 1:
                shares.add(value)
                values.append(1 / value)
    ordinals = [token.text for token in tokens if token.text[:1].isdecimal()]
    values += [Fraction(int(found[1])) for text in ordinals if (found := _ORDINAL.fullmatch(text))]
    shares |= {Fraction(int(top), int(bottom)) for top, bottom in _latex_fractions(problem)}
    stated = {one.as_integer_ratio(): one for one in [*values, *shares]}
    made = [*_without_arithmetic(stated.values(), shares), *_clock_numbers(problem), *_beside(_companies(tokens))]
    made += [Fraction(int(found[1]), 100) for found in _CENTS.finditer(problem)]
    derived = frozenset([*stated, *(one.as_integer_ratio() for one in made)])
    return Ground(
        text=problem,
        is_latex=_LATEX.search(problem) is not None,
        values=tuple(stated.values()),
        stated=stated.keys(),
        measures=measures_of(tokens),
        counts=frozenset([n_items for n_items in list_lengths(tokens) if (n_items, 1) not in derived]),
        derived=derived,
        only_shares=all(_is_part(tokens, at) for at, token in enumerate(tokens) if token.kind is NUMBER),
    )


def _is_part(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a number is a share, or part of a written one, rather than an amount."""
    token, beside = tokens[position], tokens[max(0, position - 1) : position + 2]
    return token.percent or token.value <= 1 or any(one.text == "/" for one in beside)


def list_lengths(tokens: Sequence[Token]) -> Set[int]:
    """Return how many items the enumerations have: runs of short pieces between commas."""
    lengths: set[int] = set()
    run, width = 1, 0
    for token in tokens:
        kind = token.kind
        if kind is WORD or kind is NUMBER:
            width += 1
        elif kind is COMMA or token.text == DIGIT_COMMA:
            run, width = (run + 1 if width <= MAX_ITEM_WORDS else 2), 0
        elif kind is BREAK:
            lengths |= {run, run + 1} if run > 1 else set()
            run, width = 1, 0
    return lengths | {run, run + 1} if run > 1 else lengths


MAX_ITEM_WORDS = 4
"""Words of one item of a list, as in `her best friend Ana`."""


def _written_fractions(tokens: Sequence[Token]) -> Iterator[Fraction]:
    for at in [at for at, token in enumerate(tokens[1:-1], start=1) if token.text == "/"]:
        top, bottom = tokens[at - 1], tokens[at + 1]
        if top.kind is bottom.kind is NUMBER and bottom.value:
            yield top.value / bottom.value


def _latex_fractions(text: str) -> Iterable[tuple[str, str]]:
    found = re.findall(r"\\[dt]?frac\s?\{?(\d{1,6})\}?\s?\{?(\d{1,6})\}?", text)
    return [(top, bottom) for top, bottom in found if int(bottom)]


def _is_share(value: Fraction) -> bool:
    return 0 < value.numerator < value.denominator


def numbers_in(tokens: Sequence[Token]) -> Iterable[Fraction]:
    """Yield the values of number tokens; a spelled fraction such as `a third` brings its denominator too."""
    for token in tokens:
        if token.kind is NUMBER:
            yield token.value
            if token.value.denominator > 1 and not token.decimals and not token.percent:
                yield from (Fraction(token.value.numerator), Fraction(token.value.denominator))
