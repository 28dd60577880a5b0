"""Resolves the operands of a claim: which earlier result, which number of the problem, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from rafs.claims.reader import Definition, Found
from rafs.grammar.expressions import Binary, Expression, Number, Variable, leaves, parse_expression
from rafs.quantities.grounding import Ground, announced_numbers, assumed_numbers, constant_source, word_source
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind, Token
from rafs.types import Claim, Operand, SourceKind, Span, Truth

MAX_COUNT = 12
"""Largest divisor that may be a count of what was added up before."""
SMALL = 2
"""Up to here a number that the problem states is taken for the problem's, though a result has the same value."""
REACH = 200
"""Characters before the first mention of a number in which the numbers that it follows from must stand."""
MAX_NEIGHBOURS = 12
"""Numbers before the first mention that are tried in pairs."""

Origin = tuple[SourceKind, int | None]


@dataclass(slots=True, kw_only=True)
class Sources:
    """All that later operands may come from; it grows claim by claim, and each look-up is a few dictionary reads."""

    ground: Ground
    texts: Mapping[int, str]
    tokens: Mapping[int, Sequence[Token]]
    definitions: Sequence[Definition]
    claims: list[Claim] = field(default_factory=list)
    results: dict[Fraction, int] = field(default_factory=dict)
    """Most recent claim by result; percentages in both scales."""
    origins: dict[Fraction, Origin] = field(default_factory=dict)
    """Sources of numbers that earlier claims used, and of literals of open equations."""
    counts: set[int] = field(default_factory=set)
    """Numbers of terms that earlier claims add up."""
    mentions: dict[Fraction, tuple[int, int]] = field(default_factory=dict)
    """(step, position of its token) of the first mention of a number."""
    assumptions: dict[Fraction, int] = field(default_factory=dict)
    """First step that introduces a number openly."""
    announced: dict[Fraction, int] = field(default_factory=dict)
    """First step that says a number in a word, or as a common denominator, multiple or divisor."""
    split: dict[Fraction, list[Fraction]] = field(default_factory=dict)
    """Known whole numbers by the parts of their places: 432 by 400, 30 and 2."""

    def __post_init__(self) -> None:
        for value in self.ground.values:
            self._remember_places(value)
        for index, tokens in self.tokens.items():
            for position, token in enumerate(tokens):
                if token.kind is Kind.NUMBER:
                    self.mentions.setdefault(token.value, (index, position))
            for value in assumed_numbers(self.texts[index]):
                self.assumptions.setdefault(value, index)
            for value in announced_numbers(tokens):
                self.announced.setdefault(value, index)

    def add(self, found: Found) -> Claim:
        """Resolve the operands of the next claim, remember what it brings, and return it."""
        claim = found.claim
        operands = self._operands_of(found)
        self.counts.add(n_terms(found.left))
        claim = replace(claim, operands=operands)
        for operand in operands:
            if operand.source is not SourceKind.UNGROUNDED:
                self.origins.setdefault(operand.value, (operand.source, operand.claim))
        index = len(self.claims)
        if claim.value is None:
            for token in lex(claim.text):
                if token.kind is Kind.NUMBER:
                    self.origins.setdefault(token.value, (SourceKind.RESULT, index))
        if claim.result is not None:
            self._remember_places(claim.result)
            scales = (claim.result, claim.result * 100, claim.result / 100) if "%" in claim.right else (claim.result,)
            self.results.update(dict.fromkeys(scales, index))
        if claim.truth is Truth.TRUE:
            for part in fraction_parts(claim.right):
                self.announced.setdefault(part, claim.step)
        self.claims.append(claim)
        return claim

    def _operands_of(self, found: Found) -> tuple[Operand, ...]:
        """Return the operands of a claim.

        A link of a chain (`a = b = c`) whose left side is the previous right side has one operand: the previous
        result, which stands for the whole left side.
        """
        claim = found.claim
        previous = self.claims[-1] if self.claims else None
        whole = Span(start=claim.span.start, end=claim.span.start + len(claim.left))
        if previous is not None and previous.step == claim.step and previous.result_span == whole:
            value = claim.value if claim.value is not None else previous.result
            source = SourceKind.RESULT
            index = len(self.claims) - 1
            if value is None:
                return ()
            return (Operand(text=claim.left, value=value, span=whole, source=source, claim=index),)
        operands = [operand for leaf in leaves(found.left) if (operand := self._operand(found, leaf)) is not None]
        if claim.value is None:
            operands = [operand for operand in operands if operand.source is not SourceKind.UNGROUNDED]
        return tuple(operands)

    def _operand(self, found: Found, leaf: Number | Variable) -> Operand | None:
        value = found.bindings.get(leaf.name) if isinstance(leaf, Variable) else leaf.value
        if value is None or not leaf.span.end:
            return None
        text = self.texts[found.claim.step][leaf.span.start : leaf.span.end]
        source, claim = self._source(found, leaf, value)
        return Operand(text=text, value=value, span=leaf.span, source=source, claim=claim)

    def _source(self, found: Found, leaf: Number | Variable, value: Fraction) -> Origin:
        step = found.claim.step
        result, stated = self.results.get(value), value in self.ground.values
        if result is not None and not (value <= SMALL and stated):
            return SourceKind.RESULT, result
        if stated:
            return SourceKind.PROBLEM, None
        context = f"{self.ground.text} {self.texts[step]}"
        if constant_source(value, leaf.unit if isinstance(leaf, Number) else "", context):
            return SourceKind.UNIT_CONSTANT, None
        if self.ground.gives(value):
            return SourceKind.PROBLEM, None
        if self._is_count(found, value) or word_source(value, self.tokens[step]):
            return SourceKind.NUMBER_WORD, None
        if isinstance(leaf, Variable) or self.assumptions.get(value, step + 1) <= step:
            return SourceKind.ASSIGNED, None
        if any(entry.value == value and entry.step <= step for entry in self.definitions[:MAX_DEFINITIONS]):
            return SourceKind.ASSIGNED, None
        if value in self.origins:
            return self.origins[value]
        if (whole := self._place_value(value, step)) is not None:
            return whole
        if self.announced.get(value, step) < step:
            return SourceKind.ASSIGNED, None
        return (SourceKind.RESULT if self._follows_in_words(found, leaf, value) else SourceKind.UNGROUNDED), None

    def _place_value(self, value: Fraction, step: int) -> Origin | None:
        """Return the source of the known number that is split into its places here, of which the value is one."""
        for whole in self.split.get(value, ()):
            if all(self.mentions.get(part, (step + 1, 0))[0] <= step for part in places(whole)):
                claim = self.results.get(whole)
                return (SourceKind.RESULT, claim) if claim is not None else (SourceKind.PROBLEM, None)
        return None

    def _remember_places(self, whole: Fraction) -> None:
        for part in places(whole):
            wholes = self.split.setdefault(part, [])
            if len(wholes) < MAX_NEIGHBOURS and whole not in wholes:
                wholes.append(whole)

    def _is_count(self, found: Found, value: Fraction) -> bool:
        """Say whether the number counts what this claim, or an earlier one, adds up: the 3 of `(a + b + c) / 3`."""
        if value.denominator != 1 or not 2 < value <= MAX_COUNT:
            return False
        return value in self.counts or n_terms(found.left) == value

    def _follows_in_words(self, found: Found, leaf: Number | Variable, value: Fraction) -> bool:
        """Say whether one operation on numbers just before its first mention gives the number."""
        step, position = self.mentions.get(value, (found.claim.step, -1))
        if position < 0 or step > found.claim.step:
            return False
        tokens = self.tokens[step]
        first = tokens[position]
        if step == found.claim.step and first.start >= leaf.span.start:
            return False
        before = [token for token in tokens[max(0, position - REACH) : position] if token.kind is Kind.NUMBER]
        before = [token for token in before if first.start - token.start < REACH]
        near = {token.value for token in before[-MAX_NEIGHBOURS:]}
        return any(_one_step(a, b, value) for a in near for b in near | {Fraction(2), Fraction(1, 2)})


