"""Compares two sides as quantities with units: `90 km / 30 min = 180 km/h`, `$2 + 35 cents = $2.35`."""

from dataclasses import dataclass, replace
from fractions import Fraction

from rafs.claims.roundings import is_rounding
from rafs.grammar.measures import in_celsius
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, leaves, literal_of
from rafs.grammar.units import Unit, factors, family_of, may_convert, read_unit

MAX_LITERALS = 12
"""Literals of a side that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number of some unit, which is written as words above and below a fraction bar."""

    value: Fraction
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    bare: bool = False
    """A factor without a unit stands in it, which may hide one."""
    counted: bool = False
    """Such factors count: it is a sum with another amount of that dimension, and none of them converts its unit."""
    converted: bool = False
    """Units were changed to make it."""

    @property
    def unit(self) -> str:
        """Return the unit as one phrase."""
        return " ".join(self.above) + (" per " + " ".join(self.below) if self.below else "")


def compare_measures(left: Expression, right: Expression) -> bool | None:
    """Say whether both sides are the same quantity.

    Returns:
        None where a side has no unit that is a measure, or a factor without a unit may hide one, or where it hangs on
        what a unit means.
    """
    if (held := _compare_temperatures(left, right)) is not None:
        return held
    if not _has_measure(left) or not _has_measure(right):
        return None
    one, other = _amount(left), _amount(right)
    if one is None or other is None:
        return None
    factor = _factor(one.unit, other.unit)
    if factor is None:
        return False if _are_apart(one, other) else None
    if factor == 1 and not (one.converted or other.converted):
        return None  # plain numbers tell
    if one.value * factor == other.value or _is_rounded(one.value * factor, right):
        return True
    near = abs(one.value * factor - other.value) <= LOOSE * abs(other.value)
    hidden = any(amount.bare and not amount.counted for amount in (one, other))
    return None if hidden or near or _is_agreed(one, other, factor) else False


def is_unconverted(left: Expression, right: Expression) -> bool:
    """Say whether equal numbers stand before two units, and nothing converts one into the other: `2 × 75¢ = $150`.

    Times are left out, since a factor without a unit is often one of them per another: `5 days × 8 = 40 hours`.
    """
    if not _has_measure(left) or not _has_measure(right):
        return False
    one, other = _amount(left), _amount(right)
    if one is None or other is None or _factor(one.unit, other.unit) in (None, 1):
        return False
    families = [family_of(unit) for unit in (one.unit, other.unit)]
    known = all(family is not None and "hour" not in family for family in families)
    return known and not any(_may_convert(left, unit) for unit in (one.unit, other.unit))


def scales(expression: Expression) -> frozenset[str]:
    """Return the scales of temperature in an expression."""
    units = (read_unit(unit_words(leaf)) for leaf in leaves(expression) if isinstance(leaf, Number) and leaf.unit)
    return frozenset(unit.scale for unit in units if unit is not None and unit.scale)


def _compare_temperatures(left: Expression, right: Expression) -> bool | None:
    """Compare one temperature on two scales; None for anything else, and where it is near."""
    one, other = literal_of(left), literal_of(right)
    if one is None or other is None or not one.unit or not other.unit:
        return None
    first, second = scales(left), scales(right)
    if first == second or not first or not second:
        return None
    apart = in_celsius(one.value, *first) - in_celsius(other.value, *second)
    return True if apart == 0 else None if abs(apart) < 1 else False


def have_one_unit(left: Expression, right: Expression) -> bool:
    """Say whether both sides come out in one and the same measure, so that its letters are units and no names."""
    one, other = _amount(left), _amount(right)
    if one is None or other is None or not _has_measure(left) or not _has_measure(right):
        return False
    return _factor(one.unit, other.unit) == 1


def _is_agreed(one: Amount, other: Amount, factor: Fraction) -> bool:
    """Say whether an amount may stand for another by agreement: `1 week = 5 days` of work, `1 cm = 5 km` on a map."""
    units = [unit for unit in (read_unit(one.unit), read_unit(other.unit)) if unit is not None and unit.meanings]
    share = _WORKING.get(frozenset(unit.meanings[0][0][0] for unit in units))
    if share is not None and one.value and other.value:
        return share in (other.value / one.value, one.value / other.value)
    is_length = all(measure.dimension in _SOLID for unit in units for measure in unit.measures())
    return is_length and one.value == 1 and factor < 1 <= other.value


_WORKING = {frozenset(["day", "hour"]): 8, frozenset(["week", "day"]): 5, frozenset(["week", "hour"]): 40}
"""Hours of a day of work, days and hours of a week of it."""
LOOSE = Fraction(1, 200)
"""Share by which a converted quantity may be off without being called wrong: it may be rounded on the way."""


def _is_rounded(value: Fraction, right: Expression) -> bool:
    literal = literal_of(right)
    return literal is not None and literal.decimals > 0 and is_rounding(value, literal.value, literal.decimals)


def amount_in(expression: Expression, unit: str) -> Fraction | None:
    """Return a sum of lengths, times, ... in one unit; None where a part has no unit that converts into it."""
    amount = _amount(expression)
    factor = None if amount is None or amount.bare else _factor(amount.unit, unit)
    return None if amount is None or factor is None else amount.value * factor


