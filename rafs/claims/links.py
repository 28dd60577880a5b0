"""Finds `left relation right` inside running text: words before and after, chains, annotations, word relations."""

import re
from dataclasses import dataclass, field, replace

from rafs.claims.assertions import is_conditional, is_denied, is_modular, is_universal, speaks_of_property
from rafs.grammar.counted import NOT_UNITS
from rafs.claims.left_sides import LeftSide, find_left, segment_start
from rafs.grammar.lexing import lex
from rafs.grammar.parsing import Parsed, parse_at
from rafs.claims.relations import Link, Reading
from rafs.claims.rewritings import is_rewriting
from rafs.grammar.terms import Binary, Call, Expression, Number, leaves, variables
from rafs.grammar.tokens import DIGIT_COMMA, Kind, Token
from rafs.types import Span

_WORD_RELATIONS = frozenset(
    "equals is are gives give makes make yields leaves becomes get gets totals leaving giving making equaling".split()
)
_BEFORE_WORD_RELATION = frozenset("which that this to we you will would he she they it us".split())
_AFTER_WORD_RELATION = frozenset("to us him her them equal left about you".split())
_RANGE = re.compile(r"\d+\s?[-–xX]\s?\d+")
_ANNOTATION = re.compile(r"<<([^<>\n]{1,300})>>")


MAX_RELATIONS = 400
"""Relation signs of one step that are looked at; the rest counts as unread."""


def find_links(text: str, names: frozenset[str] = frozenset(), *, variable_x: bool | None = None) -> Reading:
    """Find every relation between two expressions, in order of position.

    Args:
        text: One step.
        names: Words that are variables in this trace.
        variable_x: Whether `x` between numbers is a variable; None to judge by the text alone.

    Returns:
        Links with offsets into `text`. A name that is only given a value (`x = 3`) is a link with a `Variable` on the
        left. Time is linear in the length of the text.
    """
    outside = _ANNOTATION.sub(lambda found: " " * len(found.group()), text)
    links, unread = _links_of(outside, names, variable_x)
    if len(outside) and outside != text:
        inside = _only_annotations(text)
        links += [replace(link, annotation=True) for link in _links_of(inside, names, variable_x)[0]]
        links.sort(key=lambda link: (link.left_span.start, link.right_span.start))
    return Reading(links=tuple(links), unread=tuple(unread))


def _only_annotations(text: str) -> str:
    """Blank everything outside `<<...>>`, and put line breaks where the brackets stood."""
    pieces, cursor = [], 0
    for found in _ANNOTATION.finditer(text):
        pieces += [" " * (found.start() - cursor), "\n\n", found.group(1), "\n\n"]
        cursor = found.end()
    return "".join([*pieces, " " * (len(text) - cursor)])


@dataclass(slots=True)
class _Finder:
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


def _links_of(text: str, names: frozenset[str], variable_x: bool | None) -> tuple[list[Link], list[int]]:
    finder = _Finder(tokens=lex(text, variable_x=variable_x), names=names, text=text)
    n_tried = 0
    for index, token in enumerate(finder.tokens):
        n_tried += token.kind is Kind.RELATION
        if n_tried > MAX_RELATIONS:
            finder.unread.append(token.start)
            break
        if token.kind is Kind.RELATION:
            _read_relation(finder, index)
        elif token.kind is Kind.WORD and token.text.lower() in _WORD_RELATIONS:
            _read_word_relation(finder, index)
    return finder.links, finder.unread


def _read_relation(finder: _Finder, index: int) -> None:
    sign = finder.tokens[index]
    right = _parse(finder, index + 1)
    left = _chained(finder, index) or find_left(finder.tokens, index, finder.names)
    is_open = index + 1 < len(finder.tokens) and finder.tokens[index + 1].kind is Kind.PLACEHOLDER
    right = right if right is not None and _ends_cleanly(finder, right.end) else None
    is_label = _is_label(finder, index)
    if left is not None and (is_open or right is not None):
        _add(finder, sign.text, left, None if is_open else right, in_words=False)
    elif not is_label:
        finder.unread.append(sign.start)
    if is_label and sign.text in ("=", "≈"):
        _read_restatement(finder, index, None if is_open else right)
    finder.previous = (right.end, right) if right is not None else None