MAX_DEFINITIONS = 200
"""Names with values that are looked through."""


def places(whole: Fraction) -> tuple[Fraction, ...]:
    """Return the parts of a whole number by its places, 400, 30 and 2 of 432; none where it has only one."""
    if whole.denominator != 1 or not 10 < whole < 10**MAX_PLACES:
        return ()
    digits = str(whole)
    parts = tuple(Fraction(int(digit) * 10**at) for at, digit in enumerate(reversed(digits)) if digit != "0")
    return parts if len(parts) > 1 else ()


MAX_PLACES = 7
"""Digits of a number that is split into its places."""


def fraction_parts(text: str) -> list[Fraction]:
    """Return the numerator and the denominator of a plain fraction: 3 and 12 of `3/12`."""
    parsed = parse_expression(text)
    if isinstance(parsed, Binary) and parsed.op == "/":
        return [side.value for side in (parsed.left, parsed.right) if isinstance(side, Number)]
    return []


def _one_step(first: Fraction, second: Fraction, value: Fraction) -> bool:
    return value in (first + second, first - second, first * second) or (second != 0 and first / second == value)


def n_terms(expression: Expression) -> int:
    """Return the number of terms of the longest sum inside an expression."""
    most = _terms(expression)
    match expression:
        case Binary():
            return max(most, n_terms(expression.left), n_terms(expression.right))
    return most


def _terms(expression: Expression) -> int:
    match expression:
        case Binary(op="+" | "-"):
            return _terms(expression.left) + _terms(expression.right)
    return 1
