"""Compares two forms of answers: each pair of kinds by its own rule, what means two things in all its readings."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rafs.answers.answer_forms import read_form
from rafs.answers.forms import (
    Ambiguous,
    Context,
    Date,
    Form,
    Group,
    Moment,
    Option,
    Quantity,
    Region,
    Relation,
    Words,
)
from rafs.answers.identities import free_names
from rafs.answers.quantity_comparison import compare_quantities, truth_of
from rafs.answers.regions import same_region
from rafs.answers.relations import as_ray, as_relation, compare_relations
from rafs.answers.wordings import compare_words
from rafs.grammar.expressions import show
from rafs.grammar.terms import Variable
from rafs.types import Truth

_HALF_DAY = 12 * 3600
_BASES = frozenset("base bases binary octal ternary decimal hexadecimal notation numeral system".split())
"""Words of a problem that asks for numbers in another base."""


def compare_forms(a: Form, b: Form, context: Context) -> Truth:
    """Compare two answers to one problem; symmetric."""
    match a, b:
        case (Ambiguous(), _) | (_, Ambiguous()):
            return _compare_readings(a, b, context)
        case (Option(), _) | (_, Option()):
            return _compare_options(a, b, context)
        case Quantity(), Quantity():
            return _compare_equations(a, b) or compare_quantities(a, b, context)
        case Words(), Words():
            return _by_choice(a, b, context) or compare_words(a, b, context)
        case Region(), Region():
            return truth_of(same_region(a, b))
        case (Relation(), Relation() | Quantity()) | (Quantity(), Relation()):
            return _compare_relations(a, b)
        case (Relation() as relation, Region() as region) | (Region() as region, Relation() as relation):
            ray = as_ray(relation)
            return Truth.UNKNOWN if ray is None else truth_of(same_region(ray, region))
        case Moment(), Moment():
            return _compare_moments(a, b)
        case Date(), Date():
            return _compare_dates(a, b)
        case Group(), Group():
            return _compare_groups(a, b, context)
        case (Group() as group, other) | (other, Group() as group) if not isinstance(other, Words):
            return _compare_with_one(group, other, context)
    return _other_kinds(a, b)


def _other_kinds(a: Form, b: Form) -> Truth:
    """Compare two kinds that are never the same: a number and a region, a time and a date; words may be anything."""
    kinds = {type(a), type(b)}
    if Words in kinds:
        words = a if isinstance(a, Words) else b
        other = b if words is a else a
        assert isinstance(words, Words)
        if not words.standard or isinstance(other, Relation):
            return Truth.UNKNOWN
        zero = isinstance(other, Quantity) and other.value == 0
        return Truth.UNKNOWN if zero and words.text == "none" else Truth.FALSE
    if kinds == {Moment, Quantity}:  # `1:30` may be a duration
        quantity = a if isinstance(a, Quantity) else b
        return Truth.FALSE if isinstance(quantity, Quantity) and quantity.unit is None else Truth.UNKNOWN
    return Truth.UNKNOWN if Relation in kinds else Truth.FALSE


def _compare_readings(a: Form, b: Form, context: Context) -> Truth:
    """Compare what may be read in several ways: what all pairs of readings say, else unknown."""
    if isinstance(a, Ambiguous) and isinstance(b, Ambiguous) and a.convention == b.convention:
        pairs = list(zip(a.readings, b.readings, strict=True))
    else:
        pairs = [(one, other) for one in _readings(a, b) for other in _readings(b, a)]
    found = {compare_forms(one, other, context) for one, other in pairs}
    return found.pop() if len(found) == 1 else Truth.UNKNOWN


def _readings(form: Form, other: Form) -> Sequence[Form]:
    """Return the readings of a form; only those of the other's kind, where its kind settles it."""
    if not isinstance(form, Ambiguous):
        return (form,)
    others = other.readings if isinstance(other, Ambiguous) else (other,)
    settling = [one for one in others if isinstance(one, form.settled_by)]
    return [one for one in form.readings if any(_is_alike(one, each) for each in settling)] or form.readings


def _is_alike(a: Form, b: Form) -> bool:
    return type(a) is type(b) and not (
        isinstance(a, Group) and isinstance(b, Group) and (a.shape == "ratio") != (b.shape == "ratio")
    )


