"""Finds `left relation right` inside running text: words before and after, chains, annotations, word relations."""

import re
from dataclasses import dataclass, field, replace

from rafs.lexing import Token, lex
from rafs.parsing import FUNCTIONS, NOT_UNITS, Parsed, parse_at
from rafs.signs import Kind
from rafs.terms import Binary, Call, Expression, Number, leaves, variables
from rafs.types import Span

MAX_SEGMENT = 160
"""Tokens read back from a relation; longer left sides are not arithmetic that anybody wrote by hand."""
MAX_STARTS = 10
"""Places at which a left side is tried to begin, counted from the relation backwards."""

_WORD_RELATIONS = frozenset(
    "equals is are gives give makes make yields leaves becomes get gets totals leaving giving making equaling".split()
)
_BEFORE_WORD_RELATION = frozenset("which that this to we you will would he she they it us".split())
_AFTER_WORD_RELATION = frozenset("to a total of us him her them equal the in left about you".split())
_SEPARATORS = NOT_UNITS - {"than", "minus", "plus", "to", "into", "of", "mod", "remainder"}
"""Words after which a new left side may begin though another number stands before them."""
_JOINED = frozenset("sum difference product average mean ratio between median quotient total".split())
_CONDITIONAL = frozenset("if suppose supposing assume assuming whether unless".split())
DENIAL_REACH = 60
"""Characters around a relation in which a denial is looked for."""
_DENIED_BEFORE = re.compile(
    r"\b(?:not true|untrue|false|incorrect|incorrectly|wrong|wrongly|mistakenly|not the case|cannot be|can't be)\b"
    r"[^.!?\n;]{0,40}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[^\w\n]{0,4}(?:which |that |this )?(?:is|was|would be) (?:clearly |obviously )?(?:not true|untrue|false|wrong|"
    r"incorrect|impossible|not possible|not correct|a contradiction)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\d+[-–]\d+")
