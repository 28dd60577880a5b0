"""Readings under which an equation may hold though its two sides differ: ranges, digits added up, full turns."""

from collections.abc import Callable
from fractions import Fraction

from rafs.claims.groupings import spoken_values
from rafs.claims.measured import scales
from rafs.claims.relations import Link
from rafs.claims.residues import are_congruent
from rafs.claims.roundings import is_rounding
from rafs.claims.shorthands import SHORTHANDS
from rafs.grammar.expressions import evaluate, show
from rafs.grammar.terms import Binary, Call, Expression, Number, in_degrees, leaves, literal_of, mapped
from rafs.grammar.transcendental import PI
from rafs.grammar.units import family_of, is_known_unit
from rafs.types import Span

_TURN = Fraction(360)
_CLOCK = 12
"""Hours after which a clock begins anew."""
MACHINE_PRECISION = Fraction(1, 2**50)
"""Relative error of a number that a machine computed with 53 bits, and a little more: `0.30000000000000004`."""
_SHORT_PI = frozenset(map(Fraction, ("3.14", "3.142", "3.1416", "3.14159")))


def other_reading(link: Link, value: Fraction, result: Fraction) -> str:
    """Return the reading that may save an equation between two different values; "" where there is none."""
    return next((name for name, saves in _READINGS.items() if saves(link, value, result)), "")


def is_no_calculation(left: Expression, right: Expression) -> bool:
    """Say whether nothing is computed where two sides are first set equal.

    `4 units = 20` tells what a unit is worth, `0 = 4` that a system has no solution.
    """
    one, other = literal_of(left), literal_of(right)
    if one is None or not _is_count(one):
        return False
    return bool(one.unit) or (other is not None and _is_count(other))


def begun_anew(link: Link, value: Fraction) -> Span | None:
    """Return where the number stands that ends this equation and begins the next: the 12 of `3*4 = 12 + 5 = 17`.

    It may have a sign, or be a fraction: `5 - 8 = -3 * 2 = -6`, `1/2 + 1/4 = 3/4 * 8 = 6`. In brackets nothing begins
    anew: `27 + 11 = (38 + 4)`.
    """
    operand = link.right
    if not link.begins_plainly or not isinstance(operand, Binary):
        return None
    while isinstance(operand, Binary):
        operand = operand.left
        if (lead := _lead(operand)) and evaluate(operand) == value:
            written = leaves(operand)
            begins = written[0].span.start - link.right_span.start <= lead
            return Span(start=link.right_span.start, end=written[-1].span.end) if begins else None
    return None


def _lead(operand: Expression) -> int:
    r"""Return how many characters may stand before the digits of `- 3` or `\dfrac{3}{4}`; 0 for what is no number."""
    match operand:
        case Binary(op="/", left=top, right=Number()) if literal_of(top) is not None:
            return len("- \\dfrac{")
    return 0 if literal_of(operand) is None else len("- ")


def _is_count(number: Number) -> bool:
    """Say whether a whole number is written in digits, and measures nothing."""
    written = number.span.end - number.span.start
    plain = not (number.percent or number.decimals or number.spelled) and number.value.denominator == 1
    plain = plain and written in (len(str(abs(number.value))), len(f"{int(abs(number.value)):,}"))
    return plain and not (number.unit and (is_known_unit(number.unit) or family_of(number.unit) is not None))


