"""A trace as a set of canonical claims, so that order, wording, grouping and repetition do not count as difference."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from rafs.calculations import (
    Part,
    name_calculation,
    name_equation,
    name_number,
    operands_of,
    operation_of,
    operations,
    values_of,
    write,
)
from rafs.grammar.expressions import evaluate, parse_expression, show
from rafs.grammar.lexing import lex
from rafs.grammar.terms import Expression, Number, Variable
from rafs.grammar.tokens import Kind
from rafs.origins import CONVERTED, Origins, bindings_of, left_side
from rafs.stability import CanonicalClaim
from rafs.types import Claim, Reading, Step, StepKind, Truth

MAX_JOINED = 64
"""Terms of a sum in which partial sums are put in; a partial sum that is added to itself would double without end."""
EQUALITIES = ("=", "≈")
_MARKS = re.compile(r"^\W*(?:\d{1,3}[.):]\s|step \d{1,3}\b\W*)?|[*_`#]|\W+$")
"""What dresses a sentence: bullets, numbers of a list, emphasis, the sign at its end."""
_UNKNOWN = re.compile(
    r"(?:(?<=\d)|(?<=[=+*/^<>≤≥$])\s?)(?P<after>[^\W\d_])(?![^\W_])"
    r"|(?<![^\W_])(?P<before>[^\W\d_])(?=\s?[=+*/^<>≤≥$])"
)
"""A letter beside a sign of mathematics, as in `3x + y = 5`; the article of `a pen` is none."""


def canonical_claims(reading: Reading) -> tuple[CanonicalClaim, ...]:
    """Return the claims of a derivation: every calculation it writes, and its other inferring sentences.

    A calculation is one operation on numbers: `12 * 3 + 5 = 41` makes the two claims that `12 * 3 = 36; 36 + 5 = 41`
    makes. It is told by what it joins, as written and with partial sums and products of its own trace put in, and by
    its origin: what function of the problem's numbers it is. A partial sum that goes into a longer one is no part of
    its own. An equation with unknowns is told by its form, under whatever names. A sentence is told by its words, and
    by the calculation that it says in words.
    """
    writer = _Writer(reading)
    claims: list[CanonicalClaim] = []
    seen: set[str] = set()
    for claim in sorted([*writer.calculations(), *writer.sentences()], key=lambda one: one.is_partial):
        if seen.isdisjoint(claim.keys):
            claims.append(claim)
        seen |= claim.keys
    return tuple(claims)


class _Writer:
    """Writes the claims of one trace in canonical form."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        unknowns = {found["after"] or found["before"] for found in _UNKNOWN.finditer(reading.trace.problem)}
        self._kept = unknowns if len(unknowns) > 1 else set()
        """Unknowns that the problem tells apart, and so every trace; a single one may have any name."""
        self._claims = reading.graph.claims
        self._lefts = [left_side(claim) for claim in self._claims]
        self._origins = Origins(reading.graph)
        self._refuted: list[bool] = []
        self._on_refuted: list[bool] = []
        """Whether each claim is computed from a refuted one."""
        self._joined: list[list[Part] | None] = []
        """What each claim joins, the parts of partial sums and products put in; None for no true calculation."""
        self._absorbing: Counter[int] = Counter()
        """How often each claim went into a longer one of its kind."""
        for index, claim in enumerate(self._claims):
            self._on_refuted.append(any(one.claim is not None and self._refuted[one.claim] for one in claim.operands))
            self._refuted.append(claim.truth is Truth.FALSE or self._on_refuted[index])
            self._joined.append(self._join(index))
        uses = Counter(one.claim for claim in self._claims for one in claim.operands)
        self._absorbed = {index for index, n in self._absorbing.items() if n == uses[index]}

    def calculations(self) -> Iterator[CanonicalClaim]:
        """Yield the operations of every claim, the whole first."""
        for index, claim in enumerate(self._claims):
            left = self._lefts[index]
            whole = None if left is None else self._whole(index, claim, left)
            yield whole or self._equation(claim, left)
            if whole is not None and left is not None:
                bindings = bindings_of(claim)
                parts = (self._part(index, part, bindings) for part in operations(left)[1:])
                yield from (part for part in parts if part is not None)

    def sentences(self) -> Iterator[CanonicalClaim]:
        """Yield the inferring sentences without a claim."""
        with_claims = {claim.step for claim in self._claims}
        for step in self._reading.trace.derivation():
            if step.kind is StepKind.INFERENCE and step.index not in with_claims:
                text = " ".join(step.blind_text.split())
                equation = _read_equation(text)
                name = _bare(text) if equation is None else name_equation(equation, "=", self._kept)
                keys = self._calculated_in_words(step) | {name}
                yield CanonicalClaim(text=text, keys=keys, in_words=equation is None)

    def _calculated_in_words(self, step: Step) -> frozenset[str]:
        """Return the keys of the calculation that a sentence says: of one alone, with no other numbers, no guess."""
        told = [(i, one) for i, one in enumerate(self._reading.graph.implied) if one.step == step.index]
        numbers = {token.value for token in lex(step.blind_text) if token.kind is Kind.NUMBER}
        if len(told) != 1:
            return frozenset()
        index, said = told[0]
        operands = {one.value for one in said.operands}
        if not numbers <= {said.value, *operands} or not (said.is_said or numbers & operands):
            return frozenset()
        kind = {"-": "+", "/": "*"}.get(said.op, said.op)
        inverse = kind != said.op
        parts = [(inverse and at > 0, one.value) for at, one in enumerate(said.operands)]
        return _keys({name_calculation(kind, parts)} | self._origins.of_implied(index), said.value)

    def _whole(self, index: int, claim: Claim, left: Expression) -> CanonicalClaim | None:
        """Return what a claim says of numbers; None where it has unknowns, or says no equality."""
        if claim.value is None or claim.result is None or claim.relation not in EQUALITIES:
            return None
        forms, origins, kind = set(), self._origins.of_claim(index), operation_of(left)
        if kind:
            ways = (values_of(left, kind, bindings_of(claim)), self._joined[index])
            forms = {name_calculation(kind, parts) for parts in ways if parts is not None}
            if not forms:
                return None
        value = claim.value if claim.truth is Truth.TRUE else claim.result  # the result of a true one may be rounded
        return CanonicalClaim(
            text=claim.text,
            keys=_keys(forms | origins, value) | (frozenset() if kind else {self._name_leaf(left, claim.result)}),
            quantities=frozenset(forms) | origins,
            value=value,
            unit="" if claim.reason == CONVERTED else claim.unit,
            refuted=self._refuted[index],
            is_partial=index in self._absorbed,
        )

    def _name_leaf(self, left: Expression, value: Fraction) -> str:
        """Name what a claim says that calculates nothing: `x = 40`, or `2 hours = 120 minutes`."""
        if isinstance(left, Number):
            return f"{left.unit} {name_number(left.value)} = {name_number(value)}"
        return name_equation((left, Number(value=value)), "=", self._kept)

    def _equation(self, claim: Claim, left: Expression | None) -> CanonicalClaim:
        right = parse_expression(claim.right)
        if left is None or right is None:
            key = _bare(claim.text)
        else:
            key = name_equation((left, right), claim.relation, self._kept)
        return CanonicalClaim(text=claim.text, keys=frozenset([key]), unit=claim.unit)

    def _part(self, index: int, part: Expression, bindings: Mapping[str, Fraction]) -> CanonicalClaim | None:
        """Return an operation inside of a claim, whose result is not written; None where it is not known."""
        kind = operation_of(part)
        value, parts = evaluate(part, bindings), values_of(part, kind, bindings)
        if value is None or parts is None:
            return None
        quantities = {name_calculation(kind, parts)} | self._origins.of_part(index, part, bindings)
        return CanonicalClaim(
            text=f"{write(part)} = {show(value)}",
            keys=_keys(quantities, value),
            quantities=frozenset(quantities),
            value=value,
            refuted=self._on_refuted[index],
        )

    def _join(self, index: int) -> list[Part] | None:
        """Return what a claim joins, with the parts of its partial sums or products in their place."""
        claim, left = self._claims[index], self._lefts[index]
        if left is None or claim.value is None or claim.truth is not Truth.TRUE or claim.relation not in EQUALITIES:
            return None
        kind = operation_of(left)
        joined = values_of(left, kind, bindings_of(claim))
        if joined is None or kind not in ("+", "*"):
            return joined
        sources = {one.span.start - claim.span.start: one.claim for one in claim.operands if one.claim is not None}
        result: list[Part] = []
        for (inverse, value), (_, operand) in zip(joined, operands_of(left, kind), strict=True):
            source = sources.get(operand.span.start) if isinstance(operand, Number | Variable) else None
            within = None if source is None else self._partial(source, kind, value)
            if source is None or within is None or len(result) + len(within) > MAX_JOINED:
                result.append((inverse, value))
            else:
                result += [(inverse ^ taken, part) for taken, part in within]
                self._absorbing[source] += 1
        return result

    def _partial(self, index: int, kind: str, value: Fraction) -> list[Part] | None:
        """Return what a claim joins, where it is a partial sum or product of the given value."""
        left = self._lefts[index]
        is_partial = left is not None and operation_of(left) == kind and self._claims[index].value == value
        return self._joined[index] if is_partial else None


def _keys(quantities: Iterable[str], value: Fraction) -> frozenset[str]:
    return frozenset(f"{quantity} = {name_number(value)}" for quantity in quantities)


def _read_equation(text: str) -> tuple[Expression, Expression] | None:
    """Read a sentence that is nothing but an equation, such as a solution at the end."""
    left, sign, right = _bare(text).partition("=")
    sides = [parse_expression(side) for side in (left, right)] if sign else []
    known = [side for side in sides if side is not None]
    return (known[0], known[1]) if len(known) == 2 else None


def _bare(text: str) -> str:
    """Return a sentence without its dress, in lower case."""
    return _MARKS.sub("", " ".join(text.split()).casefold())
