"""Which steps carry a derivation: P's mean passes over identities, repetitions, and true sums that lead nowhere."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from rafs.types import Claim, Operand, QuantityGraph, Reading, SourceKind, StepKind, Truth

_NO_WORD = re.compile(r"[\W_]+")
_OPENING = re.compile(
    r"(?:(?:so|thus|hence|then|now|therefore|we|i|know|are|told|recall|given|note|clearly|indeed|also|that|again) )*"
)
"""Words before what is only said again."""
_NEUTRAL = frozenset([Fraction(0), Fraction(1)])


def carrying_steps(reading: Reading) -> list[bool]:
    """Say of each step of the derivation whether it carries it, and so counts in the mean of P.

    A step does not where it only sets up; where it says again what the problem or an earlier step says; and where each
    of its claims holds and is an identity, an earlier claim again, or nothing that the end rests on, or is an equation
    between unknown numbers. Any other claim that is false or open counts wherever it stands.

    The end is the result that rests on the most numbers of the problem, through the most claims: a sum of other numbers
    does not take its place, whatever stands behind it.

    Returns:
        Shape (n_steps,).
    """
    idle = _idle_claims(reading.graph)
    with_claims: dict[int, bool] = {}
    for index, claim in enumerate(reading.graph.claims):
        with_claims[claim.step] = with_claims.get(claim.step, False) or index not in idle
    problem, said = f" {_plain(reading.trace.problem)} ", {""}
    carries: list[bool] = []
    for step in reading.trace.derivation():
        text = _plain(step.blind_text)
        again = text in said or f" {text} " in problem
        carries.append(not again and with_claims.get(step.index, step.kind is StepKind.INFERENCE))
        said.add(text)
    return carries


def _plain(text: str) -> str:
    words = _NO_WORD.sub(" ", text.casefold()).strip()
    opening = _OPENING.match(words)
    return words[opening.end() :] if opening is not None else words


def _idle_claims(graph: QuantityGraph) -> set[int]:
    """Return the claims that hold and that the derivation would stand without."""
    true = {index for index, claim in enumerate(graph.claims) if claim.truth is Truth.TRUE}
    stated: set[tuple[object, ...]] = set()
    trivial: set[int] = set()
    for index, claim in enumerate(graph.claims):
        shape = _shape(claim)
        if index in true and (shape in stated or _is_identity(claim)):
            trivial.add(index)
        stated.add(shape)
    trivial |= {index for index, claim in enumerate(graph.claims) if _is_unheard_of(claim)}
    ends = _Rests(graph, trivial).of_ends()
    return trivial | {index for index in true if graph.claims[index].value is not None and not ends >> index & 1}


def _is_unheard_of(claim: Claim) -> bool:
    """Say whether a claim is an open equation between numbers none of which is known: `x + 13 = 26`."""
    return claim.truth is Truth.UNKNOWN and not claim.operands and re.search(r"\d", claim.text) is not None


def _shape(claim: Claim) -> tuple[object, ...]:
    """Return what two claims have in common that say the same: `5 * 8 = 40` and `8 * 5 = 40`."""
    if claim.value is None:
        return (claim.relation, "".join(claim.text.split()).casefold())
    return (claim.relation, claim.result, *sorted(operand.value for operand in claim.operands))


def _is_identity(claim: Claim) -> bool:
    """Say whether a claim makes nothing of its operands: `5 = 5`, `1 * 13 = 13`, `13 + 0 = 13`, `13 - 13 = 0`."""
    values = [operand.value for operand in claim.operands]
    if len(values) == 1 or "".join(claim.left.split()) == "".join(claim.right.split()):
        return claim.value is not None and values in ([], [claim.result])
    rest = [value for value in values if value not in _NEUTRAL]
    return len(values) == 2 and (rest in ([], [claim.result]) or (values[0] == values[1] and claim.result in _NEUTRAL))


@dataclass(slots=True)
class _Rests:
    """What each claim rests on, in sets of bits: claims by index, numbers of the problem by place."""

    graph: QuantityGraph
    trivial: set[int]
    claims: dict[int, tuple[int, int]] = field(default_factory=dict)
    """(numbers, claims) of every claim that is not trivial."""
    implied: list[tuple[int, int]] = field(default_factory=list)
    best: dict[Fraction, int] = field(default_factory=dict)
    """The claim with a result that rests on the most numbers."""

    def of_ends(self) -> int:
        """Return the claims that the ends rest on, themselves included."""
        places = {value: 1 << place for place, value in enumerate(self.graph.problem_values)}
        for index, claim in enumerate(self.graph.claims):
            self._say_until(claim, places)
            if index in self.trivial:
                continue
            numbers, claims = self._rest(claim.operands, places)
            self.claims[index] = numbers, claims | 1 << index
            result = claim.result
            if result is not None and numbers.bit_count() > self._numbers(self.best.get(result)):
                self.best[result] = index
        sizes = {index: self._size(index) for index in self.claims}
        largest = max(sizes.values(), default=(0, 1, False))
        ends = 0
        for index, size in sizes.items():
            ends |= self.claims[index][1] if size == largest and size[:2] > (0, 1) else 0
        return ends

    def _size(self, index: int) -> tuple[int, int, bool]:
        """Return by what the ends are chosen; a claim in doubt stands before one as large that surely holds."""
        (numbers, claims), claim = self.claims[index], self.graph.claims[index]
        nowhere = any(operand.source is SourceKind.UNGROUNDED for operand in claim.operands)
        return numbers.bit_count(), claims.bit_count(), nowhere or claim.truth is not Truth.TRUE

    def _numbers(self, index: int | None) -> int:
        return 0 if index is None else self.claims[index][0].bit_count()

    def _say_until(self, claim: Claim, places: dict[Fraction, int]) -> None:
        """Follow the numbers worked out in words before a claim."""
        said = self.graph.implied
        while len(self.implied) < len(said):
            one = said[len(self.implied)]
            if (one.step, one.span.start) >= (claim.step, claim.span.start):
                break
            self.implied.append(self._rest(one.operands, places))

    def _rest(self, operands: Iterable[Operand], places: dict[Fraction, int]) -> tuple[int, int]:
        numbers = claims = 0
        for operand in operands:
            found = (places.get(operand.value, 0), 0)
            if not found[0] and operand.source is SourceKind.RESULT:
                found = self._behind(operand)
            numbers |= found[0]
            claims |= found[1]
        return numbers, claims

    def _behind(self, operand: Operand) -> tuple[int, int]:
        """Return what a result rests on, wherever it was first made of the most numbers."""
        result = None if operand.claim is None else self.graph.claims[operand.claim].result
        if result in self.best:
            return self.claims[self.best[result]]
        if operand.implied is not None and operand.implied < len(self.implied):
            return self.implied[operand.implied]
        return 0, 0
