"""Sets of real numbers: intervals, inequalities in one name, and their unions, in one form."""

import re
from collections.abc import Sequence
from functools import cmp_to_key

from rafs.answers.answer_maths import read_maths
from rafs.answers.answer_text import GREEK
from rafs.answers.balls import ball_of, is_zero
from rafs.answers.forms import Interval, Region
from rafs.grammar.terms import Binary, Expression, Variable, walk

MAX_PARTS = 40
"""Intervals of one union."""
_INTERVAL = re.compile(r"([(\[\]])([^,;()\[\]]{1,60}|[^,;\[\]]{1,60}),([^,;()\[\]]{1,60}|[^,;\[\]]{1,60})([)\]\[])")
_POINTS = re.compile(r"\\\{([^{}]{1,200})\\\}")
_MEMBER = re.compile(rf"[A-Za-z{GREEK}]\s?∈\s?(?=[(\[])")
_BUILDER = re.compile(
    r"\\?\{\s?[A-Za-z]\s?(?:∈\s?R\s?)?(?:\\mid|\\vert|\\\||[|:]|\\colon|such that)\s?(?P<inner>[^{}]{1,200}?)\s?\\?\}"
)
_REALS_WITHOUT = re.compile(
    r"(?:[A-Za-z]\s?∈\s?)?(?:R\s?(?:\\setminus|\\backslash|\\|-)\s?\\?\{(?P<a>[^{}]{1,60}?)\\?\}"
    r"|(?:all )?real(?: number)?s?(?: numbers)? except (?P<b>.{1,40}))"
)
_RELATION = re.compile(r"<=|>=|!=|<|>|\\neq?(?![a-z])|≠")
_NAME = re.compile(rf"\\?[A-Za-z]{{1,6}}|[{GREEK}]")
_INFINITY = re.compile(r"(?P<sign>[-+]?)\s?(?:\\infty|∞|oo|inf|infinity)", re.IGNORECASE)
_AND = re.compile(r"\s(?:and|\\wedge|\\land)\s|∩|\\cap(?![a-z])")
_OR = re.compile(r"∪|\s(?:or|\\vee|\\lor)\s|\bor\b")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_EVERYTHING = Interval(low=None, high=None, has_low=False, has_high=False)


class _Unordered(Exception):
    """Two ends could not be put in order."""


def read_region(text: str) -> Region | None:
    r"""Read `x < 8`, `1 <= x < 3`, `(-\infty, \sqrt 2)`, `[0, 2) ∪ [2, 5]`, `x \neq 1`; None for anything else."""
    builder = _BUILDER.fullmatch(text)
    text = builder["inner"].strip() if builder else text
    without = _REALS_WITHOUT.fullmatch(text)
    try:
        if without:
            return _without(without["a"] or without["b"])
        texts = [piece.strip() for piece in _OR.split(text)[: MAX_PARTS + 1]]
        pieces = [(_points(piece) if len(texts) > 1 else None) or _piece(piece) for piece in texts]
        found = [part for piece in pieces if piece is not None for part in piece]
        if None in pieces or len(found) > MAX_PARTS:
            return None
        return Region(parts=_merged(found))
    except _Unordered:
        return None


def same_region(a: Region, b: Region) -> bool | None:
    """Say whether two regions hold the same numbers; None where two ends could not be compared."""
    if len(a.parts) != len(b.parts):
        return False
    found: list[bool | None] = []
    for one, other in zip(a.parts, b.parts, strict=True):
        found += [one.has_low == other.has_low, one.has_high == other.has_high]
        found += [_same_end(one.low, other.low), _same_end(one.high, other.high)]
    return False if False in found else None if None in found else True


def is_bare_pair(text: str) -> bool:
    """Say whether `(a, b)` stands alone, which may as well be a point of the plane."""
    return text[:1] == "(" and text[-1:] == ")" and "∞" not in text and "infty" not in text and "∪" not in text


def _same_end(a: Expression | None, b: Expression | None) -> bool | None:
    if a is None or b is None:
        return a is b
    return True if a == b else is_zero(Binary(op="-", left=a, right=b))


def _points(text: str) -> list[Interval] | None:
    r"""Read the single numbers that a union holds beside intervals: `(0, 1) ∪ \{2, 3\}`."""
    listed = _POINTS.fullmatch(text)
    ends = [_end(item) for item in listed[1].split(",")] if listed else []
    points = [end[0] for end in ends if end is not None and end[0] is not None]
    if not points or len(points) < len(ends):
        return None
    return [Interval(low=point, high=point, has_low=True, has_high=True) for point in points]


def _piece(text: str) -> list[Interval] | None:
    text = _MEMBER.sub("", text, count=1)
    interval = _INTERVAL.fullmatch(text)
    if interval:
        low, high = _end(interval[2], "-"), _end(interval[3], "+")
        if low is None or high is None:
            return None
        part = Interval(low=low[0], high=high[0], has_low=interval[1] == "[", has_high=interval[4] == "]")
        return [part] if _is_ordered(part) else None
    parts = [_EVERYTHING]
    names: set[str] = set()
    for condition in _AND.split(text):
        read = _inequality(condition.strip())
        if read is None:
            return None
        names.add(read[0])
        parts = [common for one in parts for other in read[1] if (common := _common(one, other)) is not None]
    return parts if len(names) == 1 else None


def _end(text: str, infinite: str = "") -> tuple[Expression | None] | None:
    """Return a 1-tuple of the end's value (None inside for infinity), or None where it is unreadable.

    Args:
        text: The end.
        infinite: The sign of the infinity that it may be; empty for none.
    """
    infinity = _INFINITY.fullmatch(text.strip())
    if infinity:
        return (None,) if (infinity["sign"] or "+") == infinite else None
    expression = read_maths(text.strip())
    if expression is None or any(
        isinstance(node, Variable) and node.name not in ("pi", "e") for node in walk(expression)
    ):
        return None
    return (expression,)


