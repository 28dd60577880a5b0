"""Sets of real numbers with rational ends: inequalities and unions of intervals in one form."""

import re
from dataclasses import dataclass
from fractions import Fraction

from rafs.grammar.expressions import evaluate, parse_expression

End = tuple[Fraction | None, bool]
"""(value, belongs to it); None is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A union of intervals, merged and in order."""

    parts: tuple[tuple[End, End], ...]
    bare_pair: bool = False
    """True for one `(a, b)`, which may as well be a point of the plane."""


_INTERVAL = re.compile(r"([(\[])([^,()\[\]]{1,60}),([^,()\[\]]{1,60})([)\]])")
_MEMBER = re.compile(r"[A-Za-z]\s?∈\s?")
_RELATION = re.compile(r"<=|>=|<|>")
_NAME = re.compile(r"[A-Za-z]")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
MAX_PARTS = 40
"""Intervals of one union."""


def read_region(text: str) -> Region | None:
    r"""Read `x < 8`, `1 <= x < 3`, `(-\infty, 8)`, `[0, 2) ∪ [2, 5]`; None for anything else."""
    text = _MEMBER.sub("", text, count=1) if _MEMBER.match(text) else text
    pieces = [piece.strip() for piece in re.split(r"∪|\bor\b", text)]
    if len(pieces) > MAX_PARTS:
        return None
    parts = [_piece(piece) for piece in pieces]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    bare = len(pieces) == 1 and text[0] == "(" and text[-1] == ")"
    return Region(parts=_merged(found), bare_pair=bare and "\\infty" not in text)


def interval(low: End, high: End) -> Region:
    """Return the numbers between two ends; nothing where they are in the wrong order."""
    if (
        low[0] is not None
        and high[0] is not None
        and (low[0] > high[0] or (low[0] == high[0] and not low[1] & high[1]))
    ):
        return Region(parts=())
    return Region(parts=((low, high),))


def united(a: Region, b: Region) -> Region:
    """Return the numbers of either region."""
    return Region(parts=_merged([*a.parts, *b.parts]))


def common(a: Region, b: Region) -> Region:
    """Return the numbers of both regions."""
    shared: list[tuple[End, End]] = []
    for low, high in a.parts:
        for other_low, other_high in b.parts:
            shared += interval(_later(low, other_low), _earlier(high, other_high)).parts
    return Region(parts=_merged(shared))


def without(a: Region, b: Region) -> Region:
    """Return the numbers of the first region that are none of the second."""
    rest = a
    for low, high in b.parts:
        below = Region(parts=()) if low[0] is None else interval((None, False), (low[0], not low[1]))
        above = Region(parts=()) if high[0] is None else interval((high[0], not high[1]), (None, False))
        rest = common(rest, united(below, above))
    return rest


def point(value: Fraction) -> Region:
    """Return the region of one number."""
    return interval((value, True), (value, True))


def _later(a: End, b: End) -> End:
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    return max(a, b, key=lambda end: (end[0] or Fraction(0), not end[1]))


def _earlier(a: End, b: End) -> End:
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    return min(a, b, key=lambda end: (end[0] or Fraction(0), end[1]))


def _piece(text: str) -> tuple[End, End] | None:
    interval = _INTERVAL.fullmatch(text)
    if interval:
        low, high = _end(interval[2]), _end(interval[3])
        if low is None or high is None:
            return None
        return (low[0], interval[1] == "["), (high[0], interval[4] == "]")
    return _inequality(text)


def _end(text: str) -> tuple[Fraction | None] | None:
    """Return a 1-tuple of the end's value (None inside for infinity), or None where it is unreadable."""
    if re.fullmatch(r"[-+]?\s?\\infty", text.strip()):
        return (None,)
    expression = parse_expression(text.strip())
    value = evaluate(expression) if expression is not None else None
    return None if value is None else (value,)


def _inequality(text: str) -> tuple[End, End] | None:
    relations = _RELATION.findall(text)
    sides = [side.strip() for side in _RELATION.split(text)]
    if len(relations) == 1 and _NAME.fullmatch(sides[1]):
        sides, relations = sides[::-1], [_FLIPPED[relations[0]]]
    if len(relations) == 1 and _NAME.fullmatch(sides[0]):
        end = _end(sides[1])
        if end is None:
            return None
        bound, free = (end[0], "=" in relations[0]), (None, False)
        return (free, bound) if relations[0][0] == "<" else (bound, free)
    if len(relations) != 2 or not _NAME.fullmatch(sides[1]) or relations[0][0] != relations[1][0]:
        return None
    if relations[0][0] == ">":
        sides, relations = sides[::-1], [_FLIPPED[relation] for relation in reversed(relations)]
    low, high = _end(sides[0]), _end(sides[2])
    if low is None or high is None:
        return None
    return (low[0], "=" in relations[0]), (high[0], "=" in relations[1])


def _merged(parts: list[tuple[End, End]]) -> tuple[tuple[End, End], ...]:
    """Sort the intervals and join those that overlap or touch in a point that belongs to one of them."""
    merged: list[tuple[End, End]] = []
    for low, high in sorted(parts, key=lambda part: (part[0][0] is not None, part[0][0] or 0, not part[0][1])):
        if merged and _touch(merged[-1][1], low):
            merged[-1] = (merged[-1][0], _larger(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _touch(high: End, low: End) -> bool:
    if high[0] is None or low[0] is None:
        return True
    return low[0] < high[0] or (low[0] == high[0] and (low[1] or high[1]))


def _larger(a: End, b: End) -> End:
    if a[0] is None or b[0] is None:
        return (None, False)
    return max(a, b, key=lambda end: (end[0] or Fraction(0), end[1]))
