"""Which convention a trace writes its numbers in, and the same text in the English one, sign for sign.

`1.234,56` and `1 234.56` become `1,234.56`: no character is added or dropped, so offsets stay.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from rafs.types import BlindStep, Claim

_UNIT = r"(?:€|£|%|Euro?s?\b|EUR\b|CHF\b|Kronen\b|Cent\b|(?:k?g|[kcm]?m|[mcd]?l|mg|°C|kWh)\b(?![.,]?\d))"
_TIMES = r"(?:[*·×⋅÷]|\\(?:times|cdot|div)\b)"
_REST = r"(?:\d{0,11},(?:\d{1,2}|\d{4,12})|(?<=0),\d{3})(?![\d.,]*\d)"
"""A number with a decimal comma behind its first digit, no thousands; the patterns begin with that digit and look
back from there, since Python skips to digits but tries a look back everywhere."""
_COMMA = rf"\d{_REST}"
_ALONE = r"(?<![\w.,/^{(\[<\\].)"
_DECIMAL_COMMA = re.compile(
    rf"\d(?:(?<![\d.,].)\d{{0,2}}(?:\.\d{{3}}){{1,6}}(?:,\d{{1,12}}|(?<=\.\d{{3}}\.\d{{3}}))(?![\d.,]*\d)"
    rf"|{_ALONE}{_REST}\s?{_UNIT}|(?:(?<=[€£].)|(?<=[€£]\s.)){_REST}"
    rf"|{_ALONE}(?<!\d[*·×+].){_REST}\s{_TIMES}\s"
    rf"|(?:(?<=[*·×⋅÷]\s.)|(?<=\\times\s.)|(?<=\\cdot\s.)|(?<=\\div\s.)){_REST}(?!\s?[*·×/+-]\d)"
    rf"|{_ALONE}{_REST}(?:\s?\+\s?|\s[-−–]\s){_COMMA}(?!\s?[)\]])"
    rf"|{_ALONE}(?:\d{{0,11}}\s[-−–+]\s{_COMMA}|{_REST})(?:\s[-−–+]\s\d{{1,12}}){{0,4}}\s?=\s?{_COMMA}(?!\s?[)\]])"
    rf"|{_ALONE}(?:(?<=0),0\d{{1,12}}|(?<=[1-9])\d{{0,11}},0\d{{1,12}}(?<!,0\d\d))(?![\d.,]*\d))",
    re.DOTALL,
)
"""A comma that can only be a decimal point: after thousands, by a unit or times sign, on both sides, before `05`."""
_DECIMAL_POINT = re.compile(
    r"[\d.](?<![\d.,].)(?:(?<=\d)(?:\d{0,11}\.(?:\d{1,2}|\d{4,12})|\d{3,11}\.\d{1,12}|\d{0,2}(?:,\d{3}){1,6}\.\d{1,12})"
    r"|(?:(?<=0)\.|(?<=\.))\d{1,12})(?!\d|\.\d)",
    re.DOTALL,
)
"""A point that only a decimal point can be, so that commas are none."""
_COMMA_IN_DIGITS, _POINT_IN_DIGITS = re.compile(r",(?=\d)"), re.compile(r"\.(?=\d)")
_SIGN_OF_COMMA = re.compile(r",(?!\d{3}(?!\d))(?=\d)|\.\d{3}[.,](?=\d)|0(?<!\d0),(?=\d)")
_SIGN_OF_EITHER = re.compile(r"[.,](?=\d{3}(?!\d))")
"""Without them, which are quickly looked for, there is nothing to decide."""
_MAYBE_COMMA = re.compile(rf"\d{_ALONE}{_REST}", re.DOTALL)
_EITHER = re.compile(r"\d(?<!0)(?<![\d.,].)\d{0,2}[.,]\d{3}(?![\d.,]*\d)", re.DOTALL)
"""Thousands in one convention and decimals in the other."""
_OPEN_SIGN = "\N{SINGLE LOW-9 QUOTATION MARK}"
"""Put where a point or comma may be either; no claim is read across it."""
_LITERAL = re.compile(
    r"(?<![\d.,])(?:\d{1,3}(?:[.\u0020\u00a0\u2009\u202f]\d{3}){1,12}(?!\d)(?:,\d{1,12})?|\d{1,40},\d{1,40})(?![\d.,]*\d)"
)
_PAIR_BEFORE, _PAIR_AFTER = re.compile(r"(?:[\w(\[]\(|\(|\[|\\\{)\Z"), re.compile(r"\)|\]|\\\}")
_SWAP = str.maketrans({",": ".", ".": ",", " ": ",", "\u00a0": ",", "\u2009": ",", "\u202f": ","})

_GROUPS = r"(?:[ \u00a0\u2009\u202f]\d{3}){1,12}"
_GROUPED = re.compile(rf"\d(?<![\d.,/^_].)(?<!\d[ \u00a0].)\d{{0,2}}{_GROUPS}(?![\d-]|[ \u00a0,.]?\d)(?:\.\d{{1,12}})?")
"""It begins with a digit and looks back from there, since Python skips to digits but tries a look back everywhere."""
_GROUP = re.compile(r"\d[ \u00a0\u2009\u202f]\d{3}")
"""What every such number holds, and is quickly looked for."""
_BEFORE_GROUPED = re.compile(
    r"(?:[=≈<>({:$€£]|##|\s[-+*·×÷/]\s|\\(?:times|cdot|div|approx)\s"
    r"|\b(?:is|are|was|were|has|costs?|equals|total of|ist|est|es|lautet|answer))[ \u00a0]?\Z",
    re.IGNORECASE,
)
_AFTER_GROUPED = re.compile(
    r"\s?(?:\Z|[=≈<>)}.,;!?$€£%\n]|[-+*·×÷/]\s|\\|(?:dollars?|euros?|EUR|USD|pounds?|cents?)\b|[A-Za-z]{2,20}[.!?,;\n])",
    re.IGNORECASE,
)
_LABEL_BEFORE = re.compile(r"(?:\b(?:step|part|case|day|no|number|question|page|chapter)\.?[ \u00a0])\Z", re.I)
_FIXED_SPACES = frozenset("\u00a0\u2009\u202f")
_REACH = 12
"""Characters around a number that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """How a trace writes its numbers."""

    decimal_comma: bool = False
    """`2,50` is 5/2 and `1.200` is twelve hundred."""
    open_points: bool = False
    """`1.200` may be either, for other numbers look as if they had decimal commas."""
    open_commas: bool = False
    """`1,200` may be either."""
    spaced_thousands: bool = False
    """`8 250` is one number wherever it is no list; otherwise only where its surroundings say so."""

    def in_english(self, text: str) -> str:
        """Return the text with its numbers in English notation; every offset stays. Linear in the text."""
        if self.decimal_comma:
            text = _LITERAL.sub(_swapped, text)
        return text if _GROUP.search(text) is None else _GROUPED.sub(lambda found: self._joined(text, found), text)

    def readable(self, text: str) -> str:
        """Return the text in English notation, with a sign that no claim is read across in every open number."""
        text = self.in_english(text)
        signs = ("." if self.open_points else "") + ("," if self.open_commas else "")
        opened = str.maketrans(dict.fromkeys(signs, _OPEN_SIGN))
        return _EITHER.sub(lambda found: found.group().translate(opened), text) if signs else text

    def _joined(self, text: str, found: re.Match[str]) -> str:
        whole, point, part = found.group().partition(".")
        sure = _is_bounded(text, found) or (self.spaced_thousands and not _is_labelled(text, found))
        return whole.translate(_SWAP) + point + part if sure or _FIXED_SPACES & set(whole) else found.group()