def _is_range(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether numbers joined by hyphens are counted or named: `10-12 = 3 pages`, `3-4-5 = 12`, `9-5 = 8 hours`."""
    ends = _hyphenated(link.left)
    if len(ends) != 2:
        return len(ends) > 2 and ends[0] < ends[1] and result == sum(ends)
    if ends[0] >= ends[1]:
        return _counts_time(link, "hour") and result == (ends[1] - ends[0]) % _CLOCK
    return result - (ends[1] - ends[0]) in (0, 1) or _counts_time(link, "hour") or _counts_time(link, "year")


def _counts_time(link: Link, unit: str) -> bool:
    """Say whether the right side is told in that unit of time or one that people change it into."""
    literal = literal_of(link.right)
    return literal is not None and bool(literal.unit) and unit in (family_of(literal.unit) or ())


def _hyphenated(expression: Expression) -> list[Fraction]:
    """Return the whole numbers of `3-4-5`, between which no blanks stand; nothing for anything else."""
    match expression:
        case Number(decimals=0, percent=False):
            return [expression.value]
        case Binary(op="-", right=Number(decimals=0) as last):
            before = _hyphenated(expression.left)
            if before and last.span.start - leaves(expression.left)[-1].span.end == 1:
                return [*before, last.value]
    return []


def _adds_digits(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether the right side adds up the digits of the left one: `18 = 1 + 8`."""
    assert link.right is not None
    digits = [leaf.value for leaf in leaves(link.right) if isinstance(leaf, Number)]
    return len(digits) > 1 and value >= 10 and [str(digit) for digit in digits] == list(show(value))


def _is_same_direction(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether two angles differ by full turns: `370° = 10°`."""
    assert link.right is not None
    return in_degrees(link.left) and in_degrees(link.right) and (value - result) % _TURN == 0


def _has_signed_remainder(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a remainder takes the sign of its dividend, as in some programming languages: `-7 % 3 = -1`."""
    match link.left:
        case Binary(op="mod"):
            divisor = evaluate(link.left.right)
            return divisor is not None and abs(value - result) == abs(divisor) and abs(result) < abs(divisor)
    return False


def _is_inverse(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a remainder is the residue of a fraction: `2^{-1} mod 7 = 4`."""
    match link.left:
        case Binary(op="mod"):
            dividend, divisor = evaluate(link.left.left), evaluate(link.left.right)
            if dividend is not None and divisor is not None and dividend.denominator > 1 and divisor > 0:
                return are_congruent(dividend, result, divisor) is not False
    return False


def _groups_otherwise(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a root or a share of the whole sum is meant: `√9 + 16 = 5`, `10 % of 50 + 20 = 7`."""
    assert link.right is not None
    if result in spoken_values(link.left) or value in spoken_values(link.right):
        return True
    match link.left:
        case Binary(op="+" | "-", left=Call(name="sqrt", args=(Number() as first,))):
            whole = evaluate(Binary(op=link.left.op, left=first, right=link.left.right))
            return whole is not None and result >= 0 and result * result == whole
        case Binary(op="+" | "-", left=Binary(op="*", left=Number(percent=True) as share, right=first)):
            whole = evaluate(Binary(op=link.left.op, left=first, right=link.left.right))
            return whole is not None and share.value * whole == result
    return False


def _is_machine_number(link: Link, value: Fraction, result: Fraction) -> bool:
    literal = literal_of(link.right)
    return literal is not None and literal.decimals >= 14 and abs(value - result) <= MACHINE_PRECISION * abs(value)


def _uses_exact_pi(link: Link, value: Fraction, result: Fraction) -> bool:
    """Say whether a result was computed with all digits of the pi that stands there as 3.14."""
    literal = literal_of(link.right)
    if literal is None or not any(isinstance(leaf, Number) and leaf.value in _SHORT_PI for leaf in leaves(link.left)):
        return False
    exact = evaluate(mapped(link.left, lambda node: Number(value=PI[0]) if _is_short_pi(node) else node))
    return exact is not None and is_rounding(exact, result, literal.decimals)


def _is_short_pi(node: Expression) -> bool:
    return isinstance(node, Number) and node.value in _SHORT_PI


def _mixes_scales(link: Link, value: Fraction, result: Fraction) -> bool:
    assert link.right is not None
    return scales(link.left) != scales(link.right)


_READINGS: dict[str, Callable[[Link, Fraction, Fraction], bool]] = {
    "a range rather than a difference": _is_range,
    "digits added up": _adds_digits,
    "angles of one direction": _is_same_direction,
    "the sign of a remainder": _has_signed_remainder,
    "the residue of a fraction": _is_inverse,
    "another grouping": _groups_otherwise,
    "a machine number": _is_machine_number,
    "3.14 for pi": _uses_exact_pi,
    "temperatures on two scales": _mixes_scales,
    **SHORTHANDS,
}
