"""Annotations of a calculator, `<<48/2=24>>24`, and the number that is shown behind them."""

from fractions import Fraction

from rafs.claims.relations import Link
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind, Token
from rafs.types import Span

REACH = 40
"""Characters behind an annotation in which its number is looked for."""


def shows_another(text: str, link: Link, result: Fraction | None) -> bool:
    """Say whether another whole number than its result stands right behind an annotation: `<<6*7=42>>43`."""
    _, shown = _behind(text, link)
    if not shown or shown[0].kind is not Kind.NUMBER or shown[0].start or result is None:
        return False
    plain = not shown[0].percent and not shown[0].decimals and result.denominator == 1
    ends = len(shown) < 2 or shown[1].kind in (Kind.WORD, Kind.BREAK)
    return plain and ends and shown[0].value != abs(result)


def visible_span(text: str, link: Link, result: Fraction | None) -> Span | None:
    """Return where the result stands behind an annotation: the 24 after `<<48/2=24>>`; None where it does not."""
    after, shown = _behind(text, link)
    if not shown or shown[0].kind is not Kind.NUMBER or shown[0].value != result:
        return None
    return Span(start=after + shown[0].start, end=after + shown[0].end)


def _behind(text: str, link: Link) -> tuple[int, list[Token]]:
    after = text.find(">>", link.right_span.end) + 2
    return after, lex(text[after : after + REACH])[:2]
