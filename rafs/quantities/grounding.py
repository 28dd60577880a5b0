"""What a derivation may use without deriving it: the problem's numbers, unit constants, words, open assumptions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd

from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import DIGIT_COMMA, Kind, Token
from rafs.quantities.conflicts import measures_of

_WORDS: dict[str, Fraction] = {
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
    **dict.fromkeys(["eighth", "eighths"], Fraction(1, 8)),
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

_ASSUMING = frozenset(
    "let let's say imagine example instance if pretend consider choose pick denote try guess assume assumes assumed "
    "assuming assumption assumptions suppose supposes supposed supposing supposedly".split()
)
"""Words of a sentence that introduces something openly."""
MAX_HEADS = 12
"""Up to here a number may be a given one and one more, or one less: somebody and four friends are five."""


_NAMED = frozenset("denominator denominators numerator numerators multiple lcm lcd gcd divisor".split())
"""Words that say what a number of the same sentence is for a calculation."""
_INTRODUCING = _ASSUMING | _NAMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The numbers that a problem gives."""

    text: str
    values: tuple[Fraction, ...]
    """As written, in order of appearance, each once."""

    stated: frozenset[Fraction]
    measures: Mapping[Fraction, str]
    """Units of measure of its numbers."""
    counts: frozenset[Fraction]
    """How many things its lists name."""
    derived: frozenset[Fraction]
    """What they make without arithmetic: percentages in the other scale, what a share leaves, one head more."""

    def gives(self, value: Fraction) -> bool:
        """Say whether the problem states the value, or a number that makes it without arithmetic."""
        return value in self.derived or value in self.counts

    def states(self, value: Fraction) -> bool:
        """Say whether the problem states the value itself."""
        return value in self.stated

    def factors_to(self, value: Fraction) -> Iterator[Fraction]:
        """Yield the unit factors that make the value out of a number of the problem: 7 for the 28 days of 4 weeks."""
        top, bottom = abs(value.numerator), value.denominator
        stated = {
            (abs(one.numerator), one.denominator) for one in self.stated if (one.numerator < 0) == (value.numerator < 0)
        }
        for factor in _FACTORS:
            shared = gcd(top, factor)
            small, large = top // shared, bottom * (factor // shared)  # the value is `small / large` factors
            if (small, large) in stated or (top and (large, small) in stated):
                yield Fraction(factor)


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


def _without_arithmetic(values: Set[Fraction], shares: Set[Fraction]) -> frozenset[Fraction]:
    """Return the values, percentages in both scales, 1 - p and 1 + p, one head more or less, whole parts."""
    rests = {1 - share for share in shares} | {1 + share for share in shares}
    whole_values = [int(value) for value in values if value.denominator == 1]
    heads = {Fraction(near) for one in whole_values for near in (one - 1, one + 1) if 0 < near <= MAX_HEADS}
    whole = {Fraction(part) for value in values if value.denominator > 1 for part in (floor(value), ceil(value))}
    return frozenset(values | shares | rests | {100 * part for part in shares | rests} | heads | whole)


def read_ground(problem: str) -> Ground:
    """Collect the numbers of a problem: digits, words, percentages, fractions."""
    tokens = lex(problem)
    values = list(numbers_in(tokens))
    shares = {
        token.value for token in tokens if token.kind is Kind.NUMBER and (token.percent or _is_share(token.value))
    }
    shares |= set(_written_fractions(tokens))
    words = [part for token in tokens if token.kind is Kind.WORD for part in token.text.lower().split("-")]
    for word in dict.fromkeys(words):
        if (value := _WORDS.get(word)) is not None:
            values.append(value)
            if value < 1:
                shares.add(value)
                values.append(1 / value)
    shares |= {Fraction(int(top), int(bottom)) for top, bottom in _latex_fractions(problem)}
    stated = dict.fromkeys([*values, *shares])
    derived = _without_arithmetic(stated.keys(), shares) | set(_clock_numbers(problem))
    derived |= {Fraction(int(found[1]), 100) for found in _CENTS.finditer(problem)}
    return Ground(
        text=problem,
        values=tuple(stated),
        stated=frozenset(stated),
        measures=measures_of(tokens),
        counts=_list_lengths(tokens) - derived,
        derived=derived,
    )


