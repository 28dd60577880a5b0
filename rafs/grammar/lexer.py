"""Where the tokenizer stands in its text, and what it has read so far."""

from dataclasses import dataclass, field
from fractions import Fraction

from rafs.grammar.tokens import ZERO, Kind, Token, plain_token

_MAX_NAMES = 4
"""Tokens before an `x` in which the number stands whose unit it follows."""


@dataclass(slots=True)
class Lexer:
    """State of one pass. A reader finds its piece at `position`, and emits a token or skips the piece."""

    text: str
    variable_x: bool
    """An `x` between numbers is a name."""
    divides: bool | None = None
    """A bare `10:15` is a ratio; None until the text has been asked."""
    position: int = 0
    before: int = 0
    """Where the piece before this one ended."""
    gap: bool = True
    """White space stands before the piece."""
    date_end: int = -1
    """Up to here the digits belong to a date, and the signs between them calculate nothing."""
    tokens: list[Token] = field(default_factory=list)
    braces: list[bool] = field(default_factory=list)
    """One per brace open since `\\text{`: True for that one, so that its end is invisible too."""
    matrices: int = 0
    """Matrices that are open here, in which `&` and a line break part the cells."""
    calls: list[bool] = field(default_factory=list)
    """One per bracket open among the tokens so far asked about: True when a name stands right before it."""
    n_asked: int = 0
    raised: int = 0
    """`<sup>` tags that are open."""
    currency: str = ""
    currency_end: int = -1
    """Where the last currency sign ended; a number that begins there is an amount of it."""

    def emit(
        self, kind: Kind, text: str, end: int, value: Fraction = ZERO, *, percent: bool = False, currency: str = "",
        decimals: int = 0, spelled: bool = False,
    ) -> None:  # fmt: skip
        """Add a token that reaches from the position to `end`, and go on there."""
        if kind is Kind.NUMBER and self.currency_end == self.before:
            currency = self.currency
        token = plain_token(kind, text, self.position, end, self.gap, value, currency, decimals)
        token.percent, token.spelled = percent, spelled
        self.tokens.append(token)
        self.before, self.position, self.gap = end, end, False

    def skip(self, end: int, spaced: bool) -> None:
        """Go on at `end` without a token; whether the piece parts its neighbours as a blank does is `spaced`."""
        if self.currency_end == self.before:
            self.currency_end = end
        self.position, self.gap = end, self.gap or spaced

    def previous(self) -> Kind | None:
        """Return the kind of the last token."""
        return self.tokens[-1].kind if self.tokens else None

    def follows_words(self) -> bool:
        """Say whether a word of several letters stands before."""
        return bool(self.tokens) and self.tokens[-1].kind is Kind.WORD and len(self.tokens[-1].text) > 1

    def follows_operand(self) -> bool:
        """Say whether a number, a closed bracket or a letter stands before."""
        if not self.tokens:
            return False
        last = self.tokens[-1]
        return last.kind is Kind.NUMBER or last.kind is Kind.CLOSE or (last.kind is Kind.WORD and len(last.text) == 1)

    def in_call(self) -> bool:
        """Say whether a name stands before the bracket that is open here, so that commas part its arguments."""
        for index in range(self.n_asked, len(self.tokens)):
            token = self.tokens[index]
            if token.kind is Kind.OPEN:
                self.calls.append(index > 0 and self.tokens[index - 1].kind is Kind.WORD and not token.spaced)
            elif token.kind is Kind.CLOSE and self.calls:
                self.calls.pop()
        self.n_asked = len(self.tokens)
        return any(self.calls[-1:])

    def follows_quantity(self) -> bool:
        """Say whether a number, perhaps with its unit, stands before."""
        return any(token.kind is Kind.NUMBER for token in self.tokens[-_MAX_NAMES:-1])
