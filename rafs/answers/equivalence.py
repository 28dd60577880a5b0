"""Whether two answers to one problem are the same answer: true, false, or not to be told."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rafs.answers.answer_forms import Context, Equation, Form, Group, Option, Quantity, Words, read_form
from rafs.answers.answer_text import MAX_ANSWER_CHARS, normalise_answer
from rafs.grammar.polynomials import proportional, same_quotient
from rafs.grammar.reals import Region
from rafs.grammar.terms import Expression
from rafs.types import Truth

_PERCENT = re.compile(r"percent|per cent|%|proz|pourcent|porcent", re.IGNORECASE)
_ORDERED = re.compile(
    r"\bin (?:that |the |this )?(?:\w+ )?order\b|\border(?:ed)? (?:of|from|pair|triple)|respectively|sequence|\brank"
    r"|ascending|descending",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\bratio\b", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(
    r"\b(?:quel(?:le)?s?|combien|est|les|wie viele?|welche[rs]?|ist|der|cuánt\w+|cuál|quanto|quale|el|los)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"(?:^|[\s(])\(?([A-J])[).:]\s{0,3}([^\n]{1,80}?)(?=\s{1,4}\(?[A-J][).:]\s|\s{0,4}$)", re.MULTILINE
)


def equivalent(a: str, b: str, *, problem: str = "", choices: Mapping[str, str] | None = None) -> Truth:
    """Say whether two answers to the same problem are the same.

    Symmetric and exact. A unit missing on one side is forgiven; two units are converted or unequal. `35%` is
    7/20, and equals `35` only where the problem asks for a percentage. A decimal that is a correct rounding of
    the other side is UNKNOWN, as are answers that are only equal by their wording's meaning. An answer that
    cannot be read equals only its own spelling; a missing one equals nothing.

    Args:
        a: One answer.
        b: The other.
        problem: The problem's text, which decides some conventions.
        choices: Letters and texts of the options, where there are any; else those listed in the problem.
    """
    left, right = normalise_answer(a[:MAX_ANSWER_CHARS]), normalise_answer(b[:MAX_ANSWER_CHARS])
    if not left or not right:
        return Truth.FALSE
    if max(len(a), len(b)) > MAX_ANSWER_CHARS:
        return Truth.TRUE if a.split() == b.split() else Truth.UNKNOWN
    if left == right:
        return Truth.TRUE
    context = read_context(problem, choices)
    first, second = read_form(left, context), read_form(right, context)
    if first is None or second is None:
        return Truth.FALSE
    return _compare(first, second, context)


def needs_algebra(a: str, b: str) -> tuple[Expression, Expression] | None:
    """Return both answers as expressions where exact arithmetic left open whether they are equal."""
    first, second = read_form(a, Context()), read_form(b, Context())
    if not (isinstance(first, Quantity) and isinstance(second, Quantity)):
        return None
    if first.value is not None and second.value is not None:
        return None
    if first.decimals or second.decimals or equivalent(a, b) is not Truth.UNKNOWN:
        return None
    return first.expression, second.expression


def read_context(problem: str, choices: Mapping[str, str] | None = None) -> Context:
    """Read from the problem how its answers are written; looks at its first 4000 characters."""
    problem = problem[:4000]
    listed = {letter: text.strip(" ,;)") for letter, text in _CHOICE.findall(problem)} if "A" in problem else {}
    return Context(
        asks_percent=bool(_PERCENT.search(problem)) if problem.strip() else None,
        ordered=bool(_ORDERED.search(problem)),
        ratio=bool(_RATIO.search(problem)),
        decimal_comma=len(_DECIMAL_COMMA.findall(problem)) >= 2,
        choices=choices or (listed if {"A", "B"} <= listed.keys() else {}),
    )


def _compare(a: Form, b: Form, context: Context) -> Truth:
    verdict = Truth.UNKNOWN
    match a, b:
        case (Option(), _) | (_, Option()):
            verdict = _compare_options(a, b, context)
        case Quantity(), Quantity():
            verdict = _compare_quantities(a, b, context)
        case Region(), Region():
            same = a.parts == b.parts
            verdict = _truth(same) if a.bare_pair == b.bare_pair else _if_equal(same)
        case Equation(), Equation():
            verdict = _if_equal_else_open(proportional(a.form.top, b.form.top))
        case Group(), Group():
            verdict = _compare_groups(a, b, context)
        case Words(), Words():
            verdict = _compare_words(a, b)
        case Group(), Quantity():
            verdict = _compare_with_value(a, b, context)
        case Quantity(), Group():
            verdict = _compare_with_value(b, a, context)
        case (Words(standard=True), Quantity() | Group()) | (Quantity() | Group(), Words(standard=True)):
            verdict = Truth.FALSE
        case (Region(), Quantity()) | (Quantity(), Region()):
            verdict = Truth.FALSE
    return verdict


def _compare_with_value(group: Group, value: Quantity, context: Context) -> Truth:
    """Compare something of several parts with one value."""
    if group.shape == "base":
        return _compare_based(group, value, context)
    if group.shape == "ratio":
        return _compare_ratio(group, value, context)
    if len(group.items) == 1 and group.shape in ("list", "set"):
        return _compare(group.items[0], value, context)
    return Truth.FALSE


def _truth(equal: bool | None) -> Truth:
    return Truth.UNKNOWN if equal is None else Truth.TRUE if equal else Truth.FALSE


def _if_equal(equal: bool) -> Truth:
    """Equal but for a convention is unknown; unequal stays unequal."""
    return Truth.UNKNOWN if equal else Truth.FALSE


def _if_equal_else_open(equal: bool) -> Truth:
    """Equal is proven; unequal forms may still mean the same."""
    return Truth.TRUE if equal else Truth.UNKNOWN


def _compare_options(a: Form, b: Form, context: Context) -> Truth:
    if isinstance(a, Option) and isinstance(b, Option):
        return _truth(a.letter == b.letter)
    option, other = (a, b) if isinstance(a, Option) else (b, a)
    assert isinstance(option, Option)
    text = context.choices.get(option.letter) or option.text
    meant = read_form(text, context) if text else None
    if meant is None or isinstance(meant, Option):
        return Truth.UNKNOWN
    return _compare(meant, other, context)


def _compare_words(a: Words, b: Words) -> Truth:
    if a.text == b.text:
        return Truth.TRUE
    return Truth.FALSE if a.standard and b.standard else Truth.UNKNOWN


def _compare_quantities(a: Quantity, b: Quantity, context: Context) -> Truth:
    scale = _unit_scale(a, b)
    if scale is None:
        return Truth.FALSE
    if scale == 1:
        equal = _same_value(a, b)
    elif a.value is None or b.value is None:
        return Truth.UNKNOWN
    else:
        equal = a.value * scale == b.value
    if a.percent != b.percent and a.unit is None and b.unit is None:
        return _compare_percent(a, b, equal, context)
    if equal is False and scale == 1 and (_rounds_to(a, b) or _rounds_to(b, a)):
        return Truth.UNKNOWN
    doubtful = bool(a.label and b.label and a.label != b.label) or _other_nouns(a, b)
    return _if_equal(True) if equal and doubtful else _truth(equal)


def _same_value(a: Quantity, b: Quantity) -> bool | None:
    if a.value is not None and b.value is not None:
        return a.value == b.value
    return same_quotient(a.normal, b.normal) if a.normal is not None and b.normal is not None else None


def _unit_scale(a: Quantity, b: Quantity) -> Fraction | None:
    """Return what a's value is multiplied with to be in b's unit: 1 where one is missing, None where none fits."""
    if a.unit is None or b.unit is None or not (a.unit.dimension and b.unit.dimension):
        return Fraction(1)
    if a.unit.dimension != b.unit.dimension:
        return None
    return a.unit.factor / b.unit.factor


def _other_nouns(a: Quantity, b: Quantity) -> bool:
    """Say whether both sides name things, and not the same ones."""
    if a.unit is None or b.unit is None or (a.unit.dimension and b.unit.dimension):
        return False
    return not (a.unit.nouns <= b.unit.nouns or b.unit.nouns <= a.unit.nouns)


def _compare_percent(a: Quantity, b: Quantity, equal: bool | None, context: Context) -> Truth:
    """Compare `35%` with a bare number: its value, or its figure where the problem asks for percent."""
    share, bare = (a, b) if a.percent else (b, a)
    if equal or share.value is None or bare.value is None or share.value * 100 != bare.value:
        return _truth(equal)
    if context.asks_percent is None:
        return Truth.UNKNOWN
    return _truth(context.asks_percent)


def _rounds_to(rounded: Quantity, exact: Quantity) -> bool:
    """Say whether a decimal is the correct rounding of a value that has more digits."""
    if not rounded.decimals or rounded.value is None or exact.decimals:
        return False
    if exact.value is not None:
        known: Fraction | float | None = None if exact.value.denominator == 1 else exact.value
    else:
        known = exact.normal.approximate() if exact.normal is not None else None
    return known is not None and abs(Fraction(known) - rounded.value) <= Fraction(1, 2 * 10**rounded.decimals)


def _compare_groups(a: Group, b: Group, context: Context) -> Truth:
    if len(a.items) != len(b.items):
        return Truth.FALSE
    if a.shape == b.shape == "ratio":
        return _truth(_reduced(a) == _reduced(b))
    if {a.shape, b.shape} <= {"list", "set"} and not (context.ordered and a.shape == b.shape == "list"):
        return _compare_unordered(a.items, b.items, context)
    verdict = _all_of([_compare(x, y, context) for x, y in zip(a.items, b.items, strict=True)])
    kinds = {a.shape.partition(" ")[0], b.shape.partition(" ")[0]}
    if a.shape == b.shape or "list" in kinds or (kinds == {"clock"} and "clock" in (a.shape, b.shape)):
        return verdict
    brackets = all(kind[0] in "([" for kind in kinds)
    return Truth.FALSE if brackets or len(kinds) == 1 else _if_equal(verdict is Truth.TRUE)


def _all_of(verdicts: Sequence[Truth]) -> Truth:
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
    return _compare(a, b, context)


def _reduced(ratio: Group) -> list[Fraction]:
    values = [item.value or Fraction(0) for item in ratio.items if isinstance(item, Quantity)]
    total = sum(values)
    return [value / total for value in values] if total else values


def _compare_based(group: Group, value: Quantity, context: Context) -> Truth:
    """Compare `47_8` with a number: its value; its bare digits leave the base open."""
    number, digits = group.items
    if isinstance(digits, Words) and value.value is not None and digits.text == str(value.value):
        return Truth.UNKNOWN
    return _compare(number, value, context)


def _compare_ratio(group: Group, value: Quantity, context: Context) -> Truth:
    """Compare `1:2` with `1/2`: the same where the problem asks for a ratio."""
    parts = _reduced(group)
    if value.value is None or len(parts) != 2 or not parts[1]:
        return Truth.FALSE
    if parts[0] / parts[1] != value.value:
        return Truth.FALSE
    return Truth.TRUE if context.ratio else Truth.UNKNOWN
