"""Conversions between bases told in words: `47 in base 8 is 39`, `the binary number 101 equals 5`."""

import re
from fractions import Fraction

from rafs.claims.relations import Link
from rafs.grammar.bases import BASE_NAMES
from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.terms import Number
from rafs.types import Span

_BASES = {**BASE_NAMES, "binary": 2, "octal": 8, "decimal": 10, "hexadecimal": 16, "hex": 16}
_NAMED = "binary|octal|decimal|hexadecimal|hex"
_IN = rf"in (?:base[ -]?(?P<{{0}}>\d{{{{1,2}}}}|{'|'.join(BASE_NAMES)})|(?P<{{0}}_name>{_NAMED}))\b"
_IS = r"\s?(?:=|(?:is|equals|becomes|gives)(?: (?:equal to|written(?: as)?|the same as))?|converts to)\s?"
_DIGITS = r"\d[\dA-F]{0,29}|[A-F][\dA-F]{1,29}"
_CONVERSION = re.compile(
    rf"(?<![\w.,/*+^_-])(?<![*+/^-] )(?<!of )"
    rf"(?:(?:the )?(?P<kind>{_NAMED})(?: number| representation)? (?P<a>{_DIGITS})"
    rf"|(?P<b>{_DIGITS}) {_IN.format('base')}){_IS}(?P<right>{_DIGITS})(?![\w^]|[.,]\d)(?: {_IN.format('target')})?",
    re.IGNORECASE,
)
MENTION = GatedPattern(rf"\bbase\b|\b(?:{_NAMED})\b", ["base", "binary", "octal", "decimal", "hex"], lead=4, reach=14)
"""What a step must mention before it is searched for conversions."""


def find_conversions(text: str) -> list[Link]:
    """Return the conversions that a step tells; time is linear in the text."""
    if MENTION.search(text) is None:
        return []
    found = ((match, _holds(match)) for match in _CONVERSION.finditer(text))
    return [_fact(match, holds) for match, holds in found if holds is not None]


def _holds(match: re.Match[str]) -> bool | None:
    """Say whether a conversion is right; None where the digits are none of their base.

    Behind `47 in base 8 is` stands 39 where 47 is written in base 8, and 57 where it is to be written in it.
    """
    base = _base(match["kind"] or match["base"] or match["base_name"])
    target = _base(match["target"] or match["target_name"] or "ten")
    left, right = match["a"] or match["b"], match["right"]
    readings = [(_value(left, base), _value(right, target))]
    if match["b"] and not (match["target"] or match["target_name"]):
        readings.append((_value(left, 10), _value(right, base)))
    known = [one == other for one, other in readings if one is not None and other is not None]
    return any(known) if known else None


def _base(written: str) -> int:
    return int(written) if written.isdecimal() else _BASES[written.lower()]


def _value(digits: str, base: int) -> int | None:
    try:
        return int(digits, base) if base > 1 else None
    except ValueError:  # a digit that the base does not have, or a base above 36
        return None


def _fact(match: re.Match[str], holds: bool) -> Link:
    left, right = match.span("a") if match["a"] else match.span("b"), match.span("right")
    spans = [Span(start=start, end=end) for start, end in (left, right)]
    sides = [Number(value=Fraction(0), span=span) for span in spans]
    return Link(
        relation="=", left=sides[0], right=sides[1], left_span=spans[0], right_span=spans[1], doubts=frozenset(),
        in_words=True, holds=holds,
    )  # fmt: skip
