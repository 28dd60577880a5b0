"""Numbers in prose that one plain operation makes out of those before them: `that leaves her with 6`."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from rafs.grammar.terms import Number
from rafs.grammar.tokens import ZERO, Token
from rafs.immutable import placed
from rafs.quantities.grounding import Ratio
from rafs.types import Implied, Operand, SourceKind, Span

MAX_NEAR = 12
"""Numbers before a number in prose that it may follow from."""
REACH = 400
"""Characters before a number in which those of the same step must stand that it follows from."""
BESIDE = 200
"""Characters before a number in which numbers explain it without any word that says so."""
MAX_TRIED = 400
"""Numbers of one trace whose origin is looked for in prose; the later ones count as unexplained."""
MIN_ROUNDED = 2
"""Decimals from which a number may be a rounded result."""
FLOAT_DECIMALS = 12
"""Decimals that only a machine writes; its last ones are not exact."""
MAX_BITS = 60
"""Numbers with longer numerators or denominators, 18 digits, are not looked into."""
_FLOAT_ERROR = 1e-9
"""Relative error that three operations on floats stay far below."""
_TWO = Operand(text="2", value=Fraction(2), span=Span(0, 1), source=SourceKind.NUMBER_WORD)


_UNGROUNDED = SourceKind.UNGROUNDED
"""Looked up once, and not for every number: Python 3.11 takes 70 ns to look up a member of an enumeration."""
_TWO_SIZE = 2.0
"""The two of an average, which stands before all other numbers."""


@placed
class Seen:
    """A number of the derivation in its place."""

    operand: Operand
    size: float
    """Its value, roughly."""
    step: int
    is_term: bool
    """Not only used by a calculation: a result, or a number in prose."""


@dataclass(slots=True, kw_only=True)
class Prose:
    """The numbers before the place that is being read, and what has been worked out in words so far."""

    given: Sequence[Seen]
    """Numbers of the problem, which a number may follow from without their being repeated."""
    implied: list[Implied] = field(default_factory=list)
    latest: dict[Ratio, int] = field(default_factory=dict)
    """Most recent implied number by value."""
    near: deque[Seen] = field(default_factory=lambda: deque(maxlen=MAX_NEAR))
    said: set[int] = field(default_factory=set)
    """Implied numbers whose origin the text makes plain: a word concludes them, or the numbers stand just before."""
    tried: int = 0

    def see(self, operand: Operand, step: int, *, is_term: bool) -> None:
        """Remember a number that later ones may follow from."""
        top, bottom = operand.value.as_integer_ratio()
        if top.bit_length() <= MAX_BITS and bottom.bit_length() <= MAX_BITS:
            self.near.append(Seen(operand, top / bottom, step, is_term))

    def imply(self, token: Token | Number, step: int, *, concluded: bool, is_guess: bool = False) -> int | None:
        """Explain a number by one operation on the numbers before it; None where none gives it.

        Args:
            token: The number.
            step: Index of its step.
            concluded: A word beside it announces a result.
            is_guess: No word does; it counts as one all the same, but not in a replay.

        Returns:
            Index of the new entry of `implied`.
        """
        self.tried += 1
        if self.tried > MAX_TRIED or token.value.numerator.bit_length() > MAX_BITS:
            return None
        span = token.span if isinstance(token, Number) else Span(token.start, token.end)
        first = span.start - REACH
        seen = [one for one in self.near if one.step != step or one.operand.span.start > first]
        sound = [one for one in seen if one.operand.source is not _UNGROUNDED]
        wanted = _Wanted.of(token)
        found = _explain(sound, wanted) or _explain(self.given, wanted) or _total(sound, wanted)
        if found is None and len(sound) < len(seen):
            found = _explain(seen, wanted) or _total(seen, wanted)
        if found is None:
            return None
        op, operands = found
        is_plain = all(one.span.end for one in operands) and (op in "*/" or all(one is not _TWO for one in operands))
        is_said = is_plain and ((concluded and not is_guess) or _are_beside(operands, seen, step, span.start))
        implied = Implied(step=step, span=span, value=token.value, op=op, operands=operands, is_said=is_said)
        self.implied.append(implied)
        index = len(self.implied) - 1
        if is_said or (is_plain and concluded):
            self.said.add(index)
        ratio = token.value.as_integer_ratio()
        if index in self.said or self.latest.get(ratio) not in self.said:  # said again, it stands without its why
            self.latest[ratio] = index
        return index

    def is_sound(self, implied: int) -> bool:
        """Say whether a number worked out in words is made of numbers with a source."""
        return all(one.source is not _UNGROUNDED for one in self.implied[implied].operands)


def _are_beside(operands: Sequence[Operand], seen: Sequence[Seen], step: int, start: int) -> bool:
    """Say whether all operands are the two of an average, or stand in the same step right before a place."""
    return all(
        operand is _TWO
        or (
            start - operand.span.start < BESIDE
            and any(
                one.step == step and one.operand.span.start == operand.span.start and one.operand == operand
                for one in seen
            )
        )
        for operand in operands
    )


def given_numbers(values: Sequence[Fraction]) -> tuple[Seen, ...]:
    """Return the first numbers of a problem as seen before its first step."""
    nowhere, source = Span(0, 0), SourceKind.PROBLEM
    operands = (
        Operand(text=str(value), value=value, span=nowhere, source=source)
        for value in values[:MAX_NEAR]
        if value.numerator.bit_length() <= MAX_BITS  # a larger one is no float
    )
    return tuple(Seen(one, float(one.value), -1, True) for one in operands)


Explanation = tuple[str, tuple[Operand, ...]]


@placed
class _Wanted:
    """A number whose origin is looked for."""

    ratio: Ratio
    size: float
    tolerance: Fraction
    """How far the exact number may be from it: half a unit of its last decimal; of a float's, two units."""
    slack: float
    """The tolerance, roughly."""

    @classmethod
    def of(cls, token: Token | Number) -> "_Wanted":
        ratio = token.value.as_integer_ratio()
        if token.decimals < MIN_ROUNDED:
            return cls(ratio, ratio[0] / ratio[1], ZERO, 0.0)
        units = Fraction(1, 2) if token.decimals < FLOAT_DECIMALS else Fraction(2)
        tolerance = units / 10**token.decimals / (100 if token.percent else 1)
        return cls(ratio, ratio[0] / ratio[1], tolerance, float(tolerance))

    def is_met(self, exact: Fraction | None) -> bool:
        if exact is None or not self.tolerance:
            return exact is not None and exact.as_integer_ratio() == self.ratio
        return abs(exact - Fraction(*self.ratio)) <= self.tolerance


