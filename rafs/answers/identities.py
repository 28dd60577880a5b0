"""Whether two expressions are equal for all values of their variables: proven, refuted, or open."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain

from rafs.answers.balls import Ball, ball_of, is_zero, rational
from rafs.answers.open_functions import differs_in_all_readings, has_known_angle, with_known_angles
from rafs.answers.rewriting import rewritten_forms, standard
from rafs.grammar.expressions import evaluate
from rafs.grammar.polynomials import normal_form, same_quotient
from rafs.grammar.terms import Binary, Call, Expression, Variable, walk

INTEGERS = frozenset("nkmijN")
"""Names that usually stand for whole numbers, and only get such values."""
_POINTS = (("2", "3", "5", "7"), ("3", "7", "2", "5"), ("7", "4", "9", "3"), ("5/3", "7/2", "9/4", "1/3"))
_WHOLE_POINTS = (("3", "5", "4", "7"), ("4", "9", "7", "3"), ("7", "8", "3", "5"), ("5", "2", "7", "4"))
"""Positive values only: where two expressions part for negative ones, what was meant may save them, unless one of them
says `|x|`: then negative values were thought of."""


def same_expression(a: Expression, b: Expression) -> bool | None:
    """Say whether two expressions are equal wherever both have a value; None where neither is proven."""
    if not (has_known_angle(a) or has_known_angle(b)):
        return _same(a, b)
    radians = _same(with_known_angles(a), with_known_angles(b))
    degrees = _same(with_known_angles(a, degrees=True), with_known_angles(b, degrees=True))
    return None if radians is False and degrees is not False else radians


def _same(a: Expression, b: Expression) -> bool | None:
    left, right = evaluate(a), evaluate(b)
    if left is not None and right is not None:
        return left == right
    a, b = standard(a), standard(b)
    plain = normal_form(a), normal_form(b)
    if plain[0] is not None and plain[1] is not None and same_quotient(plain[0], plain[1]):
        return True
    difference = Binary(op="-", left=a, right=b)
    if free_names(difference):
        if is_refuted(difference):
            return False
    elif "i" not in all_names(difference):
        zero = is_zero(difference)
        if zero is not None or differs_in_all_readings(difference):
            return bool(zero)
    forms = rewritten_forms(a, b)
    same = same_quotient(*forms) if forms is not None else None
    if same:
        return True
    known = forms is not None and "i" in all_names(difference) and not free_names(difference)
    return False if known and same is False else None


def is_refuted(difference: Expression) -> bool:
    """Say whether an expression is surely not 0 at some point where its variables have ordinary values."""
    names = free_names(difference)
    signed = any(isinstance(node, Call) and node.name == "abs" for node in walk(difference))
    balls = (ball_of(difference, point) for point in chain(points(names), signed_points(names) if signed else ()))
    return any(ball is not None and ball.excludes_zero() for ball in balls)


def points(names: frozenset[str]) -> Iterator[Mapping[str, Ball]]:
    """Yield values for the names, in turn, none of them special."""
    ordered = sorted(names)
    for row, whole in zip(_POINTS, _WHOLE_POINTS, strict=True):
        yield {
            name: rational(Fraction((whole if name[0] in INTEGERS else row)[k % 4]) + k // 4)
            for k, name in enumerate(ordered)
        }


def signed_points(names: frozenset[str]) -> Iterator[Mapping[str, Ball]]:
    """Yield points of both signs and several sizes."""
    ordered = sorted(names)
    for size in (Fraction(1, 7), Fraction(11, 10), Fraction(13, 3), Fraction(29)):
        for flips in range(1 << min(len(ordered), 3)):
            yield {name: rational(-size if flips >> k & 1 else size + k) for k, name in enumerate(ordered)}


def all_names(expression: Expression) -> frozenset[str]:
    """Return every name in an expression."""
    return frozenset(node.name for node in walk(expression) if isinstance(node, Variable))


def free_names(expression: Expression) -> frozenset[str]:
    """Return the names without a value of their own."""
    return all_names(expression) - {"pi", "e", "i"}
