"""The pieces that a text is cut into."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

DIGIT_COMMA = "digit comma"
"""Text of the junk between the digits of `2,50` where nothing says whether they are one number or two."""
GOING_ON = "..."
"""Text of a number, at the end of a chain, whose decimals go on: `0.142857...`."""
ZERO = Fraction(0)


@final
class Kind:
    """What a token is; its constants are its only instances.

    Not an `Enum`, for Python 3.11 takes 70 ns longer to look up one of its members (measured), and reading a trace
    looks up tens of thousands of them: a fifth of its time.
    """

    __slots__ = ("name",)

    NUMBER: ClassVar["Kind"]
    WORD: ClassVar["Kind"]
    OPERATOR: ClassVar["Kind"]
    OPEN: ClassVar["Kind"]
    CLOSE: ClassVar["Kind"]
    RELATION: ClassVar["Kind"]
    FUNCTION: ClassVar["Kind"]
    COMMA: ClassVar["Kind"]
    CLOCK: ClassVar["Kind"]
    """A time of day. Its value counts the minutes since midnight, its text says what stood behind it: `am`, `pm`, or
    nothing (`unsaid`). Only an expression that adds or compares times reads it; to everybody else it is junk."""
    BREAK: ClassVar["Kind"]
    """End of a sentence, a line or a clause: nothing is read across it."""
    JUNK: ClassVar["Kind"]
    """A sign this grammar does not read; a claim that touches it is not read."""
    PLACEHOLDER: ClassVar["Kind"]
    """Where a final answer stood."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Kind.{self.name}"


for _name in Kind.__annotations__:
    setattr(Kind, _name, Kind(_name))
BREAK, CLOSE, COMMA, FUNCTION, JUNK, NUMBER = Kind.BREAK, Kind.CLOSE, Kind.COMMA, Kind.FUNCTION, Kind.JUNK, Kind.NUMBER
OPEN, OPERATOR, PLACEHOLDER, RELATION, WORD = Kind.OPEN, Kind.OPERATOR, Kind.PLACEHOLDER, Kind.RELATION, Kind.WORD
"""The same, for what looks at every token: Python finds a name 20 ns sooner than an attribute of a class."""


@dataclass(slots=True)
class Token:
    r"""A piece of the text; `text` is its canonical spelling (`*` for `\\times`). Nobody changes one.

    Reading a trace makes hundreds of them and asks for their fields thousands of times. A slot is read in half the time
    that the field of a tuple takes, and `plain_token` makes one in two thirds of the time of the constructor.
    """

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool
    """White space stands before it."""
    value: Fraction = ZERO
    percent: bool = False
    currency: str = ""
    decimals: int = 0
    """Digits after the decimal point of a literal; negative where `1.5 million` shows its hundred thousands."""
    spelled: bool = False
    """A number written as a word."""


_make = object.__new__


def plain_token(
    kind: Kind, text: str, start: int, end: int, spaced: bool, value: Fraction = ZERO, currency: str = "",
    decimals: int = 0,
) -> Token:  # fmt: skip
    """Return a token that is neither a percentage nor spelled."""
    token = _make(Token)
    token.kind, token.text, token.start, token.end, token.spaced = kind, text, start, end, spaced
    token.value, token.percent, token.currency, token.decimals, token.spelled = value, False, currency, decimals, False
    return token
