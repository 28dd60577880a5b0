"""Says whether a sentence asserts the relation in it, or denies it, asks about it, or makes it a condition."""

import re
from collections.abc import Sequence

from rafs.grammar.tokens import Kind, Token
from rafs.types import Span

_CONDITIONAL = frozenset("if suppose supposing assume assuming whether unless".split())
DENIAL_REACH = 60
"""Characters around a relation in which a denial is looked for."""
_DENIED_BEFORE = re.compile(
    r"\b(?:not true|untrue|false|incorrect|incorrectly|wrong|wrongly|mistakenly|not the case|cannot be|can't be)\b"
    r"[^.!?\n;]{0,40}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[^\w]{0,6}(?:but )?(?:which |that |this |it )?(?:is|was|would be) (?:clearly |obviously )?"
    r"(?:not true|untrue|false|wrong|"
    r"incorrect|impossible|not possible|not correct|a contradiction)",
    re.IGNORECASE,
)
_UNIVERSAL = re.compile(r"\bfor (?:all|every|any|each)\b[^.!?\n;]{0,40}$", re.IGNORECASE)
_PROPERTY = re.compile(
    r"\b(?:of|in|for|with|by)\s*\W{0,4}$|\b(?:digit|number|power|factor|remainder|form)\b[^.]{0,50}$", re.IGNORECASE
)
"""Before a left side: what follows speaks of something of it, not of its value (`the last digit of 2^5 is 2`)."""
_SENTENCE_ENDS = frozenset([".", "?", "!", "\n", ";", "。", "！", "？", "；"])


def is_conditional(tokens: Sequence[Token], start: int) -> bool:
    """Say whether the expression at token `start` follows an `if`."""
    before = tokens[max(0, start - 2) : start]
    return any(token.kind is Kind.WORD and token.text.lower() in _CONDITIONAL for token in before)


def is_denied(text: str, tokens: Sequence[Token], left: Span, right: Span, after: int) -> bool:
    """Say whether the sentence denies the relation or asks about it."""
    if _DENIED_BEFORE.search(text[max(0, left.start - DENIAL_REACH) : left.start]):
        return True
    if _DENIED_AFTER.match(text[right.end : right.end + DENIAL_REACH]):
        return True
    for token in tokens[after : after + DENIAL_REACH]:
        if token.kind is Kind.BREAK and token.text in _SENTENCE_ENDS:
            return token.text in "?？"
    return False


def is_universal(text: str, start: int) -> bool:
    """Say whether the relation that starts there is stated for every value of its names."""
    return _UNIVERSAL.search(text[max(0, start - DENIAL_REACH) : start]) is not None


def speaks_of_property(text: str, start: int) -> bool:
    """Say whether the words before an expression speak of something of it, not of its value."""
    return _PROPERTY.search(text[max(0, start - DENIAL_REACH) : start]) is not None


def is_modular(text: str, left: Span, right: Span) -> frozenset[str]:
    """Return a doubt where congruences stand around an equation, which then may hold in residues only."""
    before, after = text[max(0, left.start - MODULAR_REACH) : left.start], text[right.end : right.end + MODULAR_REACH]
    return frozenset(["modular"]) if _MODULAR.search(before) or _MODULAR.search(after) else frozenset()


MODULAR_REACH = 80
"""Characters around an equation in which congruences are looked for."""
_MODULAR = re.compile(r"\\equiv|≡|\bmod\b|\\[pb]mod|\\text\{mod\}")
