"""Roundings told in words: `138 rounded to the nearest ten is 140`, `rounding 2.346 to two decimals gives 2.35`."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, log10
from types import MappingProxyType

from rafs.claims.left_sides import find_left
from rafs.claims.relations import Link
from rafs.claims.right_sides import is_steered, span_of
from rafs.grammar.expressions import evaluate
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.tokens import Kind, Token

ROUNDING_WORDS = frozenset(["rounded", "rounding", "rounds", "round"])
_EQUAL = frozenset("is equals gives becomes = ≈ yields makes get , to are".split())
"""What may stand between a rounding and its result."""
_PLACES: Mapping[str, Fraction] = MappingProxyType(
    {
        **dict.fromkeys(["one", "ones", "unit", "units", "integer", "whole", "dollar", "percent"], Fraction(1)),
        **dict.fromkeys(["ten", "tens"], Fraction(10)),
        **dict.fromkeys(["hundred", "hundreds"], Fraction(100)),
        **dict.fromkeys(["thousand", "thousands"], Fraction(1000)),
        **dict.fromkeys(["million", "millions"], Fraction(10**6)),
        **dict.fromkeys(["tenth", "tenths"], Fraction(1, 10)),
        **dict.fromkeys(["hundredth", "hundredths", "cent"], Fraction(1, 100)),
        **dict.fromkeys(["thousandth", "thousandths"], Fraction(1, 1000)),
    }
)
"""What `to the nearest` names."""
_DECIMALS = frozenset("decimal decimals d dp".split())
_SIGNIFICANT = frozenset("significant sig s sf".split())
_TRAILING = frozenset("number place places digit digits figure figures fig p f".split())
MAX_PLACES = 12
"""Decimals, or significant digits, of a rounding."""


def rounding_at(tokens: Sequence[Token], index: int, names: frozenset[str]) -> Link | None:
    """Return the fact told by a verb of rounding at a token; None where its value or its place is not told."""
    word = tokens[index].text.lower()
    if word not in ROUNDING_WORDS:
        return None
    before, at = _subject(tokens, index, names)
    value = None if before is None else evaluate(before.expression)
    if before is None or value is None:
        return None
    up = _text(tokens, at)
    place, at = _place(tokens, at + (up in ("up", "down", "off")), value)
    if place is None:
        return None
    if word == "rounds" or _text(tokens, at) in _EQUAL:
        at += _text(tokens, at) in _EQUAL
    else:
        return None
    after = parse_at(tokens, at, names, spaced_product=False) if at < len(tokens) else None
    result = None if after is None or is_steered(tokens, after.end) else evaluate(after.expression)
    if after is None or result is None:
        return None
    left_span, right_span = span_of(tokens, before), span_of(tokens, after)
    return Link(
        relation="≈",
        left=before.expression,
        right=after.expression,
        left_span=left_span,
        right_span=right_span,
        doubts=frozenset(),
        in_words=True,
        holds=result in _rounded(value, place, up),
    )


def _text(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text.lower() if index < len(tokens) else ""


def _subject(tokens: Sequence[Token], index: int, names: frozenset[str]) -> tuple[Parsed | None, int]:
    """Return what is rounded, and the token behind it or its verb: it stands before `rounded`, after `rounding`."""
    if index + 1 < len(tokens) and tokens[index + 1].kind is Kind.NUMBER:
        after = parse_at(tokens, index + 1, names, spaced_product=False)
        return (after, after.end) if after is not None and not after.doubts else (None, index)
    end = index
    while end and (tokens[end - 1].kind is Kind.COMMA or _text(tokens, end - 1) in ("is", "when", "be", "can", "if")):
        end -= 1
    found = find_left(tokens, end, names, across_breaks=False)
    return (found.parsed, index + 1) if found is not None and not found.doubts else (None, index)


def _place(tokens: Sequence[Token], at: int, value: Fraction) -> tuple[Fraction | None, int]:
    """Read `to the nearest ten`, `to 2 decimal places`, `to 3 significant figures`; its unit and the token behind."""
    if _text(tokens, at) != "to":
        return None, at
    at += 1 + (_text(tokens, at + 1) == "the")
    if _text(tokens, at) == "nearest":
        at += 1
        unit = _PLACES.get(_text(tokens, at))
        if unit is None and at < len(tokens) and tokens[at].kind is Kind.NUMBER and tokens[at].value > 0:
            unit = tokens[at].value
        at += 1
    else:
        number, kind = (tokens[at] if at < len(tokens) else None), _text(tokens, at + 1)
        if number is None or number.kind is not Kind.NUMBER or number.value.denominator > 1:
            return None, at
        if number.value > MAX_PLACES or kind not in _DECIMALS | _SIGNIFICANT:
            return None, at
        digits = int(number.value)
        unit = Fraction(1, 10**digits) if kind in _DECIMALS else _last_of(value, digits)
        at += 2
    while _text(tokens, at) in _TRAILING or (_text(tokens, at) == "." and _text(tokens, at - 1) in ("p", "f")):
        at += 1
    return unit, at


def _last_of(value: Fraction, digits: int) -> Fraction | None:
    """Return the unit of the last of so many significant digits."""
    if not value or not digits:
        return None
    exponent = ceil((value.numerator.bit_length() - value.denominator.bit_length() + 1) * log10(2))
    while abs(value) < Fraction(10) ** exponent:  # three times at most
        exponent -= 1
    return Fraction(10) ** (exponent - digits + 1)


def _rounded(value: Fraction, unit: Fraction, direction: str) -> frozenset[Fraction]:
    """Return what a value may round to; half of a unit goes either way."""
    low, high = floor(value / unit) * unit, ceil(value / unit) * unit
    if direction in ("up", "down"):
        return frozenset([high if direction == "up" else low])
    return frozenset(each for each in (low, high) if 2 * abs(each - value) <= unit)
