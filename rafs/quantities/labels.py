"""Units and names that the text gives to numbers: `12 apples`, `Ann's age = 10`."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from rafs.grammar.terms import Expression, literal_of
from rafs.grammar.tokens import Kind, Token
from rafs.types import Claim, Span

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


_start_of = attrgetter("start")


def entity_of(tokens: Sequence[Token], claim: Claim, previous: Claim | None) -> str:
    """Return the name of a claim's result: the one before it, or of the link before it in a chain."""
    position = bisect_left(tokens, claim.span.start, key=_start_of)
    if entity := entity_before(tokens, position):
        return entity
    is_link = previous is not None and previous.step == claim.step and is_chained(previous, claim)
    return previous.entity if is_link and previous is not None else ""


def stands_in_latex(text: str, span: Span) -> bool:
    """Say whether a calculation is written in LaTeX, the language of bare numbers; a command elsewhere says nothing."""
    return "\\" in text[max(0, span.start - LATEX_REACH) : span.end + LATEX_REACH]


LATEX_REACH = 8
"""Characters around a calculation in which the commands stand that set it."""


def left_span(claim: Claim) -> Span:
    """Return the characters of the left side."""
    return Span(claim.span.start, claim.span.start + len(claim.left))


def is_chained(previous: Claim, claim: Claim) -> bool:
    """Say whether the left side of a claim is the very result of the one before."""
    end, start = previous.result_span, claim.span.start
    return end is not None and end.start == start and end.end == start + len(claim.left)
