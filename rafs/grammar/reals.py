"""Sets of real numbers with rational ends: unions of intervals in one form, and what is made of them."""

from dataclasses import dataclass
from fractions import Fraction

End = tuple[Fraction | None, bool]
"""(value, belongs to it); None is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A union of intervals, merged and in order."""

    parts: tuple[tuple[End, End], ...]


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