def unit_words(number: Number) -> str:
    """Return all the words of a number's unit."""
    return number.measure or number.unit


def _has_measure(expression: Expression) -> bool:
    literals = [leaf for leaf in leaves(expression) if isinstance(leaf, Number) and leaf.unit]
    if not literals or len(literals) > MAX_LITERALS:
        return False
    units = [read_unit(unit_words(literal)) for literal in literals]
    return all(unit is not None and unit.is_measure and not unit.scale for unit in units)


def _amount(expression: Expression) -> Amount | None:
    match expression:
        case Number():
            if expression.percent:
                return None
            return Amount(
                value=expression.value, above=_plain(unit_words(expression)), below=(), bare=not expression.unit
            )
        case Unary(op="-"):
            inner = _amount(expression.operand)
            return None if inner is None else replace(inner, value=-inner.value, converted=False)
        case Call(name="compound"):
            return _sum("+", *expression.args)
        case Binary(op="+" | "-"):
            return _sum(expression.op, expression.left, expression.right)
        case Binary(op="/", left=Number(unit="") as top, right=Number() as bottom) if bottom.value:
            return _amount(replace(bottom, value=top.value / bottom.value))  # `1/2 cup`
        case Binary(op="*" | "/"):
            return _product(expression.op, _amount(expression.left), _amount(expression.right))
    return None


def _plain(words: str) -> tuple[str, ...]:
    """Return a unit that holds no fraction as it stands; one that does is kept in one piece all the same."""
    return (words,) if words else ()


def _sum(op: str, *parts: Expression) -> Amount | None:
    amounts = [_amount(part) for part in parts]
    first = amounts[-1]
    if first is None:
        return None
    total, converted, bare, counted = Fraction(0), False, False, True
    for index, (amount, part) in enumerate(zip(amounts, parts, strict=True)):
        factor = None if amount is None else _factor(amount.unit, first.unit)
        if amount is None or factor is None:
            return None
        converted = converted or factor != 1
        bare = bare or amount.bare
        counted = counted and (not amount.bare or amount.counted or not _may_convert(part, amount.unit))
        total += amount.value * factor * (-1 if op == "-" and index else 1)
    return Amount(value=total, above=first.above, below=first.below, bare=bare, counted=counted, converted=converted)


def _may_convert(part: Expression, unit: str) -> bool:
    """Say whether a factor without a unit may change the unit rather than count: the 60 of `60 × 2 hours`."""
    factors_only = [leaf.value for leaf in leaves(part) if isinstance(leaf, Number) and not leaf.unit]
    return any(may_convert(unit, value, by_calendar=False) for value in factors_only)


def _product(op: str, one: Amount | None, other: Amount | None) -> Amount | None:
    if one is None or other is None or (op == "/" and other.value == 0):
        return None
    bare = one.bare or other.bare
    above, below = _split(other)
    if op == "/":
        above, below = below, above
    own_above, own_below = _split(one)
    value = one.value * other.value if op == "*" else one.value / other.value
    converted = one.converted or other.converted
    return Amount(value=value, above=own_above + above, below=own_below + below, bare=bare, converted=converted)


def _split(amount: Amount) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut units such as `km per h` at their bar."""
    above: list[str] = []
    below = list(amount.below)
    for words in amount.above:
        top, _, bottom = words.partition(" per ")
        above.append(top)
        below += [bottom] if bottom else []
    return tuple(above), tuple(below)


def _factor(unit_from: str, unit_to: str) -> Fraction | None:
    """Return the one exact factor between two units; None where there is none, or more than one."""
    one, other = read_unit(unit_from), read_unit(unit_to)
    if one is None or other is None or not one.is_measure or not other.is_measure:
        return None
    if one.nouns and other.nouns and one.nouns != other.nouns:
        return None
    found = factors(one, other)
    return found[0].low if len(found) == 1 and found[0].low == found[0].high else None


def _are_apart(one: Amount, other: Amount) -> bool:
    """Say whether two plain amounts can be no equals: other currencies, or lengths and masses.

    `8 hours = $120` and `1 litre = 1 kg` tell what comes with what, so times, volumes and money against goods are left
    open, unless the same number stands on both sides of a unit that is none of them.
    """
    units = read_unit(one.unit), read_unit(other.unit)
    if (
        len(one.above) != 1
        or one.below
        or one.bare
        or other.bare
        or units[0] is None
        or units[1] is None
        or factors(units[0], units[1])
    ):
        return False
    if _is_money(units[0]) and _is_money(units[1]):
        return one.value == other.value  # `1 euro = 1.32 dollars` is a rate
    kinds = [{measure.dimension for measure in unit.measures()} for unit in units if unit is not None]
    return all(kind <= _SOLID for kind in kinds) and kinds[0] != kinds[1]


_SOLID = {(("[length]", 1),), (("[mass]", 1),), (("[length]", 2),)}
"""Dimensions of which one is never told in the place of another."""


def _is_money(unit: Unit) -> bool:
    return all(len(meaning) == 1 and meaning[0][0].rpartition(" ")[2].isupper() for meaning in unit.meanings)
