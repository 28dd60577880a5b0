"""Making one edit: another conclusion for one step, everything else as it was."""

import operator
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from counterfactuals.numerals import Numeral, mentions, nearby_value, read_numeral, read_result, write_like
from rafs.interventions import Edit, EditFamily
from rafs.quantities.replaying import leading_to, replay
from rafs.types import Claim, Operand, QuantityGraph, Truth

_OPERATOR = re.compile(r"\\times|\\cdot|\\div|[+\-−–*×·/÷]|(?<=\s)[xX](?=\s)")
_MEANING = {"−": "-", "–": "-", "÷": "/", "\\div": "/"} | dict.fromkeys(("×", "·", "\\times", "\\cdot", "x", "X"), "*")
_CALCULATE = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_ANNOTATED = re.compile(r"=\s*([^<>=]{1,40}?)\s*>>\s?(?:\\?[$£€¥]\s?)?$")
"""What stands before a conclusion that an annotation has computed: the `=24>>` of `<<48/2=24>>24`."""
_ANNOTATED_CHARS = 60
"""Characters before a conclusion in which its annotation ends."""

Change = tuple[int, int, str]
"""Characters [start, end) of the step, and what is to stand there."""


def draw_edits(graph: QuantityGraph, claim: int, target: int | None, text: str, seed: int) -> Iterator[Edit]:
    """Yield one candidate edit of every family that applies to the claim, in an order drawn by the seed.

    Args:
        graph: The quantity graph.
        claim: Index of the claim to edit; its result is written in the step as a plain number.
        target: The claim whose result is the answer; None where there is none.
        text: Blind text of the claim's step.
        seed: Server-side; draws the order of the families and the new value.
    """
    generator = random.Random(seed)
    families = list(EditFamily)
    generator.shuffle(families)
    for family in families:
        edit = _edit(graph, claim, text, family, generator)
        if edit is not None:
            yield replace(edit, predicted=predict(graph, edit, target))


def predict(graph: QuantityGraph, edit: Edit, target: int | None) -> Fraction | None:
    """Return the answer that exact replay of the edit leads to.

    None where the answer is no result of the graph, and where it hangs on the edit but cannot be computed again.
    """
    if target is None:
        return None
    if edit.claim == target:
        return edit.new
    replayed = replay(graph, edit.claim, edit.new)
    if target in replayed:
        return replayed[target]
    return None if edit.claim in leading_to(graph, target) else graph.claims[target].result


def _edit(graph: QuantityGraph, index: int, text: str, family: EditFamily, generator: random.Random) -> Edit | None:
    claim = graph.claims[index]
    numeral = read_result(claim, text)
    if numeral is None or claim.result is None or claim.result_span is None:
        return None
    scale = 1 if claim.result == numeral.value else Fraction(1, 100)
    match family:
        case EditFamily.VALUE:
            new = nearby_value(numeral.value, numeral.decimals, generator) * scale
            changes: list[Change] = []
        case EditFamily.OPERATOR | EditFamily.OPERAND_SWAP:
            calculation = _calculation(claim, numeral, text)
            changed = None if calculation is None else _recalculate(family, text, *calculation)
            if changed is None:
                return None
            new, changes = changed
    written = write_like(new / scale, numeral)
    if written is None or new == claim.result:
        return None
    changes.append((claim.result_span.start, claim.result_span.end, written))
    changes += _restate(claim, numeral, text, new / scale, is_given=claim.result in graph.problem_values)
    edited = _apply(text, changes)
    return Edit(step=claim.step, claim=index, family=family, text=edited, old=claim.result, new=new, predicted=None)


def _apply(text: str, changes: Sequence[Change]) -> str:
    for start, end, written in sorted(changes, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _restate(claim: Claim, numeral: Numeral, text: str, new: Fraction, *, is_given: bool) -> list[Change]:
    """Repeat the new conclusion where the step repeats the old one: in its annotation, and in what follows.

    What follows is left alone where the problem gives the same number, for it may be the problem's.
    """
    assert claim.result_span is not None
    before = max(0, claim.result_span.start - _ANNOTATED_CHARS)
    annotated = _ANNOTATED.search(text[: claim.result_span.start], before)
    places = [annotated.span(1)] if annotated else []
    if not is_given:
        places += [(at.start, at.end) for at, _ in mentions(text) if at.start >= claim.result_span.end]
    changes: list[Change] = []
    for start, end in places:
        repeated = read_numeral(text[start:end])
        if repeated is not None and (repeated.value, bool(repeated.percent)) == (numeral.value, bool(numeral.percent)):
            written = write_like(new, repeated)
            changes += [(start, end, written)] if written is not None else []
    return changes


def _calculation(claim: Claim, numeral: Numeral, text: str) -> tuple[Operand, re.Match[str], Operand] | None:
    """Return (first operand, operator, second operand) where the claim is just that and comes to what is written."""
    if len(claim.operands) != 2 or numeral.percent or claim.value is None or claim.result is None:
        return None
    first, second = claim.operands
    found = list(_OPERATOR.finditer(text, first.span.end, second.span.start))
    if len(found) != 1 or (_meaning(found[0]) == "/" and second.value == 0):
        return None
    is_all = _CALCULATE[_meaning(found[0])](first.value, second.value) == claim.value
    converted = claim.truth is not Truth.FALSE and abs(claim.value - claim.result) * 10**numeral.decimals >= 1
    return (first, found[0], second) if is_all and not converted else None


def _meaning(found: re.Match[str]) -> str:
    return _MEANING.get(found.group(), found.group())


def _other(meaning: str, first: Fraction, second: Fraction) -> str:
    """Return another operator that leaves a plausible conclusion: no negative number out of a sum."""
    if meaning == "+":
        return "-" if first > second else "*"
    return "+"


def _recalculate(
    family: EditFamily, text: str, first: Operand, found: re.Match[str], second: Operand
) -> tuple[Fraction, list[Change]] | None:
    """Return the conclusion and the changes of a calculation with another operator, or with its operands swapped."""
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
