"""The nouns of the quantity graph: claims, the numbers they use, and where those come from."""

from enum import StrEnum
from fractions import Fraction

from rafs.immutable import immutable, placed


@placed
class Span:
    """A half-open range [start, end) of characters of the submitted text."""

    start: int
    end: int


class Truth(StrEnum):
    """Verdict of a checker on one claim; UNKNOWN where a convention or a limit decides it."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


class SourceKind(StrEnum):
    """Where an operand comes from."""

    PROBLEM = "problem"
    RESULT = "result"
    UNIT_CONSTANT = "unit_constant"
    NUMBER_WORD = "number_word"
    COUNT = "count"
    """How many things were added up or listed: the 3 of `(a + b + c) / 3`."""
    BYPRODUCT = "byproduct"
    """It comes with known numbers though nothing computes it: a digit, a divisor, the whole part of one."""
    ASSIGNED = "assigned"
    """The trace introduces it openly (`let x = 3`, `assume 30 days`)."""
    UNGROUNDED = "ungrounded"


@placed
class Operand:
    """A number used by a claim, and where it comes from."""

    text: str
    value: Fraction
    span: Span
    """Characters of the step's blind text."""
    source: SourceKind
    claim: int | None = None
    """Index in `QuantityGraph.claims` of the latest earlier result that it repeats, when `source` is RESULT."""
    implied: int | None = None
    """Index in `QuantityGraph.implied` of the number that it repeats, when that was worked out in words."""
    unit: str = ""
    """Unit as written beside it: `apples`, `$`; empty where there is none."""
    entity: str = ""
    """Whose or what it is, where it is a name or was given one before: `Ann's age`."""


@placed
class Claim:
    """One checkable assertion inside a step, such as `3 * 4 = 12`."""

    step: int
    span: Span
    """Characters of the step's blind text."""
    text: str
    relation: str
    """`=`, `≈`, `<`, `>`, `<=`, `>=`, `!=`."""
    left: str
    right: str
    """Right-hand side as written; empty when the answer placeholder stood there (an open claim)."""
    truth: Truth
    value: Fraction | None
    """Exact value the left side comes to; None where it is not a plain number."""
    result: Fraction | None
    """Value of the right side as written; equals `value` for an open claim."""
    result_span: Span | None
    """Characters of the step's blind text where the result is written; None for an open claim."""
    operands: tuple[Operand, ...] = ()
    reason: str = ""
    """For FALSE and UNKNOWN: one sentence, e.g. `55 - 40 is 15, not 10`."""
    unit: str = ""
    """Unit of the result as written beside it: `apples`, `$`; empty where there is none."""
    entity: str = ""
    """Whose or what the result is, as written before the claim: `Ann's age`; empty where there is no such label."""
    conflict: str = ""
    """What does not go together in it: `feet and inches are taken together as they stand`; else empty."""

    def resolved(self, operands: tuple[Operand, ...], unit: str, entity: str) -> "Claim":
        """Return it with its operands, and the unit and the name of its result; `replace` takes five times as long."""
        return Claim(
            self.step, self.span, self.text, self.relation, self.left, self.right, self.truth, self.value, self.result,
            self.result_span, operands, self.reason, unit, entity, self.conflict,
        )  # fmt: skip


@immutable
class Implied:
    """A number in prose that one plain operation makes out of numbers before it: `that leaves her with 6`."""

    step: int
    span: Span
    """Characters of the number in the step's blind text."""
    value: Fraction
    op: str
    """`+` (of two or more), `-`, `*`, `/`, or `abs` (the size of a negative result)."""
    operands: tuple[Operand, ...]
    is_said: bool = True
    """The text makes plain that it is made so; else the operation is a guess that gives the number."""


@immutable
class QuantityGraph:
    """Claims in order of appearance, each an edge from its operands to its result."""

    claims: tuple[Claim, ...]
    problem_values: tuple[Fraction, ...]
    derived: Fraction | None
    """What the derivation itself ends in; None where the text does not decide it."""
    derived_claim: int | None
    """Index of the claim that ends in `derived`."""
    unused: tuple[int, ...]
    """Claims whose result nothing later uses, the derived answer's own claim excepted."""
    complete: bool
    """True when every number-bearing part of the derivation was read, so an absent link means no dependence."""
    implied: tuple[Implied, ...] = ()
    """Numbers worked out in words, in order of appearance; their operands are problem numbers or earlier results."""
    derived_implied: int | None = None
    """Index in `implied` of the number that is `derived`, where the last calculation was said in words."""
    derived_percent: bool = False
    """The derivation says `derived` as a percentage (1/5 as `20%`)."""
