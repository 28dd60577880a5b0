"""One pass over the tokens of a text: what it has found, and how a relation with its two sides becomes a link."""

import re
from dataclasses import dataclass, field, replace

from rafs.claims.assertions import is_conditional, is_denied, is_modular, is_option, is_reported, is_universal
from rafs.claims.left_sides import LeftSide
from rafs.claims.relations import Link
from rafs.claims.rewritings import is_rewriting
from rafs.claims.right_sides import doubts_after, read_modulus, read_remainder, span_of
from rafs.grammar.actions import ACTIONS
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.terms import variables
from rafs.grammar.tokens import Kind, Token
from rafs.types import Span

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
    left_span = span_of(finder.tokens, left.parsed)
    right_span = Span(start=left_span.end, end=left_span.end) if right is None else span_of(finder.tokens, right)
    after = right.end if right is not None else len(finder.tokens)
    following = finder.tokens[after] if after < len(finder.tokens) else None
    modulus = read_modulus(finder.tokens, after, finder.names)
    remainder = read_remainder(finder.tokens, after, finder.names)
    link = Link(
        relation=relation,
        left=left.parsed.expression,
        right=None if right is None else right.expression,
        left_span=left_span,
        right_span=right_span,
        doubts=left.doubts
        | (is_modular(finder.text, left_span, right_span) if relation == "=" and modulus is None else frozenset())
        | (right.doubts if right is not None else frozenset())
        | (frozenset(["exclamation"]) if _exclaims(finder, right, following) else frozenset())
        | (doubts_after(following) if modulus is None and remainder is None else frozenset()),
        in_words=in_words,
        continued=following is not None and following.kind is Kind.RELATION,
        modulus=modulus,
        remainder=remainder,
    )
    finder.links.append(
        replace(link, asserted=is_asserted(finder, link, after), universal=_is_universal(finder, link, left, right))
    )


def _exclaims(finder: Finder, right: Parsed | None, following: Token | None) -> bool:
    """Say whether the signs at the end of a right side may be those of the sentence: `= 10!!`."""
    ends = following is None or following.kind is Kind.BREAK
    return ends and right is not None and finder.tokens[right.end - 1].text in ("!", "!!")


def is_asserted(finder: Finder, link: Link, after: int) -> bool:
    """Say whether the sentence asserts a link; `after` is a token behind it."""
    has_names = bool(variables(link.left))
    start = link.left_span.start
    is_action = finder.text[start : start + MAX_ACTION].split(" ")[0].lower() in ACTIONS
    if is_option(finder.text, start) or _follows_condition(finder, link):
        return False
    if not has_names and not is_action and (is_conditional(finder.text, start) or is_reported(finder.text, start)):
        return False
    return not is_denied(finder.text, finder.tokens, link.left_span, link.right_span, after)


def _follows_condition(finder: Finder, link: Link) -> bool:
    """Say whether the sentence has made a condition of an equation before: `if 3 * 4 were = 13, then ...`."""
    last = finder.links[-1] if finder.links else None
    if last is None or last.asserted or variables(last.left) or not is_conditional(finder.text, last.left_span.start):
        return False
    return not _SENTENCE_END.search(finder.text, last.right_span.end, max(last.right_span.end, link.left_span.start))


def _is_universal(finder: Finder, link: Link, left: LeftSide, right: Parsed | None) -> bool:
    if is_universal(finder.text, link.left_span.start):
        return True
    sure = link.relation == "=" and right is not None and not left.doubts | right.doubts
    return sure and link.right is not None and is_rewriting(finder.text, link.left_span.start, link.left, link.right)
