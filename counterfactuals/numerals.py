"""Numbers as they are written in a step: read them, draw another one, and write that in the same manner."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind, Token
from rafs.types import Claim, Span

MAX_DECIMALS = 4
"""A number that needs more decimals than this, and than the one it replaces, would stand out as an edit; so would one
that is filled up with more zeros."""
MAX_BITS = 300
"""Bits of a numerator or denominator that is written, some 90 digits: more would stand out as an edit."""
_NUMERAL = re.compile(
    r"(?P<minus>[-−])?(?P<currency>\\?[$£€¥])?"
    r"(?P<whole>\d{1,3}(?:(?P<comma>,|\{,\})\d{3})+|\d{1,40})(?:\.(?P<part>\d{1,40}))?(?P<percent>\s?\\?%)?"
)
_FRACTION = re.compile(
    r"(?P<minus>[-−])?(?:(?P<command>\\[dt]?frac)\{(?P<top>\d{1,20})\}\{(?P<bottom>\d{1,20})\}"
    r"|(?P<above>\d{1,20})(?P<bar>\s?/\s?)(?P<below>\d{1,20}))"
)
_DRAWN = 8
"""Values drawn before the nearest ones are taken."""
_UNIT = re.compile(r"\s*(?:\\text\s?\{)?[A-Za-z\s]*\}?\s*[/^]?")
"""What may stand behind the number of a result, as a part of it: the `pages/` of `200 pages/inch`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeral:
    """A plain number as written: `-$1,250.50`, `20%`, `3/4`."""

    value: Fraction
    """What sign and digits say; a percent sign changes nothing (20 for `20%`)."""
    decimals: int
    minus: str
    n_chars: int
    """Length as written."""
    currency: str = ""
    comma: str = ""
    """What stands between thousands; empty for nothing."""
    percent: str = ""
    bottom: int = 1
    """Denominator of a fraction."""
    bar: str = ""
    """How a fraction is written: `\frac`, or what stands between its numbers; empty for a number without one."""

    @property
    def unit(self) -> Fraction:
        """One unit of its last digit, or of its numerator."""
        return Fraction(1, self.bottom * 10**self.decimals)


def read_numeral(text: str) -> Numeral | None:
    """Read a text that is one plain number and nothing else; None for a fraction, an expression, a spelled number."""
    found = _NUMERAL.fullmatch(text.strip())
    return None if found is None else _numeral(found)


def _numeral(found: re.Match[str]) -> Numeral:
    comma, part = found["comma"] or "", found["part"] or ""
    whole = found["whole"].replace(comma, "") if comma else found["whole"]
    value = Fraction(f"{whole}.{part}" if part else whole)
    return Numeral(
        value=-value if found["minus"] else value,
        decimals=len(part),
        minus=found["minus"] or "-",
        n_chars=found.end() - found.start(),
        currency=found["currency"] or "",
        comma=comma,
        percent=found["percent"] or "",
    )


def _fraction(found: re.Match[str]) -> Numeral | None:
    top, bottom = int(found["top"] or found["above"]), int(found["bottom"] or found["below"])
    if bottom == 0:
        return None
    return Numeral(
        value=Fraction(-top if found["minus"] else top, bottom),
        decimals=0,
        minus=found["minus"] or "-",
        n_chars=found.end() - found.start(),
        bottom=bottom,
        bar=found["command"] or found["bar"],
    )


def read_result(claim: Claim, text: str) -> Numeral | None:
    """Read a claim's result as its step writes it.

    None where it is no plain number or fraction, where it is read at another scale, and where nothing is concluded:
    an equation that is to be solved, a comparison.

    Args:
        claim: The claim.
        text: Blind text of its step.
    """
    if claim.value is None or claim.result is None or claim.result_span is None or claim.relation not in ("=", "≈"):
        return None
    numeral, span = None, claim.result_span
    if (found := _FRACTION.match(text, span.start, span.end)) is not None:
        numeral = _fraction(found)
    elif (found := _NUMERAL.match(text, span.start, span.end)) is not None:
        numeral = _numeral(found)
    if numeral is None or not _UNIT.fullmatch(text, span.start + numeral.n_chars, span.end):
        return None
    if claim.result not in (numeral.value, numeral.value / 100 if numeral.percent else None):
        return None
    return numeral