def _read_restatement(finder: _Finder, index: int, right: Parsed | None) -> None:
    """Link what a label was set equal to before with what it is set equal to now."""
    segment = finder.tokens[segment_start(finder.tokens, index) : index]
    label = " ".join(token.text.lower() for token in segment if token.kind is not Kind.BREAK)
    before = finder.labelled.get(label)
    is_open = index + 1 < len(finder.tokens) and finder.tokens[index + 1].kind is Kind.PLACEHOLDER
    if before is not None and (right is not None or is_open):
        sure = len(label) >= MIN_LABEL and right is not None and isinstance(right.expression, Number)
        doubts = before.doubts | (frozenset() if sure else frozenset(["restated"]))
        _add(finder, finder.tokens[index].text, LeftSide(parsed=before, doubts=doubts), right, in_words=False)
    last = _chain_end(finder, right)
    if last is None or not isinstance(last.expression, Binary | Call):
        finder.labelled.pop(label, None)
    else:
        finder.labelled[label] = last


def _chain_end(finder: _Finder, right: Parsed | None) -> Parsed | None:
    """Return the last right side of the chain that begins with this one; None where it goes on unread."""
    while right is not None and right.end < len(finder.tokens) and finder.tokens[right.end].kind is Kind.RELATION:
        following = _parse(finder, right.end + 1)
        right = following if following is not None and _ends_cleanly(finder, following.end) else None
    return right


def _read_word_relation(finder: _Finder, index: int) -> None:
    """Read `12 * 5 is 60`, `12 * 5, which gives him 60`: only where the left side is an operation."""
    before, after = index, index + 1
    for _ in range(3):
        token = finder.tokens[before - 1] if before else None
        if token is None or not (token.kind is Kind.COMMA or token.text.lower() in _BEFORE_WORD_RELATION):
            break
        before -= 1
    while after < min(index + 4, len(finder.tokens)) and finder.tokens[after].text.lower() in _AFTER_WORD_RELATION:
        after += 1
    if [token.text for token in finder.tokens[after : after + 3]] == ["a", "total", "of"]:
        after += 3
    if after >= len(finder.tokens):
        return
    right = _parse(finder, after)
    if right is None or not isinstance(right.expression, Number):
        return
    if any(token.text in ("of", "followed", DIGIT_COMMA) for token in finder.tokens[after + 1 : after + 2]):
        return
    left = find_left(finder.tokens, before, finder.names, across_breaks=False)
    if left is None or not isinstance(left.parsed.expression, Binary | Call) or _is_bare_ratio(left.parsed.expression):
        return
    span = _span_of(finder, left.parsed)
    if _RANGE.fullmatch(finder.text[span.start : span.end]) or "unread" in left.doubts | right.doubts:
        return
    if left.parsed.start and finder.tokens[left.parsed.start - 1].kind is Kind.COMMA:
        return
    if speaks_of_property(finder.text, span.start):
        return
    _add(finder, "=", left, right, in_words=True)


def _is_bare_ratio(expression: Expression) -> bool:
    return (
        isinstance(expression, Binary)
        and expression.op == "/"
        and isinstance(expression.left, Number)
        and isinstance(expression.right, Number)
    )


def _parse(finder: _Finder, position: int) -> Parsed | None:
    return parse_at(finder.tokens, position, finder.names, spaced_product=False)


def _chained(finder: _Finder, end: int) -> LeftSide | None:
    """Return the previous right side when nothing but a line end stands between it and this relation."""
    if finder.previous is None:
        return None
    after, parsed = finder.previous
    between = finder.tokens[after:end]
    if after > end or any(token.kind is not Kind.BREAK or token.text not in ("", "\n") for token in between):
        return None
    return LeftSide(parsed=parsed, doubts=parsed.doubts)


def _ends_cleanly(finder: _Finder, end: int) -> bool:
    """Say whether a right side really ends where the parser stopped, and not before something it cannot read."""
    if end >= len(finder.tokens):
        return True
    token = finder.tokens[end]
    if token.kind is Kind.OPERATOR:
        return token.text == "!?" or _is_dash(finder, end)
    if token.kind is Kind.WORD and (not token.spaced or token.text in ("sin", "cos", "tan", "log", "ln")):
        return False
    return token.kind not in (Kind.JUNK, Kind.FUNCTION) or token.text in ("'", "#", "digits", "pmod")


