"""What a derivation brings in by a sentence of its own: assumptions, numbers in words, common denominators."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from rafs.grammar.tokens import BREAK, NUMBER, WORD, Token
from rafs.quantities.grounding import NUMBER_WORDS

_ASSUMING = frozenset(
    "let let's say imagine example instance pretend consider choose pick denote try guess assume assumes assumed "
    "assuming assumption assumptions suppose supposes supposed supposing supposedly".split()
)
"""Words of a sentence that introduces something openly."""
_NAMED = frozenset("denominator denominators numerator numerators multiple lcm lcd gcd divisor".split())
"""Words that say what a number of the same sentence is for a calculation."""
_INTRODUCING = _ASSUMING | _NAMED | {"if"}


@dataclass(slots=True, kw_only=True)
class Introductions:
    """The numbers that sentences bring in, each with the first step that does so.

    The steps are read when somebody asks for such a number, as one derivation in three makes necessary.
    """

    tokens: Mapping[int, Sequence[Token]]
    is_read: bool = False
    parts: dict[Fraction, int] = field(default_factory=dict)
    """Numerators and denominators of results, each with the first step of one."""
    assumed: dict[Fraction, int] = field(default_factory=dict)
    """Of sentences that introduce something openly: `assume a month of 30 days`."""
    supposed: set[tuple[int, Fraction]] = field(default_factory=set)
    """(step, number) of sentences with a condition, which go on with what follows: `if they cost 99, then ...`."""
    announced: dict[Fraction, int] = field(default_factory=dict)
    """Said in words, or in a sentence about a common denominator, multiple or divisor."""
    in_words: dict[int, frozenset[Fraction]] = field(default_factory=dict)
    """Numbers of words such as `twice` by step."""
    spelled: dict[int, frozenset[Fraction]] = field(default_factory=dict)
    """Numbers that a step spells out."""

    def assumes(self, value: Fraction, step: int) -> bool:
        """Say whether a sentence up to a step introduces the number openly."""
        self._read_all()
        return self.assumed.get(value, step + 1) <= step

    def supposes(self, value: Fraction, step: int) -> bool:
        """Say whether a sentence of the step makes the number a condition."""
        self._read_all()
        return (step, value) in self.supposed

    def announces(self, value: Fraction, step: int) -> bool:
        """Say whether a step before this one announces the number, or has it as a part of its result."""
        self._read_all()
        first = self.announced.get(value)
        return (self.parts.get(value, step) if first is None else first) < step

    def _read_all(self) -> None:
        if not self.is_read:
            self.is_read = True
            for step, tokens in self.tokens.items():
                self._read(step, tokens)

    def _read(self, step: int, tokens: Sequence[Token]) -> None:
        if _INTRODUCING.isdisjoint([token.text.lower() for token in tokens]):  # most steps
            for token in tokens:
                if token.spelled:
                    self.announced.setdefault(token.value, step)
            return
        for sentence in _sentences(tokens):
            words = {token.text.lower() for token in sentence}
            is_assumed, is_named = not _ASSUMING.isdisjoint(words), not _NAMED.isdisjoint(words)
            for token in sentence:
                if token.kind is NUMBER:
                    if is_assumed:
                        self.assumed.setdefault(token.value, step)
                    if "if" in words:
                        self.supposed.add((step, token.value))
                    if is_named or token.spelled:
                        self.announced.setdefault(token.value, step)

    def are_words(self, value: Fraction, step: int) -> bool:
        """Say whether a word of the step brings the number: 2 by `twice`, with its inverse; and nought by any."""
        if step not in self.in_words:
            words = [token.text.lower() for token in self.tokens[step] if token.kind is WORD]
            found = {number for word in words if (number := NUMBER_WORDS.get(word)) is not None}
            self.in_words[step] = frozenset({Fraction(0), *found, *(1 / number for number in found)})
        return value in self.in_words[step]

    def spell(self, value: Fraction, step: int) -> bool:
        """Say whether the step spells the number out; in a story `a fee of thirteen` is as invented as one of 13."""
        if step not in self.spelled:
            self.spelled[step] = frozenset(token.value for token in self.tokens[step] if token.spelled)
        return value in self.spelled[step]


def _sentences(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of each sentence or line, without what ends it."""
    start = 0
    for position, token in enumerate(tokens):
        if token.kind is BREAK and token.text in _SENTENCE_ENDS:
            yield tokens[start:position]
            start = position + 1
    yield tokens[start:]


_SENTENCE_ENDS = (".", "\n", "?")
