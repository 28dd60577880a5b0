"""The pieces that a text is cut into."""

from enum import Enum, auto
from fractions import Fraction
from functools import partial
from typing import NamedTuple

DIGIT_COMMA = "digit comma"
"""Text of the junk between the digits of `2,50` where nothing says whether they are one number or two."""
GOING_ON = "..."
"""Text of a number, at the end of a chain, whose decimals go on: `0.142857...`."""
ZERO = Fraction(0)


class Kind(Enum):
    """What a token is."""

    NUMBER = auto()
    WORD = auto()
    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()
    RELATION = auto()
    FUNCTION = auto()
    COMMA = auto()
    CLOCK = auto()
    """A time of day. Its value counts the minutes since midnight, its text says what stood behind it: `am`, `pm`, or
    nothing (`unsaid`). Only an expression that adds or compares times reads it; to everybody else it is junk."""
    BREAK = auto()
    """End of a sentence, a line or a clause: nothing is read across it."""
    JUNK = auto()
    """A sign this grammar does not read; a claim that touches it is not read."""
    PLACEHOLDER = auto()
    """Where a final answer stood."""


class Token(NamedTuple):
    r"""A piece of the text; `text` is its canonical spelling (`*` for `\\times`).

    A tuple, since a trace has hundreds of them: a frozen dataclass takes five times as long to make.
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


make_token = partial(tuple.__new__, Token)
"""Makes a token of the tuple of all its fields; twice as fast as calling the class."""