def _list_lengths(tokens: Sequence[Token]) -> frozenset[Fraction]:
    """Return how many items the enumerations have: runs of short pieces between commas."""
    lengths, run, width = set(), 1, 0
    for token in [*tokens, None]:
        if token is not None and (token.kind is Kind.COMMA or token.text == DIGIT_COMMA):
            run, width = (run + 1 if width <= MAX_ITEM_WORDS else 2), 0
        elif token is not None and token.kind in (Kind.WORD, Kind.NUMBER) and width < 2 * MAX_ITEM_WORDS:
            width += 1
        elif token is None or token.kind is Kind.BREAK:
            lengths |= {Fraction(run), Fraction(run + 1)} if run > 1 else set()
            run, width = 1, 0
    return frozenset(lengths)


MAX_ITEM_WORDS = 4
"""Words of one item of a list, as in `her best friend Ana`."""


def _written_fractions(tokens: Sequence[Token]) -> Iterator[Fraction]:
    for at in [at for at, token in enumerate(tokens[1:-1], start=1) if token.text == "/"]:
        top, bottom = tokens[at - 1], tokens[at + 1]
        if top.kind is bottom.kind is Kind.NUMBER and bottom.value:
            yield top.value / bottom.value


def _latex_fractions(text: str) -> Iterable[tuple[str, str]]:
    found = re.findall(r"\\[dt]?frac\s?\{?(\d{1,6})\}?\s?\{?(\d{1,6})\}?", text)
    return [(top, bottom) for top, bottom in found if int(bottom)]


def _is_share(value: Fraction) -> bool:
    return 0 < value.numerator < value.denominator


def numbers_in(tokens: Sequence[Token]) -> Iterable[Fraction]:
    """Yield the values of number tokens; a spelled fraction such as `a third` brings its denominator too."""
    for token in tokens:
        if token.kind is Kind.NUMBER:
            yield token.value
            if token.value.denominator > 1 and not token.decimals and not token.percent:
                yield from (Fraction(token.value.numerator), Fraction(token.value.denominator))


def numbers_in_words(tokens: Sequence[Token]) -> frozenset[Fraction]:
    """Return the numbers that a step spells out, those of words such as `twice`, with their inverses, and nought."""
    values = {Fraction(0)}  # `$0`, which is no amount of the story
    for token in tokens:
        if token.kind is Kind.NUMBER:
            if token.spelled:
                values.add(token.value)
        elif token.kind is Kind.WORD and (value := _WORDS.get(token.text.lower())) is not None:
            values |= {value, 1 / value}
    return frozenset(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Introduced:
    """The numbers that a step brings in by a sentence of its own."""

    assumed: set[Fraction]
    """Of sentences that introduce something openly: `assume a month of 30 days`."""
    announced: set[Fraction]
    """Said in words, or in a sentence about a common denominator or the like."""


def introduced_numbers(tokens: Sequence[Token]) -> Introduced:
    """Return the numbers that a step assumes or announces; sentences without a number are passed over."""
    found = Introduced(assumed=set(), announced=set())
    if _INTRODUCING.isdisjoint([token.text.lower() for token in tokens]):  # most steps
        found.announced.update([token.value for token in tokens if token.spelled])
        return found
    for sentence in sentences(tokens):
        numbers = [token for token in sentence if token.kind is Kind.NUMBER]
        if numbers:
            words = {token.text.lower() for token in sentence}
            if not _ASSUMING.isdisjoint(words):
                found.assumed.update(token.value for token in numbers)
            named = not _NAMED.isdisjoint(words)
            found.announced.update(token.value for token in numbers if named or token.spelled)
    return found


def sentences(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of each sentence or line, without what ends it."""
    start = 0
    for position, token in enumerate(tokens):
        if token.kind is Kind.BREAK and token.text in _SENTENCE_ENDS:
            yield tokens[start:position]
            start = position + 1
    yield tokens[start:]


_SENTENCE_ENDS = (".", "\n", "?")
