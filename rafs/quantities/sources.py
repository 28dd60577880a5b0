"""Resolves the operands of a claim: which earlier result, which number of the problem, or nothing."""

from bisect import bisect_left
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from rafs.claims.reader import Definition, Found
from rafs.grammar.terms import Number, Variable, leaves
from rafs.grammar.tokens import Kind, Token
from rafs.quantities.conflicts import conflict_of
from rafs.quantities.constants import Constants
from rafs.quantities.grounding import MAX_HEADS, Ground, introduced_numbers, numbers_in_words
from rafs.quantities.labels import entity_before, unit_of
from rafs.quantities.mentions import concludes
from rafs.quantities.parts import fraction_parts, n_terms, places
from rafs.quantities.prose import Prose
from rafs.types import Claim, Operand, SourceKind, Span, Truth

MAX_COUNT = 12
"""Largest divisor that may be a count of what was added up before."""
SMALL = 2
"""Up to here a number that the problem states is taken for the problem's, though a result has the same value."""
MAX_WHOLES = 12
"""Numbers with one and the same part that are kept."""

Origin = tuple[SourceKind, int | None, int | None]
"""(source, claim, implied number) of an operand."""


@dataclass(slots=True, kw_only=True)
class Sources:
    """All that later operands may come from; it grows claim by claim, and each look-up is a few dictionary reads."""

    ground: Ground
    texts: Mapping[int, str]
    tokens: Mapping[int, Sequence[Token]]
    definitions: Sequence[Definition]
    constants: Constants
    pending: deque[tuple[int, int]]
    """(step, position) of the numbers in prose that were not read yet."""
    prose: Prose
    claims: list[Claim] = field(default_factory=list)
    results: dict[Fraction, int] = field(default_factory=dict)
    """Most recent claim by result; percentages in both scales."""
    at: dict[tuple[int, int], int] = field(default_factory=dict)
    """Claims by (step, start) of their left side, and of their result."""
    names: dict[str, Definition] = field(default_factory=dict)
    """The definition that holds here, by name."""
    n_defined: int = 0
    origins: dict[Fraction, Origin] = field(default_factory=dict)
    """Sources of numbers that earlier claims used, and of literals of open equations."""
    counts: set[int] = field(default_factory=set)
    """Numbers of terms that earlier claims add up."""
    assumptions: dict[Fraction, int] = field(default_factory=dict)
    """First step that introduces a number openly."""
    announced: dict[Fraction, int] = field(default_factory=dict)
    """First step that says a number in a word, or as a common denominator, multiple or divisor."""
    defined: set[Fraction] = field(default_factory=set)
    """Values of names given so far."""
    first_steps: dict[Fraction, int] = field(default_factory=dict)
    """First step that mentions a number; empty until somebody asks."""
    split: dict[Fraction, list[Fraction]] = field(default_factory=dict)
    """Known whole numbers by the parts of their places: 432 by 400, 30 and 2."""
    in_words: dict[int, frozenset[Fraction]] = field(default_factory=dict)
    """Numbers that a step says in words."""
    entities: dict[Fraction, str] = field(default_factory=dict)
    """Latest name that a number was given."""

    def __post_init__(self) -> None:
        for value in self.ground.values:
            self._remember_places(value)
        for index, tokens in self.tokens.items():
            introduced = introduced_numbers(tokens)
            for value in introduced.assumed:
                self.assumptions.setdefault(value, index)
            for value in introduced.announced:
                self.announced.setdefault(value, index)

    def add(self, found: Found) -> Claim:
        """Resolve the operands of the next claim, remember what it brings, and return it."""
        self.read_to(found.claim.step, found.claim.span.start)
        operands, unit, entity = self._operands_of(found), unit_of(found.right), self._entity(found.claim)
        claim = replace(found.claim, operands=operands, unit=unit, entity=entity)
        if conflict := conflict_of(claim, found.left, self.ground.measures):
            claim = replace(claim, conflict=conflict)
        self.counts.add(n_terms(found.left))
        index = len(self.claims)
        for operand in claim.operands:
            self.prose.see(operand, claim.step, is_term=False)
            if operand.source is not SourceKind.UNGROUNDED:
                self.origins.setdefault(operand.value, (operand.source, operand.claim, operand.implied))
        if claim.value is None:
            for leaf in (*leaves(found.left), *(leaves(found.right) if found.right is not None else ())):
                if isinstance(leaf, Number):
                    self.origins.setdefault(leaf.value, (SourceKind.RESULT, index, None))
        if claim.result is not None:
            self._remember_result(found, claim, index)
        self.claims.append(claim)
        return claim

    def read_to(self, step: int, start: int) -> None:
        """Read the numbers in prose, and the names, that stand before a place."""
        while self.n_defined < len(self.definitions):
            entry = self.definitions[self.n_defined]
            if (entry.step, entry.span.start) >= (step, start):
                break
            self.names[entry.name] = entry
            self.defined.add(entry.value)
            self.n_defined += 1
        while self.pending:
            index, position = self.pending[0]
            if (index, self.tokens[index][position].start) >= (step, start):
                break
            self.pending.popleft()
            self._read_number(index, position)

    def _read_number(self, step: int, position: int) -> None:
        tokens = self.tokens[step]
        token, source, implied = tokens[position], SourceKind.UNGROUNDED, None
        stated = self.ground.states(token.value)
        if entity := entity_before(tokens, position):
            self.entities[token.value] = entity
        claim = self.results.get(token.value)
        if claim is not None:
            source = SourceKind.RESULT
        elif (concluded := concludes(tokens, position)) or not stated:
            implied = self.prose.imply(token, step, concluded=concluded)
            implied = self.prose.latest.get(token.value) if implied is None else implied
            source = SourceKind.RESULT if implied is not None else source
        if source is SourceKind.UNGROUNDED and (stated or self.ground.gives(token.value)):
            source = SourceKind.PROBLEM
        operand = Operand(
            text=self.texts[step][token.start : token.end],
            value=token.value,
            span=Span(start=token.start, end=token.end),
            source=source,
            claim=claim,
            implied=implied,
            unit=token.currency,
        )
        self.prose.see(operand, step, is_term=True)

    def _remember_result(self, found: Found, claim: Claim, index: int) -> None:
        assert claim.result is not None
        self._remember_places(claim.result)
        percent = isinstance(found.right, Number) and found.right.percent
        scales = (claim.result, claim.result * 100, claim.result / 100) if percent else (claim.result,)
        self.results.update(dict.fromkeys(scales, index))
        self.at.setdefault((claim.step, claim.span.start), index)
        if claim.result_span is not None:
            self.at[claim.step, claim.result_span.start] = index
            text = self.texts[claim.step][claim.result_span.start : claim.result_span.end]
            span, source = claim.result_span, SourceKind.RESULT
            result = Operand(text=text, value=claim.result, span=span, source=source, claim=index, unit=claim.unit)
            self.prose.see(result, claim.step, is_term=True)
        if claim.truth is Truth.TRUE and found.right is not None:
            for part in fraction_parts(found.right):
                self.announced.setdefault(part, claim.step)

    def _entity(self, claim: Claim) -> str:
        tokens = self.tokens[claim.step]
        position = bisect_left(tokens, claim.span.start, key=lambda token: token.start)
        if entity := entity_before(tokens, position):
            return entity
        previous = self.claims[-1] if self.claims else None
        is_link = previous is not None and previous.step == claim.step and _is_chained(previous, claim)
        return previous.entity if is_link and previous is not None else ""

    def _operands_of(self, found: Found) -> tuple[Operand, ...]:
        """Return the operands of a claim.

        A link of a chain (`a = b = c`) whose left side is the previous right side has one operand: the previous
        result, which stands for the whole left side.
        """
        claim = found.claim
        previous = self.claims[-1] if self.claims else None
        if previous is not None and previous.step == claim.step and _is_chained(previous, claim):
            value = claim.value if claim.value is not None else previous.result
            if value is None:
                return ()
            whole, index = _left_span(claim), len(self.claims) - 1
            return (Operand(text=claim.left, value=value, span=whole, source=SourceKind.RESULT, claim=index),)
        operands = [operand for leaf in leaves(found.left) if (operand := self._operand(found, leaf)) is not None]
        if claim.value is None:
            operands = [operand for operand in operands if operand.source is not SourceKind.UNGROUNDED]
        return tuple(operands)

    def _operand(self, found: Found, leaf: Number | Variable) -> Operand | None:
        value = found.bindings.get(leaf.name) if isinstance(leaf, Variable) else leaf.value
        if value is None or not leaf.span.end:
            return None
        source, claim, implied = self._source(found, leaf, value)
        return Operand(
            text=self.texts[found.claim.step][leaf.span.start : leaf.span.end],
            value=value,
            span=leaf.span,
            source=source,
            claim=claim,
            implied=implied,
            unit=leaf.unit if isinstance(leaf, Number) else "",
            entity=leaf.name if isinstance(leaf, Variable) else self.entities.get(value, ""),
        )

    def _source(self, found: Found, leaf: Number | Variable, value: Fraction) -> Origin:
        if isinstance(leaf, Variable) and leaf.name in self.names:
            entry = self.names[leaf.name]
            named = self.at.get((entry.step, entry.span.start))
            if named is not None and self.claims[named].result == value:
                return SourceKind.RESULT, named, None
        result, stated = self.results.get(value), self.ground.states(value)
        if result is not None and not (value <= SMALL and stated):
            return SourceKind.RESULT, result, None
        if stated:
            return SourceKind.PROBLEM, None, None
        unit = leaf.unit if isinstance(leaf, Number) else ""
        if self.constants.knows(value, unit, found.claim.step):
            return SourceKind.UNIT_CONSTANT, None, None
        if value in self.ground.counts or self._is_count(found, value):
            return SourceKind.COUNT, None, None
        if self.ground.gives(value):
            return SourceKind.PROBLEM, None, None
        if any(self.constants.knows(factor, "", found.claim.step) for factor in self.ground.factors_to(value)):
            return SourceKind.UNIT_CONSTANT, None, None
        return self._said(found, leaf, value)

    def _said(self, found: Found, leaf: Number | Variable, value: Fraction) -> Origin:
        """Return the source of a number that neither the problem nor a claim gives: words, or nothing."""
        step = found.claim.step
        if step not in self.in_words:
            self.in_words[step] = numbers_in_words(self.tokens[step])
        if value in self.in_words[step]:
            return SourceKind.NUMBER_WORD, None, None
        implied = self.prose.latest.get(value)
        if implied in self.prose.said or (implied is not None and "\\" in self.texts[step]):
            return SourceKind.RESULT, None, implied
        if isinstance(leaf, Variable) or self.assumptions.get(value, step + 1) <= step or value in self.defined:
            return SourceKind.ASSIGNED, None, None
        if value in self.origins:
            return self.origins[value]
        if (whole := self._place_value(value, step)) is not None:
            return whole
        if self.announced.get(value, step) < step:
            return SourceKind.ASSIGNED, None, None
        return self._in_the_head(found, leaf, value)

    def _in_the_head(self, found: Found, leaf: Number | Variable, value: Fraction) -> Origin:
        """Return the source of a number that one operation on known ones gives without its being said.

        Mathematics in LaTeX skips such steps all the time; in a story the number would have to be said.
        """
        if value <= MAX_HEADS or not isinstance(leaf, Number) or "\\" not in self.texts[found.claim.step]:
            return SourceKind.UNGROUNDED, None, None
        implied = self.prose.imply(leaf, found.claim.step, concluded=True)
        return (SourceKind.UNGROUNDED if implied is None else SourceKind.RESULT), None, implied

    def _place_value(self, value: Fraction, step: int) -> Origin | None:
        """Return the source of the known number that is split into its places here, of which the value is one."""
        for whole in self.split.get(value, ()):
            if all(self._is_mentioned(part, step) for part in places(whole)):
                claim = self.results.get(whole)
                return (SourceKind.PROBLEM if claim is None else SourceKind.RESULT), claim, None
        return None

    def _is_mentioned(self, value: Fraction, until: int) -> bool:
        """Say whether a number stands anywhere up to the end of a step."""
        if not self.first_steps:
            for index, tokens in self.tokens.items():
                for token in tokens:
                    if token.kind is Kind.NUMBER:
                        self.first_steps.setdefault(token.value, index)
        return self.first_steps.get(value, until + 1) <= until

    def _remember_places(self, whole: Fraction) -> None:
        for part in places(whole):
            wholes = self.split.setdefault(part, [])
            if len(wholes) < MAX_WHOLES and whole not in wholes:
                wholes.append(whole)

    def _is_count(self, found: Found, value: Fraction) -> bool:
        """Say whether the number counts what this claim, or an earlier one, adds up: the 3 of `(a + b + c) / 3`."""
        if value.denominator != 1 or not 2 < value <= MAX_COUNT:
            return False
        return value in self.counts or n_terms(found.left) == value


def _left_span(claim: Claim) -> Span:
    return Span(start=claim.span.start, end=claim.span.start + len(claim.left))


def _is_chained(previous: Claim, claim: Claim) -> bool:
    """Say whether the left side of a claim is the very result of the one before."""
    end, start = previous.result_span, claim.span.start
    return end is not None and end.start == start and end.end == start + len(claim.left)
