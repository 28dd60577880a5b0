"""One pass over the tokens of a text: what it has found, and how a relation with its two sides becomes a link."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from rafs.claims.assertions import is_conditional, is_denied, is_option, is_reported, is_universal
from rafs.claims.left_sides import LeftSide
from rafs.claims.other_arithmetic import other_arithmetic
from rafs.claims.relations import Link
from rafs.claims.rewritings import is_rewriting
from rafs.claims.right_sides import doubts_after, read_modulus, read_remainder, span_of, split_modulus
from rafs.grammar.actions import ACTIONS
from rafs.grammar.expressions import evaluate
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.terms import Number, Unary, leaves, variables
from rafs.grammar.tokens import Kind, Token
from rafs.types import Span

_PLAIN_BEGINNINGS = frozenset([Kind.NUMBER, Kind.OPERATOR, Kind.FUNCTION])
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)")
MAX_ACTION = 20
"""Letters of the longest word of an action, as `multiplying`."""


@dataclass(slots=True)
class Finder:
    """One pass over the tokens of a text."""

    tokens: list[Token]
    names: frozenset[str]
    text: str
    links: list[Link] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    previous: tuple[int, Parsed] | None = None
    """(index of the token after it, the right side read last), for chains."""
    labelled: dict[str, Parsed] = field(default_factory=dict)
    """The expression that a label was last set equal to: `Total = 4 * 3. Total = 12.`"""

    def parse(self, position: int) -> Parsed | None:
        """Read the expression at a token."""
        return parse_at(self.tokens, position, self.names, spaced_product=False)

    def is_at(self, index: int, kind: Kind) -> bool:
        """Say whether a token of that kind stands there."""
        return index < len(self.tokens) and self.tokens[index].kind is kind


def add_link(finder: Finder, relation: str, left: LeftSide, right: Parsed | None, *, in_words: bool = False) -> None:
    """Add the link of two sides; `right` is None where the placeholder of the answer stands."""
    if right is not None and _is_unclosed(finder.tokens, left.parsed, right):
        finder.unread.append(finder.tokens[left.parsed.end].start)
        return
    left_span = span_of(finder.tokens, left.parsed)
    right_span = Span(left_span.end, left_span.end) if right is None else span_of(finder.tokens, right)
    after = right.end if right is not None else len(finder.tokens)
    names = variables(left.parsed.expression)
    all_names = names if right is None else names | variables(right.expression)
    modulus = read_modulus(finder.tokens, after, finder.names)
    if relation == "≡" and right is not None and modulus is None:
        right, modulus = split_modulus(right)
    remainder = read_remainder(finder.tokens, after, finder.names)
    doubts = set(left.doubts if right is None else left.doubts | right.doubts)
    if relation == "=" and not modulus and "_" not in finder.text[left_span.start : right_span.end]:
        doubts |= other_arithmetic(finder.text, left_span.start, _end(right))
    if right is not None:
        doubts |= _exclamation(finder, left, right) | _less(finder, left, right)
    if modulus is None and remainder is None:
        doubts |= doubts_after(finder.tokens, after)
    finder.links.append(
        Link(
            relation=relation,
            left=left.parsed.expression,
            right=None if right is None else right.expression,
            left_span=left_span,
            right_span=right_span,
            doubts=frozenset(doubts),
            in_words=in_words,
            continued=finder.is_at(after, Kind.RELATION),
            begins_plainly=right is not None and finder.tokens[right.start].kind in _PLAIN_BEGINNINGS,
            asserted=is_asserted(finder, left_span, right_span, after, names=names),
            modulus=modulus,
            remainder=remainder,
            universal=bool(all_names)
            and _is_universal(finder.text, relation, left, right, left_span.start, right_span.end, all_names),
            names=all_names,
        )
    )


def _is_unclosed(tokens: Sequence[Token], left: Parsed, right: Parsed) -> bool:
    """Say whether the left side stands in a bracket that nothing closes: `(1 + 4)(6 - 2 = 20`."""
    opener = tokens[left.start - 1] if left.start else None
    if opener is None or opener.kind is not Kind.OPEN or opener.text not in ("(", "["):
        return False
    depth = 0
    for token in tokens[right.end : right.end + MAX_REMARK]:
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth < 0:
            return False
    return len(tokens) <= right.end + MAX_REMARK


MAX_REMARK = 200
"""Tokens in which a bracket around a relation is closed, at the latest."""


def _end(right: Parsed | None) -> int:
    """Return where the last number or name of a right side ends; words behind it are none of its own."""
    return 0 if right is None else max([leaf.span.end for leaf in leaves(right.expression)], default=0)


def _exclamation(finder: Finder, left: LeftSide, right: Parsed) -> frozenset[str]:
    """Doubt whether `!` behind a right side ends the sentence, as in `= 10!`, unless that makes no difference."""
    following = finder.tokens[right.end] if right.end < len(finder.tokens) else None
    operand, marked = right.expression, following is not None and following.text == "!?"
    if not marked and not (following is None or following.kind is Kind.BREAK):
        return frozenset()
    if not marked:
        if not isinstance(operand, Unary) or finder.tokens[right.end - 1].text not in ("!", "!!"):
            return frozenset()
        operand = operand.operand
    value, plain = evaluate(left.parsed.expression), evaluate(operand)
    if value is not None and plain is not None and value < LEAST_OMITTED and value not in _factorials(plain):
        return frozenset()
    return frozenset(["exclamation"])


def _less(finder: Finder, left: LeftSide, right: Parsed) -> frozenset[str]:
    """Doubt whether a negative difference is told by its size: `30 - 50 = 20 less than before`."""
    measure = right.expression.measure.split() if isinstance(right.expression, Number) else []
    value = evaluate(left.parsed.expression) if "less" in measure or "fewer" in measure else None
    return frozenset(["less"]) if value is not None and value < 0 else frozenset()


def _factorials(number: Fraction) -> set[Fraction | None]:
    """Return what a number with or without signs behind it may be; not those that are too large to matter."""
    values: set[Fraction | None] = {number}
    if 0 <= number <= MAX_EXCLAIMED:
        values |= {evaluate(Unary(op, Number(value=number))) for op in ("!", "!!")}
    return values


MAX_EXCLAIMED = 50
"""Largest number whose factorials are computed."""
LEAST_OMITTED = 10**30
"""Below any factorial, and double factorial, that is not computed."""


def is_asserted(finder: Finder, left_span: Span, right_span: Span, after: int, *, names: frozenset[str]) -> bool:
    """Say whether the sentence asserts a relation between two places.

    Args:
        finder: The text.
        left_span: Its left side.
        right_span: Its right side.
        after: A token behind it.
        names: The names in its left side.
    """
    text, start = finder.text, left_span.start
    if is_option(text, start) or _follows_condition(finder, start):
        return False
    if not names and (is_conditional(text, start) or is_reported(text, start)):
        is_action = text[start : start + MAX_ACTION].split(" ")[0].lower() in ACTIONS
        if not is_action:
            return False
    return not is_denied(text, finder.tokens, left_span, right_span, after)


def _follows_condition(finder: Finder, start: int) -> bool:
    """Say whether the sentence has made a condition of an equation before: `if 3 * 4 were = 13, then ...`."""
    last = finder.links[-1] if finder.links else None
    if last is None or last.asserted or variables(last.left) or not is_conditional(finder.text, last.left_span.start):
        return False
    return not _SENTENCE_END.search(finder.text, last.right_span.end, max(last.right_span.end, start))


def _is_universal(
    text: str, relation: str, left: LeftSide, right: Parsed | None, start: int, end: int, names: frozenset[str]
) -> bool:
    """Say whether the relation text[start:end] is stated for every value of its names."""
    if is_universal(text, start, end, names):
        return True
    sure = relation == "=" and right is not None and not left.doubts | right.doubts
    return sure and right is not None and is_rewriting(text, start, left.parsed.expression, right.expression)
