"""Making one edit: another conclusion for one step, everything else as it was."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rafs.interventions import Edit, EditFamily
from rafs.quantities import replay
from rafs.types import Claim, QuantityGraph

_OPERATOR = re.compile(r"\\times|\\cdot|\\div|[+\-−–*×·/÷]|(?<=\s)[xX](?=\s)")
_SWAPPED_OPERATOR = {"+": "-", "-": "+", "−": "+", "–": "+", "*": "+", "×": "+", "·": "+", "/": "*", "÷": "×"}
_CALCULATE = {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__, "×": Fraction.__mul__}
_COMMUTATIVE = "+*×·xX"
MAX_DECIMALS = 4
"""A conclusion that needs more decimals would stand out as an edit."""


def draw_edits(graph: QuantityGraph, claim: int, target: int | None, text: str, seed: int) -> Sequence[Edit]:
    """Return one candidate edit of every family that applies to the claim, in an order drawn by the seed.

    Args:
        graph: The quantity graph.
        claim: Index of the claim to edit; its result is written in the step.
        target: The claim whose result is the answer; None where there is none.
        text: Blind text of the claim's step.
        seed: Server-side; draws the order of the families and the new value.
    """
    generator = random.Random(seed)
    families = list(EditFamily)
    generator.shuffle(families)
    edits = (_edit(graph, claim, text, family, generator) for family in families)
    return [replace(edit, predicted=predict(graph, edit, target)) for edit in edits if edit is not None]


def predict(graph: QuantityGraph, edit: Edit, target: int | None) -> Fraction | None:
    """Return the answer that exact replay of the edit leads to; None where the answer is no result of the graph."""
    if target is None:
        return None
    if edit.claim == target:
        return edit.new
    return replay(graph, edit.claim, edit.new).get(target, graph.claims[target].result)


def _edit(graph: QuantityGraph, index: int, text: str, family: EditFamily, generator: random.Random) -> Edit | None:
    claim = graph.claims[index]
    if claim.result is None or claim.result_span is None:
        return None
    match family:
        case EditFamily.VALUE:
            change: tuple[str, Fraction] | None = (text, nearby_value(claim.result, generator))
        case EditFamily.OPERATOR:
            change = _change_operator(claim, text)
        case EditFamily.OPERAND_SWAP:
            change = _swap_operands(claim, text)
    if change is None or change[1] == claim.result:
        return None
    changed, new = change
    written = write_like(new, text[claim.result_span.start : claim.result_span.end])
    if written is None:
        return None
    shift = len(changed) - len(text)  # both changes lie left of the result
    start, end = claim.result_span.start + shift, claim.result_span.end + shift
    return Edit(
        step=claim.step,
        claim=index,
        family=family,
        text=changed[:start] + written + _restate(changed[end:], changed[start:end], written),
        old=claim.result,
        new=new,
        predicted=None,
    )


def nearby_value(value: Fraction, generator: random.Random) -> Fraction:
    """Draw another value of the same sign, decimals and (nearly) size: off by 1 to 30 % in units of the last digit."""
    unit = Fraction(1, 10 ** _decimals(value))
    most = max(2, int(abs(value) / unit * Fraction(3, 10)))
    offset = generator.randint(1, min(most, 10**9)) * unit
    lower = value - offset
    return lower if generator.random() < 0.5 and lower * value > 0 else value + offset


def _decimals(value: Fraction) -> int:
    return next((n for n in range(MAX_DECIMALS + 1) if (value * 10**n).denominator == 1), MAX_DECIMALS)


def write_like(value: Fraction, model: str) -> str | None:
    """Write a number in the manner of another: thousands commas where that has them; None if it needs many decimals."""
    decimals = _decimals(value)
    if (value * 10**decimals).denominator != 1:
        return None
    whole, part = divmod(int(abs(value) * 10**decimals), 10**decimals)
    written = f"{whole:,}.{part:0{decimals}d}" if decimals else f"{whole:,}"
    if "," not in model and "," in written:
        written = written.replace(",", "")
    return f"-{written}" if value < 0 else written


def _restate(rest: str, old: str, new: str) -> str:
    """Repeat the new conclusion wherever the rest of the step repeats the old one."""
    return re.sub(rf"(?<![\d.,]){re.escape(old)}(?![\d]|[.,]\d)", lambda _: new, rest)


def _binary(claim: Claim, text: str) -> tuple[str, str, str] | None:
    """Return (first operand, what stands between, second operand) where the claim's left side is just that."""
    if len(claim.operands) != 2:
        return None
    first, second = claim.operands
    gap = text[first.span.end : second.span.start]
    return (first.text, gap, second.text) if len(_OPERATOR.findall(gap)) == 1 else None


def _change_operator(claim: Claim, text: str) -> tuple[str, Fraction] | None:
    parts = _binary(claim, text)
    if parts is None:
        return None
    first, second = claim.operands
    found = _OPERATOR.search(text, first.span.end, second.span.start)
    new_operator = _SWAPPED_OPERATOR.get(found.group()) if found else None
    if found is None or new_operator is None:
        return None
    new = _CALCULATE[new_operator](first.value, second.value)
    return text[: found.start()] + new_operator + text[found.end() :], new


def _swap_operands(claim: Claim, text: str) -> tuple[str, Fraction] | None:
    parts = _binary(claim, text)
    if parts is None:
        return None
    first, second = claim.operands
    found = _OPERATOR.search(text, first.span.end, second.span.start)
    if found is None or found.group() in _COMMUTATIVE or found.group().startswith(("\\times", "\\cdot")):
        return None
    division = found.group() in {"/", "÷", "\\div"}
    if division and first.value == 0:
        return None
    new = second.value / first.value if division else second.value - first.value
    swapped = text[: first.span.start] + parts[2] + parts[1] + parts[0] + text[second.span.end :]
    return swapped, new
