"""What can be compared exactly in two sentences: their quantities, negations and opposed words."""

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from rafs.grammar.number_words import read_number_words

MAX_CHARS = 4000
"""Of one text; a sentence is shorter, and reading stays linear anyway."""
MAX_DIGITS = 40

_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?(?!\d)|(?<![\w.])-?\.\d+")
_LABEL = re.compile(r"^\s*(?:step\s*\d+\s*[:.)]|\d{1,2}[.)]\s)", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:['’]t)?")
_LETTERS = re.compile(r"[A-Za-z]+")
_TIMES = {"twice": 2, "double": 2, "doubled": 2, "triple": 3, "thrice": 3, "tripled": 3, "dozen": 12}

_NEGATIONS = frozenset(["not", "no", "never", "none", "neither", "nor", "without", "cannot", "nobody", "nothing"])
_OPPOSED = (
    ("more greater larger bigger higher older longer", "less fewer smaller lower younger shorter"),
    (
        "increase increases increasing increased rise rises rose",
        "decrease decreases decreasing decreased fall falls fell",
    ),
    ("rise rises rose rising", "drop drops dropped dropping"),
    ("even", "odd"),
    ("positive", "negative"),
    ("before", "after"),
    ("maximum highest largest", "minimum lowest smallest"),
    ("above over", "below under"),
    ("all every both", "none"),
    ("open opens", "closed closes"),
    ("first", "last"),
    ("true correct right", "false incorrect wrong"),
    ("prime", "composite"),
    ("equal same", "unequal different"),
    ("gain gains gained profit", "lose loses lost loss"),
    ("buy buys bought", "sell sells sold"),
    ("left", "right"),
)
_OPPOSITES = tuple((frozenset(one.split()), frozenset(other.split())) for one, other in _OPPOSED)


def read_quantities(text: str) -> Counter[Fraction]:
    """Return the numbers of a sentence with their counts: digits, `1,200`, `3/4`, `twelve`, `half`, `twice`.

    A leading step label is not a number; a spelled `one` is left out, since it is more often a pronoun.
    """
    text = text[:MAX_CHARS]
    label = _LABEL.match(text)
    body = text[label.end() :] if label else text
    found: Counter[Fraction] = Counter()
    for match in _NUMBER.finditer(body):
        if len(match.group()) <= MAX_DIGITS and (value := _read_digits(match.group())) is not None:
            found[value] += 1
    position = 0
    while (word := _LETTERS.search(body, position)) is not None:
        position = word.end()
        if (times := _TIMES.get(word.group().lower())) is not None:
            found[Fraction(times)] += 1
        elif (spelled := read_number_words(body, word.start())) is not None:
            position = max(spelled[1], position)
            if spelled[0] != 1:
                found[spelled[0]] += 1
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Polarity:
    """What could be turned round in a sentence; read once, compared with many others."""

    negated: bool
    ones: int
    """Bit i: it has a word of the one side of opposites i, and none of the other."""
    others: int
    """Bit i: the other way round."""


def read_polarity(text: str) -> Polarity:
    """Return the negation and the opposed words of a sentence; one with words of both sides takes neither."""
    words = frozenset(_WORD.findall(text[:MAX_CHARS].lower()))
    ones = sum(bool(words & one) << bit for bit, (one, _) in enumerate(_OPPOSITES))
    others = sum(bool(words & other) << bit for bit, (_, other) in enumerate(_OPPOSITES))
    negated = bool(words & _NEGATIONS) or any(word.endswith(("'t", "’t")) for word in words)
    return Polarity(negated=negated, ones=ones & ~others, others=others & ~ones)


def is_flipped(premise: Polarity, hypothesis: Polarity) -> bool:
    """Say whether one of the two is negated, or uses the opposite word, and the other is not.

    Two flips cancel: `not odd` and `even` are not flipped.
    """
    opposed = premise.ones & hypothesis.others | premise.others & hypothesis.ones
    return (premise.negated + hypothesis.negated + opposed.bit_count()) % 2 == 1


def _read_digits(text: str) -> Fraction | None:
    top, _, bottom = text.replace(",", "").partition("/")
    try:
        return Fraction(top) / Fraction(bottom) if bottom else Fraction(top)
    except (ValueError, ZeroDivisionError):
        return None
