"""What a relation in running text says, as written: two sides, a sign, and the doubts of the reading."""

from collections.abc import Sequence

from rafs.grammar.terms import Expression
from rafs.grammar.tokens import Token
from rafs.immutable import immutable
from rafs.types import Span


@immutable
class Link:
    """One `left relation right` as written; nothing about its truth."""

    relation: str
    left: Expression
    right: Expression | None
    """None where the placeholder of the answer stands."""
    left_span: Span
    right_span: Span
    doubts: frozenset[str]
    """Why the reading itself is not certain; a contradiction under a doubt is not an error."""
    in_words: bool = False
    """The relation is a word such as `is`."""
    continued: bool = False
    """Another relation follows the right side, so `3*4 = 12 + 5 = 17` may be a run-on."""
    begins_plainly: bool = False
    """The right side begins with a number, its sign or a fraction, rather than with a bracket or a word."""
    asserted: bool = True
    """False for denied, conditional and questioned statements."""
    modulus: Expression | None = None
    remainder: Expression | None = None
    annotation: bool = False
    holds: bool | None = None
    """Whether a fact told in words holds (`30 is divisible by 4`); None for a relation of two values."""
    universal: bool = False
    """Stated for every value of its names."""
    names: frozenset[str] = frozenset()
    """Names in it that have no value of their own; a fact told in words has none."""


@immutable
class Reading:
    """All that was found in one text."""

    links: tuple[Link, ...]
    unread: tuple[int, ...]
    """Offsets of relation signs that belong to no link, no label and no definition of a name."""
    tokens: Sequence[Token] | None
    """What the text was cut into; None where annotations were read apart from it."""
