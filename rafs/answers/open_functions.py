"""Functions that leave something open: the base of `log 5`, degrees or radians of `sin 5` and `arctan 1`."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from rafs.answers.balls import ball_of
from rafs.answers.rewriting import standard
from rafs.grammar.expressions import evaluate
from rafs.grammar.terms import Binary, Call, Expression, Number, Variable, calls, mapped

_BASES: tuple[Expression, ...] = (Number(value=Fraction(10)), Variable(name="e"), Number(value=Fraction(2)))
_HALF_TURN = Variable(name="pi")
_DEGREES_OF_HALF_TURN = Number(value=Fraction(180))
_DEGREE = Binary(op="/", left=_HALF_TURN, right=_DEGREES_OF_HALF_TURN)
_UNITS: tuple[Expression, ...] = (_DEGREE, Number(value=Fraction(1)))
_HALF = Fraction(1, 2)
_ANGLES = {
    "arctan": {Fraction(0): Fraction(0), Fraction(1): Fraction(1, 4), Fraction(-1): Fraction(-1, 4)},
    "arcsin": {Fraction(0): Fraction(0), _HALF: Fraction(1, 6), -_HALF: Fraction(-1, 6), Fraction(1): _HALF,
               Fraction(-1): -_HALF},
    "arccos": {Fraction(0): _HALF, _HALF: Fraction(1, 3), -_HALF: Fraction(2, 3), Fraction(1): Fraction(0),
               Fraction(-1): Fraction(1)},
}  # fmt: skip
"""Angles in half turns."""


def has_known_angle(expression: Expression) -> bool:
    """Say whether an inverse function of a special value stands in an expression."""
    return any(_turns(call) is not None for call in calls(expression))


def with_known_angles(expression: Expression, *, degrees: bool = False) -> Expression:
    """Write `arctan 1` as pi/4, or as 45, and what else has an angle that everybody knows."""
    half_turn = _DEGREES_OF_HALF_TURN if degrees else _HALF_TURN

    def change(node: Expression) -> Expression:
        turns = _turns(node)
        return node if turns is None else Binary(op="*", left=Number(value=turns), right=half_turn)

    return mapped(expression, change)


def differs_in_all_readings(difference: Expression) -> bool:
    """Say whether a constant with an open base or angle is surely not 0, whatever is chosen throughout.

    Angles are read in both units, logarithms to the bases 10, e and 2. False where nothing is open.
    """
    if not any(map(_is_open, calls(difference))):
        return False
    balls = (ball_of(reading, {}) for reading in _readings(difference))
    return all(ball is not None and ball.excludes_zero() for ball in balls)


def all_readings(expression: Expression) -> Iterator[Expression]:
    """Yield what an expression may be, in fewer functions; once where nothing is open."""
    both = (with_known_angles(expression, degrees=degrees) for degrees in (False, True))
    for one in both if has_known_angle(expression) else (expression,):
        yield from _readings(standard(one))


def _readings(expression: Expression) -> Iterator[Expression]:
    if not any(map(_is_open, calls(expression))):
        yield expression
        return
    for base in _BASES:
        for unit in _UNITS:
            yield mapped(expression, partial(_settled, base=base, unit=unit))


def _is_open(node: Expression) -> bool:
    match node:
        case Call(name="log", args=(_,)):
            return True
        case Call(name="sin" | "cos", args=(angle,)):
            return bool(evaluate(angle))
    return False


def _settled(node: Expression, base: Expression, unit: Expression) -> Expression:
    if not isinstance(node, Call) or not _is_open(node):
        return node
    if node.name == "log":
        return Call(name="log", args=(base, *node.args))
    # With pi in it the angle is a bare number no more, whose unit `ball_of` would ask for.
    turned = Binary(op="/", left=Binary(op="*", left=node.args[0], right=_HALF_TURN), right=_HALF_TURN)
    return Call(name=node.name, args=(Binary(op="*", left=turned, right=unit),))


def _turns(node: Expression) -> Fraction | None:
    """Return the half turns that an inverse function of a special value is."""
    match node:
        case Call(name=name, args=(inner,)) if name in _ANGLES:
            value = evaluate(inner)
            return None if value is None else _ANGLES[name].get(value)
    return None
