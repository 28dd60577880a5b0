"""Resolves the operands of a claim: which earlier result, which number of the problem, or nothing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rafs.claims import Found, Reader
from rafs.expressions import Binary, Expression, Number, Variable, leaves
from rafs.grounding import Ground, assumed, constant_source, word_source
from rafs.lexing import Token
from rafs.types import Claim, Operand, SourceKind, Span

_SENTENCE = re.compile(r"[^.!?\n]+(?:\.\d[^.!?\n]*)*")
_COUNTED = Fraction(12)
"""Largest divisor that may be a count of what was added up before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """Knows all that stands before one claim."""

    reader: Reader
    ground: Ground
    claims: Sequence[Claim]
    """Earlier claims, in order."""
    texts: Mapping[int, str]
    tokens: Mapping[int, Sequence[Token]]

    def operands_of(self, found: Found) -> tuple[Operand, ...]:
        """Return the operands of a claim, each with its source.

        A link of a chain (`a = b = c`) whose left side is the previous right side has one operand: the previous
        result, which stands for the whole left side.
        """
        claim = found.claim
        previous = self.claims[-1] if self.claims else None
        left_end = claim.span.start + len(claim.left)
        whole = Span(start=claim.span.start, end=left_end)
        if previous is not None and previous.step == claim.step and previous.result_span == whole:
            value = claim.value if claim.value is not None else previous.result
            if value is None:
                return ()
            return (
                Operand(
                    text=claim.left, value=value, span=whole, source=SourceKind.RESULT, claim=len(self.claims) - 1
                ),
            )
        return tuple(self._operand(found, leaf) for leaf in leaves(found.left) if self._value(found, leaf) is not None)

    def _value(self, found: Found, leaf: Number | Variable) -> Fraction | None:
        if isinstance(leaf, Variable):
            return found.bindings.get(leaf.name)
        return leaf.value if leaf.span.end else None

    def _operand(self, found: Found, leaf: Number | Variable) -> Operand:
        value = self._value(found, leaf)
        assert value is not None
        text = self.texts[found.claim.step][leaf.span.start : leaf.span.end]
        source, claim = self._source(found, leaf, value, text)
        return Operand(text=text, value=value, span=leaf.span, source=source, claim=claim)

    def _source(
        self, found: Found, leaf: Number | Variable, value: Fraction, text: str
    ) -> tuple[SourceKind, int | None]:
        unit = leaf.unit if isinstance(leaf, Number) else ""
        step = found.claim.step
        context = f"{self.ground.text} {self.texts[step]}"
        is_constant = constant_source(value, unit, context)
        result = self._latest(value)
        if result is not None and not (value <= 2 and self.ground.gives(value)):
            return SourceKind.RESULT, result
        if self.ground.gives(value):
            return SourceKind.PROBLEM, None
        if result is not None:
            return SourceKind.RESULT, result
        if is_constant:
            return SourceKind.UNIT_CONSTANT, None
        if isinstance(leaf, Variable):
            return SourceKind.ASSIGNED, None
        if self._counts_terms(found, value) or word_source(value, self.tokens[step]):
            return SourceKind.NUMBER_WORD, None
        if assumed(text, [sentence for at in self.texts if at <= step for sentence in _SENTENCE.findall(self.texts[at])]):
            return SourceKind.ASSIGNED, None
        if any(entry.value == value for entry in self.reader.definitions if entry.step <= step):
            return SourceKind.ASSIGNED, None
        return SourceKind.UNGROUNDED, None

    def _latest(self, value: Fraction) -> int | None:
        """Return the most recent claim with that result, in either scale of a percentage."""
        for scaled in dict.fromkeys((value, value * 100, value / 100)):
            for index in range(len(self.claims) - 1, -1, -1):
                result = self.claims[index].result
                percent = self.claims[index].right.rstrip().endswith("%") or scaled == value
                if result == scaled and (percent or scaled == value * 100 or scaled == value / 100):
                    return index
        return None

    def _counts_terms(self, found: Found, value: Fraction) -> bool:
        """Say whether the number counts what this claim, or an earlier one, adds up: the 3 of `(a + b + c) / 3`."""
        if value.denominator != 1 or not 2 < value <= _COUNTED:
            return False
        lefts = [earlier.left for earlier in self.reader.found[: len(self.claims)]]
        return any(n_terms(left) == value for left in [*lefts, found.left])


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