def _compare_options(a: Form, b: Form, context: Context) -> Truth:
    if isinstance(a, Option) and isinstance(b, Option):
        return truth_of(a.letter == b.letter)
    option, other = (a, b) if isinstance(a, Option) else (b, a)
    assert isinstance(option, Option)
    if isinstance(other, Group):
        return (
            Truth.FALSE
            if any(isinstance(item, Option) for item in other.items) and len(other.items) > 1
            else Truth.UNKNOWN
        )
    if isinstance(other, Quantity) and other.label and isinstance(other.expression, Variable) and not context.choices:
        return truth_of(other.expression.name.upper() == option.letter)  # `x = B` beside `B`
    meant = _meaning(option, context)
    if isinstance(other, Words) and isinstance(meant, Words):
        chosen = _chosen(other, context)
        return truth_of(chosen == option.letter) if chosen else compare_forms(meant, other, context)
    return Truth.UNKNOWN if meant is None or isinstance(meant, Option) else compare_forms(meant, other, context)


def _meaning(option: Option, context: Context) -> Form | None:
    text = context.choices.get(option.letter) or option.text
    return read_form(text, context) if text else None


def _chosen(words: Words, context: Context) -> str:
    """Return the letter of the option that is worded so."""
    return next(
        (letter for letter, text in context.choices.items() if " ".join(text.lower().split()) == words.text), ""
    )


def _by_choice(a: Words, b: Words, context: Context) -> Truth | None:
    """Compare the options that two wordings name; None where one of them names none."""
    first, second = _chosen(a, context), _chosen(b, context)
    return truth_of(first == second) if first and second else None


def _compare_equations(a: Quantity, b: Quantity) -> Truth | None:
    """Compare `y = x/2` with `x = 2y`; None where they name the same, or nothing but numbers."""
    if not a.label or not b.label or a.label == b.label or not (free_names(a.expression) | free_names(b.expression)):
        return None
    first, second = as_relation(a), as_relation(b)
    return Truth.UNKNOWN if first is None or second is None else compare_relations(first, second)


def _compare_relations(a: Form, b: Form) -> Truth:
    first, second = (as_relation(side) if isinstance(side, Quantity) else side for side in (a, b))
    if not (isinstance(first, Relation) and isinstance(second, Relation)):
        return Truth.UNKNOWN
    return compare_relations(first, second)


def _compare_moments(a: Moment, b: Moment) -> Truth:
    """Compare times of day; a half of the day that one side leaves out is forgiven."""
    if a.half_known and b.half_known:
        return truth_of(a.seconds == b.seconds)
    if a.seconds % _HALF_DAY != b.seconds % _HALF_DAY:
        return Truth.FALSE
    return Truth.TRUE


def _compare_dates(a: Date, b: Date) -> Truth:
    pairs = [(a.month, b.month), (a.day, b.day), (a.year, b.year)]
    if any(x is not None and y is not None and x != y for x, y in pairs):
        return Truth.FALSE
    return Truth.TRUE if a == b else Truth.UNKNOWN


def _compare_with_one(group: Group, other: Form, context: Context) -> Truth:
    """Compare something of several parts with one thing."""
    if isinstance(other, Quantity) and group.shape == "base":
        return _compare_based(group, other, context)
    if isinstance(other, Quantity) and group.shape == "ratio":
        return _compare_ratio(group, other, context)
    if isinstance(other, Region) and group.shape == "list" and all(map(_may_be_region, group.items)):
        return Truth.UNKNOWN  # intervals are listed that may be meant as their union
    if len(group.items) == 1 and group.shape in ("list", "set", "()", "[]", "matrix 1"):
        return compare_forms(group.items[0], other, context)
    if isinstance(other, Relation) or (isinstance(other, Moment) and group.shape == "ratio"):
        return Truth.UNKNOWN
    return Truth.FALSE


def _may_be_region(form: Form) -> bool:
    return isinstance(form, Region) or (isinstance(form, Ambiguous) and any(map(_may_be_region, form.readings)))


