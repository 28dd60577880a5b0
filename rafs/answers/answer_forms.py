"""What kind of thing an answer is: a quantity, an option, a list, a set of reals, an equation, or words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from rafs.answers.answer_text import normalise_answer
from rafs.grammar.expressions import evaluate, parse_expression
from rafs.grammar.number_words import read_number_words
from rafs.grammar.polynomials import Quotient, normal_form
from rafs.grammar.reals import Region, read_region
from rafs.grammar.terms import Binary, Expression, Number, leaves
from rafs.answers.units import Unit, is_known_unit, read_unit

MAX_DEPTH = 4
"""Lists within lists that are read."""
MAX_ITEMS = 40
"""Parts of a list, tuple or matrix that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the problem says about how answers are to be read."""

    asks_percent: bool | None = None
    """None where there is no problem text to tell."""
    ordered: bool = False
    ratio: bool = False
    decimal_comma: bool = False
    choices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number or an expression, with its unit."""

    expression: Expression
    value: Fraction | None
    """Exact value; None where it is not a plain number."""
    normal: Quotient | None
    unit: Unit | None = None
    percent: bool = False
    decimals: int = 0
    """Digits behind the decimal point of a plain decimal, else 0."""
    label: str = ""
    """`x` of `x = 3`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A letter, perhaps with the option's text."""

    letter: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Text that is no mathematics, or none that is read here."""

    text: str
    standard: bool = False
    """True for answers with a fixed meaning: yes, no, no solution, infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Several values."""

    shape: str
    """`list`, `set`, `()`, `[)`, `ratio`, `clock`, `date`, `matrix 2`, ..."""
    items: tuple["Form", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Equation:
    """An equation that does not merely name a value; `form` is left side minus right side."""

    form: Quotient


Form = Quantity | Option | Words | Group | Equation | Region

_STANDARD = {
    name: meaning
    for meaning, names in {
        "yes": "yes|true|correct",
        "no": "no|false|incorrect",
        "no solution": "no solution|no solutions|none|∅|{}|\\{\\}|no real solution|no real solutions|empty set"
        "|does not exist|dne|undefined|no such number|impossible|no answer|there is no solution|there are no solutions",
        "infinity": "\\infty|+\\infty|infinity|infinite",
        "-infinity": "-\\infty|-infinity|- \\infty",
        "infinitely many": "infinitely many|infinitely many solutions|infinite solutions",
        "all reals": "all real numbers|all reals|r|(-\\infty, \\infty)|(-\\infty,\\infty)",
    }.items()
    for name in names.split("|")
}
_OPTION = re.compile(r"(?:\((?P<a>[A-Za-z])\)|(?P<b>[A-Za-z])(?P<mark>[).:]?))(?:\s+(?P<text>\S.*))?")
_LABEL = re.compile(r"[A-Za-z\\][A-Za-z0-9_{}\\' ]{0,40}(?:\([A-Za-z, ]{1,12}\))?")
_EQUALS = re.compile(r"(?<![<>!:])=(?!=)")
_MATRIX = re.compile(r"\\begin\{([a-zA-Z]?matrix|array)\}(?:\{[lcr|]{1,20}\})?(.*)\\end\{\1\}", re.DOTALL)
_BRACKETS = {"(": ")", "[": "]"}
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?([ap])\.?\s?m\.?)?", re.IGNORECASE)
_RATIO = re.compile(r"(\d+(?:\.\d+)?)(?:\s?:\s?(\d+(?:\.\d+)?)){1,4}|(\d+)\s+to\s+(\d+)")
_DATE = re.compile(r"(\d{1,2})[/](\d{1,2})[/](\d{4})")
_BASED = re.compile(r"([0-9A-F]{1,60})_\{?(\d{1,2})\}?")
_UNIT_TAIL = re.compile(r"(?<=[\d)}.\]])(?P<gap>\s?)(?P<unit>[A-Za-z°²³¢€£][A-Za-z°²³. /-]{0,80}(?:\^\{?[23]\}?)?)$")
_CURRENCY = re.compile(r"(-?)\s?([$€£¥₹]|USD|EUR|GBP)\s?(?=[-\d.\\(])")
_DECIMAL = re.compile(r"-?\s?\d{0,40}\.(\d{1,40})")
_SPACED_THOUSANDS = re.compile(r"-?\d{1,3}(?: \d{3})+(?:\.\d+)?")


def read_form(text: str, context: Context) -> Form | None:
    """Read an answer; None where nothing is stated."""
    text = normalise_answer(text)
    return _read(text, context, 0) if text else None


def _read(text: str, context: Context, depth: int) -> Form:
    """Try the kinds of answers in turn; what is no other kind is words."""
    words = Words(text=" ".join(text.lower().split()))
    if depth > MAX_DEPTH:
        return words
    plain = _fixed(text) or _special(text, context) or _quantity(text, context) or read_region(text)
    return plain or _group(text, context, depth) or _equation(text, context, depth) or _number_words(text) or words


def _fixed(text: str) -> Form | None:
    """Read answers with a fixed meaning, and the letters of options."""
    standard = _STANDARD.get(text.lower())
    if standard:
        return Words(text=standard, standard=True)
    option = _OPTION.fullmatch(text)
    if option and (not option["text"] or option["a"] or option["mark"]):
        return Option(letter=(option["a"] or option["b"]).upper(), text=option["text"] or "")
    return None


def _special(text: str, context: Context) -> Form | None:
    """Read clock times, ratios, dates and numbers of another base."""
    clock, ratio, date, based = (form.fullmatch(text) for form in (_CLOCK, _RATIO, _DATE, _BASED))
    if date:
        return Group(shape="date", items=tuple(_number(Fraction(part)) for part in date.groups()))
    if ratio and (context.ratio or not clock):
        return Group(shape="ratio", items=tuple(_number(Fraction(part)) for part in re.findall(r"[\d.]+", text)))
    if clock:
        items = [_number(Fraction(part or 0)) for part in clock.groups()[:3]]
        return Group(shape=f"clock {(clock[4] or '').lower()}".strip(), items=tuple(items))
    if based and 2 <= int(based[2]) <= 36:
        try:
            return Group(shape="base", items=(_number(Fraction(int(based[1], int(based[2])))), Words(text=based[1])))
        except ValueError:
            return None
    return None


def _number(value: Fraction) -> Quantity:
    expression = Number(value=value)
    return Quantity(expression=expression, value=value, normal=normal_form(expression))


def _quantity(text: str, context: Context) -> Quantity | None:
    """Read `[currency] expression [unit]`."""
    unit_text = ""
    currency = _CURRENCY.match(text)
    if currency:
        unit_text, text = currency[2], currency[1] + text[currency.end() :]
    tail = _UNIT_TAIL.search(text)
    if tail and _is_unit(tail["gap"], tail["unit"]):
        unit_text, text = f"{unit_text or ''} {tail['unit']}", text[: tail.start()]
    percent = text.endswith("%") or unit_text.strip().startswith("percent")
    if percent:
        text, unit_text = text.removesuffix("%").strip(), unit_text.replace("percent", "").strip()
    if context.decimal_comma and re.fullmatch(r"-?\d{1,9},\d{1,6}", text):
        text = text.replace(",", ".")
    if _SPACED_THOUSANDS.fullmatch(text):
        text = text.replace(" ", "")
    expression = parse_expression(text) if "±" not in text and "%" not in text else None
    if expression is None or not _is_plain(expression):
        return None
    if percent:
        expression = _percentage(expression)
    value, decimal = evaluate(expression), _DECIMAL.fullmatch(text)
    return Quantity(
        expression=expression, value=value, normal=normal_form(expression), unit=read_unit(unit_text),
        percent=percent, decimals=len(decimal[1]) + 2 * percent if decimal else 0,
    )  # fmt: skip


def _is_plain(expression: Expression) -> bool:
    """Say whether the reader took no word of the text for a unit: units are read here, not skipped."""
    return not any(isinstance(leaf, Number) and (leaf.unit or leaf.percent) for leaf in leaves(expression))


def _percentage(expression: Expression) -> Expression:
    return Binary(op="/", left=expression, right=Number(value=Fraction(100)))


def _is_unit(gap: str, unit: str) -> bool:
    """Say whether the letters behind a number are its unit and not a variable or function."""
    first = re.split(r"[ /^.]", unit.strip(), maxsplit=1)[0]
    if unit[0] in "°¢€£" or (is_known_unit(first) and (len(first) > 1 or gap or first in "mgLl")):
        return True
    words = re.findall(r"[A-Za-z]+", unit)
    plain = all(len(word) > 1 or word == "a" for word in words) and not {
        "pi",
        "and",
        "or",
        "to",
        "mod",
    } & set(words)
    return bool(gap) and plain


def _group(text: str, context: Context, depth: int) -> Form | None:
    """Read matrices, sets, tuples, intervals, lists and `a ± b`."""
    matrix = _MATRIX.fullmatch(text)
    if matrix:
        rows = [row.split("&") for row in re.split(r"\\\\", matrix[2]) if row.strip()]
        cells = [_read(cell.strip(), context, depth + 1) for row in rows[:MAX_ITEMS] for cell in row[:MAX_ITEMS]]
        return Group(shape=f"matrix {len(rows[0]) if rows else 0}", items=tuple(cells[:MAX_ITEMS]))
    if text.startswith("\\{") and text.endswith("\\}"):
        return _items("set", text[2:-2], context, depth)
    if text and text[0] in _BRACKETS and text[-1] in ")]" and _closes_at_end(text):
        return _items(text[0] + text[-1], text[1:-1], context, depth)
    if text.count("±") == 1 and text != "±":
        signs = (_read(text.replace("±", sign).lstrip("+ "), context, depth + 1) for sign in "+-")
        return Group(shape="list", items=tuple(signs))
    return _items("list", text, context, depth)


def _items(shape: str, inner: str, context: Context, depth: int) -> Form | None:
    """Read the parts of a list; `3/8 or 0.375` is one value said twice."""
    parts = [part.strip() for part in _split_top(inner)]
    if (len(parts) < 2 and shape == "list") or not all(parts) or len(parts) > MAX_ITEMS:
        return None
    items = tuple(_read(part, context, depth + 1) for part in parts)
    if shape == "list" and any(isinstance(item, Words) and not item.standard for item in items):
        return None
    values = {item.value if isinstance(item, Quantity) else None for item in items}
    if shape == "list" and " or " in inner and len(values) == 1 and None not in values:
        return items[0]
    return Group(shape=shape, items=items)


def _closes_at_end(text: str) -> bool:
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and at < len(text) - 1:
            return False
    return depth == 0


def _split_top(text: str) -> list[str]:
    """Split at commas, semicolons and `and` / `or` that stand in no bracket."""
    parts, begin, depth = [], 0, 0
    for mark in re.finditer(r"[(\[{]|[)\]}]|,\s+(?:and|or)\s|[,;]|\s(?:and|or)\s", text):
        sign = mark.group()
        if sign in "([{" or sign in ")]}":
            depth += 1 if sign in "([{" else -1
        elif depth == 0:
            parts.append(text[begin : mark.start()])
            begin = mark.end()
    return [*parts, text[begin:]]


def _equation(text: str, context: Context, depth: int) -> Form | None:
    """Read `x = 3` as the value 3 with its label, `2 * 3 = 6` as 6, others as left minus right."""
    if not _EQUALS.search(text):
        return None
    sides = [side.strip() for side in _EQUALS.split(text)]
    if _LABEL.fullmatch(sides[0]) and sides[-1]:
        inner = _read(sides[-1], context, depth + 1)
        if isinstance(inner, Quantity):
            return replace(inner, label=sides[0].replace(" ", ""))
        return inner if not isinstance(inner, Words) else None
    left, right = (_quantity(side, context) for side in (sides[0], sides[-1]))
    if left and right and left.value is not None and left.value == right.value:
        return right
    both = parse_expression(f"({sides[0]}) - ({sides[-1]})") if len(sides) == 2 else None
    form = normal_form(both) if both is not None and _is_plain(both) else None
    return Equation(form=form) if form is not None else None


def _number_words(text: str) -> Quantity | None:
    """Read `seven`, `forty-two dollars`."""
    spelled = read_number_words(text, 0) if text[:1].isalpha() else None
    if spelled is None:
        return None
    rest = text[spelled[1] :].strip()
    if rest and not re.fullmatch(r"[A-Za-z ]{1,60}", rest):
        return None
    value = _number(spelled[0])
    return Quantity(expression=value.expression, value=value.value, normal=value.normal, unit=read_unit(rest))
