"""Clock arithmetic: `11:30 am + 45 min = 12:15 pm`, `9:15 to 10:00` as a difference, and midnight in between."""

from dataclasses import dataclass
from fractions import Fraction

from rafs.claims.measured import amount_in
from rafs.claims.relations import Link
from rafs.grammar.terms import Binary, Call, Expression, Number, calls

_DAY = Fraction(24 * 60)
_HALF_DAY = Fraction(12 * 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """A time of day in minutes since midnight."""

    minutes: Fraction
    period: Fraction
    """After how many minutes the same is shown again: half a day where nobody says `am` or `pm`."""


def tells_time(link: Link) -> bool:
    """Say whether a time of day or a date stands in a link."""
    sides = [link.left] if link.right is None else [link.left, link.right]
    return any(call.name.startswith("clock") for side in sides for call in calls(side))


def rule_times(link: Link) -> tuple[bool | None, str] | None:
    """Decide a link between times of day and durations; None where no time of day stands in it."""
    if not tells_time(link):
        return None
    assert link.right is not None
    sides = (link.left, link.right)
    if link.relation not in ("=", "≈"):
        return None, "times of day"
    left, right = _time(link.left), _time(link.right)
    if left is not None and right is not None:
        return _congruent(left.minutes - right.minutes, min(left.period, right.period))
    for one, other in (sides, sides[::-1]):
        difference, minutes = _difference(one), amount_in(other, "minutes")
        if difference is not None and minutes is not None:
            if (difference.minutes + minutes) % difference.period == 0 and difference.minutes != minutes:
                return None, "a span from one time to the other"  # `9 am - 5 pm = 8 hours`
            return _congruent(difference.minutes - minutes, difference.period)
    return None, "times of day"


def _congruent(minutes: Fraction, period: Fraction) -> tuple[bool, str]:
    rest = minutes % period
    return rest == 0, f"the two sides are {min(rest, period - rest)} minutes apart"


def _time(expression: Expression) -> Time | None:
    """Return a time of day, perhaps with durations added or taken off."""
    match expression:
        case Call(args=(Number() as number,)) if expression.name.startswith("clock"):
            said = expression.name != "clock unsaid" or number.value >= _HALF_DAY + 60
            return Time(minutes=number.value, period=_DAY if said else _HALF_DAY)
        case Binary(op="+" | "-"):
            start, minutes = _time(expression.left), amount_in(expression.right, "minutes")
            if start is None and expression.op == "+":
                start, minutes = _time(expression.right), amount_in(expression.left, "minutes")
            if start is None or minutes is None:
                return None
            return Time(minutes=start.minutes + (minutes if expression.op == "+" else -minutes), period=start.period)
    return None


def _difference(expression: Expression) -> Time | None:
    """Return the time between two times of day."""
    if not isinstance(expression, Binary) or expression.op != "-":
        return None
    end, start = _time(expression.left), _time(expression.right)
    if end is None or start is None:
        return None
    return Time(minutes=end.minutes - start.minutes, period=min(end.period, start.period))