def _compare_groups(a: Group, b: Group, context: Context) -> Truth:
    if a.shape == b.shape == "ratio":
        return truth_of(_reduced(a) == _reduced(b))
    if a.shape == b.shape == "base":
        return compare_forms(a.items[0], b.items[0], context)  # by their values
    a, b = _by_label(a), _by_label(b)
    if len(a.items) != len(b.items):
        return Truth.FALSE
    if (names := _names_of(a.items)) and names == _names_of(b.items):
        a, b = (replace(group, shape="labelled", items=tuple(sorted(group.items, key=_noun))) for group in (a, b))
    if {a.shape, b.shape} <= {"list", "set"} and not (context.ordered and a.shape == b.shape == "list"):
        return _compare_unordered(a.items, b.items, context)
    verdict = all_of([compare_forms(x, y, context) for x, y in zip(a.items, b.items, strict=True)])
    if verdict is Truth.UNKNOWN and a.items != b.items and set(a.items) == set(b.items):
        verdict = Truth.FALSE  # the same things in another order
    shapes = {a.shape, b.shape}
    if shapes == {"[]", "()"} and len(a.items) == 2:
        return Truth.FALSE  # only intervals of two ends are told apart by their brackets
    if len(shapes) == 1 or shapes <= {"list", "()", "labelled"}:
        return verdict
    if all("matrix" in shape for shape in shapes):
        return Truth.FALSE  # of other numbers of columns
    if shapes == {"list", "[]"} and verdict is Truth.TRUE:
        return Truth.TRUE  # a list as programs write it
    mixed = shapes <= {"list", "set", "[]", "()", "labelled"} or any("matrix" in shape for shape in shapes)
    verdict = _compare_unordered(a.items, b.items, context) if mixed else verdict
    return Truth.FALSE if verdict is Truth.FALSE else Truth.UNKNOWN


def _by_label(group: Group) -> Group:
    """Sort `y = 2, x = 1` by its names: an ordered tuple; several in turn where all the names come again."""
    labels = [item.label for item in group.items if isinstance(item, Quantity) and item.label]
    names = sorted(set(labels))
    if group.shape != "list" or len(labels) < len(group.items) or len(names) < 2:
        return group
    rows = [group.items[at : at + len(names)] for at in range(0, len(labels), len(names))]
    if any(sorted(labels[at : at + len(names)]) != names for at in range(0, len(labels), len(names))):
        return group
    sorted_rows = [
        Group(shape="labelled", items=tuple(sorted(row, key=lambda item: getattr(item, "label", "")))) for row in rows
    ]
    return sorted_rows[0] if len(rows) == 1 else Group(shape="list", items=tuple(sorted_rows))


def _names_of(items: Sequence[Form]) -> list[str]:
    """Return what each part counts, in order, where every part counts something of its own: apples and pears."""
    names = sorted(map(_noun, items))
    return names if all(names) and len(set(names)) == len(names) > 1 else []


def _noun(form: Form) -> str:
    unit = form.unit if isinstance(form, Quantity) else None
    return " ".join(sorted(unit.nouns)) if unit is not None and not unit.is_measure else ""


def all_of(verdicts: Sequence[Truth]) -> Truth:
    """Return TRUE where all are, FALSE where any is."""
    if Truth.FALSE in verdicts:
        return Truth.FALSE
    return Truth.UNKNOWN if Truth.UNKNOWN in verdicts else Truth.TRUE


def _compare_unordered(a: Sequence[Form], b: Sequence[Form], context: Context) -> Truth:
    """Match items one to one; FALSE where an item has no possible partner."""
    table = [[_compare_item(x, y, context) for y in b] for x in a]
    if any(all(cell is Truth.FALSE for cell in line) for line in [*table, *zip(*table, strict=True)]):
        return Truth.FALSE
    free = set(range(len(b)))
    for line in table:
        partner = next((j for j in sorted(free) if line[j] is Truth.TRUE), None)
        if partner is None:
            return Truth.UNKNOWN if any(Truth.UNKNOWN in line for line in table) else Truth.FALSE
        free.discard(partner)
    return Truth.TRUE


def _compare_item(a: Form, b: Form, context: Context) -> Truth:
    """Compare two parts of a list; `x = 3` is not `y = 3` there."""
    if isinstance(a, Quantity) and isinstance(b, Quantity) and a.label and b.label and a.label != b.label:
        return Truth.FALSE
    return compare_forms(a, b, context)


def _reduced(ratio: Group) -> list[Fraction]:
    values = [item.value or Fraction(0) for item in ratio.items if isinstance(item, Quantity)]
    total = sum(values)
    return [value / total for value in values] if total else values


def _compare_based(group: Group, value: Quantity, context: Context) -> Truth:
    """Compare `47_8` with a number: its value; where the problem speaks of bases, bare digits may be in that one."""
    number, digits = group.items
    same_digits = isinstance(digits, Words) and value.value is not None and digits.text == show(value.value)
    if same_digits and _BASES & context.words:
        return Truth.UNKNOWN
    return compare_forms(number, value, context)


def _compare_ratio(group: Group, value: Quantity, context: Context) -> Truth:
    """Compare `1:2` with `1/2`: the same where the problem asks for a ratio."""
    parts = _reduced(group)
    if value.value is None or len(parts) != 2 or not parts[1]:
        return Truth.FALSE
    if parts[0] / parts[1] != value.value:
        return Truth.FALSE
    return Truth.TRUE if context.ratio else Truth.UNKNOWN