def mentions(text: str) -> Iterator[tuple[Span, Fraction]]:
    """Yield where a text mentions a number, with its sign, and the number."""
    tokens = lex(text)
    for place, token in enumerate(tokens):
        if token.kind is Kind.NUMBER:
            sign = tokens[place - 1] if place and tokens[place - 1].text == "-" else None
            if sign is None or _subtracts(tokens[place - 2] if place > 1 else None, sign, token):
                yield Span(start=token.start, end=token.end), token.value
            else:
                yield Span(start=sign.start, end=token.end), -token.value


def _subtracts(before: Token | None, sign: Token, number: Token) -> bool:
    """Whether a minus takes the number from what stands before it, as in `16 - 5` but not in `so -5`."""
    if before is not None and before.kind is Kind.WORD:
        return number.spaced or not sign.spaced
    return before is not None and before.kind in (Kind.NUMBER, Kind.CLOSE)


def write_like(value: Fraction, model: Numeral) -> str | None:
    """Write a number in the manner of another: its sign, currency, commas, percent sign, bar, no fewer decimals.

    A single decimal that is none of money is left out where it would be a zero: 78 like 5.5, but 78.0 like 5.0.

    Returns:
        The number; None where it needs more decimals than MAX_DECIMALS and than the model has, or is over MAX_BITS.
    """
    if max(part.bit_length() for part in value.as_integer_ratio()) > MAX_BITS:
        return None
    if model.bar and value.denominator > 1:
        return _write_fraction(value, model)
    most = max(MAX_DECIMALS, model.decimals)
    needed = next((n for n in range(most + 1) if (value * 10**n).denominator == 1), None)
    if needed is None:
        return None
    is_padded = model.value.denominator == 1 or model.decimals > 1
    decimals = max(needed, model.decimals if model.decimals <= MAX_DECIMALS and is_padded else 0)
    decimals += bool(model.currency) and decimals == 1
    whole, part = divmod(int(abs(value) * 10**decimals), 10**decimals)
    written = f"{whole:,}".replace(",", model.comma)
    written += f".{part:0{decimals}d}" if decimals else ""
    return f"{model.minus if value < 0 else ''}{model.currency}{written}{model.percent}"


def _write_fraction(value: Fraction, model: Numeral) -> str:
    """Write a fraction over the denominator of the model where that is possible, else in lowest terms."""
    bottom = model.bottom if (value * model.bottom).denominator == 1 else value.denominator
    top, minus = abs(value) * bottom, model.minus if value < 0 else ""
    return f"{minus}{model.bar}{{{top}}}{{{bottom}}}" if "frac" in model.bar else f"{minus}{top}{model.bar}{bottom}"


def nearby_value(value: Fraction, unit: Fraction, generator: random.Random) -> Fraction | None:
    """Draw another value of the same sign, a whole number of units and at most 30 % (or two units) away.

    Never zero, nor one, for what becomes one changes the words behind it; and what is less than one stays so, for it
    may be a share or a probability.

    Args:
        value: The value; a whole number of units.
        unit: One unit of its last digit.
        generator: Draws distance and direction.

    Returns:
        The value; None where there is no such value.
    """
    most = max(2, int(abs(value) / unit * Fraction(3, 10)))
    drawn = [generator.randint(1, most) * generator.choice([-1, 1]) for _ in range(_DRAWN)]
    for offset in [*drawn, 1, -1, 2, -2]:
        size = abs(value) + offset * unit
        if size > 0 and size != 1 and (size < 1 or not 0 < abs(value) < 1):
            return -size if value < 0 else size
    return None
