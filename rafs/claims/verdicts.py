"""The truth of one link: exact where it can be, unknown where a convention, a unit or a name decides it."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from rafs.claims.conventions import Readings, read_conventions, states_identity
from rafs.claims.dates import rule_dates
from rafs.claims.dimensions import truth_of_equals
from rafs.claims.exact_values import find_value, related
from rafs.claims.looseness import adds_percentage, carried_rounding, dozen_reading, is_forgiven, loose_reading
from rafs.claims.measured import compare_measures, have_one_unit
from rafs.claims.other_readings import begun_anew, other_reading
from rafs.claims.relations import Link
from rafs.claims.residues import are_congruent
from rafs.claims.rewritings import is_same_division
from rafs.claims.roundings import is_cut, is_rounding
from rafs.claims.times import rule_times, tells_time
from rafs.grammar.enclosure import Bounds, enclose
from rafs.grammar.expressions import evaluate, outcome, show
from rafs.grammar.terms import Binary, Expression, Number, Unary, Variable, in_degrees, leaves, literal_of, variables
from rafs.immutable import immutable
from rafs.types import Span, Truth

NEEDS_ALGEBRA = "needs algebra"
"""Reason of a claim that exact arithmetic cannot decide and `rafs.algebra.settle` may."""
FOR_EVERY = "for every value"
"""Part of that reason when the trace claims an identity outright."""


@immutable
class Ruling:
    """What a link comes to."""

    truth: Truth
    value: Fraction | None
    result: Fraction | None
    result_span: Span | None
    reason: str = ""
    rounded: Fraction | None = None
    """What the result is a rounding of, exactly or to some forty digits; None where it is none."""


def rule(link: Link, bindings: Mapping[str, Fraction], rounded: Mapping[Fraction, Fraction]) -> Ruling:
    """Decide one link.

    Args:
        link: Left side, relation and right side as written.
        bindings: Values of the names so far.
        rounded: Earlier results that were roundings, each with the exact value behind it.

    Returns:
        TRUE and FALSE only where the reading leaves no doubt.
    """
    value, left_undefined = outcome(link.left, bindings)
    if link.right is None:
        return Ruling(truth=Truth.UNKNOWN, value=value, result=value, result_span=None, reason="the answer stands here")
    result, right_undefined = outcome(link.right, bindings)
    if _is_infinite(link):
        return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason="infinity")
    if link.relation in ("=", "≈") and (left_undefined or right_undefined):
        if is_same_division(link.left, link.right, bindings):  # of a case that is given up
            return Ruling(truth=Truth.UNKNOWN, value=None, result=None, result_span=link.right_span, reason="no value")
        return _doubted(link, value, result, "a division by zero has no value, so it equals nothing")
    if value is None or result is None:
        timed = (rule_dates(link) or rule_times(link)) if tells_time(link) else None
        if timed is not None:
            return _told(link, *timed)
        if link.relation == "=" and (held := compare_measures(link.left, link.right)) is not None:
            return _told(_without_letters(link), held, "units converted")
        return _without_values(link, bindings, value, result)
    return _numbers(link, bindings, value, result, rounded)


def rule_told(holds: bool) -> Ruling:
    """Rule on a fact told in words; it has no value that anything could build on."""
    truth, reason = (Truth.TRUE, "") if holds else (Truth.FALSE, "that does not hold")
    return Ruling(truth=truth, value=None, result=None, result_span=None, reason=reason)


def _is_infinite(link: Link) -> bool:
    """Say whether infinity itself stands on a side, which some calculate with."""
    return any(isinstance(side, _MAY_BE_INFINITE) and side in _INFINITE for side in (link.left, link.right))


_MAY_BE_INFINITE = (Variable, Unary)
_INFINITE = (Variable(name="∞"), Unary(op="-", operand=Variable(name="∞")))


def _told(link: Link, held: bool | None, reason: str) -> Ruling:
    """Rule by what another module has found out."""
    if held is False:
        return _doubted(link, None, None, reason)
    truth = Truth.TRUE if held else Truth.UNKNOWN
    return Ruling(truth=truth, value=None, result=None, result_span=link.right_span, reason=reason)


def _numbers(
    link: Link,
    bindings: Mapping[str, Fraction],
    value: Fraction,
    result: Fraction,
    rounded: Mapping[Fraction, Fraction],
) -> Ruling:
    """Rule on a relation between two rational numbers."""
    if link.modulus is not None or link.relation == "≡":
        return _congruent(link, bindings, value, result)
    if link.remainder is not None:
        return _with_remainder(link, bindings, value, result)
    if link.relation not in ("=", "≈"):
        holds = _compare(link.relation, value, result)
        if holds:
            return Ruling(truth=Truth.TRUE, value=value, result=result, result_span=link.right_span)
        return _doubted(link, value, result, f"{show(value)} {link.relation} {show(result)} does not hold")
    return _equal(link, value, result, rounded)


def _equal(link: Link, value: Fraction, result: Fraction, rounded: Mapping[Fraction, Fraction]) -> Ruling:
    span = link.right_span
    assert link.right is not None
    if isinstance(link.right, Binary) and link.right.op == "mod" and value != result:
        return _congruent(replace(link, modulus=link.right.right), {}, value, result)
    held = dozen_reading(link, value, result)
    if held is None and link.relation == "=":
        held = compare_measures(link.left, link.right)
    if value == result and "percent" in link.doubts and adds_percentage(link.left):
        return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=span, reason="percent of what")
    if (value == result and held is not False) or held:
        truth, reason = truth_of_equals(link.left, link.right, converted=value != result)
        return Ruling(truth=truth, value=value, result=result, result_span=span, reason=reason)
    if (first := begun_anew(link, value)) is not None:
        truth = Truth.TRUE if link.continued else Truth.UNKNOWN
        return Ruling(truth=truth, value=value, result=value, result_span=first, reason="run-on, read step by step")
    if "letter" in link.doubts and (held is False or have_one_unit(link.left, link.right)):
        link = _without_letters(link)
    if held is False:
        reason = "the units differ" if value == result else f"{_source(link.left)} is {show(value)}, not {show(result)}"
        return _doubted(link, value, result, reason)
    loose = loose_reading(link, value, result) or carried_rounding(link, value, result, rounded)
    if loose is not None:
        truth, reason = loose
        return Ruling(
            truth=truth,
            value=value,
            result=value if reason == "percent" else result,
            result_span=span,
            reason=reason,
            rounded=value if reason == "rounded" else None,
        )
    if (saved := other_reading(link, value, result)) != "":
        return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=span, reason=saved)
    return _doubted(link, value, result, f"{_source(link.left)} is {show(value)}, not {show(result)}")


def _without_letters(link: Link) -> Link:
    """Take away the doubt whether a letter is a unit: on both sides they are measures that fit each other."""
    return replace(link, doubts=link.doubts - {"letter"})


def _source(expression: Expression) -> str:
    return "the left side" if not isinstance(expression, Number) else show(expression.value)


def _doubted(link: Link, value: Fraction | None, result: Fraction | None, reason: str) -> Ruling:
    """Rule FALSE, or UNKNOWN where the reading itself is in doubt."""
    doubts = set(link.doubts)
    if not link.in_words and any(leaf.spelled for leaf in leaves(link.left) if isinstance(leaf, Number)):
        doubts.add("spelled")
    truth = Truth.UNKNOWN if doubts else Truth.FALSE
    because = reason if not doubts else f"{reason}, unless it reads otherwise ({', '.join(sorted(doubts))})"
    return Ruling(truth=truth, value=value, result=result, result_span=link.right_span, reason=because)


def _compare(relation: str, left: Fraction, right: Fraction) -> bool:
    match relation:
        case "<":
            return left < right
        case ">":
            return left > right
        case "<=":
            return left <= right
        case ">=":
            return left >= right
    return left != right


def _congruent(link: Link, bindings: Mapping[str, Fraction], value: Fraction, result: Fraction) -> Ruling:
    modulus = evaluate(link.modulus, bindings) if link.modulus is not None else None
    held = None if modulus is None or modulus <= 0 else are_congruent(value, result, modulus)
    if held is not False:
        return replace(_told(link, held, "" if held else "no modulus, or no inverse"), value=value, result=result)
    return _doubted(link, value, result, f"the two sides differ by {show(value - result)}")


def _with_remainder(link: Link, bindings: Mapping[str, Fraction], value: Fraction, result: Fraction) -> Ruling:
    rest = evaluate(link.remainder, bindings) if link.remainder is not None else None
    division = link.left
    if rest is not None and isinstance(division, Binary) and division.op == "/":
        top, bottom = evaluate(division.left, bindings), evaluate(division.right, bindings)
        if top is not None and bottom:
            if top == bottom * result + rest and 0 <= rest < abs(bottom):
                return Ruling(truth=Truth.TRUE, value=result, result=result, result_span=link.right_span)
            return _doubted(link, value, result, f"{show(bottom)} * {show(result)} + {show(rest)} is not {show(top)}")
    return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason="a remainder")


def _without_values(
    link: Link, bindings: Mapping[str, Fraction], value: Fraction | None, result: Fraction | None
) -> Ruling:
    """Rule on what is no plain arithmetic under every reading that its conventions leave."""
    readings = read_conventions(link, bindings.keys())
    rulings = [_exactly(each, bindings, value, result) for each in readings.links]
    first, truths = rulings[0], {ruling.truth for ruling in rulings}
    if truths == {Truth.TRUE} or (readings.first_counts and first.truth is Truth.TRUE):
        return first
    certain = readings.certain and truths == {Truth.FALSE} and (not readings.logarithms or _in_no_base(readings))
    if certain or (len(rulings) == 1 and first.truth is Truth.UNKNOWN):
        return first
    return replace(first, truth=Truth.UNKNOWN, reason="an unsaid convention decides it")


def _in_no_base(readings: Readings) -> bool:
    """Say whether the base of the logarithms cancels out, so that an equation false in one base is so in all."""
    ratios = [enclose(Binary(op="/", left=each.left, right=each.right), {}) for each in readings.links if each.right]
    known = [ratio for ratio in ratios if ratio is not None]
    return len(known) > 2 and max(low for low, _ in known) <= min(high for _, high in known)


def _exactly(link: Link, bindings: Mapping[str, Fraction], value: Fraction | None, result: Fraction | None) -> Ruling:
    """Rule by exact values of every kind, then by bounds of real numbers; leave the rest to algebra."""
    assert link.right is not None
    left, right = find_value(link.left, bindings), find_value(link.right, bindings)
    value, result = left.rational if value is None else value, right.rational if result is None else result
    if link.modulus is not None or link.relation == "≡":
        return Ruling(truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason="no modulus")
    if value is not None and result is not None:
        return _numbers(link, bindings, value, result, {})
    held = related(link.relation, left, right, link.left)
    if held:
        return Ruling(truth=Truth.TRUE, value=value, result=result, result_span=link.right_span, reason="exactly")
    free = (variables(link.left) | variables(link.right)) - set(bindings)
    bounds = (None, None) if free else (enclose(link.left, bindings), enclose(link.right, bindings))
    if bounds[0] is not None and bounds[1] is not None:
        ruled = _bounded(link, bounds[0], bounds[1], value, result)
        if ruled is not None:
            return ruled
    if held is False:
        return _doubted(link, value, result, "the two sides differ")
    return Ruling(
        truth=Truth.UNKNOWN,
        value=value,
        result=result,
        result_span=link.right_span,
        reason=_open_reason(link, free),
    )


def _open_reason(link: Link, free: frozenset[str]) -> str:
    assert link.right is not None
    if in_degrees(link.left) or in_degrees(link.right):
        return "an angle in degrees"
    if link.universal or (free and states_identity(link.left, link.right)):
        return f"{NEEDS_ALGEBRA}: stated {FOR_EVERY}"
    if link.doubts:
        return f"the reading is in doubt ({', '.join(sorted(link.doubts))})"
    return f"{NEEDS_ALGEBRA}: depends on {', '.join(sorted(free))}" if free else NEEDS_ALGEBRA


def _bounded(link: Link, left: Bounds, right: Bounds, value: Fraction | None, result: Fraction | None) -> Ruling | None:
    """Decide a relation between bounds; None while they overlap."""
    computed, literal = link.left, literal_of(link.right)
    if literal is None and link.right is not None and link.relation in ("=", "≈"):
        computed, literal, left, right = link.right, literal_of(link.left), right, left
    if link.relation == "≈" or (link.relation == "=" and literal is not None):
        decimals = literal.decimals if literal is not None else 0
        target = right[0]
        fits = literal is not None and all(is_rounding(side, target, decimals) for side in left)
        if fits and (decimals or link.relation == "≈"):
            return Ruling(
                truth=Truth.TRUE, value=None, result=result, result_span=link.right_span, reason="rounded",
                rounded=left[0],
            )  # fmt: skip
        if literal is not None and literal.continues and all(is_cut(side, target, decimals) for side in left):
            return Ruling(
                truth=Truth.TRUE, value=None, result=result, result_span=link.right_span, reason="first digits"
            )
        loose = link.relation == "≈" and is_forgiven(computed, left[0], target, decimals)
        if loose or all(is_cut(side, target, decimals) for side in left):
            return Ruling(
                truth=Truth.UNKNOWN, value=value, result=result, result_span=link.right_span, reason="roughly"
            )
    if left[1] >= right[0] and right[1] >= left[0]:
        return None
    below = left[1] < right[0]
    if link.relation in ("<", "<=", "!=") if below else link.relation in (">", ">=", "!="):
        return Ruling(truth=Truth.TRUE, value=value, result=result, result_span=link.right_span)
    return _doubted(link, value, result, "the two sides differ")
