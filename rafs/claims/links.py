"""Finds `left relation right` inside running text: words before and after, chains, annotations, word relations."""

import re
from collections.abc import Sequence
from dataclasses import replace

from rafs.claims.finder import Finder, add_link
from rafs.claims.left_sides import LeftSide, find_left, segment_start
from rafs.claims.other_readings import is_no_calculation
from rafs.claims.relations import Link, Reading
from rafs.claims.right_sides import ends_cleanly, is_decoration
from rafs.claims.told_bases import find_conversions
from rafs.claims.word_claims import TELLING, read_words
from rafs.grammar.lexing import lex
from rafs.grammar.parsing import Parsed
from rafs.grammar.terms import Binary, Call, Number, Variable, leaves, variables
from rafs.grammar.tokens import BREAK, JUNK, NUMBER, PLACEHOLDER, RELATION, WORD, Token
from rafs.grammar.units import is_known_unit

_DIGITS = re.compile(r"\d")
_ANNOTATION = re.compile(r"<<([^<>\n]{1,300})>>")
_STRUCK = re.compile(r"~~[^~\n]{1,300}~~|<(del|s|strike)>[^<>\n]{1,300}</\1>")
"""What is struck out, so that nobody states it."""


MAX_RELATIONS = 400
"""Relation signs and verbs of one step that are looked at; the rest counts as unread."""


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
    if "~~" in text or "</" in text:
        text = _STRUCK.sub(_blank, text)
    outside = _ANNOTATION.sub(_blank, text) if "<<" in text else text
    tokens = lex(outside, variable_x=variable_x)
    links, unread = _links_of(outside, names, tokens)
    links += find_conversions(outside)
    if len(outside) and outside != text:
        inside = _only_annotations(text)
        links += [
            replace(link, annotation=True) for link in _links_of(inside, names, lex(inside, variable_x=variable_x))[0]
        ]
    links.sort(key=lambda link: (link.left_span.start, link.right_span.start))
    return Reading(links=tuple(links), unread=tuple(unread), tokens=tokens if outside == text else None)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def stands_in_claim(before: str, value: str, after: str) -> bool:
    """Say whether a number of that form between these texts would be a part of a claim.

    Its digits do not count, so that another number of the same form, as in `half of 10 is ...`, changes nothing.
    """
    tail = before[-VALUE_REACH:]
    text = f"{tail}{_DIGITS.sub('1', value)}{after[:VALUE_REACH]}"
    links, _ = _links_of(text, frozenset(), lex(text))
    return any(_surrounds(link, len(tail)) for link in links + find_conversions(text))


def is_calculation(text: str) -> bool:
    """Say whether a text is a calculation with its result, `6 + 7 = 13`, which derives what it states."""
    if "=" not in text or len(text) > VALUE_REACH:
        return False
    shape = _DIGITS.sub("1", text)
    links, _ = _links_of(shape, frozenset(), lex(shape))
    return any(
        isinstance(link.left, Binary | Call) and not variables(link.left) and isinstance(link.right, Number)
        for link in links
    )


def _surrounds(link: Link, position: int) -> bool:
    start = min(link.left_span.start, link.right_span.start)
    rest = [leaf.span.end for leaf in leaves(link.remainder)] if link.remainder is not None else []
    return start <= position < max(link.left_span.end, link.right_span.end, *rest)


VALUE_REACH = 200
"""Characters around a number in which the relation and its left side are looked for."""


def _only_annotations(text: str) -> str:
    """Blank everything outside `<<...>>`, and put line breaks where the brackets stood."""
    pieces, cursor = [], 0
    for found in _ANNOTATION.finditer(text):
        pieces += [" " * (found.start() - cursor), "\n\n", found.group(1), "\n\n"]
        cursor = found.end()
    return "".join([*pieces, " " * (len(text) - cursor)])


def _links_of(text: str, names: frozenset[str], tokens: list[Token]) -> tuple[list[Link], list[int]]:
    finder = Finder(tokens=tokens, names=names, text=text)
    n_tried = 0
    for index, token in enumerate(tokens):
        kind = token.kind
        if kind is WORD or kind is JUNK:
            if token.text.lower() not in TELLING:
                continue
        elif kind is not RELATION:
            continue
        n_tried += 1
        if n_tried > MAX_RELATIONS:
            finder.unread.append(token.start)
            _drop_chain(finder)
            break
        if kind is not RELATION:
            read_words(finder, index)
        elif not _in_script(tokens, index):
            _read_relation(finder, index)
    return finder.links, finder.unread


def _in_script(tokens: Sequence[Token], index: int) -> bool:
    """Say whether a relation only names the index under a sum: the `=` of `_{k=1}`."""
    before = [token.text for token in tokens[max(0, index - 3) : index]]
    return len(before) == 3 and before[:2] == ["_", "{"]