def _inequality(text: str) -> tuple[str, list[Interval]] | None:
    """Read `x < 3`, `1 < x <= 2`, `|x| < 3`, `x != 0`: the name, and what it may be."""
    relations = ["!=" if sign[0] in "\\≠" else sign for sign in _RELATION.findall(text)]
    sides = [side.strip() for side in _RELATION.split(text)]
    if len(relations) == 1 and _NAME.fullmatch(sides[1]) and not _NAME.fullmatch(sides[0]):
        sides, relations = sides[::-1], [_FLIPPED[relations[0]]]
    if len(relations) == 1 and (name := re.fullmatch(r"\|\s?([A-Za-z])\s?\|", sides[0])):
        return _absolute(name[1], relations[0], sides[1])
    if len(relations) == 1 and _NAME.fullmatch(sides[0]):
        end = _end(sides[1], {"<": "+", ">": "-", "!": ""}[relations[0][0]])
        return None if end is None else (sides[0], _ray(relations[0], end[0]))
    if len(relations) != 2 or not _NAME.fullmatch(sides[1]) or relations[0][0] != relations[1][0]:
        return None
    if relations[0][0] == ">":
        sides, relations = sides[::-1], [_FLIPPED[relation] for relation in reversed(relations)]
    low, high = _end(sides[0], "-"), _end(sides[2], "+")
    if low is None or high is None or relations[0][0] != "<":
        return None
    part = Interval(low=low[0], high=high[0], has_low="=" in relations[0], has_high="=" in relations[1])
    return (sides[1], [part]) if _is_ordered(part) else None


def _absolute(name: str, relation: str, side: str) -> tuple[str, list[Interval]] | None:
    end = _end(side)
    if end is None or end[0] is None or relation == "!=":
        return None
    negative = _end(f"-({side})")
    assert negative is not None
    closed = "=" in relation
    if relation[0] == "<":
        return name, [Interval(low=negative[0], high=end[0], has_low=closed, has_high=closed)]
    return name, [
        Interval(low=None, high=negative[0], has_low=False, has_high=closed),
        Interval(low=end[0], high=None, has_low=closed, has_high=False),
    ]


def _ray(relation: str, end: Expression | None) -> list[Interval]:
    below = Interval(low=None, high=end, has_low=False, has_high=relation == "<=")
    above = Interval(low=end, high=None, has_low=relation == ">=", has_high=False)
    return [below, above] if relation == "!=" else [below] if relation[0] == "<" else [above]


def _without(text: str) -> Region | None:
    """Return the reals without the numbers listed in the text."""
    parts = [_EVERYTHING]
    for item in re.split(r",|\sand\s", text):
        value = _end(item.strip().removeprefix("x = ").removeprefix("x="))
        if value is None or value[0] is None:
            return None
        parts = [shared for part in parts for ray in _ray("!=", value[0]) if (shared := _common(part, ray)) is not None]
    return Region(parts=_merged(parts))


def _compared(a: Expression, b: Expression) -> int:
    """Return the sign of a - b; raises `_Unordered` where it cannot be told."""
    difference = Binary(op="-", left=a, right=b)
    if a == b or is_zero(difference):
        return 0
    ball = ball_of(difference, {})
    if ball is None or not ball.excludes_zero():
        raise _Unordered
    return 1 if ball.middle > 0 else -1


def _is_ordered(part: Interval) -> bool:
    return part.low is None or part.high is None or _compared(part.low, part.high) <= 0


def _common(a: Interval, b: Interval) -> Interval | None:
    low, has_low = _extreme((a.low, a.has_low), (b.low, b.has_low), 1)
    high, has_high = _extreme((a.high, a.has_high), (b.high, b.has_high), -1)
    if low is not None and high is not None:
        order = _compared(low, high)
        if order > 0 or (order == 0 and not (has_low and has_high)):
            return None
    return Interval(low=low, high=high, has_low=has_low, has_high=has_high)


def _extreme(
    a: tuple[Expression | None, bool], b: tuple[Expression | None, bool], sign: int
) -> tuple[Expression | None, bool]:
    """Return the end further inside: the larger low one (sign 1), the smaller high one (sign -1)."""
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    order = sign * _compared(a[0], b[0])
    return a if order > 0 else b if order < 0 else (a[0], a[1] and b[1])


def _merged(parts: Sequence[Interval]) -> tuple[Interval, ...]:
    """Sort the intervals and join those that overlap or touch in a point that belongs to one of them."""

    def order(a: Interval, b: Interval) -> int:
        if a.low is None or b.low is None:
            return (a.low is not None) - (b.low is not None)
        return _compared(a.low, b.low) or b.has_low - a.has_low

    merged: list[Interval] = []
    for part in sorted(parts, key=cmp_to_key(order)):
        if merged and _touch(merged[-1], part):
            last = merged[-1]
            high, has_high = _larger((last.high, last.has_high), (part.high, part.has_high))
            merged[-1] = Interval(low=last.low, high=high, has_low=last.has_low, has_high=has_high)
        else:
            merged.append(part)
    return tuple(merged)


def _touch(first: Interval, second: Interval) -> bool:
    if first.high is None or second.low is None:
        return True
    order = _compared(second.low, first.high)
    return order < 0 or (order == 0 and (first.has_high or second.has_low))


def _larger(a: tuple[Expression | None, bool], b: tuple[Expression | None, bool]) -> tuple[Expression | None, bool]:
    if a[0] is None or b[0] is None:
        return (None, False)
    order = _compared(a[0], b[0])
    return a if order > 0 else b if order < 0 else (a[0], a[1] or b[1])