def _is_dash(finder: _Finder, index: int) -> bool:
    """Say whether a minus sign is a dash of the sentence, as in `= 12 - so it fits`."""
    following = finder.tokens[index + 1] if index + 1 < len(finder.tokens) else None
    return finder.tokens[index].text == "-" and (following is None or following.text.lower() in NOT_UNITS)


MIN_LABEL = 4
"""Letters of a label whose second value must be its first one; `x` may take another in the next case."""


def _is_label(finder: _Finder, index: int) -> bool:
    """Say whether a name or a formula in words stands before a relation: `Total cost =`, `price * number =`."""
    segment = finder.tokens[segment_start(finder.tokens, index) : index]
    if any(token.kind in (Kind.NUMBER, Kind.JUNK, Kind.PLACEHOLDER) for token in segment):
        return False
    return any(token.kind is Kind.WORD for token in segment)


def _add(finder: _Finder, relation: str, left: LeftSide, right: Parsed | None, *, in_words: bool) -> None:
    left_span = _span_of(finder, left.parsed)
    right_span = Span(start=left_span.end, end=left_span.end) if right is None else _span_of(finder, right)
    after = right.end if right is not None else len(finder.tokens)
    following = finder.tokens[after] if after < len(finder.tokens) else None
    has_names = bool(variables(left.parsed.expression))
    modulus, remainder = _modulus(finder, after), _remainder(finder, after)
    link = Link(
        relation=relation,
        left=left.parsed.expression,
        right=None if right is None else right.expression,
        left_span=left_span,
        right_span=right_span,
        doubts=left.doubts
        | (is_modular(finder.text, left_span, right_span) if relation == "=" and modulus is None else frozenset())
        | (right.doubts if right is not None else frozenset())
        | (_doubts_after(following) if modulus is None and remainder is None else frozenset()),
        in_words=in_words,
        continued=following is not None and following.kind is Kind.RELATION,
        asserted=(has_names or not is_conditional(finder.tokens, left.parsed.start))
        and not is_denied(finder.text, finder.tokens, left_span, right_span, after),
        modulus=modulus,
        remainder=remainder,
        universal=is_universal(finder.text, left_span.start)
        or (
            relation == "="
            and right is not None
            and not left.doubts | right.doubts
            and is_rewriting(finder.text, left_span.start, left.parsed.expression, right.expression)
        ),
    )
    finder.links.append(link)


def _span_of(finder: _Finder, parsed: Parsed) -> Span:
    """Return the characters of an expression without the unit words that trail it."""
    end = parsed.end
    last = max(leaf.span.end for leaf in leaves(parsed.expression))
    while finder.tokens[end - 1].start >= last and finder.tokens[end - 1].kind in (Kind.WORD, Kind.NUMBER):
        end -= 1
    return Span(start=finder.tokens[parsed.start].start, end=finder.tokens[end - 1].end)


def _doubts_after(following: Token | None) -> frozenset[str]:
    if following is None:
        return frozenset()
    if following.text == "!?":
        return frozenset(["exclamation"])
    if following.kind is Kind.WORD and len(following.text) == 1 and following.text not in "aAI":
        return frozenset(["letter"])
    return frozenset(["bracket"]) if following.kind is Kind.OPEN and following.text == "(" else frozenset()


def _modulus(finder: _Finder, after: int) -> Expression | None:
    r"""Read `(mod 6)` or `\\pmod{6}` behind a right side."""
    tokens = finder.tokens[after : after + 2]
    if len(tokens) < 2:
        return None
    if tokens[0].text == "pmod" or (tokens[0].kind is Kind.OPEN and tokens[1].text == "mod"):
        parsed = _parse(finder, after + (1 if tokens[0].text == "pmod" else 2))
        return None if parsed is None else parsed.expression
    return None


def _remainder(finder: _Finder, after: int) -> Expression | None:
    """Read `remainder 1` or `R 1` behind a quotient."""
    tokens = finder.tokens[after : after + 3]
    if len(tokens) < 2 or tokens[0].text.lower() not in ("remainder", "r"):
        return None
    parsed = _parse(finder, after + (2 if tokens[1].text == "of" else 1))
    return None if parsed is None else parsed.expression
