"""Quantities of the problem that cannot be put together as they stand: feet added to inches."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from rafs.grammar.terms import Binary, Expression, Number
from rafs.grammar.tokens import Kind, Token
from rafs.types import Claim, Operand, SourceKind, Truth

_MEASURES = {
    word: unit
    for unit, words in {
        "seconds": "second seconds sec secs",
        "minutes": "minute minutes min mins",
        "hours": "hour hours hr hrs",
        "days": "day days",
        "weeks": "week weeks",
        "months": "month months",
        "years": "year years yr yrs",
        "inches": "inch inches",
        "feet": "foot feet ft",
        "yards": "yard yards",
        "miles": "mile miles mi",
        "centimeters": "cm centimeter centimeters centimetre centimetres",
        "meters": "meter meters metre metres",
        "kilometers": "km kilometer kilometers kilometre kilometres",
        "ounces": "ounce ounces oz",
        "pounds": "pound pounds lb lbs",
        "grams": "gram grams",
        "kilograms": "kg kilogram kilograms",
        "dollars": "$ dollar dollars",
        "cents": "cent cents ¢",
    }.items()
    for word in words.split()
}
MIN_TOLD = 2
"""Numbers up to here may be of the operation, whatever unit the problem gives to the same number."""
MAX_TERMS = 4
"""Terms of a sum whose units are compared; in a longer one the problem's numbers may be others by chance."""


def measures_of(tokens: Sequence[Token]) -> Mapping[Fraction, str]:
    """Return the unit of measure of each number of a problem that has one and the same wherever it stands."""
    units: dict[Fraction, set[str]] = {}
    for position, token in enumerate(tokens):
        if token.kind is Kind.NUMBER:
            after = tokens[position + 1 : position + 3]
            words = [one.text.lower() for one in after if one.kind is Kind.WORD or one.text == "-"]
            beside = next((word for word in words if word != "-"), "")
            units.setdefault(token.value, set()).add(_MEASURES.get(token.currency or beside, ""))
    return {value: next(iter(found)) for value, found in units.items() if len(found) == 1 and found != {""}}


def conflict_of(claim: Claim, left: Expression, measures: Mapping[Fraction, str]) -> str:
    """Say in words what does not go together in a calculation that takes the numbers as they stand; else nothing.

    Args:
        claim: A claim with its operands.
        left: Its left side.
        measures: Units of the problem's numbers.
    """
    if claim.truth is not Truth.TRUE or claim.value is None or claim.value != claim.result or claim.reason:
        return ""
    terms = _terms(left)
    if not 1 < len(terms) <= MAX_TERMS:
        return ""
    operands = {operand.span.start: operand for operand in claim.operands}
    known = list(dict.fromkeys([_measure(term, operands, measures) for term in terms]))
    if len(known) < 2 or "" in known:
        return ""
    return f"{known[0]} and {known[1]} are taken together as they stand"


def _terms(expression: Expression) -> list[Number]:
    """Return the literals that are added up, or subtracted; none where anything else is among them."""
    pending, found = [expression], []
    while pending:
        match pending.pop():
            case Binary(op="+" | "-") as node:
                pending += [node.right, node.left]
            case Number() as literal:
                found.append(literal)
            case _:
                return []
    return found


def _measure(literal: Number, operands: Mapping[int, Operand], measures: Mapping[Fraction, str]) -> str:
    if literal.unit and literal.unit != "$":  # a dollar sign may open a formula
        return _MEASURES.get(literal.unit.lower(), "")
    operand = operands.get(literal.span.start)
    if operand is None or operand.source is not SourceKind.PROBLEM or literal.value <= MIN_TOLD:
        return ""
    return measures.get(literal.value, "")
