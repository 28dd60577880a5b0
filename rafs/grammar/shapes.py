"""Shows values in the shape that an operation needs: a list as a matrix, a pair as an interval, a form as a member."""

from fractions import Fraction

from rafs.grammar.polynomials import Quotient, show_polynomial
from rafs.grammar.reals import End, Region, common, interval, point, united, without
from rafs.grammar.terms import Unknown
from rafs.grammar.values import FiniteSet, Infinite, Listed, Matrix, Value


def joined(op: str, left: Value, right: Value) -> Value:
    """Return what a sign such as `∪` makes of two sets or of two intervals; raises `Unknown` for other values."""
    if isinstance(left, FiniteSet) and isinstance(right, FiniteSet):
        match op:
            case "∪":
                return FiniteSet(members=left.members | right.members)
            case "∩":
                return FiniteSet(members=left.members & right.members)
            case "∖":
                return FiniteSet(members=left.members - right.members)
        return FiniteSet(members=left.members ^ right.members)
    a, b = as_region(left), as_region(right)
    if a is None or b is None:
        raise Unknown
    match op:
        case "∪":
            return united(a, b)
        case "∩":
            return common(a, b)
        case "∖":
            return without(a, b)
    return united(without(a, b), without(b, a))


def as_region(value: Value) -> Region | None:
    """Return an interval, or a set of rational numbers, as a region; None for anything else."""
    match value:
        case Region():
            return value
        case FiniteSet():
            region = Region(parts=())
            for member in value.members:
                if not isinstance(member, Fraction):
                    return None
                region = united(region, point(member))
            return region
        case Listed(items=(low, high)):
            ends = [_end(low, value.brackets[0] == "["), _end(high, value.brackets[1] == "]")]
            return None if ends[0] is None or ends[1] is None else interval(ends[0], ends[1])
    return None


def _end(value: Value, closed: bool) -> End | None:
    if isinstance(value, Infinite):
        return (None, False)
    return (value, closed) if isinstance(value, Fraction) else None


def as_matrix(value: Value) -> Matrix | None:
    """Return `[[1, 2], [3, 4]]` as a matrix; None for anything else."""
    if isinstance(value, Matrix):
        return value
    if not isinstance(value, Listed) or not all(isinstance(item, Listed) for item in value.items):
        return None
    rows = [item.items for item in value.items if isinstance(item, Listed)]
    cells = [[cell for cell in row if isinstance(cell, Fraction | Quotient)] for row in rows]
    if len({len(row) for row in cells}) != 1 or any(len(a) < len(b) for a, b in zip(cells, rows, strict=True)):
        return None
    return Matrix(tuple(map(tuple, cells)))


def member_of(value: Value) -> "Fraction | str | FiniteSet | Listed":
    """Return a value as a member of a set; raises `Unknown` for what has no unique form."""
    match value:
        case Fraction() | FiniteSet():
            return value
        case Quotient() if set(value.bottom) == {()}:
            return show_polynomial({term: part / value.bottom[()] for term, part in value.top.items()})
        case Listed() if all(isinstance(item, Fraction) for item in value.items):
            return value
    raise Unknown
