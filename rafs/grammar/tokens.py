"""The pieces that a text is cut into."""

from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction

DIGIT_COMMA = "digit comma"
"""Text of the junk between the digits of `2,50` where nothing says whether they are one number or two."""


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
    BREAK = auto()
    """End of a sentence, a line or a clause: nothing is read across it."""
    JUNK = auto()
    """A sign this grammar does not read; a claim that touches it is not read."""
    PLACEHOLDER = auto()
    """Where a final answer stood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    r"""A piece of the text; `text` is its canonical spelling (`*` for `\\times`)."""

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool
    """White space stands before it."""
    value: Fraction = Fraction(0)
    percent: bool = False
    currency: str = ""
    decimals: int = 0
    """Digits after the decimal point of a literal."""
    spelled: bool = False
    """A number written as a word."""
