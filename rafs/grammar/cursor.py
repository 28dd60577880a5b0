"""Where the parser stands in its tokens, and the caps that keep it bounded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rafs.grammar.terms import Expression, Number, Variable
from rafs.grammar.tokens import DIGIT_COMMA, GOING_ON, Kind, Token
from rafs.types import Span

MAX_DEPTH = 40
"""Nested groups; each costs a handful of Python frames out of the interpreter's 1000."""
MAX_NODES = 300
"""Nodes of one expression; a left-deep tree of that many is still walked by plain recursion."""


ENDING = frozenset([Kind.RELATION, Kind.BREAK, Kind.CLOSE, Kind.COMMA, Kind.PLACEHOLDER])
"""Kinds of tokens that no operand goes on with."""
NOTHING = "\0"
"""Closes no bracket: what it is pushed for ends at a token of kind CLOSE, which nothing else takes."""


MEANT = {
    **{"\\{": "{", "\\}": "}", DIGIT_COMMA: ",", "infinity": "∞", "inf": "∞", "Σ": "∑", "Π": "∏", "Ø": "∅"},
    **dict.fromkeys(["\\lvert", "\\rvert", "\\vert", "｜"], "|"),
}
"""What words and signs mean to the parser that are something else to those who read the sentence."""


class Unreadable(Exception):
    """The tokens at this place are no expression of the grammar, or a cap was hit."""


@dataclass(slots=True)
class Cursor:
    """The parser's place in a text, and what it has gathered on the way."""

    tokens: Sequence[Token]
    names: frozenset[str]
    spaced_product: bool
    position: int
    levels: "tuple[Level, ...]" = ()
    """What reads a sum, a product and a power here: the parser itself, for the notations that hold expressions."""
    depth: int = 0
    nodes: int = 0
    doubts: set[str] = field(default_factory=set)
    unit_end: int = -1
    """Where the last unit ended; nothing multiplies a unit without a sign."""
    closers: list[str] = field(default_factory=list)
    """Signs that end the expressions around this place, as the second bar of `|x|` and the `dx` of an integral."""

    def peek(self, ahead: int = 0) -> Token | None:
        """Return the token that many places ahead; None behind the end."""
        try:  # quicker than to compare with the number of tokens, here and in `symbol`
            return self.tokens[self.position + ahead]
        except IndexError:
            return None

    def going_on(self) -> Token | None:
        """Return the next token; None where it ends every expression, or the one around this place."""
        try:
            token = self.tokens[self.position]
        except IndexError:
            return None
        return None if token.kind in ENDING or (self.closers and self.closes()) else token

    def at(self, kind: Kind, *texts: str) -> bool:
        """Say whether the next token is of that kind, and one of those texts where some are given."""
        index = self.position
        if index >= len(self.tokens) or self.tokens[index].kind is not kind:
            return False
        return not texts or self.tokens[index].text in texts

    def at_relation(self, ahead: int) -> bool:
        """Say whether a relation stands that many places ahead."""
        token = self.peek(ahead)
        return token is not None and token.kind is Kind.RELATION

    def symbol(self, ahead: int = 0) -> str:
        """Return what the token that many places ahead means as a sign; "" behind the end."""
        try:
            text = self.tokens[self.position + ahead].text
        except IndexError:
            return ""
        return MEANT.get(text, text)

    def closes(self) -> bool:
        """Say whether the next token ends an expression around this place."""
        return bool(self.closers) and self.symbol() == self.closers[-1]

    def expect(self, *symbols: str) -> str:
        """Step over one of these signs and return it; raises `Unreadable` where another stands."""
        symbol = self.symbol()
        if symbol not in symbols:
            raise Unreadable
        self.take()
        return symbol

    def sum(self) -> Expression:
        """Read a whole expression."""
        return self.levels[0](self)

    def product(self) -> Expression:
        """Read an expression without `+` and `-` outside of brackets."""
        return self.levels[1](self)

    def power(self) -> Expression:
        """Read one factor with its exponent."""
        return self.levels[2](self)

    def take(self) -> Token:
        """Return the next token and step behind it; raises `Unreadable` at the end, or when there are too many."""
        try:
            token = self.tokens[self.position]
        except IndexError:
            raise Unreadable from None
        self.position += 1
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise Unreadable
        return token

    def number(self) -> Number:
        """Step over a number and return it."""
        return number_of(self.take())

    def name(self) -> Variable:
        """Step over a word and return it as a name."""
        return name_of(self.take())


Level = Callable[[Cursor], Expression]


def number_of(token: Token) -> Number:
    """Return the number that a token is."""
    continues, span = token.text == GOING_ON, Span(token.start, token.end)
    return Number(token.value, token.percent, token.currency, "", token.decimals, token.spelled, continues, span)


def name_of(token: Token) -> Variable:
    """Return the name that a token is."""
    return Variable(token.text, Span(token.start, token.end))


def deepen(cursor: Cursor) -> None:
    """Enter one more level of nesting; the caller leaves it by `cursor.depth -= 1`.

    Raises:
        Unreadable: The nesting is too deep.
    """
    cursor.depth += 1
    if cursor.depth > MAX_DEPTH:
        raise Unreadable
