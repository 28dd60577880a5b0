"""Whether two equations or inequalities say the same of their names."""

from collections.abc import Iterator, Mapping
from decimal import Context, Decimal, DecimalException, localcontext
from fractions import Fraction

from rafs.answers.balls import DIGITS, Ball, ball_of, rational
from rafs.answers.forms import Interval, Quantity, Region, Relation
from rafs.answers.identities import free_names, points, signed_points
from rafs.answers.rewriting import rewritten_forms
from rafs.grammar.polynomials import Polynomial, Quotient, proportional
from rafs.grammar.terms import Binary, Expression, Number, Variable
from rafs.types import Truth


def as_relation(value: Quantity) -> Relation | None:
    """Return the equation that a labelled value is; None without a label of one letter."""
    if len(value.label) != 1 or value.unit is not None:
        return None
    return Relation(sign="=", difference=Binary(op="-", left=Variable(name=value.label), right=value.expression))


def as_ray(relation: Relation) -> Region | None:
    """Solve an inequality of the first degree in one name, such as `2x > 6`; None for any other."""
    forms = rewritten_forms(relation.difference, relation.difference)
    if forms is None or relation.sign[0] != ">" or forms[0].bottom.keys() != {()} or forms[0].is_opaque():
        return None
    top, bottom = forms[0].top, forms[0].bottom[()]
    slopes = [(term, factor / bottom) for term, factor in top.items() if term]
    if len(slopes) != 1 or len(slopes[0][0]) != 1 or slopes[0][0][0][1] != 1:
        return None
    slope = slopes[0][1]
    end, is_closed = Number(value=-top.get((), Fraction(0)) / bottom / slope), relation.sign == ">="
    if slope > 0:
        return Region(parts=(Interval(low=end, high=None, has_low=is_closed, has_high=False),))
    return Region(parts=(Interval(low=None, high=end, has_low=False, has_high=is_closed),))


def compare_relations(a: Relation, b: Relation) -> Truth:
    """Compare two relations: one a multiple of the other, or parted by a point that only one of them allows."""
    forms = rewritten_forms(a.difference, b.difference)
    if a.sign == b.sign and forms is not None and _is_multiple(*forms, a.sign):
        return Truth.TRUE
    if a.sign in ("=", "!=") and a.sign == b.sign:
        parted = _only_first_holds(a.difference, b.difference) or _only_first_holds(b.difference, a.difference)
    elif a.sign[0] == b.sign[0] == ">":
        parted = _have_other_signs(a.difference, b.difference)
    else:
        parted = {a.sign, b.sign} == {"=", "!="} and forms is not None and _is_multiple(*forms, "=")
    return Truth.FALSE if parted else Truth.UNKNOWN


def _is_multiple(a: Quotient, b: Quotient, sign: str) -> bool:
    """Say whether one difference is a constant multiple of the other, a positive one for inequalities."""
    if not proportional(a.top, b.top):
        return False
    if sign in ("=", "!="):
        return all(_never_zero_with(form) for form in (a, b)) or a.bottom == b.bottom
    term = next(iter(a.top))
    if a.bottom.keys() != {()} or b.bottom.keys() != {()}:
        return False
    return (a.top[term] / a.bottom[()]) / (b.top[term] / b.bottom[()]) > 0


def _never_zero_with(form: Quotient) -> bool:
    """Say whether the denominator is a product of names, none of which can be 0 where the numerator is."""
    if form.bottom.keys() == {()}:
        return True
    if len(form.bottom) != 1:
        return False
    names = {name for name, _ in next(iter(form.bottom))}
    return all({term for term in form.top if name not in dict(term)} == {()} for name in names)


def _only_first_holds(a: Expression, b: Expression) -> bool:
    """Say whether some point makes the first difference 0 and surely not the second."""
    balls = (ball_of(b, point) for point in _zeros(a, b))
    return any(ball is not None and ball.excludes_zero() for ball in balls)


def _zeros(a: Expression, b: Expression) -> Iterator[Mapping[str, Ball]]:
    """Yield points where the first expression is 0: it is solved for a name of degree one or two in it."""
    names = free_names(a) | free_names(b)
    forms = rewritten_forms(a, a)
    if forms is None or forms[0].is_opaque():
        return
    top = forms[0].top
    for point in [*points(names), *signed_points(names)]:
        for name in sorted(free_names(a)):
            for root in _solved(top, name, point):
                yield {**point, name: root}


def _solved(top: Polynomial, name: str, point: Mapping[str, Ball]) -> list[Ball]:
    """Solve a polynomial for one name, the others being given; nothing where its degree is beyond two."""
    coefficients = [Fraction(0)] * 3
    for term, coefficient in top.items():
        powers = dict(term)
        degree = powers.pop(name, 0)
        if degree > 2 or not powers.keys() <= point.keys():
            return []
        value = coefficient
        for other, power in powers.items():
            value *= Fraction(point[other].middle) ** power
        coefficients[degree] += value
    c, b, a = coefficients
    if a == 0:
        return [rational(-c / b)] if b else []
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    try:
        with localcontext(Context(prec=DIGITS + 12)):
            root = (Decimal(discriminant.numerator) / discriminant.denominator).sqrt()
            ends = [(Decimal(-b.numerator) / b.denominator + sign * root) / _decimal(2 * a) for sign in (1, -1)]
            return [
                Ball(middle=end, radius=abs(end).scaleb(5 - DIGITS) + Decimal(1).scaleb(5 - DIGITS)) for end in ends
            ]
    except DecimalException:
        return []


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _have_other_signs(a: Expression, b: Expression) -> bool:
    """Say whether at some point one difference is surely positive and the other surely negative."""
    names = free_names(a) | free_names(b)
    for point in [*points(names), *signed_points(names)]:
        first, second = ball_of(a, point), ball_of(b, point)
        if first is None or second is None or not (first.excludes_zero() and second.excludes_zero()):
            continue
        if (first.middle > 0) != (second.middle > 0):
            return True
    return False
