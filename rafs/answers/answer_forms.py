"""Reads an answer as one of the `forms`: the kinds are tried in turn, and lists read their parts in the same way."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rafs.answers.answer_maths import is_plain, read_maths
from rafs.answers.answer_text import normalise_answer, with_greek_letters
from rafs.answers.fixed_forms import is_missing, plain_number, read_fixed
from rafs.answers.forms import Ambiguous, Context, Form, Group, Option, Quantity, Region, Relation, Words
from rafs.answers.labels import is_label, is_tuple_label
from rafs.answers.measured import comma_readings, read_quantity
from rafs.answers.regions import is_bare_pair, read_region
from rafs.grammar.terms import Binary

MAX_DEPTH = 4
"""Lists within lists that are read."""
MAX_ITEMS = 40
"""Parts of a list, tuple or matrix that are compared."""
MAX_DETERMINANT = 4
"""Rows of a determinant that is computed."""
_MEMBER = re.compile(r"[A-Za-z](?:_\{?\w\}?)?\s?∈\s?(?=\\\{)")
_RELATION = re.compile(r"<=|>=|!=|\\neq?(?![a-z])|≠|≈|(?<![<>!:=])=(?!=)|<|>")
_MATRIX = re.compile(
    r"(?P<open>[(\[|]|\\\{)?\s?\\begin\{(?P<name>(?:[a-zA-Z]?|small)matrix\*?|array|cases)\}\s?"
    r"(?:\[[lcr]\]|\{[lcr|@{}: ]{1,20}\})?(?P<cells>.*)\\end\{(?P=name)\}\s?(?P<close>[)\]|])?",
    re.DOTALL,
)
_ROWS = re.compile(r"\[\s?\[[^\[\]]{1,300}\](?:\s?,\s?\[[^\[\]]{1,300}\]){1,40}\s?\]")
_BRACKETS = {"(": ")", "[": "]"}
_GROUPED = re.compile(r"\([1-9]\d{0,2}(?:,\d{3})+\)")
_SEPARATOR = re.compile(
    r"(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<digits>(?<=\d),(?=\d))|,\s+(?:and|or)\s|[,;]|\s(?:and|or|&)\s"
    r"|\\(?:quad|qquad)\s"
)
_THOUSANDS = re.compile(r"(?<![\d.])[1-9]\d{0,2}(?:,\d{3})+(?!\d)")


def read_form(text: str, context: Context) -> Form | None:
    """Read an answer; None where nothing is stated."""
    text = normalise_answer(text)
    return None if is_missing(text) else _read(text, context, 0)


def _read(text: str, context: Context, depth: int) -> Form:
    """Try the kinds of answers in turn; what is no other kind is words."""
    words = Words(text=" ".join(text.lower().split()))
    if depth > MAX_DEPTH or not text:
        return words
    found = read_fixed(text, context) or _comma_list(text, context, depth)
    if found is None and not _GROUPED.fullmatch(text):
        found = read_quantity(text, context)
    return found or _interval_or_group(text, context, depth) or _relation(text, context, depth) or words


def _comma_list(text: str, context: Context, depth: int) -> Form | None:
    """Read `3,5`, which is a list or a decimal where the problem does not tell; `0,5` is one in any language."""
    decimal = comma_readings(text)
    if decimal is None or context.decimal_comma:
        return None
    listed = _items("list", text, context, depth)
    assert listed is not None
    is_below_one = text.lstrip("-").startswith("0,")
    if context.decimal_point and not is_below_one:
        return listed
    settled_by = (Group, Quantity) if is_below_one else (Group,)
    return Ambiguous(convention="decimal comma", readings=(listed, decimal), settled_by=settled_by)


def _interval_or_group(text: str, context: Context, depth: int) -> Form | None:
    """Read a region or several values; `(1, 2)` may be either until something else tells."""
    region, group = read_region(text), _group(text, context, depth)
    if region is None or group is None:
        return region or group
    if isinstance(group, Group) and group.shape in ("()", "[]") and (is_bare_pair(text) or group.shape == "[]"):
        return Ambiguous(convention="pair or interval", readings=(region, group), settled_by=(Region, Group))
    return region


def _group(text: str, context: Context, depth: int) -> Form | None:
    """Read matrices, sets, tuples, lists and `a ± b`."""
    matrix, rows = _MATRIX.fullmatch(text), _ROWS.fullmatch(text)
    if matrix:
        lines = [row for row in matrix["cells"].split("\\\\") if row.strip()]
        if matrix["name"] == "cases" or matrix["open"] == "\\{":
            return _items("list", ", ".join(line.replace("&", " ").rstrip(" ,") for line in lines), context, depth)
        name = "vmatrix" if matrix["open"] == matrix["close"] == "|" else matrix["name"]
        return _matrix(name, [line.split("&") for line in lines], context, depth)
    if rows:
        return _matrix("bmatrix", [row.split(",") for row in re.findall(r"\[([^\[\]]+)\]", text)], context, depth)
    text = _MEMBER.sub("", text, count=1)
    if text.startswith("\\{") and text.endswith("\\}"):
        return _items("set", text[2:-2], context, depth)
    if text and text[0] in _BRACKETS and text[-1] in ")]" and _closes_at_end(text):
        is_grouped = _GROUPED.fullmatch(text) is not None
        inner = text[1:-1].replace(",", ", ") if is_grouped else text[1:-1]
        group = _items(text[0] + text[-1], inner, context, depth)
        if is_grouped and group is not None:
            number = plain_number(Fraction(text.strip("()").replace(",", "")))
            return Ambiguous(convention="pair or number", readings=(group, number))
        return group
    if text.count("±") == 1 and text != "±" and len(_split_top(text)) == 1:
        signs = (
            _read(text.replace("±", sign).replace("= +", "= ").replace("=+", "=").lstrip("+ "), context, depth + 1)
            for sign in "+-"
        )
        return Group(shape="list", items=tuple(signs))
    return _items("list", text, context, depth)


def _matrix(name: str, rows: Sequence[Sequence[str]], context: Context, depth: int) -> Form:
    cells = [_read(cell.strip(), context, depth + 1) for row in rows[:MAX_ITEMS] for cell in row[:MAX_ITEMS]]
    group = Group(shape=f"matrix {len(rows[0]) if rows else 0}", items=tuple(cells[:MAX_ITEMS]))
    if name != "vmatrix" or any(len(row) != len(rows) for row in rows) or not 1 < len(rows) <= MAX_DETERMINANT:
        return group
    values = [cell.value for cell in cells if isinstance(cell, Quantity) and cell.value is not None]
    if len(values) < len(cells):
        return group
    return plain_number(_determinant([values[k : k + len(rows)] for k in range(0, len(values), len(rows))]))


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    if len(rows) == 1:
        return rows[0][0]
    return sum(
        ((-1) ** k * rows[0][k] * _determinant([row[:k] + row[k + 1 :] for row in rows[1:]]) for k in range(len(rows))),
        Fraction(0),
    )


def _items(shape: str, inner: str, context: Context, depth: int) -> Form | None:
    """Read the parts of a list; `3/8 or 0.375` is one value said twice."""
    parts = [part.strip() for part in _split_top(inner)]
    if (len(parts) < 2 and shape == "list") or not all(parts) or len(parts) > MAX_ITEMS:
        return None
    read = [(_read(part, context, depth + 1), "±" in part) for part in parts]
    items = tuple(each for item, both in read for each in (item.items if both and isinstance(item, Group) else (item,)))
    if shape == "list" and any(
        isinstance(item, Words) and not item.standard and len(item.text.split()) > 4 for item in items
    ):
        return None
    if shape == "list" and sum(isinstance(item, Words) and not item.standard for item in items) not in (0, len(items)):
        return None
    values = {item.value if isinstance(item, Quantity) else None for item in items}
    if shape == "list" and " or " in inner and len(values) == 1 and None not in values:
        return items[0]
    group = Group(shape=shape, items=tuple(dict.fromkeys(items)) if shape == "set" else items)
    mixed = _mixed_number(items) if shape == "list" and re.search(r"\sand\s", inner) else None
    if mixed is not None:
        return Ambiguous(convention="and", readings=(group, mixed))
    return group


def _mixed_number(items: Sequence[Form]) -> Quantity | None:
    """Read `4 and 1/2` as a mixed number."""
    match items:
        case [
            Quantity(value=Fraction() as whole, unit=None),
            Quantity(value=Fraction() as part, fraction=True) as last,
        ]:
            if whole.denominator == 1 and 0 < part < 1 and not last.percent:
                return replace(plain_number(whole + part), unit=last.unit)
    return None


def _closes_at_end(text: str) -> bool:
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and at < len(text) - 1:
            return False
    return depth == 0


def _split_top(text: str) -> list[str]:
    """Split at commas, semicolons and `and` / `or` that stand in no bracket.

    A comma inside `1,234` is none of them where the text has others: `1,000, 2,000` lists two numbers, `1,2,3` three.
    """
    numbers = list(_THOUSANDS.finditer(text))
    inside = {at for number in numbers for at in range(*number.span())}
    depth, marks = 0, []
    for mark in _SEPARATOR.finditer(text):
        if mark["open"] or mark["close"]:
            depth += 1 if mark["open"] else -1
        elif depth == 0:
            marks.append(mark)
    apart = [mark for mark in marks if mark.start() not in inside]
    spaced = any(not mark["digits"] for mark in apart)
    if _THOUSANDS.fullmatch(text) or (apart and not spaced and len(numbers) < len(apart) + 1):
        apart = marks
    ends = [mark.end() for mark in apart]
    return [text[a:b] for a, b in zip([0, *ends], [*(mark.start() for mark in apart), len(text)], strict=True)]


def _relation(text: str, context: Context, depth: int) -> Form | None:
    """Read `x = 3` as the value 3 with its label, `2 * 3 = 6` as 6, others as a difference beside 0."""
    signs, sides = _sides(text)
    if not signs:
        return None
    if all(sign in "=≈" for sign in signs) and all(sides):
        named = _named_value(sides, context, depth)
        if named is not None:
            return named
        left, right = (read_quantity(side, context) for side in (sides[0], sides[-1]))
        if (
            isinstance(left, Quantity)
            and isinstance(right, Quantity)
            and left.value is not None
            and left.value == right.value
        ):
            return right
    if len(sides) != 2 or not all(sides) or signs == ["≈"]:
        return None
    sign = "!=" if signs[0][0] in "\\≠" else signs[0]
    first, second = (read_maths(side) for side in (sides if sign[0] != "<" else sides[::-1]))
    if first is None or second is None or not (is_plain(first) and is_plain(second)):
        return None
    return Relation(sign=sign.replace("<", ">"), difference=Binary(op="-", left=first, right=second))


def _sides(text: str) -> tuple[list[str], list[str]]:
    """Return the relation signs of a text that stand in no bracket, and what stands around them."""
    signs: list[str] = []
    sides: list[str] = []
    begin = depth = at = 0
    for sign in _RELATION.finditer(text):
        between = text[at : sign.start()]
        depth += sum(map(between.count, "([{")) - sum(map(between.count, ")]}"))
        at = sign.end()
        if depth == 0:
            signs.append(sign.group())
            sides.append(text[begin : sign.start()].strip())
            begin = at
    return signs, [*sides, text[begin:].strip()]


def _named_value(sides: Sequence[str], context: Context, depth: int) -> Form | None:
    """Read `x = 3`, `3 = x`, `A = pi r^2 = 9 pi`, `(x, y) = (1, 2)`."""
    if is_tuple_label(sides[0]):
        return _read(sides[-1], context, depth + 1)
    if len(sides) == 2 and re.fullmatch(r"[A-Za-z]", sides[1]) and not re.search("[A-Za-z]", sides[0]):
        sides = sides[::-1]
    if not is_label(sides[0]):
        return None
    inner = _read(sides[-1], context, depth + 1)
    if isinstance(inner, Option) and len(sides[0]) == 1 and inner.letter not in context.choices:
        inner = read_quantity(sides[-1], context) or inner  # `a = b` names no option
    label = with_greek_letters(sides[0].replace(" ", ""), bare=True)
    if isinstance(inner, Quantity):
        return replace(inner, label=label)
    if isinstance(inner, Group) and inner.shape == "list":
        labelled = (replace(item, label=label) if isinstance(item, Quantity) else item for item in inner.items)
        return replace(inner, items=tuple(labelled))
    return inner if not isinstance(inner, Words) or inner.standard or len(inner.text.split()) < 4 else None
