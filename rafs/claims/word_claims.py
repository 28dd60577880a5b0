"""Reads claims in words, `half of 10 is 5`, `9 is greater than 7`, off the tokens around their verbs."""

import re
from dataclasses import replace

from rafs.claims.assertions import speaks_of_property
from rafs.claims.changes import read_change
from rafs.claims.finder import Finder, add_link, is_asserted
from rafs.claims.left_sides import LeftSide, find_left
from rafs.claims.properties import PROPERTY_WORDS, property_at
from rafs.claims.right_sides import is_steered, span_of
from rafs.claims.told_results import find_told
from rafs.claims.told_roundings import ROUNDING_WORDS, rounding_at
from rafs.claims.word_relations import FIRST_WORDS, WordRelation, relation_at
from rafs.grammar.expressions import evaluate
from rafs.grammar.parsing import Parsed
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, variables
from rafs.grammar.tokens import Kind
from rafs.grammar.units import is_known_unit

_RANGE = re.compile(r"\d+\s?[-–xX]\s?\d+")
_COUNTS = frozenset(["dozen", "dozens", "gross", "pair", "pairs", "score"])
MIN_DOZEN = len("a dozen")
"""Letters of a number in words that is one by its count alone: `a dozen is 12`, `half a dozen is 6`."""
_GOVERNING = frozenset(
    "makes make making sets set setting keeps keep divides divide dividing satisfies satisfying exceeds exceeding "
    "below above under over than to from until up between into containing after before within around near beyond upon "
    "at per".split()
)
"""Words whose object is no subject of what follows: `the largest number that divides 12 * 5 is ...`."""
_REMARK = re.compile(r"\w+[ -]+(?:[a-z]+ )?[A-Z]\w|\b(?:of|outside|who|whose|which|from|in) ")
"""Words behind a left side that are more than the unit of its last number."""
_WHOLE = re.compile(
    r"\b(?:increased|decreased|reduced|raised|lowered|multiplied|divided|squared|cubed|than|off)\b", re.IGNORECASE
)
"""Words that make a whole of what stands around them, whatever stands before: `a value of 50 increased by 20 %`."""
_MAKING = frozenset("make made making has have get gets got leave leaves leaving".split())
"""Verbs with something made as their object: `uses 4 less than 9 eggs to make 1 less than 4 cakes` equates nothing."""
_BEING = frozenset(["is", "are", "equals"])
_SIMPLIFIED = re.compile(r"\b(?:simplif|reduc|lowest terms|cancel)", re.IGNORECASE)
"""Words before a ratio by which another one is told as its equal, not as what it changes into."""
_DIVISION = re.compile(r"divi|ratio|quotient", re.IGNORECASE)
"""Words by which a ratio is one that is computed, and not a share of something as in `3/4 is 6`."""


TELLING = FIRST_WORDS | PROPERTY_WORDS | ROUNDING_WORDS | {"from"}
"""Words, and signs that are read like words, from which a claim is read."""


def read_words(finder: Finder, index: int) -> None:
    """Read what the words from one of `TELLING` on say of the numbers around them."""
    tokens, names, word = finder.tokens, finder.names, finder.tokens[index].text.lower()
    link = None
    if word in PROPERTY_WORDS:
        link = property_at(tokens, index, names)
    elif word == "from":
        link = read_change(tokens, index, names)
    elif word in ROUNDING_WORDS:
        link = rounding_at(tokens, index, names)
    if link is not None:
        asserted = is_asserted(finder, link.left_span, link.right_span, index, names=variables(link.left))
        finder.links.append(replace(link, asserted=asserted))
    elif word in FIRST_WORDS and (said := relation_at(tokens, index)) is not None:
        _read_relation(finder, said)


def _read_relation(finder: Finder, said: WordRelation) -> None:
    right = _right_side(finder, said)
    if right is None or variables(right.expression) or is_steered(finder.tokens, right.end):
        return
    told = find_told(finder.tokens, said, right, finder.names)
    if told is not None:
        add_link(finder, said.relation, told, right, in_words=True)
        return
    if isinstance(right.expression, Binary | Call) and finder.tokens[said.at].text.lower() in _MAKING:
        return
    left = find_left(finder.tokens, said.start, finder.names, across_breaks=False)
    if left is None or not _are_related(left.parsed.expression, right.expression, said):
        return
    if isinstance(left.parsed.expression, Number) and not (said.explicit or _is_worded(finder, right)):
        return
    if not _is_subject(finder, left.parsed) or finder.is_at(right.end, Kind.RELATION):
        return
    doubted = _doubted(finder, left, right, said)
    if doubted is not None:
        add_link(finder, said.relation, doubted, right, in_words=True)


