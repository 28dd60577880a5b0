"""Where the parser stands in its tokens, and the caps that keep it bounded."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rafs.grammar.tokens import Kind, Token

MAX_DEPTH = 40
"""Nested groups; each costs a handful of Python frames out of the interpreter's 1000."""
MAX_NODES = 300
"""Nodes of one expression; a left-deep tree of that many is still walked by plain recursion."""


class Unreadable(Exception):
    """The tokens at this place are no expression of the grammar, or a cap was hit."""


@dataclass(slots=True)
class Cursor:
    """The parser's place in a text, and what it has gathered on the way."""

    tokens: Sequence[Token]
    names: frozenset[str]
    spaced_product: bool
    position: int
    depth: int = 0
    nodes: int = 0
    doubts: set[str] = field(default_factory=set)
    unit_end: int = -1
    """Where the last unit ended; nothing multiplies a unit without a sign."""

    def peek(self, ahead: int = 0) -> Token | None:
        """Return the token that many places ahead; None behind the end."""
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else None

    def at(self, kind: Kind, *texts: str) -> bool:
        """Say whether the next token is of that kind, and one of those texts where some are given."""
        token = self.peek()
        return token is not None and token.kind is kind and (not texts or token.text in texts)

    def take(self) -> Token:
        """Return the next token and step behind it; raises `Unreadable` when the expression has grown too large."""
        token = self.tokens[self.position]
        self.position += 1
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise Unreadable
        return token


def deepen(cursor: Cursor) -> None:
    """Enter one more level of nesting; the caller leaves it by `cursor.depth -= 1`.

    Raises:
        Unreadable: The nesting is too deep.
    """
    cursor.depth += 1
    if cursor.depth > MAX_DEPTH:
        raise Unreadable