def _explain(before: Sequence[Seen], wanted: _Wanted) -> Explanation | None:
    """Return the operation on two of the numbers that gives the value, the latest ones first.

    The value itself is none of the two. Floats sort out what cannot be, thousands of times cheaper than exact numbers;
    those decide.
    """
    size = wanted.size
    others = [one for one in before if one.size != size or one.operand.value.as_integer_ratio() != wanted.ratio]
    sizes = [one.size for one in others]
    if size != _TWO_SIZE or wanted.ratio != (2, 1):
        sizes.insert(0, _TWO_SIZE)
    near = wanted.slack + _FLOAT_ERROR * max(1.0, abs(size))
    low, high = size - near, size + near
    skipped = len(sizes) - len(others)
    for at in range(len(sizes) - 1, skipped - 1, -1):
        b = sizes[at]
        for other in range(at - 1, -1, -1):
            a = sizes[other]
            if not (
                low <= a + b <= high
                or low <= a - b <= high
                or low <= b - a <= high
                or low <= a * b <= high
                or (b and low <= a / b <= high)
                or (a and low <= b / a <= high)
            ):
                continue  # here for its speed alone: there are a hundred pairs for each number
            pair = (others[other - skipped].operand if other >= skipped else _TWO, others[at - skipped].operand)
            for op, reverse in _candidates(a, b, size, near):
                ordered = (pair[1], pair[0]) if reverse else pair
                if wanted.is_met(compute(op, [one.value for one in ordered])):
                    return op, ordered
    return None


def _candidates(a: float, b: float, wanted: float, near: float) -> Iterator[tuple[str, bool]]:
    """Yield (operation, whether its operands are swapped) that roughly give the wanted number."""
    if abs(a + b - wanted) <= near:
        yield "+", False
    if abs(a - b - wanted) <= near:
        yield "-", False
    if abs(b - a - wanted) <= near:
        yield "-", True
    if abs(a * b - wanted) <= near:
        yield "*", False
    if b and abs(a / b - wanted) <= near:
        yield "/", False
    if a and abs(b / a - wanted) <= near:
        yield "/", True


def _total(seen: Sequence[Seen], wanted: _Wanted) -> Explanation | None:
    """Return the sum of the last three or more numbers that gives the value; floats sort out what cannot be."""
    terms = [one for one in seen if one.is_term]
    total = largest = 0.0
    for count, term in enumerate(reversed(terms), start=1):
        total += term.size
        largest += abs(term.size)
        if count > 2 and abs(total - wanted.size) <= wanted.slack + _FLOAT_ERROR * max(1.0, largest):
            operands = tuple([one.operand for one in terms[-count:]])
            if wanted.is_met(compute("+", [one.value for one in operands])):
                return "+", operands
    return None


def compute(op: str, values: Sequence[Fraction]) -> Fraction | None:
    """Compute an implied number again; None where it is undefined."""
    match op:
        case "+":
            return sum(values[1:], values[0])
        case "-":
            return values[0] - values[1]
        case "*":
            return values[0] * values[1]
        case "/":
            return values[0] / values[1] if values[1] else None
    return abs(values[0])