def _right_side(finder: Finder, said: WordRelation) -> Parsed | None:
    if said.end >= len(finder.tokens):
        return None
    right = finder.parse(said.end)
    return finder.parse(said.total_end) if right is None and said.total_end > said.end else right


def _are_related(left: Expression, right: Expression, said: WordRelation) -> bool:
    """Say whether these two sides are something to relate: one is computed, or two numbers are compared."""
    if isinstance(left, Binary | Call):
        return not isinstance(right, Binary | Call) or said.explicit or not variables(left)
    if isinstance(left, Number) and isinstance(right, Number):
        plain = said.explicit and not (left.unit or right.unit)
        return plain or said.relation not in ("=", "≈") or _may_convert(left, right)
    is_number = isinstance(left, Number) or (isinstance(left, Unary) and left.op == "-")
    return is_number and not variables(left) and (said.explicit or isinstance(right, Binary | Call))


def _is_worded(finder: Finder, right: Parsed) -> bool:
    """Say whether words compute or measure the right side: `12 is 25 % of 48`, but not `the chance of a 6 is 1/6`."""
    return any(token.kind is Kind.WORD for token in finder.tokens[right.start : right.end]) or isinstance(
        right.expression, Number
    )


def _may_convert(left: Number, right: Number) -> bool:
    """Say whether one amount may be said to be another: `3 hours is 180 minutes`, `3 dozen is 36`."""
    if left.unit in _COUNTS or (left.spelled and left.span.end - left.span.start >= MIN_DOZEN and not left.unit):
        return True
    return is_known_unit(left.unit) and is_known_unit(right.unit)


def _is_subject(finder: Finder, left: Parsed) -> bool:
    """Say whether the sentence speaks of the left side: not of what equals it, nor of what it divides."""
    before = finder.tokens[left.start - 1] if left.start else None
    if before is None:
        return True
    if before.kind is Kind.RELATION:
        return before.text == "=" and isinstance(left.expression, Binary | Call)
    if before.kind is Kind.COMMA:
        return left.start < 2 or finder.tokens[left.start - 2].kind not in (Kind.NUMBER, Kind.CLOSE)
    return before.text.lower() not in _GOVERNING


def _doubted(finder: Finder, left: LeftSide, right: Parsed, said: WordRelation) -> LeftSide | None:
    """Return the left side with the doubts that the words around it raise; None where it is no claim at all."""
    span, text = span_of(finder.tokens, left.parsed), finder.text
    whole = _WHOLE.search(text, span.start, span.end) is not None
    if _RANGE.fullmatch(text[span.start : span.end]) or "unread" in left.doubts | right.doubts:
        return None
    if speaks_of_property(text, span.start, whole=whole):
        return None
    doubts = set(left.doubts)
    if _REMARK.search(text, span.end, finder.tokens[said.start - 1].end):
        doubts.add("remark")
    is_share = isinstance(right.expression, Number) and right.expression.percent
    computed = said.explicit or is_share or _DIVISION.search(text, span.start, span.end)
    if _is_bare_ratio(right.expression):
        computed = computed or finder.tokens[said.at].text in _BEING or _SIMPLIFIED.search(text, 0, span.start)
    if _is_bare_ratio(left.parsed.expression) and not computed:
        doubts.add("a share of something unsaid")
    doubts |= _other_meanings(text[span.start : span.end], left.parsed.expression, right.expression)
    parsed = left.parsed
    if said.of_remainder:
        if not isinstance(parsed.expression, Binary) or parsed.expression.op != "/":
            return None
        parsed = replace(parsed, expression=replace(parsed.expression, op="mod"))
    return LeftSide(parsed, frozenset(doubts))


def _other_meanings(text: str, left: Expression, right: Expression) -> set[str]:
    """Return doubts where the words say something else of these two as well.

    `30 % off $50 is $15` tells what is taken off; `one mark is equal to 3/500` a rate; and a point that is a
    vector is the image or the foot of something.
    """
    if isinstance(left, Binary) and left.op == "*" and _OFF.search(text):
        price, size, whole = evaluate(left), evaluate(right), evaluate(left.left)
        if price is not None and size is not None and whole is not None and price + size == whole:
            return {"off"}
    if isinstance(left, Number) and left.unit and not isinstance(right, Number) and not is_known_unit(left.unit):
        return {"unit"}
    return {"of what"} if isinstance(left, Call) and left.name in _VECTORS else set()


_OFF = re.compile(r"\boff\b")
_VECTORS = frozenset(["tuple", "list", "matrix"])


def _is_bare_ratio(expression: Expression) -> bool:
    return (
        isinstance(expression, Binary)
        and expression.op == "/"
        and isinstance(expression.left, Number)
        and isinstance(expression.right, Number)
    )
