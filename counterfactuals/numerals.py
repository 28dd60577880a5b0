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
_NUMERAL = re.compile(
    r"(?P<minus>[-−])?(?P<currency>\\?[$£€¥])?"
    r"(?P<whole>\d{1,3}(?:(?P<comma>,|\{,\})\d{3})+|\d{1,40})(?:\.(?P<part>\d{1,40}))?(?P<percent>\s?\\?%)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeral:
    """A plain number as written: `-$1,250.50`, `20%`."""

    value: Fraction
    """What sign and digits say; a percent sign changes nothing (20 for `20%`)."""
    decimals: int
    minus: str
    currency: str
    comma: str
    """What stands between thousands; empty for nothing."""
    percent: str


def read_numeral(text: str) -> Numeral | None:
    """Read a text that is one plain number and nothing else; None for a fraction, an expression, a spelled number."""
    found = _NUMERAL.fullmatch(text.strip())
    if found is None:
        return None
    comma, part = found["comma"] or "", found["part"] or ""
    whole = found["whole"].replace(comma, "") if comma else found["whole"]
    value = Fraction(f"{whole}.{part}" if part else whole)
    return Numeral(
        value=-value if found["minus"] else value,
        decimals=len(part),
        minus=found["minus"] or "-",
        currency=found["currency"] or "",
        comma=comma,
        percent=found["percent"] or "",
    )


def read_result(claim: Claim, text: str) -> Numeral | None:
    """Read a claim's result as its step writes it; None where it is no plain number, or is read at another scale.

    Args:
        claim: The claim.
        text: Blind text of its step.
    """
    if claim.result is None or claim.result_span is None:
        return None
    numeral = read_numeral(text[claim.result_span.start : claim.result_span.end])
    if numeral is None or claim.result not in (numeral.value, numeral.value / 100 if numeral.percent else None):
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
    """Write a number in the manner of another: its sign, currency, commas and percent sign, no fewer decimals.

    Returns:
        The number; None where it needs more decimals than MAX_DECIMALS and than the model has.
    """
    most = max(MAX_DECIMALS, model.decimals)
    needed = next((n for n in range(most + 1) if (value * 10**n).denominator == 1), None)
    if needed is None:
        return None
    decimals = max(needed, model.decimals if model.decimals <= MAX_DECIMALS else 0)
    whole, part = divmod(int(abs(value) * 10**decimals), 10**decimals)
    written = f"{whole:,}".replace(",", model.comma)
    written += f".{part:0{decimals}d}" if decimals else ""
    return f"{model.minus if value < 0 else ''}{model.currency}{written}{model.percent}"


def nearby_value(value: Fraction, decimals: int, generator: random.Random) -> Fraction:
    """Draw another value of the same sign and number of decimals, at most 30 % (or two units) away.

    Args:
        value: The value; a whole number of units of its last digit.
        decimals: How many decimals it is written with.
        generator: Draws distance and direction.
    """
    unit = Fraction(1, 10**decimals)
    most = max(2, int(abs(value) / unit * Fraction(3, 10)))
    offset = generator.randint(1, most) * unit
    lower, higher = abs(value) - offset, abs(value) + offset
    size = lower if lower > 0 and generator.random() < 0.5 else higher
    return -size if value < 0 else size
