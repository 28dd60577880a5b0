"""What each result of a derivation is as a function of the problem's numbers, whatever the route to it.

The problem's numbers are replaced by drawn ones, the same for the same number in every trace, and the derivation is
computed again, exactly. Two results that agree on two draws are the same function: rational functions that differ
agree on one draw with a probability of about degree / 2^32.

Source:
    Schwartz 1980, "Fast Probabilistic Algorithms for Verification of Polynomial Identities", J. ACM 27(4).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b

from rafs.calculations import name_number
from rafs.grammar.expressions import evaluate, parse_expression
from rafs.grammar.terms import Expression
from rafs.quantities.prose import compute
from rafs.quantities.replaying import substitute
from rafs.types import Claim, Implied, Operand, QuantityGraph, SourceKind

SMALL = 10
"""Numbers up to it also occur as mere counts: `12 + 12` is `2 * 12`, whether or not the problem has a 2 of its own."""
MAX_BITS = 4096
"""Of the numerator and the denominator of a recomputed number: the product of a hundred drawn ones."""
CONVERTED = "units converted"
"""Reason of a claim whose result is its value in another unit."""
_SALTS = (b"1", b"2")
_SCALES = (Fraction(1), Fraction(100), Fraction(1, 100))
"""A share of the problem may be written as a percentage, cents as dollars, and either the other way round."""
_UNIT = re.compile(r"(?:/\s*)?[^\W\d_]+|/\s*$")


@dataclass(slots=True, kw_only=True)
class _Draw:
    """The numbers of a derivation once those of the problem are replaced; None where one cannot be computed."""

    salt: bytes
    given: frozenset[Fraction]
    """The numbers that are replaced."""
    claims: list[Fraction | None] = field(default_factory=list)
    implied: list[Fraction | None] = field(default_factory=list)
    operands: list[dict[int, Fraction] | None] = field(default_factory=list)
    """The operands of each claim by their offset in it; None where one cannot be computed."""


class Origins:
    """The results of one derivation, computed again on draws of the problem's numbers.

    An origin is the name of a function of those numbers. A result has up to two: of all of them, and of those alone
    that are no small counts.
    """

    def __init__(self, graph: QuantityGraph) -> None:
        """Compute every claim and every number worked out in words, in the order of the text."""
        self._graph = graph
        given = frozenset(graph.problem_values) - {0, 1}
        large = frozenset(value for value in given if value.denominator != 1 or abs(value) > SMALL)
        self._draws = [_Draw(salt=salt, given=some) for some in dict.fromkeys((given, large)) for salt in _SALTS]
        for draw in self._draws:
            for one in _in_order(graph):
                values = [value for operand in one.operands if (value := self._value(operand, draw)) is not None]
                is_known = len(values) == len(one.operands)
                if isinstance(one, Claim):
                    offsets = (operand.span.start - one.span.start for operand in one.operands)
                    draw.operands.append(dict(zip(offsets, values, strict=True)) if is_known else None)
                    draw.claims.append(_bounded(_result(one, values, draw.operands[-1])))
                else:
                    draw.implied.append(_bounded(compute(one.op, values) if is_known else None))

    def of_claim(self, index: int) -> frozenset[str]:
        """Return the origins of a claim's left side; none where the problem's numbers do not decide it."""
        return _told([draw.claims[index] for draw in self._draws])

    def of_implied(self, index: int) -> frozenset[str]:
        """Return the origins of a number worked out in words; none where the problem's numbers do not decide it."""
        return _told([draw.implied[index] for draw in self._draws])

    def of_part(self, index: int, part: Expression, bindings: Mapping[str, Fraction]) -> frozenset[str]:
        """Return the origins of a part of a claim's left side; none where the problem's numbers do not decide it."""
        return _told([_evaluated(part, draw.operands[index], bindings) for draw in self._draws])

    def _value(self, operand: Operand, draw: _Draw) -> Fraction | None:
        if operand.claim is not None:
            source, new = self._graph.claims[operand.claim], draw.claims[operand.claim]
            old = source.value if source.reason == CONVERTED else source.result
            return None if not old or new is None else new * (operand.value / old)  # 25% may be said as 25
        if operand.implied is not None:
            return draw.implied[operand.implied]
        if operand.source is SourceKind.UNGROUNDED:
            return operand.value
        return _given_as(operand.value, draw)


