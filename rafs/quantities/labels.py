"""Units and names that the text gives to numbers: `12 apples`, `Ann's age = 10`."""

from collections.abc import Sequence

from rafs.grammar.terms import Expression, literal_of
from rafs.grammar.tokens import Kind, Token

MAX_LABEL_WORDS = 8
"""Words of one name; a longer run before a sign is a sentence."""
_ENDS_LABEL = frozenset("so then thus therefore hence is are was were that which means gives get gets we the a".split())
"""Words that a name does not begin with."""


def unit_of(expression: Expression | None) -> str:
    """Return the unit written beside a literal; empty for anything computed."""
    literal = literal_of(expression)
    return "" if literal is None else literal.unit


def entity_before(tokens: Sequence[Token], position: int) -> str:
    """Return the name that a `=` or `:` right before the token gives to what follows; empty where there is none.

    Args:
        tokens: Tokens of a step.
        position: Position of the first token of the claim, or of the number.
    """
    at = position - 1
    while at >= 0 and tokens[at].kind is Kind.OPEN:
        at -= 1
    sign = tokens[at].text if at >= 0 else ""
    if sign != "=" and not (sign == ":" and tokens[at].kind is Kind.BREAK):
        return ""
    words: list[str] = []
    while (at := at - 1) >= 0 and tokens[at].kind is Kind.WORD:
        words.append(tokens[at].text)
        if len(words) > MAX_LABEL_WORDS:
            return ""
    words.reverse()
    while words and words[0].lower() in _ENDS_LABEL:
        del words[0]
    return " ".join(words)
