r"""Reads one quantity: `$7.50`, `2 hours 15 minutes`, `35%`, `forty-two dollars`, `3 km/h`, `\frac{x+1}{2}`."""

import re
from dataclasses import replace
from fractions import Fraction

from rafs.answers.answer_maths import read_maths, readings
from rafs.answers.fixed_forms import plain_number
from rafs.answers.forms import Ambiguous, Context, Form, Quantity
from rafs.grammar.expressions import evaluate
from rafs.grammar.number_words import read_number_words
from rafs.grammar.terms import Binary, Expression, Number
from rafs.grammar.units import Unit, conversion, is_known_unit, read_unit

_UNIT_TAIL = re.compile(
    r"(?:(?<=[\d)}.\]!])|(?<=\\pi)(?=\s)|(?<=π))(?P<gap>\s?)-?"
    r"(?P<unit>[A-Za-z°¢€£$µμΩ](?:[A-Za-z°µμΩ. /·*'-]|\^\{?-?\d\}?|\\cdot\s?|(?<=[A-Za-z])[23]){0,80})$"
)
_ANGLE = re.compile(r"(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
"""A function of an angle, whose degrees belong to it."""
_CURRENCY = re.compile(
    r"(?P<sign>-?)\s?(?P<name>US\$|[$€£¥₹₩]|USD|EUR|GBP|CAD|AUD|Rs\.?|INR)\s?(?P<inner>-?)(?=[\d.\\(])"
)
_PERCENT = re.compile(r"\s?(?:%|percent(?:age points?)?|per cent|pct\.?)$", re.IGNORECASE)
_MAGNITUDE = re.compile(
    r"(?P<number>-?[\d.,]+)\s?(?P<word>hundred|thousand|million|billion|trillion)s?\b(?P<rest>.*)", re.I
)
_LETTER_MAGNITUDE = re.compile(r"(?P<number>-?[\d.,]+)\s?(?P<word>[kKMB]|bn|mn)\b(?P<rest>)")
_KILO = re.compile(r"(?P<number>\d[\d,]{0,12}(?:\.\d{1,6})?)[kK]")
_FRACTION_UNIT = re.compile(
    r"(?P<number>[\d.,]{1,20}) ?\\frac\{ ?(?P<above>[A-Za-z]{1,12}(?:\^\{?\d\}?)?) ?\}"
    r"\{ ?(?P<below>[A-Za-z]{1,12}(?:\^\{?\d\}?)?) ?\}"
)
_RATE = re.compile(r"(?P<number>-?[\d.,]{1,20}) ?(?P<per>/ ?(?P<unit>[A-Za-z]{1,12}))")
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "k": 10**3,
           "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9}  # fmt: skip
_DOZENS = re.compile(r"(?P<number>.{1,30}?)\s(?P<word>dozens?)\b(?P<rest>.{0,60})", re.IGNORECASE)
_REPEATING = re.compile(r"\d\.\d*\s?(?:\\overline|\\bar|\\dot|\(\d+\)$)")
_DECIMAL = re.compile(r"-?\s?(?:\d{1,40}|\d{1,3}(?:,\d{3}){1,9})?\.(\d{1,40})")
_SPACED_THOUSANDS = re.compile(r"-?\d{1,3}(?: \d{3})+(?:[.,]\d+)?")
_EUROPEAN = re.compile(r"-?\d{1,3}(?:[. ]\d{3})+,\d{1,12}|-?\d{1,3}(?:\.\d{3}){2,}")
_COMMA = re.compile(r"-?(?:\d{1,9},(?:\d{1,2}|\d{4,12})|0,\d{3})")
_POINTED = re.compile(r"-?[1-9]\d{0,2}\.\d{3}")
_IMPROPER = re.compile(
    r"(?P<sign>-?)(?P<whole>\d{1,6})(?:\s(?P<a>\d{1,6})/(?P<b>\d{1,6})|\s?\\frac\s?\{(?P<c>\d{1,6})\}\{(?P<d>\d{1,6})\})"
)
_PART = re.compile(
    r"\s?(?:,|and\b|&)?\s?(?P<number>\d[\d.,]{0,20}|\d{1,4} \d{1,3}/\d{1,3})(?:\s?|-)(?P<unit>[A-Za-z°]{1,12}\.?)"
)
_FEET = re.compile(r"(\d{1,4})\s?'\s?(\d{1,2}(?:\.\d+)?)\s?\"?")
_DOLLARS_CENTS = re.compile(r"\$\s?(\d[\d,]{0,20}) and (\d{1,2}) cents?")
_MINUS_WORD = re.compile(r"(?:negative|minus)\s", re.IGNORECASE)
_AND_PART = re.compile(
    r"\s?and (?:a |one )?(?P<part>half|quarter|third)\b|\s?and (?P<n>one|two|three)[ -](?P<of>thirds?|quarters?)\b"
)
_OF_A = re.compile(r"^(?:of )?an? ")
EXACT_DECIMALS = 99
"""Decimals of a number that repeats its digits for ever, and so is rounded nowhere."""
_PARTS = {"half": Fraction(1, 2), "quarter": Fraction(1, 4), "third": Fraction(1, 3)}
_NO_UNITS = frozenset("pi and or to mod".split())


def read_quantity(text: str, context: Context) -> Form | None:
    """Read a number or expression with its unit; None where the text is none."""
    special = _mixed_units(text) or _dozens(text, context) or _improper(text) or _comma(text, context)
    special = special or _thousands(text) or _unit_fraction(text, context)
    if special is not None:
        return special
    plain, unit_text, percent = _taken_apart(text)
    if (unit_text.strip() or percent) and _COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")  # one amount with one unit is no list
    number, decimals = _number(plain, context)
    if number is None:
        return _spelled(text)
    forms = [
        Quantity(
            expression=_percentage(each) if percent else each,
            value=evaluate(_percentage(each) if percent else each),
            unit=read_unit(unit_text) if unit_text.strip() else None,
            unit_text=unit_text.strip(),
            percent=percent,
            decimals=decimals + 2 if percent and decimals else decimals,
            fraction="/" in plain or "frac" in plain,
        )
        for each in readings(number)
    ]
    if len(forms) == 1:
        return forms[0]
    return Ambiguous(convention="what is divided by what", readings=tuple(forms))


def _taken_apart(text: str) -> tuple[str, str, bool]:
    """Return the number, the words of its unit, and whether it is a percentage."""
    unit_text = ""
    currency = _CURRENCY.match(text)
    if currency:
        unit_text, text = currency["name"], (currency["sign"] or currency["inner"]) + text[currency.end() :]
        letter = _LETTER_MAGNITUDE.fullmatch(text)
        text = f"{letter['number']} {_spelled_scale(letter['word'])}" if letter else text
        rate = _RATE.fullmatch(text)
        if rate and is_known_unit(rate["unit"]):
            return rate["number"], unit_text + rate["per"], False
    percent = _PERCENT.search(text)
    if percent:
        return text[: percent.start()].strip(), "percentage point" if "point" in percent.group().lower() else "", True
    scaled = _MAGNITUDE.fullmatch(text)
    if scaled:
        rest = scaled["rest"].strip()
        return f"{scaled['number']} {scaled['word'].lower()}", f"{unit_text} {rest}", False
    tail = _UNIT_TAIL.search(text) if not _ANGLE.search(text) else None
    if tail and _is_unit(tail["gap"], tail["unit"]):
        unit_text, text = f"{unit_text} {tail['unit']}", text[: tail.start()]
    return text.strip(), unit_text, False


def _spelled_scale(letter: str) -> str:
    return {10**3: "thousand", 10**6: "million", 10**9: "billion"}[_SCALES[letter.lower()]]


def _number(text: str, context: Context) -> tuple[Expression | None, int]:
    """Read the number itself, in whatever notation; and the digits behind its decimal point."""
    scaled = _MAGNITUDE.fullmatch(text)
    if scaled and not scaled["rest"]:
        inner, _ = _number(scaled["number"], context)
        value = evaluate(inner) if inner is not None else None
        return (None, 0) if value is None else (Number(value=value * _SCALES[scaled["word"].lower()]), 0)
    if _EUROPEAN.fullmatch(text) or (context.decimal_comma and _COMMA.fullmatch(text)):
        text = text.replace(".", "").replace(" ", "").replace(",", ".")
    elif _SPACED_THOUSANDS.fullmatch(text):
        text = text.replace(" ", "").replace(",", ".")
    decimal = _DECIMAL.fullmatch(text)
    decimals = len(decimal[1]) if decimal else EXACT_DECIMALS if _REPEATING.search(text) else 0
    return read_maths(text) if "%" not in text else None, decimals


def _percentage(expression: Expression) -> Expression:
    return Binary(op="/", left=expression, right=Number(value=Fraction(100)))


def _is_unit(gap: str, unit: str) -> bool:
    """Say whether the letters behind a number are its unit and not a variable or function."""
    first = re.split(r"[ /^.·*\\]|(?<=[A-Za-z])[23]", unit.strip(), maxsplit=1)[0]
    if unit[0] in "°¢€£$":
        return True
    if is_known_unit(first) and (len(first) > 1 or gap or first in "mgLl"):
        return True
    words = re.findall(r"[^\W\d_]+", unit)
    plain = all(len(word) > 1 or word in "aI" for word in words) and not _NO_UNITS & set(words)
    return bool(gap or unit[:1] == "-") and plain and "^" not in unit and "*" not in unit and "\\" not in unit


def _mixed_units(text: str) -> Quantity | None:
    """Read `2 hours 15 minutes`, `5 ft 3 in` and `5'3"` as one quantity in the smallest of the units."""
    feet, dollars = _FEET.fullmatch(text), _DOLLARS_CENTS.fullmatch(text)
    parts = [(feet[1], "feet"), (feet[2], "inches")] if feet else []
    parts = [(dollars[1], "dollars"), (dollars[2], "cents")] if dollars else parts
    at = 0
    while not (feet or dollars) and (part := _PART.match(text, at)) is not None:
        parts.append((part["number"], part["unit"]))
        at = part.end()
    if len(parts) < 2 or (at < len(text) and not (feet or dollars)):
        return None
    if [unit for _, unit in parts] in (["h", "m"], ["hr", "m"]):
        parts[1] = (parts[1][0], "min")
    total, smallest = Fraction(0), parts[-1][1]
    last = None
    for number, unit in parts:
        factor = Fraction(1) if unit == smallest else conversion(unit, smallest)
        number_read = read_maths(number.rstrip(","))
        value = evaluate(number_read) if number_read is not None else None
        if factor is None or value is None or (last is not None and factor >= last):
            return None
        total, last = total + value * factor, factor
    return replace(plain_number(total), unit=read_unit(smallest))


def _dozens(text: str, context: Context) -> Form | None:
    """Read `2 dozen eggs` as 24 eggs, and as 2 of what the problem counts where it speaks of dozens."""
    found = _DOZENS.fullmatch(text)
    number = (
        None
        if found is None
        else Fraction(1)
        if found["number"].lower() in ("a", "one")
        else _plain_value(found["number"])
    )
    if found is None or number is None:
        return None
    unit = read_unit(found["rest"])
    counted = replace(plain_number(number * 12), unit=unit)
    if not {"dozen", "dozens"} & context.words:
        return counted
    return Ambiguous(
        convention="dozens",
        readings=(counted, replace(plain_number(number), unit=Unit(meanings=(), nouns=frozenset(["dozen"])))),
    )


def _plain_value(text: str) -> Fraction | None:
    spelled = read_number_words(text, 0) if text[:1].isalpha() else None
    if spelled is not None and spelled[1] == len(text):
        return spelled[0]
    expression = read_maths(text) if text[:1].isdigit() else None
    return evaluate(expression) if expression is not None else None


def _improper(text: str) -> Form | None:
    """Read `3 9/2`, which is no mixed number: a sum to some, a product to others, and nothing else to anybody."""
    found = _IMPROPER.fullmatch(text)
    if found is None:
        return None
    top, bottom = int(found["a"] or found["c"]), int(found["b"] or found["d"])
    if not 0 < bottom <= top:
        return None
    whole, part, sign = int(found["whole"]), Fraction(top, bottom), -1 if found["sign"] else 1
    values = (sign * (whole + part), sign * whole * part)
    return Ambiguous(convention="improper part", readings=tuple(map(plain_number, values)))


def _thousands(text: str) -> Form | None:
    """Read `2.5k`, which is 2500 or a multiple of k."""
    found = _KILO.fullmatch(text)
    expression = read_maths(text) if found else None
    if found is None or expression is None:
        return None
    number = plain_number(Fraction(found["number"].replace(",", "")) * 1000)
    product = Quantity(expression=expression, value=None)
    return Ambiguous(convention="thousands", readings=(number, product))


def _unit_fraction(text: str, context: Context) -> Form | None:
    r"""Read `60 \frac{km}{h}`; single letters, as in `12 \frac{m}{s}`, are units or names."""
    found = _FRACTION_UNIT.fullmatch(text)
    unit = read_unit(f"{found['above']}/{found['below']}") if found else None
    if found is None or unit is None or not unit.is_measure:
        return None
    measured = read_quantity(f"{found['number']} {found['above']}/{found['below']}", context)
    product = read_maths(text)
    if measured is None or product is None or len(found["above"] + found["below"]) > 2:
        return measured
    return Ambiguous(convention="unit or names", readings=(measured, Quantity(expression=product, value=None)))


def _comma(text: str, context: Context) -> Form | None:
    """Read `1.234` where the problem has decimal commas: either convention."""
    if not context.decimal_comma or not _POINTED.fullmatch(text):
        return None
    values = Fraction(text), Fraction(text.replace(".", ""))
    return Ambiguous(convention="decimal comma", readings=tuple(map(plain_number, values)))


def comma_readings(text: str) -> Quantity | None:
    """Read `3,5` as a decimal; the caller knows that it may be a list too."""
    if not _COMMA.fullmatch(text):
        return None
    return replace(plain_number(Fraction(text.replace(",", "."))), decimals=len(text.partition(",")[2]))


def _spelled(text: str) -> Quantity | None:
    """Read `seven`, `minus five`, `two and a half hours`, `twenty percent`, `forty-two dollars`."""
    minus = _MINUS_WORD.match(text)
    begin = minus.end() if minus else 0
    if minus and text[begin : begin + 1].isdigit():
        expression = read_maths(text[begin:])
        value = evaluate(expression) if expression is not None else None
        return plain_number(-value) if value is not None else None
    spelled = read_number_words(text, begin) if text[begin : begin + 1].isalpha() else None
    if spelled is None:
        return None
    value, rest = spelled[0], text[spelled[1] :]
    part = _AND_PART.match(rest)
    if part:
        name, times = part["part"] or (part["of"] or "").rstrip("s"), {"two": 2, "three": 3}.get(part["n"] or "", 1)
        value, rest = value + times * _PARTS[name], rest[part.end() :]
    rest = _OF_A.sub("", rest.strip())
    if rest and not re.fullmatch(r"[A-Za-z/ .%-]{1,60}", rest):
        return None
    if _PERCENT.fullmatch(rest):
        return Quantity(expression=_percentage(Number(value=value)), value=value / 100, percent=True)
    return replace(plain_number(-value if minus else value), unit=read_unit(rest) if rest else None, unit_text=rest)