_ANNOTATION = re.compile(r"<<([^<>\n]{1,300})>>")
_SENTENCE_ENDS = frozenset([".", "?", "!", "\n", ";", "。", "！", "？", "；"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One `left relation right` as written; nothing about its truth."""

    relation: str
    left: Expression
    right: Expression | None
    """None where the placeholder of the answer stands."""
    left_span: Span
    right_span: Span
    doubts: frozenset[str]
    """Why the reading itself is not certain; a contradiction under a doubt is not an error."""
    in_words: bool = False
    """The relation is a word such as `is`."""
    continued: bool = False
    """Another relation follows the right side, so `3*4 = 12 + 5 = 17` may be a run-on."""
    asserted: bool = True
    """False for denied, conditional and questioned statements."""
    modulus: Expression | None = None
    remainder: Expression | None = None
    annotation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that was found in one text."""

    links: tuple[Link, ...]
    unread: tuple[int, ...]
    """Offsets of relation signs that belong to no link, no label and no definition of a name."""


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


def _links_of(text: str, names: frozenset[str], variable_x: bool | None) -> tuple[list[Link], list[int]]:
    finder = _Finder(tokens=lex(text, variable_x=variable_x), names=names, text=text)
    for index, token in enumerate(finder.tokens):
        if token.kind is Kind.RELATION:
            _read_relation(finder, index)
        elif token.kind is Kind.WORD and token.text.lower() in _WORD_RELATIONS:
            _read_word_relation(finder, index)
    return finder.links, finder.unread


def _read_relation(finder: _Finder, index: int) -> None:
    sign = finder.tokens[index]
    right = _parse(finder, index + 1)
    left = _left_of(finder, index)
    is_open = index + 1 < len(finder.tokens) and finder.tokens[index + 1].kind is Kind.PLACEHOLDER
    if left is not None and (is_open or (right is not None and _ends_cleanly(finder, right.end))):
        _add(finder, sign.text, left, None if is_open else right, in_words=False)
    elif not _is_label(finder, index):
        finder.unread.append(sign.start)
    finder.previous = (right.end, right) if right is not None and _ends_cleanly(finder, right.end) else None


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
    if after >= len(finder.tokens):
        return
    is_open = finder.tokens[after].kind is Kind.PLACEHOLDER
    right = _parse(finder, after)
    if not is_open and (right is None or not isinstance(right.expression, Number)):
        return
    left = _left_of(finder, before, chain=False)
    if left is None or not isinstance(left.parsed.expression, Binary | Call) or _is_bare_ratio(left.parsed.expression):
        return
    span = _span_of(finder, left.parsed)
    if _RANGE.fullmatch(finder.text[span.start : span.end]):
        return
    _add(finder, "=", left, None if is_open else right, in_words=True)


def _is_bare_ratio(expression: Expression) -> bool:
    return (
        isinstance(expression, Binary)
        and expression.op == "/"
        and isinstance(expression.left, Number)
        and isinstance(expression.right, Number)
    )


def _parse(finder: _Finder, position: int) -> Parsed | None:
    return parse_at(finder.tokens, position, finder.names, spaced_product=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    parsed: Parsed
    doubts: frozenset[str]


def _left_of(finder: _Finder, end: int, *, chain: bool = True) -> _Left | None:
    """Return the longest expression that ends right before token `end`."""
    if chain and (found := _chained(finder, end)) is not None:
        return found
    start = _segment_start(finder, end)
    for index in _starts(finder, start, end):
        for spaced_product in (False, True):
            parsed = parse_at(finder.tokens, index, finder.names, spaced_product=spaced_product)
            if parsed is not None and parsed.end == end:
                doubts = parsed.doubts | _doubts_before(finder, start, index)
                extra = {"spaced product"} if spaced_product else set()
                if index > start and isinstance(parsed.expression, Number):
                    extra.add("label")
                return _Left(parsed=parsed, doubts=doubts | extra)
    return None


def _chained(finder: _Finder, end: int) -> _Left | None:
    """Return the previous right side when nothing but a line end stands between it and this relation."""
    if finder.previous is None:
        return None
    after, parsed = finder.previous
    between = finder.tokens[after:end]
    if after > end or any(token.kind is not Kind.BREAK or token.text not in ("", "\n") for token in between):
        return None
    return _Left(parsed=parsed, doubts=parsed.doubts)


def _segment_start(finder: _Finder, end: int) -> int:
    """Go back from `end` to the nearest break, relation or comma outside brackets."""
    depth, index = 0, end
    while index > max(0, end - MAX_SEGMENT):
        token = finder.tokens[index - 1]
        if token.kind is Kind.CLOSE:
            depth += 1
        elif token.kind is Kind.OPEN:
            if depth == 0:
                break
            depth -= 1
        elif token.kind in (Kind.BREAK, Kind.RELATION, Kind.PLACEHOLDER) or (token.kind is Kind.COMMA and depth == 0):
            break
        index -= 1
    return index


def _starts(finder: _Finder, start: int, end: int) -> list[int]:
    """Return the places where an expression may begin: at the start, or after a word that is none of its own."""
    places = []
    for index in range(start, end):
        token = finder.tokens[index]
        before = finder.tokens[index - 1] if index > start else None
        if token.kind in (Kind.CLOSE, Kind.COMMA, Kind.JUNK) or (
            token.kind is Kind.OPERATOR and token.text not in "-+"
        ):
            continue
        if before is None or (before.kind is Kind.WORD and token.spaced and not _is_name(finder, index - 1)):
            if token.kind is Kind.OPERATOR and before is not None:
                continue
            places.append(index)
    return places[-MAX_STARTS:]


def _is_name(finder: _Finder, index: int) -> bool:
    """Say whether the word there belongs to mathematics, so that a left side cannot begin behind it."""
    text = finder.tokens[index].text
    return text in FUNCTIONS or text == "pi" or (len(text) == 1 and text not in "aAI°")


def _doubts_before(finder: _Finder, start: int, index: int) -> frozenset[str]:
    """Say why the words before a left side may belong to it."""
    if index == start:
        return frozenset()
    words = [token for token in finder.tokens[start:index]]
    texts = [token.text.lower() for token in words if token.kind is Kind.WORD]
    doubts = set()
    if _JOINED & set(texts):
        doubts.add("joined")
    for token in reversed(words):
        if token.kind is Kind.WORD and token.text.lower() in _SEPARATORS:
            break
        if token.kind is not Kind.WORD:
            doubts.add("unread")
            break
    return frozenset(doubts)


def _ends_cleanly(finder: _Finder, end: int) -> bool:
    """Say whether a right side really ends where the parser stopped, and not before something it cannot read."""
    if end >= len(finder.tokens):
        return True
    token = finder.tokens[end]
    if token.kind is Kind.OPERATOR:
        return token.text == "!?" or _is_dash(finder, end)
    if token.kind is Kind.WORD and (not token.spaced or token.text in ("sin", "cos", "tan", "log", "ln")):
        return False
    return token.kind not in (Kind.JUNK, Kind.FUNCTION) or token.text in ("'", "#", "clock", "pmod")


def _is_dash(finder: _Finder, index: int) -> bool:
    """Say whether a minus sign is a dash of the sentence, as in `= 12 - so it fits`."""
    following = finder.tokens[index + 1] if index + 1 < len(finder.tokens) else None
    return finder.tokens[index].text == "-" and (following is None or following.text.lower() in NOT_UNITS)


def _is_label(finder: _Finder, index: int) -> bool:
    """Say whether only words stand before a relation, as in `Total cost = 5 * 3`."""
    start = _segment_start(finder, index)
    segment = finder.tokens[start:index]
    return bool(segment) and all(token.kind in (Kind.WORD, Kind.OPEN, Kind.CLOSE) for token in segment)


def _add(finder: _Finder, relation: str, left: _Left, right: Parsed | None, *, in_words: bool) -> None:
    left_span = _span_of(finder, left.parsed)
    right_span = Span(start=left_span.end, end=left_span.end) if right is None else _span_of(finder, right)
    after = right.end if right is not None else len(finder.tokens)
    following = finder.tokens[after] if after < len(finder.tokens) else None
    has_names = bool(variables(left.parsed.expression))
    link = Link(
        relation=relation,
        left=left.parsed.expression,
        right=None if right is None else right.expression,
        left_span=left_span,
        right_span=right_span,
        doubts=left.doubts | (right.doubts if right is not None else frozenset()) | _doubts_after(following),
        in_words=in_words,
        continued=following is not None and following.kind is Kind.RELATION,
        asserted=(has_names or not _is_conditional(finder, left.parsed.start))
        and not _is_denied(finder, left_span, right_span, after),
        modulus=_modulus(finder, after),
        remainder=_remainder(finder, after),
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
    return frozenset(["exclamation"]) if following is not None and following.text == "!?" else frozenset()


def _is_conditional(finder: _Finder, start: int) -> bool:
    before = finder.tokens[max(0, start - 2) : start]
    return any(token.kind is Kind.WORD and token.text.lower() in _CONDITIONAL for token in before)


def _is_denied(finder: _Finder, left: Span, right: Span, after: int) -> bool:
    """Say whether the sentence denies the relation or asks about it."""
    if _DENIED_BEFORE.search(finder.text[max(0, left.start - DENIAL_REACH) : left.start]):
        return True
    if _DENIED_AFTER.match(finder.text[right.end : right.end + DENIAL_REACH]):
        return True
    for token in finder.tokens[after : after + DENIAL_REACH]:
        if token.kind is Kind.BREAK and token.text in _SENTENCE_ENDS:
            return token.text in "?？"
    return False


def _modulus(finder: _Finder, after: int) -> Expression | None:
    """Read `(mod 6)` or `\\pmod{6}` behind a right side."""
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