def _drop_chain(finder: Finder) -> None:
    """Take away the links of a chain that goes on behind the last one: its end may be wrong."""
    while finder.links and finder.links[-1].continued:
        finder.links.pop()


def _read_relation(finder: Finder, index: int) -> None:
    sign = finder.tokens[index]
    start = index + 1
    while start < len(finder.tokens) and finder.tokens[start].kind is JUNK and is_decoration(finder.tokens[start]):
        start += 1
    right, is_open = finder.parse(start), finder.is_at(index + 1, PLACEHOLDER)
    right = right if right is not None and ends_cleanly(finder.tokens, right.end, right.expression) else None
    segment = segment_start(finder.tokens, index)
    is_label = _is_label(finder.tokens[segment:index])
    chained = _chained(finder, index)
    if chained is not None and right is not None and _is_assignment(finder, index, chained.parsed, right):
        finder.previous = (right.end, right)
        return
    left = chained
    if left is None and (is_open or right is not None):
        left = find_left(finder.tokens, index, finder.names, segment=segment if segment < index else None)
    left = left if is_open or right is not None else None
    if left is not None and right is not None and chained is None and sign.text == "=":
        computed = not is_no_calculation(left.parsed.expression, right.expression)
        left = left if computed else replace(left, doubts=left.doubts | {"no calculation"})
    if left is not None and (is_open or right is not None):
        add_link(finder, sign.text, left, None if is_open else right)
    elif not is_label:
        finder.unread.append(sign.start)
    if is_label and sign.text in ("=", "≈"):
        _read_restatement(finder, segment, index, None if is_open else right)
    finder.previous = (right.end, right) if right is not None else None


def _read_restatement(finder: Finder, start: int, index: int, right: Parsed | None) -> None:
    """Link what the label in tokens[start:index] was set equal to before with what it is set equal to now."""
    label = " ".join([token.text.lower() for token in finder.tokens[start:index] if token.kind is not BREAK])
    before = finder.labelled.get(label)
    is_open = index + 1 < len(finder.tokens) and finder.tokens[index + 1].kind is PLACEHOLDER
    if before is not None and (right is not None or is_open):
        sure = len(label) >= MIN_LABEL and right is not None and isinstance(right.expression, Number)
        doubts = before.doubts | (frozenset() if sure else frozenset(["restated"]))
        add_link(finder, finder.tokens[index].text, LeftSide(before, doubts), right)
    last = _chain_end(finder, right)
    if last is None or not isinstance(last.expression, Binary | Call):
        finder.labelled.pop(label, None)
    else:
        finder.labelled[label] = last


def _chain_end(finder: Finder, right: Parsed | None) -> Parsed | None:
    """Return the last right side of the chain that begins with this one; None where it goes on unread."""
    while right is not None and right.end < len(finder.tokens) and finder.tokens[right.end].kind is RELATION:
        following = finder.parse(right.end + 1)
        right = (
            following
            if following is not None and ends_cleanly(finder.tokens, following.end, following.expression)
            else None
        )
    return right


def _chained(finder: Finder, end: int) -> LeftSide | None:
    """Return the previous right side when nothing but a line end stands between it and this relation."""
    if finder.previous is None:
        return None
    after, parsed = finder.previous
    if after > end:
        return None
    for token in finder.tokens[after:end]:
        if token.kind is not BREAK or token.text not in ("", "\n"):
            return None
    return LeftSide(parsed, parsed.doubts)


def _is_assignment(finder: Finder, index: int, before: Parsed, right: Parsed) -> bool:
    """Say whether the word before a relation is what gets the value, no unit: the `height` of `width=8 height=5`."""
    word = finder.tokens[index - 1]
    one, other = before.expression, right.expression
    if word.kind is not WORD or not isinstance(one, Number) or not isinstance(other, Number):
        return False
    last = finder.links[-1] if finder.links else None
    if last is not None and last.right is one and not isinstance(last.left, Variable):
        return False  # the result of a calculation, with its unit
    is_unit = word.text in other.measure.split() or (is_known_unit(word.text) and is_known_unit(other.unit))
    return not is_unit and word.text != "dozen"


MIN_LABEL = 4
"""Letters of a label whose second value must be its first one; `x` may take another in the next case."""


def _is_label(segment: Sequence[Token]) -> bool:
    """Say whether a name or a formula in words stands before a relation: `Total cost =`, `price * number =`."""
    has_words = False
    for token in segment:
        if token.kind in _UNLABELLED:
            return False
        has_words = has_words or token.kind is WORD
    return has_words


_UNLABELLED = frozenset([NUMBER, JUNK, PLACEHOLDER])
"""What stands in no label."""
