"""Resolves the operands of a claim: which earlier result, which number of the problem, or nothing."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from rafs.claims.reader import Definition, Found
from rafs.grammar.terms import Binary, Number, Variable, leaves, variables
from rafs.grammar.tokens import Token
from rafs.quantities.byproducts import Byproducts
from rafs.quantities.conflicts import conflict_of
from rafs.quantities.constants import Constants
from rafs.quantities.grounding import MAX_HEADS, Ground, Ratio
from rafs.quantities.introductions import Introductions
from rafs.quantities.labels import entity_before, entity_of, is_chained, left_span, stands_in_latex, unit_of
from rafs.quantities.mentions import InProse, concludes, take_before, told_first
from rafs.quantities.parts import fraction_parts, is_in_fraction, n_terms
from rafs.quantities.prose import Prose
from rafs.quantities.repeats import tell_apart
from rafs.types import Claim, Operand, SourceKind, Span, Truth

SMALL = 2
"""Up to here a number that the problem states is taken for the problem's, though a result has the same value."""
CUBE = 3
"""Up to here a number of an equation may be its power, as in `s^3 = 343`."""
Origin = tuple[SourceKind, int | None, int | None]
"""(source, claim, implied number) of an operand."""
_PROBLEM, _RESULT, _UNGROUNDED = SourceKind.PROBLEM, SourceKind.RESULT, SourceKind.UNGROUNDED
"""Looked up once, and not for every number: Python 3.11 takes 70 ns to look up a member of an enumeration."""


