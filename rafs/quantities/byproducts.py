"""Numbers that mathematics brings along without computing them: digits, divisors, whole parts, the rest of a choice."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

from rafs.grammar.terms import Binary, Expression, Number, Unary
from rafs.grammar.tokens import Kind, Token
from rafs.quantities.grounding import list_lengths
from rafs.quantities.parts import places

_OF_DIGITS = re.compile(r"\b(?:digits?|columns?|carry|carried|places?|base|ones|tens)\b", re.IGNORECASE)
_OF_DIVISORS = re.compile(
    r"\b(?:primes?|factors?|factori[sz]\w+|divisors?|divisible|multiples?|gcd|gcf)\b", re.IGNORECASE
)
_OF_ROUNDING = re.compile(r"\b(?:round\w*|whole|integers?|nearest|at (?:least|most)|full|complete)\b", re.IGNORECASE)
_OF_PATTERNS = re.compile(r"\b(?:patterns?|cycles?|repeat\w*|period\w*)\b", re.IGNORECASE)
MAX_WHOLES = 12
"""Numbers with one and the same part that are kept."""
MAX_STATED = 60
"""Numbers of the problem whose divisors are known."""
MAX_DIVIDED = 10**9
"""Largest number whose divisors are looked for."""


@dataclass(slots=True, kw_only=True)
class Byproducts:
    """What each step's words bring along; a text is searched once for each kind.

    The known numbers are only taken apart when somebody asks for a number that they may bring.
    """

    problem: str
    stated: Sequence[Fraction]
    texts: Mapping[int, str]
    tokens: Mapping[int, Sequence[Token]]
    known: list[Fraction] = field(default_factory=list)
    """Numbers to be taken apart yet."""
    split: dict[Fraction, list[Fraction]] = field(default_factory=dict)
    """Known whole numbers by the parts of their places: 432 by 400, 30 and 2."""
    whole_parts: set[Fraction] = field(default_factory=set)
    """Whole numbers beside the results that are none."""
    numbers: dict[int, set[Fraction]] = field(default_factory=dict)
    """All numbers of a step."""
    lengths: dict[int, Set[int]] = field(default_factory=dict)
    """How many items the lists of a step have."""
    called: dict[tuple[int, re.Pattern[str]], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known.extend(self.stated)

    def remember(self, known: Fraction) -> None:
        """Note a number that may bring others along."""
        self.known.append(known)

    def _take_apart(self, known: Fraction) -> None:
        """Note the places of a number, or the whole numbers beside it."""
        if known.denominator > 1:
            self.whole_parts |= {Fraction(floor(known)), Fraction(ceil(known))}
        for part in places(known):
            wholes = self.split.setdefault(part, [])
            if len(wholes) < MAX_WHOLES and known not in wholes:
                wholes.append(known)

    def brings(self, left: Expression, leaf: Expression, value: Fraction, step: int) -> bool:
        """Say whether a number of a calculation comes with the numbers that are known.

        Args:
            left: The left side in which it stands.
            leaf: The number there.
            value: Its value.
            step: Index of the step.
        """
        if value.denominator != 1 or value < 0:
            return False
        for known in self.known:
            self._take_apart(known)
        self.known.clear()
        if value in self.split and self._is_split(value, step):
            return True
        if value < 10 and self._calls(_OF_DIGITS, step) and str(value) in self.problem:
            return True
        if 1 < value < MAX_DIVIDED and self._calls(_OF_DIVISORS, step) and self._divides(left, leaf, value):
            return True
        if self._calls(_OF_PATTERNS, step) and self._is_length(value, step):
            return True
        return (value in self.whole_parts and self._calls(_OF_ROUNDING, step)) or value in _rests(left)

    def _is_split(self, value: Fraction, step: int) -> bool:
        """Say whether the step takes a known number with this part into all of its places."""
        if step not in self.numbers:
            self.numbers[step] = {token.value for token in self.tokens[step] if token.kind is Kind.NUMBER}
        return any(self.numbers[step].issuperset(places(whole)) for whole in self.split[value])

    def _is_length(self, value: Fraction, step: int) -> bool:
        if step not in self.lengths:
            self.lengths[step] = list_lengths(self.tokens[step])
        return value.numerator in self.lengths[step]

    def _divides(self, left: Expression, leaf: Expression, value: Fraction) -> bool:
        """Say whether the value divides a number of the problem, or the one that it is to divide here."""
        divided = [node.left for node in _quotients(left) if node.right is leaf]
        known = [one.value for one in divided if isinstance(one, Number)]
        return any(
            (one / value).denominator == 1 for one in (*known, *self.stated[:MAX_STATED]) if value <= one < MAX_DIVIDED
        )

    def _calls(self, words: re.Pattern[str], step: int) -> bool:
        known = self.called.get((step, words))
        if known is None:
            known = self.called[step, words] = words.search(self.texts[step]) is not None
        return known


def _quotients(expression: Expression) -> Iterator[Binary]:
    match expression:
        case Binary():
            if expression.op == "/":
                yield expression
            yield from _quotients(expression.left)
            yield from _quotients(expression.right)


def _rests(expression: Expression) -> set[Fraction]:
    """Return what the factorials of a calculation leave of each other: the 14 of `16! / (2! * 14!)`."""
    values = list(_factorials(expression))[:MAX_FACTORIALS]
    return {a - b for a in values for b in values if a - b in values and a != b}


MAX_FACTORIALS = 6
"""Factorials of one calculation that are compared."""


def _factorials(expression: Expression) -> Iterator[Fraction]:
    match expression:
        case Unary(op="!", operand=Number() as operand):
            yield operand.value
        case Unary():
            yield from _factorials(expression.operand)
        case Binary():
            yield from _factorials(expression.left)
            yield from _factorials(expression.right)
