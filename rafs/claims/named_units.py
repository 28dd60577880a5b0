"""Names with a unit: `θ = 30°, so sin θ = 1/2`, `w = 3 dozen, so 2w = 72`, `p = 75¢, so 2p = $1.50`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from rafs.claims.measured import unit_words
from rafs.claims.relations import Link
from rafs.claims.verdicts import Ruling, rule
from rafs.grammar.functions import TRIGONOMETRIC
from rafs.grammar.terms import Call, Expression, Number, Variable, calls, in_degrees, literal_of, mapped, variables
from rafs.grammar.units import read_unit
from rafs.types import Truth


def unit_of(expression: Expression, value: Fraction) -> Number | None:
    """Return what a name set equal to an expression stands for; None where it has no unit that is a measure."""
    if in_degrees(expression):
        return Number(value=value, unit="°")
    literal = literal_of(expression)
    if literal is None or literal.percent or not literal.unit:
        return None
    unit = read_unit(unit_words(literal))
    is_measure = literal.unit.startswith("dozen") or (unit is not None and unit.is_measure)
    return Number(value=value, unit=literal.unit, measure=literal.measure) if is_measure else None


def rule_with_units(
    link: Link, bindings: Mapping[str, Fraction], rounded: Mapping[Fraction, Fraction], units: Mapping[str, Number]
) -> Ruling:
    """Rule on a link as `rule` does, where names may stand for amounts with a unit.

    Args:
        link: A link, with its right side or without.
        bindings: Values of the names so far.
        rounded: Earlier results that were roundings.
        units: What the names with a unit stand for.

    Returns:
        TRUE where it holds with the units; FALSE where it holds neither with them nor without.
    """
    if not bindings.keys() & link.names:
        return rule(link, bindings, rounded)
    angled = _with_angles(link, units)
    plain = rule(angled, bindings, rounded)
    if plain.truth is Truth.FALSE:  # an angle that is a bare number may be one of degrees
        bare = _with_angles(angled, {name: Number(value=value) for name, value in bindings.items()})
        plain = plain if bare is angled else rule(bare, bindings, rounded)
    named = [units[name] for name in link.names if name in units]
    if not named or (plain.truth is Truth.TRUE and all(map(in_degrees, named))):
        return plain
    measured = rule(_mapped(angled, lambda node: _with_unit(node, units)), bindings, rounded)
    if measured.truth is Truth.TRUE:
        return measured
    return plain if plain.truth is measured.truth else replace(plain, truth=Truth.UNKNOWN, reason="units may differ")


def _mapped(link: Link, change: Callable[[Expression], Expression]) -> Link:
    return replace(
        link, left=mapped(link.left, change), right=None if link.right is None else mapped(link.right, change)
    )


def _with_unit(node: Expression, units: Mapping[str, Number]) -> Expression:
    return replace(units[node.name], span=node.span) if isinstance(node, Variable) and node.name in units else node


def _with_angles(link: Link, values: Mapping[str, Number]) -> Link:
    """Put the values of names into the trigonometric functions of a link; the link itself where it has none of them."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Call) or node.name not in TRIGONOMETRIC:
            return node
        return replace(node, args=tuple(mapped(arg, lambda leaf: _with_unit(leaf, values)) for arg in node.args))

    sides = (link.left,) if link.right is None else (link.left, link.right)
    angles = [call for side in sides for call in calls(side) if call.name in TRIGONOMETRIC]
    return _mapped(link, change) if any(variables(call) & values.keys() for call in angles) else link