@dataclass(slots=True, kw_only=True)
class Sources:
    """All that later operands may come from; it grows claim by claim, and each look-up is a few dictionary reads."""

    ground: Ground
    texts: Mapping[int, str]
    tokens: Mapping[int, Sequence[Token]]
    definitions: Sequence[Definition]
    constants: Constants
    byproducts: Byproducts
    introductions: Introductions
    pending: deque[InProse]
    """The numbers in prose that were not read yet."""
    prose: Prose
    claims: list[Claim] = field(default_factory=list)
    results: dict[Ratio, int] = field(default_factory=dict)
    """Most recent claim by result; percentages in both scales."""
    at: dict[tuple[int, int], int] = field(default_factory=dict)
    """Claims by (step, start) of their left side, and of their result."""
    names: dict[str, Definition] = field(default_factory=dict)
    """The definition that holds here, by name."""
    n_defined: int = 0
    origins: dict[Ratio, Origin] = field(default_factory=dict)
    """Sources of numbers that earlier claims used, and of literals of open equations."""
    counts: set[int] = field(default_factory=set)
    """Numbers of terms that earlier claims add up."""
    defined: dict[Fraction, str] = field(default_factory=dict)
    """Names given so far by their values."""
    solvable: set[str] = field(default_factory=set)
    """Names in equations between known numbers, which give them their values."""
    doubtful: set[int] = field(default_factory=set)
    """Claims computed from a number without a source: their results are none either."""
    entities: dict[Ratio, str] = field(default_factory=dict)
    """Latest name that a number was given."""

    def add(self, found: Found) -> Claim:
        """Resolve the operands of the next claim, remember what it brings, and return it."""
        self.read_to(found.claim.step, found.claim.span.start)
        previous = self.claims[-1] if self.claims else None
        entity = entity_of(self.tokens[found.claim.step], found.claim, previous)
        operands, unit = tell_apart(self._operands_of(found), self.claims, self.doubtful), unit_of(found.right)
        claim = found.claim.resolved(operands, unit, entity)
        if conflict := conflict_of(claim, found.left, self.ground.measures):
            claim = replace(claim, conflict=conflict)
        self.counts.add(n_terms(found.left))
        index = len(self.claims)
        for operand in claim.operands:
            self.prose.see(operand, claim.step, is_term=False)
            if operand.source is not _UNGROUNDED:
                origin = operand.source, operand.claim, operand.implied
                self.origins.setdefault(operand.value.as_integer_ratio(), origin)
        if claim.value is None or claim.result is None:
            self._remember_equation(found, index)
        if any(map(self._is_from_nowhere, claim.operands)) or self._is_unsolved(found):
            self.doubtful.add(index)
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
            self.defined[entry.value] = entry.name
            self.n_defined += 1
        for one in told_first(take_before(self.pending, step, start), self.is_known):
            self._read_number(one, self.tokens[one.step])

    def is_known(self, value: Fraction) -> bool:
        """Say whether a number in prose is a result, or a number of the problem."""
        return value.as_integer_ratio() in self.results or self.ground.gives(value)

    def _read_number(self, mention: InProse, tokens: Sequence[Token]) -> None:
        step, position, token, restates = mention
        ratio = token.value.as_integer_ratio()
        source, implied, stated = _UNGROUNDED, None, ratio in self.ground.stated
        if entity := entity_before(tokens, position):
            self.entities[ratio] = entity
        claim = self.results.get(ratio)
        if claim is not None:
            source = self._result(claim)[0]
        elif (concluded := not (restates and stated) and concludes(tokens, position)) or not stated:
            implied = self.prose.imply(token, step, concluded=concluded)
            implied = self.prose.latest.get(ratio) if implied is None else implied
            source = _RESULT if implied is not None and self.prose.is_sound(implied) else source
        if source is _UNGROUNDED and (stated or self.ground.gives(token.value)):
            source = _PROBLEM
        elif source is _UNGROUNDED and self.constants.knows(token.value, token.currency, step):
            source = SourceKind.UNIT_CONSTANT
        text, span = self.texts[step][token.start : token.end], Span(token.start, token.end)
        operand = Operand(text, token.value, span, source, claim, implied, token.currency)
        self.prose.see(operand, step, is_term=True)

    def _remember_result(self, found: Found, claim: Claim, index: int) -> None:
        assert claim.result is not None
        if index not in self.doubtful:
            self.byproducts.remember(claim.result)
        percent = isinstance(found.right, Number) and found.right.percent
        scales = (claim.result, claim.result * 100, claim.result / 100) if percent else (claim.result,)
        for value in scales:
            ratio = value.as_integer_ratio()
            if index not in self.doubtful or self.results.get(ratio, index) in self.doubtful:
                self.results[ratio] = index
        self.at.setdefault((claim.step, claim.span.start), index)
        if claim.result_span is not None:
            self.at[claim.step, claim.result_span.start] = index
            text = self.texts[claim.step][claim.result_span.start : claim.result_span.end]
            span, source = claim.result_span, self._result(index)[0]
            result = Operand(text=text, value=claim.result, span=span, source=source, claim=index, unit=claim.unit)
            self.prose.see(result, claim.step, is_term=True)
        if claim.truth is Truth.TRUE and found.right is not None:
            for part in fraction_parts(found.right):
                self.introductions.parts.setdefault(part, claim.step)

    def _remember_equation(self, found: Found, index: int) -> None:
        """Note the literals of an equation, and its names; outside mathematics only where all its numbers are known."""
        sides = [side for side in (found.left, found.right) if side is not None]
        numbers = [leaf for side in sides for leaf in leaves(side) if isinstance(leaf, Number)]
        names = frozenset(name for side in sides for name in variables(side))
        is_rewritten = found.claim.truth is Truth.TRUE and names <= self.solvable
        if self.ground.is_latex or is_rewritten or self._are_known(found, [one for one in numbers if one.value > CUBE]):
            self.solvable |= names
            for number in numbers:
                self.origins.setdefault(number.value.as_integer_ratio(), (_RESULT, index, None))

    def _are_known(self, found: Found, numbers: Sequence[Number]) -> bool:
        return all(self._source(found, one, one.value)[0] is not _UNGROUNDED for one in numbers)

    def _operands_of(self, found: Found) -> tuple[Operand, ...]:
        """Return the operands of a claim.

        A link of a chain (`a = b = c`) whose left side is the previous right side has one operand: the previous
        result, which stands for the whole left side.
        """
        claim = found.claim
        previous = self.claims[-1] if self.claims else None
        if previous is not None and previous.step == claim.step and is_chained(previous, claim):
            value = claim.value if claim.value is not None else previous.result
            if value is None:
                return ()
            whole, index = left_span(claim), len(self.claims) - 1
            source = self._result(index)[0]
            return (Operand(text=claim.left, value=value, span=whole, source=source, claim=index),)
        operands = [operand for leaf in leaves(found.left) if (operand := self._operand(found, leaf)) is not None]
        if claim.value is None:
            operands = [operand for operand in operands if operand.source is not _UNGROUNDED]
        return tuple(operands)

    def _operand(self, found: Found, leaf: Number | Variable) -> Operand | None:
        value = found.bindings.get(leaf.name) if isinstance(leaf, Variable) else leaf.value
        if value is None or not leaf.span.end:
            return None
        source, claim, implied = self._source(found, leaf, value)
        text = self.texts[found.claim.step][leaf.span.start : leaf.span.end]
        if isinstance(leaf, Variable):
            return Operand(text, value, leaf.span, source, claim, implied, "", leaf.name)
        entity = self.entities.get(value.as_integer_ratio(), "") if self.entities else ""
        return Operand(text, value, leaf.span, source, claim, implied, leaf.unit, entity)

    def _source(self, found: Found, leaf: Number | Variable, value: Fraction) -> Origin:
        if isinstance(leaf, Variable) and leaf.name in self.names:
            entry = self.names[leaf.name]
            named = self.at.get((entry.step, entry.span.start))
            if named is not None and self.claims[named].result == value:
                return self._result(named)
        ratio = value.as_integer_ratio()
        result, stated = self.results.get(ratio), ratio in self.ground.stated
        if result is not None and result not in self.doubtful and not (value <= SMALL and stated):
            return self._result(result)
        if stated:
            return _PROBLEM, None, None
        unit = leaf.unit if isinstance(leaf, Number) else ""
        if self.constants.knows(value, unit, found.claim.step):
            return SourceKind.UNIT_CONSTANT, None, None
        if self.ground.counts_to(value) or self._is_count(found, leaf, value):
            return SourceKind.COUNT, None, None
        is_told = not self.ground.is_latex and self.prose.latest.get(ratio) in self.prose.said
        if self.ground.gives(value) or (self.ground.is_beside(value) and self._is_latex(found) and not is_told):
            return _PROBLEM, None, None
        if any(self.constants.knows(factor, "", found.claim.step) for factor in self.ground.factors_to(value)):
            return SourceKind.UNIT_CONSTANT, None, None
        said = self._said(found, leaf, value)
        return self._result(result) if result is not None and said[0] is _UNGROUNDED else said

    def _result(self, index: int) -> Origin:
        """Return a claim as a source: it is one as far as its own operands are."""
        return _UNGROUNDED if index in self.doubtful else _RESULT, index, None

    def _said(self, found: Found, leaf: Number | Variable, value: Fraction) -> Origin:
        """Return the source of a number that neither the problem nor a claim gives: words, or nothing."""
        step, is_latex = found.claim.step, self._is_latex(found)
        brought = self.introductions
        if brought.are_words(value, step) or (is_latex and brought.spell(value, step)):
            return SourceKind.NUMBER_WORD, None, None
        ratio = value.as_integer_ratio()
        implied = self.prose.latest.get(ratio)
        if (
            implied is not None
            and (is_latex or implied in self.prose.said or brought.supposes(value, step))
            and self.prose.is_sound(implied)
        ):
            return _RESULT, None, implied
        if self._is_assigned(found, leaf, value):
            return SourceKind.ASSIGNED, None, None
        if (origin := self.origins.get(ratio)) is not None and (
            is_latex or origin[2] is None or origin[2] in self.prose.said
        ):
            return origin
        if self.byproducts.brings(found.left, leaf, value, step):
            return SourceKind.BYPRODUCT, None, None
        if leaf is found.left and self._is_computed(found):
            return SourceKind.ASSIGNED, None, None
        if brought.announces(value, step) and (is_latex or is_in_fraction(found.left, leaf)):
            return SourceKind.ASSIGNED, None, None
        return self._in_the_head(found, leaf, value)

    def _is_assigned(self, found: Found, leaf: Number | Variable, value: Fraction) -> bool:
        """Say whether the derivation may give a number itself: of a name in mathematics, or to stand for any number."""
        name = leaf.name if isinstance(leaf, Variable) else self.defined.get(value)
        if name in self.solvable:
            return True
        is_open = self._is_mathematics(found) or self.ground.is_open_to(value)
        return is_open and (name is not None or self.introductions.assumes(value, found.claim.step))

    def _is_mathematics(self, found: Found) -> bool:
        return self.ground.is_latex or self._is_latex(found)

    def _is_latex(self, found: Found) -> bool:
        return stands_in_latex(self.texts[found.claim.step], found.claim.span)

    def _is_computed(self, found: Found) -> bool:
        """Say whether the right side computes the number on the left from known ones: `24 = 6 * 4`."""
        if not isinstance(found.right, Binary) or found.claim.truth is not Truth.TRUE:
            return False
        return self._are_known(found, [leaf for leaf in leaves(found.right) if isinstance(leaf, Number)])

    def _is_unsolved(self, found: Found) -> bool:
        """Say whether a story gives a number to a name that no equation between known numbers holds."""
        is_named = isinstance(found.left, Variable) and found.left.name not in self.solvable
        return is_named and not self._is_mathematics(found)

    def _is_from_nowhere(self, operand: Operand) -> bool:
        """Say whether not even one unsaid operation on known numbers gives an operand, so that nothing rests on it."""
        if operand.source is not _UNGROUNDED:
            return False
        implied = self.prose.latest.get(operand.value.as_integer_ratio())
        return implied is None or not self.prose.is_sound(implied)

    def _in_the_head(self, found: Found, leaf: Number | Variable, value: Fraction) -> Origin:
        """Return the source of a number that one operation on known ones gives without its being said.

        Mathematics in LaTeX skips such steps all the time; in a story the number would have to be said.
        """
        if value <= MAX_HEADS or not isinstance(leaf, Number) or not self._is_latex(found):
            return _UNGROUNDED, None, None
        implied = self.prose.imply(leaf, found.claim.step, concluded=True, is_guess=True)
        return (_UNGROUNDED if implied is None else _RESULT), None, implied

    def _is_count(self, found: Found, leaf: Number | Variable, value: Fraction) -> bool:
        """Say whether the number counts what this claim, or an earlier one, adds up: the 3 of `(a + b + c) / 3`."""
        if value.denominator != 1 or not 2 < value <= MAX_HEADS:
            return False
        is_divisor = is_in_fraction(found.left, leaf) or self._is_latex(found)
        return is_divisor and (value in self.counts or n_terms(found.left) == value)
