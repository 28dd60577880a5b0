"""Calendar arithmetic: `02/29/2016 + 1 day = 03/01/2016`, and the days between two dates."""

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction

from rafs.claims.measured import amount_in
from rafs.claims.relations import Link
from rafs.grammar.clocks import DATE_CALL
from rafs.grammar.terms import Binary, Call, Expression, Number, walk

MAX_DAYS = 400_000
"""More days than this are added to no date: the calendar of `datetime` ends at the year 9999."""


def rule_dates(link: Link) -> tuple[bool | None, str] | None:
    """Decide a link between dates and spans of days; None where no date stands in it.

    `03/04/2020` is read month first and day first, and decided only where both readings agree.
    """
    assert link.right is not None
    sides = (link.left, link.right)
    if not any(isinstance(node, Call) and node.name == DATE_CALL for side in sides for node in walk(side)):
        return None
    held = {verdict for day_first in (False, True) if (verdict := _holds(link, day_first)) is not None}
    if link.relation != "=" or len(held) != 1:
        return None, "dates"
    return held.pop(), "the calendar says otherwise"


def _holds(link: Link, day_first: bool) -> bool | None:
    """Say whether a link holds in one reading of its dates; None where the reading makes no sense."""
    assert link.right is not None
    left, right = _day(link.left, day_first), _day(link.right, day_first)
    if left is not None and right is not None:
        return left == right
    for one, other in ((link.left, link.right), (link.right, link.left)):
        difference, days = _days_between(one, day_first), amount_in(other, "days")
        if difference is not None and days is not None:
            return difference == days
    return None


def _day(expression: Expression, day_first: bool) -> date | None:
    """Return a date, perhaps with whole days added or taken off."""
    match expression:
        case Call(args=(Number() as packed,)) if expression.name == DATE_CALL:
            return next(_readings(int(packed.value), day_first), None)
        case Binary(op="+" | "-"):
            start, days = _day(expression.left, day_first), amount_in(expression.right, "days")
            if start is None or days is None or days.denominator != 1 or abs(days) > MAX_DAYS:
                return None
            try:
                return start + timedelta(days=int(days if expression.op == "+" else -days))
            except OverflowError:
                return None
    return None


def _readings(packed: int, day_first: bool) -> Iterator[date]:
    """Yield the date of `grammar.clocks.read_date` in one order, where there is such a day."""
    year, one, other = packed // 10_000, packed // 100 % 100, packed % 100
    month, day = (other, one) if day_first else (one, other)
    try:
        yield date(year, month, day)
    except ValueError:
        return


def _days_between(expression: Expression, day_first: bool) -> Fraction | None:
    if not isinstance(expression, Binary) or expression.op != "-":
        return None
    end, start = _day(expression.left, day_first), _day(expression.right, day_first)
    return None if end is None or start is None else Fraction((end - start).days)
