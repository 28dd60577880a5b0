"""Where a right side ends, and what the signs and words behind it do to it."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from rafs.grammar.counted import FUNCTIONS, NOT_UNITS
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.terms import Binary, Expression, Number, leaves
from rafs.grammar.tokens import BREAK, DIGIT_COMMA, FUNCTION, JUNK, NUMBER, OPEN, OPERATOR, WORD, Token
from rafs.types import Span

_HARMLESS = frozenset([*"'#`\"“”„‘’«»~@", "digits", "pmod", ">>", "\\hfill", "∎"])
"""Signs that may follow a right side though they are not read."""
_PROOF_ENDS = frozenset(["\\blacksquare", "\\square", "\\Box", "\\qed", "\\qedsymbol"])
"""Between two numbers they may be an operation."""
_PICTURES = frozenset(["So", "Sk", "Cf", "Co", "Mn", "Me", "Sc"])
"""Unicode categories of ticks, emoji and the like."""
_CROSSES = frozenset("✗✘❌")
_STEERING = frozenset(
    "of more less fewer times percent plus minus or followed thirds fourths squared cubed per off than as by".split()
)
"""Words behind a number that make another value of it."""


def ends_cleanly(tokens: Sequence[Token], end: int, right: Expression) -> bool:
    """Say whether a right side really ends where the parser stopped, and not before something it cannot read."""
    if end >= len(tokens):
        return True
    token = tokens[end]
    if token.kind is OPERATOR:
        return token.text == "!?" or _is_dash(tokens, end)
    if token.kind is WORD and (not token.spaced or token.text in ("sin", "cos", "tan", "log", "ln")):
        return False
    if token.kind is FUNCTION:
        return token.text == "pmod"
    if token.kind is NUMBER:  # `010 101_2`, cut into groups of digits
        return token.spaced and tokens[end - 1].kind is not NUMBER
    return token.kind is not JUNK or _is_harmless(tokens, end, right)


def _is_harmless(tokens: Sequence[Token], index: int, right: Expression) -> bool:
    """Say whether an unread sign is a tick, a quotation mark, the bar of a table or the dots of a sentence."""
    text = tokens[index].text
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    ends = following is None or following.kind is BREAK
    if text in ("...", "…"):
        return (ends or (following is not None and following.kind is WORD)) and _is_whole(right)
    if text in ("//", "<<", "<"):
        return following is not None and following.kind is WORD
    if text == "|":
        return ends and tokens[index].spaced
    if text in _PROOF_ENDS:
        return ends
    return is_decoration(tokens[index])


def is_decoration(token: Token) -> bool:
    """Say whether an unread sign is a quotation mark, a tick, an emoji or the like, which says nothing."""
    text = token.text
    return text in _HARMLESS or (len(text) == 1 and unicodedata.category(text) in _PICTURES)


def _is_whole(expression: Expression) -> bool:
    return isinstance(expression, Number) and not expression.decimals and expression.value.denominator == 1


def _is_dash(tokens: Sequence[Token], index: int) -> bool:
    """Say whether a minus sign is a dash of the sentence, as in `= 12 - so it fits`."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return tokens[index].text == "-" and (following is None or following.text.lower() in NOT_UNITS)


def is_steered(tokens: Sequence[Token], end: int) -> bool:
    """Say whether words behind a number make another value of it: `is 3 more than the rest`."""
    if end >= len(tokens):
        return False
    return tokens[end].text in (DIGIT_COMMA, "%") or tokens[end].text.lower() in _STEERING


def doubts_after(tokens: Sequence[Token], end: int) -> frozenset[str]:
    """Say why what follows a right side may belong to it."""
    if end >= len(tokens):
        return frozenset()
    following, inside = tokens[end], tokens[end + 1] if end + 1 < len(tokens) else None
    if following.text in _CROSSES:
        return frozenset(["marked as wrong"])
    if following.kind is WORD and len(following.text) == 1 and following.text not in "aAI":
        return frozenset(["letter"])
    if _is_ratio(tokens, end):
        return frozenset(["ratio"])
    if following.kind is not OPEN or following.text != "(":
        return frozenset()
    if inside is None or inside.kind is not WORD or len(inside.text) < 2 or not following.spaced:
        return frozenset(["bracket"])
    return frozenset(["bracket"]) if inside.text in FUNCTIONS else frozenset()


def _is_ratio(tokens: Sequence[Token], end: int) -> bool:
    """Say whether another number follows, to which the right one stands: `60%:40%`, `40% to 60%`; no `to 2 places`."""
    sign, behind = tokens[end], tokens[end + 1 : end + 3]
    if not behind or behind[0].kind is not NUMBER:
        return False
    if sign.text == ":":
        return sign.spaced == behind[0].spaced  # `so = 12: 5 of them` goes on
    return sign.text.lower() == "to" and (len(behind) < 2 or behind[1].kind is not WORD)


def read_modulus(tokens: Sequence[Token], after: int, names: frozenset[str]) -> Expression | None:
    r"""Read `(mod 6)`, `mod 6` or `\\pmod{6}` behind a right side."""
    head = tokens[after : after + 2]
    if len(head) < 2:
        return None
    if head[0].text == "pmod" or (head[0].kind is OPEN and head[1].text == "mod"):
        return _expression(tokens, after + (1 if head[0].text == "pmod" else 2), names)
    return None


def split_modulus(right: Parsed) -> tuple[Parsed, Expression | None]:
    """Part `2 mod 7` behind a congruence into what stands there and the modulus, which needs no bracket."""
    match right.expression:
        case Binary(op="mod", left=left, right=modulus):
            return replace(right, expression=left), modulus
    return right, None


def read_remainder(tokens: Sequence[Token], after: int, names: frozenset[str]) -> Expression | None:
    """Read `remainder 1`, `R 1`, `with a remainder of 1` behind a quotient."""
    start, last = after, min(len(tokens), after + 6)
    while start < last and tokens[start].text.lower() in _LEADING:
        start += 1
    if start == last or tokens[start].text.lower() not in ("remainder", "r", "rem"):
        return None
    copula = start + 1 < last and tokens[start + 1].text.lower() in ("of", "is", "=", ":")
    return _expression(tokens, start + (2 if copula else 1), names)


_LEADING = frozenset([",", "with", "and", "a", "leaving", "leaves"])
"""What may stand between a quotient and its remainder."""


def _expression(tokens: Sequence[Token], start: int, names: frozenset[str]) -> Expression | None:
    parsed = parse_at(tokens, start, names, spaced_product=False)
    return None if parsed is None else parsed.expression


def span_of(tokens: Sequence[Token], parsed: Parsed) -> Span:
    """Return the characters of an expression without the unit words that trail it."""
    end = parsed.end
    if end == parsed.start + 1:
        return Span(tokens[parsed.start].start, tokens[parsed.start].end)
    if tokens[end - 1].kind in (WORD, NUMBER):
        last = max([leaf.span.end for leaf in leaves(parsed.expression)], default=0)
        while tokens[end - 1].start >= last and tokens[end - 1].kind in (WORD, NUMBER) and tokens[end - 1].text != "°":
            end -= 1
    return Span(tokens[parsed.start].start, tokens[end - 1].end)
