"""What a derivation may use without deriving it: the problem's numbers, unit constants, words, open assumptions."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from rafs.grammar.lexing import lex
from rafs.grammar.tokens import DIGIT_COMMA, Kind, Token

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

_CONSTANTS: tuple[tuple[int, str], ...] = (
    (7, r"week|day"),
    (24, r"hour|day|dozen"),
    (60, r"minute|hour|second|\bmin|mph"),
    (3600, r"hour|second"),
    (1440, r"minute|day"),
    (12, r"month|year|annual|dozen|inch|f[eo]+t|noon|o'clock|\bam\b|\bpm\b|a\.m|p\.m"),
    (52, r"week|year"),
    (365, r"day|year|annual|dail"),
    (366, r"leap"),
    (30, r"month|day|november|april|june|september"),
    (31, r"month|day|january|march|may|july|august|october|december"),
    (28, r"month|february"),
    (29, r"february"),
    (5, r"weekday|work ?week|school|work|nickel"),
    (4, r"week|month|quarter|square|side|rectang|gallon|quart|seasons|leg|wheel|tire"),
    (3, r"yard|feet|triang|quarter"),
    (36, r"yard|inch"),
    (144, r"square|gross"),
    (16, r"ounce|pound|oz|lb|gallon|cup"),
    (8, r"pint|cup|ounce|gallon|octop|spider|work"),
    (2000, r"ton|pound"),
    (5280, r"mile|f[eo]+t"),
    (1760, r"mile|yard"),
    (25, r"quarter|cent"),
    (50, r"half|percent|%|state"),
    (20, r"score|nickel"),
    (180, r"angle|triang|degree|hour|minute"),
    (360, r"angle|circle|degree|circular"),
    (90, r"angle|right|degree|minute"),
    (6, r"cube|face|half|dozen|die\b|dice"),
    (26, r"letter|alphabet"),
    (52, r"card|deck"),
    (13, r"card|suit"),
)
"""Numbers that everybody knows, each beside the words without which they are not that."""
_COINS = tuple(
    (Fraction(cents, 100), re.compile(words, re.IGNORECASE))
    for cents, words in ((1, r"penn|cent"), (5, "nickel"), (10, "dime"), (25, "quarter"), (50, "half"))
)
_CONTEXTS = tuple((Fraction(value), re.compile(words, re.IGNORECASE)) for value, words in _CONSTANTS)
_STRUCTURAL = frozenset([Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2)])
"""Numbers of the operation, not of the story: a rest of a whole, an average of two."""
_ASSUMPTION = re.compile(
    r"\b(?:let|assum\w*|suppos\w*|say|imagine|for example|for instance|if|pretend|consider|choose|"
    r"pick|denote|try|guess)\b",
    re.IGNORECASE,
)


MAX_HEADS = 12
"""Up to here a number may be a given one and one more, or one less: somebody and four friends are five."""


_NAMED = frozenset("denominator denominators numerator numerators multiple lcm lcd gcd divisor".split())
"""Words that say what a number of the same sentence is for a calculation."""
_SENTENCE = re.compile(r"[^.!?\n]+(?:\.\d[^.!?\n]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The numbers that a problem gives."""

    text: str
    values: tuple[Fraction, ...]
    """As written, in order of appearance, each once."""

    derived: frozenset[Fraction]
    """What they make without arithmetic: percentages in the other scale, what a share leaves, one head more."""

    def gives(self, value: Fraction) -> bool:
        """Say whether the problem states the value, or a number that makes it without arithmetic."""
        return value in self.derived


def _without_arithmetic(values: Set[Fraction], shares: Set[Fraction]) -> frozenset[Fraction]:
    """Return the values, percentages in both scales, 1 - p and 1 + p, one head more or less, whole parts."""
    rests = {1 - share for share in shares} | {1 + share for share in shares}
    heads = {
        near for value in values for near in (value - 1, value + 1) if value.denominator == 1 and 0 < near <= MAX_HEADS
    }
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
    for word in _WORDS.keys() & set(words):
        values.append(_WORDS[word])
        if _WORDS[word] < 1:
            shares.add(_WORDS[word])
            values.append(1 / _WORDS[word])
    shares |= {Fraction(int(top), int(bottom)) for top, bottom in _latex_fractions(problem)}
    stated = dict.fromkeys([*values, *shares])
    derived = _without_arithmetic(stated.keys(), shares) | _list_lengths(tokens)
    return Ground(text=problem, values=tuple(stated), derived=derived)


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
    for top, sign, bottom in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if top.kind is bottom.kind is Kind.NUMBER and sign.text == "/" and bottom.value:
            yield top.value / bottom.value


def _latex_fractions(text: str) -> Iterable[tuple[str, str]]:
    found = re.findall(r"\\[dt]?frac\s?\{?(\d{1,6})\}?\s?\{?(\d{1,6})\}?", text)
    return [(top, bottom) for top, bottom in found if int(bottom)]


def _is_share(value: Fraction) -> bool:
    return 0 < value < 1


def numbers_in(tokens: Sequence[Token]) -> Iterable[Fraction]:
    """Yield the values of number tokens; a spelled fraction such as `a third` brings its denominator too."""
    for token in tokens:
        if token.kind is Kind.NUMBER:
            yield token.value
            if token.value.denominator > 1 and not token.decimals and not token.percent:
                yield from (Fraction(token.value.numerator), Fraction(token.value.denominator))


def constant_source(value: Fraction, unit: str, context: str) -> bool:
    """Say whether a number is a constant that everybody knows in this context.

    Args:
        value: The number.
        unit: Its unit as written; an amount of money is never a constant.
        context: Text whose words call constants up: the problem and the step.
    """
    if any(value == worth and words.search(context) for worth, words in _COINS):
        return True
    if unit.startswith(("$", "£", "€", "dollar")):
        return False
    if value in _STRUCTURAL or (
        value.denominator == 1 and set(str(abs(value.numerator))[1:]) <= {"0"} and _is_power(value)
    ):
        return True
    return any(
        constant in (value, 1 / value if value else None) and words.search(context) for constant, words in _CONTEXTS
    )


def _is_power(value: Fraction) -> bool:
    return value >= 10 and str(value.numerator).startswith("1") and value <= 10**12


def word_source(value: Fraction, step_tokens: Sequence[Token]) -> bool:
    """Say whether the step spells the number out as a word."""
    spelled = any(token.kind is Kind.NUMBER and token.spelled and token.value == value for token in step_tokens)
    return spelled or any(
        token.kind is Kind.WORD and _WORDS.get(token.text.lower()) in (value, 1 / value if value else None)
        for token in step_tokens
    )


def assumed_numbers(text: str) -> set[Fraction]:
    """Return the numbers of sentences that introduce something openly: `assume a month of 30 days`."""
    values: set[Fraction] = set()
    for sentence in _SENTENCE.findall(text):
        if _ASSUMPTION.search(sentence):
            values |= {token.value for token in lex(sentence) if token.kind is Kind.NUMBER}
    return values


def announced_numbers(tokens: Sequence[Token]) -> set[Fraction]:
    """Return the numbers that a step says in words, or in a sentence about a common denominator or the like."""
    values: set[Fraction] = set()
    sentence: list[Token] = []
    for token in [*tokens, None]:
        if token is not None and not (token.kind is Kind.BREAK and token.text in (".", "\n", "?")):
            sentence.append(token)
            continue
        named = any(part.text.lower() in _NAMED for part in sentence)
        values |= {part.value for part in sentence if part.kind is Kind.NUMBER and (named or part.spelled)}
        sentence = []
    return values