def _bounded(value: Fraction | None) -> Fraction | None:
    """Leave out a number that grew from step to step, as the power of a power does, and only costs time."""
    if value is None or max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        return None
    return value


def _result(claim: Claim, values: Sequence[Fraction], operands: Mapping[int, Fraction] | None) -> Fraction | None:
    if operands and len(claim.operands) == 1 and len(claim.operands[0].text) == len(claim.left):
        return values[0]  # the next link of a chain, which repeats the one before
    left = left_side(claim)
    return None if left is None else _evaluated(left, operands, bindings_of(claim))


def _evaluated(
    part: Expression, operands: Mapping[int, Fraction] | None, bindings: Mapping[str, Fraction]
) -> Fraction | None:
    return None if operands is None else evaluate(substitute(part, operands, with_exponents=False), bindings)


def bindings_of(claim: Claim) -> dict[str, Fraction]:
    """Return the values of the named quantities in a claim."""
    return {operand.text: operand.value for operand in claim.operands if operand.text.isalpha()}


def left_side(claim: Claim) -> Expression | None:
    """Return the left side of a claim as an expression, named quantities in it as names.

    A unit that a claim cuts in two, as in `12 gallons * 25 miles/`, is left out where the rest comes to the claim's
    value.
    """
    left = parse_expression(claim.left, frozenset(bindings_of(claim)))
    if left is not None or claim.value is None:
        return left
    bare = parse_expression(_UNIT.sub(lambda found: " " * len(found.group()), claim.left))
    return bare if bare is not None and evaluate(bare) == claim.value else None


def _given_as(value: Fraction, draw: _Draw) -> Fraction:
    """Return what a number that is no result becomes: the problem may say it as a percentage, or by what is left.

    A number that the problem does not give is a constant.
    """
    scales = [scale for scale in _SCALES if scale == 1 or min(value, value * scale, key=abs).denominator != 1]
    for scale in scales:
        if value * scale in draw.given:
            return _drawn(value * scale, draw.salt) / scale
    if value and 1 / value in draw.given:
        return 1 / _drawn(1 / value, draw.salt)
    for scale in scales:
        change = value * scale - 1
        if abs(change) < 1 and abs(change) in draw.given:  # 70 % is left of 30 % off
            drawn = _drawn(abs(change), draw.salt)
            return (1 + drawn if change > 0 else 1 - drawn) / scale
    return value


def _in_order(graph: QuantityGraph) -> Iterator[Claim | Implied]:
    """Yield claims and implied numbers, each kind in its order, so that what an operand points at comes before it.

    A number of a claim may itself be worked out in the head, from those before it.
    """
    said = 0
    for claim in graph.claims:
        while said < len(graph.implied) and _place_of(graph.implied[said]) < (claim.step, claim.span.end):
            yield graph.implied[said]
            said += 1
        yield claim
    yield from graph.implied[said:]


def _place_of(one: Implied) -> tuple[int, int]:
    return one.step, one.span.start


def _drawn(value: Fraction, salt: bytes) -> Fraction:
    digest = blake2b(name_number(value).encode(), digest_size=4, key=salt).digest()
    return Fraction(int.from_bytes(digest, "big") + 2)


def _told(values: Sequence[Fraction | None]) -> frozenset[str]:
    """Return the name of each pair of draws; none where a value is missing, or both are the same constant."""
    pairs = zip(values[::2], values[1::2], strict=True)
    return frozenset(
        f"@{hash(one):x}.{hash(other):x}"
        for one, other in pairs
        if one is not None and other is not None and one != other
    )
