"""Another calculation instead of the one in the step: another operator, the operands swapped, or one left out."""

import operator
import random
import re
from collections.abc import Iterator
from fractions import Fraction

from counterfactuals.numerals import Numeral, mentions
from rafs.grammar.expressions import evaluate, parse_expression
from rafs.interventions import EditFamily
from rafs.types import Claim, Operand, SourceKind, Truth

Change = tuple[int, int, str]
"""Characters [start, end) of the step, and what is to stand there."""

_OPERATOR = re.compile(r"\\times|\\cdot|\\div|[+\-−–*×·/÷]|(?<=\s)[xX](?=\s)")
_MEANING = {"−": "-", "–": "-", "÷": "/", "\\div": "/"} | dict.fromkeys(("×", "·", "\\times", "\\cdot", "x", "X"), "*")
_CALCULATE = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_UNIT = re.compile(r"\s*(?:\\text\s?\{[^{}=]*\}|[A-Za-z]+)\s*(?=[=≈])")
"""A unit between a left side and its sign; words that are a relation have no sign behind them."""
_BRACKETED = re.compile(r"\([^()]*\)")
CURRENCY_END = re.compile(r"\\?[$£€¥]$")
"""A currency right before a number."""
CURRENCY_CHARS = 2
MIN_OPERANDS = 3
"""Operands of a calculation that still is one when one of them is left out."""


def recalculate(
    family: EditFamily, claim: Claim, numeral: Numeral, text: str, generator: random.Random
) -> tuple[Fraction, list[Change]] | None:
    """Return the new conclusion and the changes of the left side; None where the family does not apply to the claim.

    Nothing becomes negative in a step without negative numbers: nobody would count so by mistake.

    Args:
        family: OPERATOR, OPERAND_SWAP or DROPPED_GIVEN.
        claim: The claim; it must come to what is written, in the unit in which that is written.
        numeral: Its result as written.
        text: Blind text of its step.
        generator: Draws which of several operands is left out.
    """
    if numeral.percent or claim.value is None or claim.result is None:
        return None
    if claim.truth is not Truth.FALSE and abs(claim.value - claim.result) * 10**numeral.decimals >= 1:
        return None  # converted to another unit
    if family is EditFamily.DROPPED_GIVEN:
        fewer = list(_without_a_given(claim, text))
        return generator.choice(fewer) if fewer else None
    calculation = _calculation(claim, text)
    changed = None if calculation is None else _rearranged(family, text, *calculation)
    if changed is None or (changed[0] < 0 < claim.result and all(value >= 0 for _, value in mentions(text))):
        return None
    return changed


def _calculation(claim: Claim, text: str) -> tuple[Operand, re.Match[str], Operand] | None:
    """Return (first operand, operator, second operand) where the claim is just that."""
    if len(claim.operands) != 2:
        return None
    first, second = claim.operands
    found = list(_OPERATOR.finditer(text, first.span.end, second.span.start))
    if len(found) != 1 or (_meaning(found[0]) == "/" and second.value == 0):
        return None
    is_all = _CALCULATE[_meaning(found[0])](first.value, second.value) == claim.value
    return (first, found[0], second) if is_all else None


def _meaning(found: re.Match[str]) -> str:
    return _MEANING.get(found.group(), found.group())


def _other(meaning: str, first: Fraction, second: Fraction) -> str:
    """Return another operator that leaves a plausible conclusion: no negative number out of a sum."""
    if meaning == "+":
        return "-" if first > second else "*"
    return "+"


def _rearranged(
    family: EditFamily, text: str, first: Operand, found: re.Match[str], second: Operand
) -> tuple[Fraction, list[Change]] | None:
    meaning = _meaning(found)
    if family is EditFamily.OPERATOR:
        other = _other(meaning, first.value, second.value)
        return _CALCULATE[other](first.value, second.value), [(found.start(), found.end(), other)]
    if meaning in "+*" or (meaning == "/" and first.value == 0):
        return None
    spans = (
        (first.span, text[second.span.start : second.span.end]),
        (second.span, text[first.span.start : first.span.end]),
    )
    changes = [(span.start, span.end, written) for span, written in spans]
    return _CALCULATE[meaning](second.value, first.value), changes


def _without_a_given(claim: Claim, text: str) -> Iterator[tuple[Fraction, list[Change]]]:
    """Yield the calculation without each operand that the problem gives, with the sign that joins it to the others."""
    begin, end = claim.span.start, claim.span.start + len(claim.left)
    bindings = {operand.text: operand.value for operand in claim.operands}
    if (
        len(claim.operands) < MIN_OPERANDS
        or text[begin:end] != claim.left
        or compute_left(claim.left, bindings) is None
    ):
        return
    for operand in claim.operands:
        cut = _cut(operand, begin, end, text) if operand.source is SourceKind.PROBLEM else None
        rest = "" if cut is None else _BRACKETED.sub("", text[begin : cut[0]] + text[cut[1] : end])
        if cut is None or _OPERATOR.search(rest) is None:
            continue
        value = compute_left(text[begin : cut[0]] + text[cut[1] : end], bindings)
        if value is not None and value != claim.result:
            yield value, [(*cut, "")]


def compute_left(left: str, bindings: dict[str, Fraction]) -> Fraction | None:
    """Return what the left side of a claim comes to, its names bound; None where that cannot be said."""
    expression = parse_expression(left, frozenset(name for name in bindings if name.isalpha()))
    return None if expression is None else evaluate(expression, bindings)


def _n_unit(text: str, end: int) -> int:
    """Count the characters of the unit behind a left side."""
    unit = _UNIT.match(text, end)
    return 0 if unit is None else len(unit.group().rstrip())


def _cut(operand: Operand, begin: int, end: int, text: str) -> tuple[int, int] | None:
    """Return what to take out: the operand with its unit, and the operator that joins it to what it stands with.

    A first operand goes with the `+` or the `*` behind it; so does a term's first factor (`+ 5 * 2`). None where what
    is left would not be the same calculation: a dividend, a bracket that is cut open.
    """
    signs = list(_OPERATOR.finditer(text, begin, end))
    before = next((one for one in reversed(signs) if one.end() <= operand.span.start), None)
    after = next((one for one in signs if one.start() >= operand.span.end), None)
    factor = after is not None and _meaning(after) in "*/"
    if before is not None and (_meaning(before) in "*/" or not factor):
        start, stop = before.start(), after.start() if after is not None else end + _n_unit(text, end)
    elif after is not None and _meaning(after) in "+*":
        start, stop = operand.span.start, after.end()
        stop += len(text[stop:]) - len(text[stop:].lstrip())
        currency = CURRENCY_END.search(text, max(0, start - CURRENCY_CHARS), start)
        start = currency.start() if currency is not None and text.startswith(currency.group(), stop) else start
    else:
        return None
    if stop >= end:
        start = len(text[:start].rstrip())
    piece = text[start:stop]
    is_whole = all(piece.count(opening) == piece.count(closing) for opening, closing in _BRACKETS)
    return (start, stop) if is_whole else None
