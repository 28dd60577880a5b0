"""Numbers that a sentence says behind its result, to tell what that is made of: `12 are left after 5 are sold`."""

from collections.abc import Sequence
from dataclasses import dataclass

from rafs.grammar.tokens import BREAK, COMMA, NUMBER, WORD, Token

_OPENING = frozenset(
    "after once when whenever since because upon following having without given if subtracting removing deducting "
    "excluding due considering".split()
)
"""Words that open a clause about what a result follows from."""
_CAUSAL = frozenset(["as", "for"])
"""Words that do so behind a comma."""
_PLACING = frozenset("of from than".split())
"""Words that do so with the number behind them alone: `12 of the 17`, but not `an angle of 17`, its value."""
_DETERMINING = frozenset(
    "the these those his her their its our my your all original initial first previous remaining out".split()
)
_COMPARING = frozenset("fewer less more higher lower greater smaller".split())
_CONCLUDING = frozenset(
    "so therefore thus hence means leaves leaving left then now finally which result sum difference total totaling "
    "totalling gives giving gets makes making".split()
)
"""Words behind which a new result stands, also inside such a clause."""
_CALCULATING = frozenset("+-*")
_JOINING = frozenset("and or".split())
_SENTENCE_ENDS = (".", "\n", "?", ";")
REACH = 3
"""Tokens behind a compared number in which its words stand."""
REACH_BACK = 24
"""Tokens before a number that are searched for what it belongs to: a calculation of a dozen numbers."""


@dataclass(slots=True, kw_only=True)
class Restating:
    """Walks over one text from number to number, and says which ones restate what the result before them is made of."""

    tokens: Sequence[Token]
    has_result: bool = False
    """A number that may be the result stands before, in the same sentence."""
    is_open: bool = False
    """A clause about what the result follows from was opened, and not left."""
    at: int = 0
    """Tokens that were passed."""

    def pass_result(self, position: int) -> None:
        """Go on behind a number that is part of a calculation."""
        self.at, self.has_result, self.is_open = position + 1, True, False

    def restates(self, position: int) -> bool:
        """Go on behind a number in prose; say whether it restates something."""
        tokens = self.tokens
        for index in range(self.at, position):
            token = tokens[index]
            kind = token.kind
            if kind is WORD:
                word = token.text.lower()
                if word in _OPENING or (word in _CAUSAL and tokens[index - 1].kind is COMMA):
                    self.is_open = self.has_result
                elif word in _CONCLUDING:
                    self.is_open = False
            elif kind is COMMA:
                self.is_open = self.is_open and _goes_on(tokens[index + 1])
            elif kind is BREAK and token.text in _SENTENCE_ENDS:
                self.has_result, self.is_open = False, False
        self.at = position + 1
        if (
            self.has_result
            and position
            and (
                self.is_open
                or _is_placed(tokens, position)
                or _compares(tokens, position)
                or _is_calculated_with(tokens, position)
            )
        ):
            return True
        self.has_result = True
        return False


def _goes_on(token: Token) -> bool:
    """Say whether a comma before a token parts two things of one list."""
    return token.kind is NUMBER or token.text.lower() in _JOINING


def _is_placed(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a number is what a result is a part of: `of the 17`, `from her 17`, `out of 17`."""
    at, first = position - 1, max(0, position - REACH_BACK)
    while at > first and tokens[at].text.lower() in _DETERMINING:
        at -= 1
    word = tokens[at].text.lower()
    return word in _PLACING and (word != "of" or at < position - 1 or tokens[at - 1].text.lower() == "out")


def _is_calculated_with(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a number stands in a calculation that explains a result: `12 pens (17 - 5)`, `which is 17 - 5`."""
    start, first = position, max(2, position - REACH_BACK)
    while start > first and (tokens[start - 1].kind is NUMBER or tokens[start - 1].text in _CALCULATING):
        start -= 1
    if start < 2 or start + 1 >= len(tokens) or tokens[start + 1].text not in _CALCULATING:
        return False
    before, last = tokens[start - 2], tokens[start - 1].text.lower()
    is_bracketed = last == "(" and before.kind in (WORD, NUMBER)
    return is_bracketed or (last == "is" and before.text.lower() in ("which", "that"))


def _compares(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a number only tells how far the result is from another: `, 12 fewer than before`."""
    before, last = tokens[max(0, position - 2)], tokens[position - 1]
    if last.text not in (",", "(") and before.text.lower() != "which":
        return False
    behind = [token.text.lower() for token in tokens[position + 1 : position + 1 + REACH]]
    return any(word in _COMPARING and "than" in behind[at + 1 :] for at, word in enumerate(behind))
