"""Decides relations between values that are no plain rational numbers: sets, intervals, vectors, matrices, surds."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from rafs.grammar.computing import value_of
from rafs.grammar.enclosure import enclose
from rafs.grammar.polynomials import Quotient, TooLarge
from rafs.grammar.reals import Region, common, united
from rafs.grammar.shapes import as_matrix, as_region, member_of
from rafs.grammar.terms import NUMBER_SETS, Binary, Expression, Undefined, Unknown, calls
from rafs.grammar.values import FiniteSet, Listed, Matrix, NumberSet, Value, cross, same
from rafs.immutable import immutable

Bindings = Mapping[str, Fraction]


@immutable
class Exact:
    """What a side comes to."""

    value: Value | None
    """None where it is not computed, or undefined."""
    undefined: bool = False

    @property
    def rational(self) -> Fraction | None:
        """Return the value where it is a rational number."""
        value = self.value
        return value if not isinstance(value, Quotient) and isinstance(value, Fraction) else None


def find_value(expression: Expression, bindings: Bindings) -> Exact:
    """Compute the exact value of a side, of whatever kind."""
    try:
        value = value_of(expression, bindings)
        if not isinstance(value, Quotient) or not value.is_opaque():
            return Exact(value=value)
    except Undefined:
        return Exact(value=None, undefined=True)
    except (Unknown, TooLarge, RecursionError):
        value = None
    bounds = enclose(expression, bindings) if any(call.name in _STEPS for call in calls(expression)) else None
    return Exact(value=bounds[0] if bounds is not None and bounds[0] == bounds[1] else value)


_STEPS = ("floor", "ceil")


def related(relation: str, left: Exact, right: Exact, product: Expression) -> bool | None:
    """Say whether a relation holds between two exact values.

    Args:
        relation: The sign between them.
        left: Value of the left side.
        right: Value of the right side.
        product: The left side, for what two vectors make is told by the other side: a number or a vector.

    Returns:
        None where a value is not computed, hangs on a free name, or the relation says nothing about its kind.
    """
    if left.undefined != right.undefined and relation in ("=", "≈"):
        return None if (left if right.undefined else right).value is None else False
    a, b = left.value, right.value
    if a is None or b is None:
        return None
    if relation in ("=", "≈", "!="):
        held = _same(a, b, product)
        if held is False and _has_names(a, b):
            return None
        return held if relation != "!=" or held is None else not held
    if relation in _TURNED:
        relation, a, b = _TURNED[relation], b, a
    if relation in _DENIED:
        return _not(_RELATIONS[_DENIED[relation]](a, b))
    return _RELATIONS[relation](a, b) if relation in _RELATIONS else None


def _has_names(*values: Value) -> bool:
    return any(isinstance(value, Quotient) and bool(value.variables()) for value in values)


def _same(a: Value, b: Value, left: Expression) -> bool | None:
    held = same(a, b)
    if held is not None:
        return held
    if isinstance(a, Region) or isinstance(b, Region):
        regions = as_region(a), as_region(b)
        return None if regions[0] is None or regions[1] is None else regions[0].parts == regions[1].parts
    if isinstance(a, Matrix) or isinstance(b, Matrix):
        matrices = as_matrix(a), as_matrix(b)
        return None if matrices[0] is None or matrices[1] is None else same(matrices[0], matrices[1])
    product = _cross_product(left) if isinstance(b, Listed) else None
    return None if product is None else same(product, b)


def _cross_product(expression: Expression) -> Value | None:
    """Return the product of two vectors of three where a vector stands on the other side."""
    if not isinstance(expression, Binary) or expression.op != "*":
        return None
    sides = value_of(expression.left, {}), value_of(expression.right, {})
    a, b = sides
    if isinstance(a, Listed) and isinstance(b, Listed) and len(a.items) == len(b.items) == 3:
        return cross(a, b)
    return None


def _is_member(a: Value, b: Value) -> bool | None:
    if isinstance(b, NumberSet):
        smallest = smallest_set(a)
        if smallest == "ℕ" and a == 0 and b.name == "ℕ":
            return None  # some begin to count at 0
        return None if not smallest else NUMBER_SETS.index(smallest) <= NUMBER_SETS.index(b.name)
    if isinstance(b, FiniteSet):
        try:
            return member_of(a) in b.members
        except Unknown:
            return None
    region = as_region(b)
    if region is None or not isinstance(a, Fraction):
        return None
    return any(
        (low[0] is None or low[0] < a or (low[0] == a and low[1]))
        and (high[0] is None or a < high[0] or (high[0] == a and high[1]))
        for low, high in region.parts
    )


def _is_part(a: Value, b: Value) -> bool | None:
    match a, b:
        case NumberSet(), NumberSet():
            return NUMBER_SETS.index(a.name) <= NUMBER_SETS.index(b.name)
        case FiniteSet(), NumberSet() if not a.has_names:
            return _all(_is_member(member, b) for member in a.members if not isinstance(member, str))
        case FiniteSet(), FiniteSet():
            return a.members <= b.members
    regions = as_region(a), as_region(b)
    if regions[0] is None or regions[1] is None:
        return None
    return common(regions[0], regions[1]).parts == united(regions[0], Region(parts=())).parts


def smallest_set(value: Value) -> str:
    """Return the first of ℕ, ℤ, ℚ, ℝ, ℂ that holds a number; "" where that is not known."""
    match value:
        case Fraction():
            return "ℚ" if value.denominator > 1 else "ℤ" if value < 0 else "ℕ"
        case Quotient() if set(value.bottom) == {()} and not value.is_opaque() and not value.variables():
            atoms = value.atoms()
            if "i" in atoms:
                return "ℂ"
            return "ℝ" if len(atoms & {"pi", "e"}) < 2 else ""
    return ""


def _all(found: Iterable[bool | None]) -> bool | None:
    held = list(found)
    return False if False in held else None if None in held else True


def _is_proper_part(a: Value, b: Value) -> bool | None:
    """Say whether `a ⊂ b`, which many write for equal sets as well: then it is left open."""
    part = _is_part(a, b)
    return None if part and same(a, b) is not False else part


def _not(held: bool | None) -> bool | None:
    return None if held is None else not held


_RELATIONS: dict[str, Callable[[Value, Value], bool | None]] = {
    "∈": _is_member,
    "⊆": _is_part,
    "⊂": _is_proper_part,
}
_DENIED = {"∉": "∈", "⊈": "⊆", "⊄": "⊂"}
_TURNED = {"⊇": "⊆", "⊃": "⊂"}