EUROPEAN = Notation(decimal_comma=True)
EUROPEAN_SIGN = re.compile(
    r"\.\d{3}(?:(?<=(?<![\d.,])\d.{4})|(?<=(?<![\d.,])\d\d.{4})|(?<=(?<![\d.,])\d{3}.{4})),\d{2}(?![\d.,])"
)
"""The end of `1.234,56`, which shows that convention in any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signs:
    """What one text, or several together, show of the convention."""

    point: bool
    comma: bool
    maybe_comma: bool
    either: frozenset[str]
    """`.` and `,` where they stand in numbers that may be either."""
    spaced: bool

    @classmethod
    def of(cls, text: str) -> "_Signs":
        pointed, grouped = _POINTED.search(text), _GROUP.search(text)
        if pointed is None and grouped is None:
            return _NO_SIGNS
        ends = len(text) if pointed is None else pointed.start(), len(text) if grouped is None else grouped.start() + 1
        at = max(0, min(ends) - _LEAD)
        commas, points = _COMMA_IN_DIGITS.search(text, at) is not None, _POINT_IN_DIGITS.search(text, at) is not None
        return cls(
            point=points and _DECIMAL_POINT.search(text, at) is not None,
            comma=_SIGN_OF_COMMA.search(text, at) is not None and _DECIMAL_COMMA.search(text, at) is not None,
            maybe_comma=commas and _MAYBE_COMMA.search(text, at) is not None,
            either=frozenset(one.group()[-4] for one in _EITHER.finditer(text, at))
            if _SIGN_OF_EITHER.search(text, at) is not None
            else frozenset(),
            spaced=grouped is not None and any(_is_bounded(text, found) for found in _GROUPED.finditer(text, at)),
        )

    def joined(self, other: "_Signs") -> "_Signs":
        if other is _NO_SIGNS or other == self:
            return self
        return _Signs(
            point=self.point or other.point,
            comma=self.comma or other.comma,
            maybe_comma=self.maybe_comma or other.maybe_comma,
            either=self.either | other.either,
            spaced=self.spaced or other.spaced,
        )

    def notation(self) -> Notation:
        shows_comma = self.comma and not self.point
        decimal_comma = shows_comma and "," not in self.either
        return Notation(
            decimal_comma=decimal_comma,
            open_points=not self.point and not decimal_comma and self.maybe_comma,
            open_commas=shows_comma and not decimal_comma,
            spaced_thousands=self.spaced,
        )


_POINTED = re.compile(r"[.,]\d")
"""A sign that parts digits, or begins a decimal; without it and without groups there is nothing to decide."""
_LEAD = 30
"""Characters before the first such sign in which a number, or what is calculated with it, begins."""
_NO_SIGNS = _Signs(point=False, comma=False, maybe_comma=False, either=frozenset(), spaced=False)


def read_notation(texts: Iterable[str]) -> Notation:
    """Find the convention that all the texts share.

    A decimal comma counts only where nothing else can be meant, and no text has a decimal point or `1,200`. Where
    that does not decide, numbers that would be another in the other convention are left open.
    """
    return reduce(_Signs.joined, map(_Signs.of, texts)).notation()


def in_english(problem: str, steps: Sequence[BlindStep]) -> tuple[str, list[BlindStep]]:
    """Return a problem and the steps of its derivation with their numbers in English notation.

    The convention of step t is read off the problem and the steps up to t, so that no later step changes what an
    earlier one says.
    """
    signs = _Signs.of(problem)
    readable = problem if signs is _NO_SIGNS else signs.notation().readable(problem)
    english = []
    for step in steps:
        text, own = step.text, _Signs.of(step.text)
        if own is not _NO_SIGNS:
            signs = signs.joined(own)
            text = signs.notation().readable(text)
        english.append(step if text == step.text else replace(step, text=text))
    return readable, english


def as_submitted(claims: Iterable[Claim], steps: Sequence[BlindStep]) -> tuple[Claim, ...]:
    """Give claims that were read in English notation their text as submitted; their two sides stay English."""
    texts = {step.index: step.text for step in steps}
    submitted = ((one, texts[one.step][one.span.start : one.span.end]) for one in claims)
    return tuple(one if one.text == text else replace(one, text=text) for one, text in submitted)


def _swapped(found: re.Match[str]) -> str:
    """Swap points and commas, but not in a bare pair such as `(2,50)`, which may be two numbers."""
    start, end = found.span()
    pair = _PAIR_BEFORE.search(found.string, max(0, start - 2), start)
    if pair and "." not in found.group() and _PAIR_AFTER.match(found.string, end):
        return found.group()
    if not {",", "."} & set(found.group()):
        return found.group()
    return found.group().translate(_SWAP)


def _is_bounded(text: str, found: re.Match[str]) -> bool:
    """Say whether a sign, a copula or an end stands on both sides of digit groups, so that they are one number."""
    start, end = found.span()
    return (
        _BEFORE_GROUPED.search(text, max(0, start - _REACH), start) is not None
        and _AFTER_GROUPED.match(text, end) is not None
    )


def _is_labelled(text: str, found: re.Match[str]) -> bool:
    return _LABEL_BEFORE.search(text, max(0, found.start() - _REACH), found.start()) is not None
