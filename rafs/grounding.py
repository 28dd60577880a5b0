"""What a derivation may use without deriving it: the problem's numbers, unit constants, words, open assumptions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rafs.lexing import Token, lex
from rafs.signs import Kind
from rafs.types import SourceKind

_WORDS: dict[str, Fraction] = {
    **dict.fromkeys(["twice", "double", "doubled", "doubles", "doubling", "couple", "pair", "both", "pairs"], Fraction(2)),
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
_CONTEXTS = tuple((Fraction(value), re.compile(words, re.IGNORECASE)) for value, words in _CONSTANTS)
_STRUCTURAL = frozenset([Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2)])
"""Numbers of the operation, not of the story: a rest of a whole, an average of two."""
_ASSUMPTION = re.compile(
    r"\b(?:let|assum\w*|suppos\w*|say|imagine|for example|for instance|if|pretend|consider|choose|pick|denote|try|guess)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The numbers that a problem gives."""

    text: str
    values: tuple[Fraction, ...]
    """As written, in order of appearance, each once."""
    shares: frozenset[Fraction]
    """Percentages and fractions among them, for their complements and changes."""

    def gives(self, value: Fraction) -> bool:
        """Say whether the problem states the value, a percentage in either scale, or what one leaves or makes."""
        if value in self.values:
            return True
        scaled = {share * 100 for share in self.shares}
        complements = {1 - share for share in self.shares} | {1 + share for share in self.shares}
        return value in scaled or value in complements or value in {100 * rest for rest in complements}


def read_ground(problem: str) -> Ground:
    """Collect the numbers of a problem: digits, words, percentages, fractions."""
    tokens = lex(problem)
    values = list(numbers_in(tokens))
    shares = {token.value for token in tokens if token.kind is Kind.NUMBER and (token.percent or _is_share(token.value))}
    for index, token in enumerate(tokens[: len(tokens) - 2]):
        if token.kind is Kind.NUMBER and tokens[index + 1].text == "/" and tokens[index + 2].kind is Kind.NUMBER:
            if bottom := tokens[index + 2].value:
                shares.add(token.value / bottom)
                values.append(token.value / bottom)
    for token in tokens:
        if token.kind is Kind.WORD:
            for part in token.text.lower().split("-"):
                if part in _WORDS:
                    values.append(_WORDS[part])
                    if _WORDS[part] < 1:
                        shares.add(_WORDS[part])
                        values.append(1 / _WORDS[part])
    shares |= {Fraction(int(top), int(bottom)) for top, bottom in _latex_fractions(problem)}
    return Ground(text=problem, values=tuple(dict.fromkeys([*values, *shares])), shares=frozenset(shares))


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
            if token.spelled and token.value.numerator == 1 and token.value.denominator > 1:
                yield Fraction(token.value.denominator)


def constant_source(value: Fraction, unit: str, context: str) -> bool:
    """Say whether a number is a constant that everybody knows in this context.

    Args:
        value: The number.
        unit: Its unit as written; an amount of money is never a constant.
        context: Text whose words call constants up: the problem and the step.
    """
    if unit.startswith(("$", "£", "€", "dollar")):
        return False
    if value in _STRUCTURAL or (value.denominator == 1 and set(str(abs(value.numerator))[1:]) <= {"0"} and _is_power(value)):
        return True
    return any(value == constant and words.search(context) for constant, words in _CONTEXTS)


def _is_power(value: Fraction) -> bool:
    return value >= 10 and str(value.numerator).startswith("1") and value <= 10**12


def word_source(value: Fraction, step_tokens: Sequence[Token]) -> bool:
    """Say whether the step spells the number out as a word."""
    spelled = any(token.kind is Kind.NUMBER and token.spelled and token.value == value for token in step_tokens)
    return spelled or any(
        token.kind is Kind.WORD and _WORDS.get(token.text.lower()) in (value, 1 / value if value else None)
        for token in step_tokens
    )


def assumed(value_text: str, sentences: Sequence[str]) -> bool:
    """Say whether a sentence introduces the number openly: `assume a month of 30 days`."""
    pattern = re.compile(rf"(?<![\d.]){re.escape(value_text)}(?![\d]|\.\d)")
    return any(_ASSUMPTION.search(sentence) and pattern.search(sentence) for sentence in sentences)


SOURCE_ORDER = (SourceKind.RESULT, SourceKind.PROBLEM, SourceKind.UNIT_CONSTANT, SourceKind.NUMBER_WORD, SourceKind.ASSIGNED)
"""First match wins; a number that fits none is ungrounded."""
