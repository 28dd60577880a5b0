"""Making one edit: another conclusion for one step, everything else as it was."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from counterfactuals.grammatical_number import agreeing_words
from counterfactuals.numerals import Numeral, mentions, nearby_value, read_numeral, read_result, write_like
from counterfactuals.recalculating import CURRENCY_CHARS, CURRENCY_END, Change, recalculate
from counterfactuals.targets import replayed_answer
from rafs.interventions import WORD_FAMILIES, Edit, EditFamily, Target
from rafs.types import Claim, QuantityGraph

NUMERIC_FAMILIES = tuple(family for family in EditFamily if family not in WORD_FAMILIES)
VALUES_DRAWN = 3
"""Values drawn for one claim, of which the first valid one is taken (ours)."""
_ANNOTATED = re.compile(r"=\s*([^<>=]{1,40}?)\s*>>\s?(?:\\?[$£€¥]\s?)?$")
"""What stands before a conclusion that an annotation has computed: the `=24>>` of `<<48/2=24>>24`."""
_ANNOTATED_CHARS = 60
"""Characters before a conclusion in which its annotation ends."""


def draw_edits(
    graph: QuantityGraph, claim: int, target: Target | None, text: str, seed: int, context: str = ""
) -> Iterator[Edit]:
    """Yield candidate edits of every numeric family that applies to the claim, in an order drawn by the seed.

    One of each family, but several values: the answer that one leads to may be said before, and so give it away.

    Args:
        graph: The quantity graph.
        claim: Index of the claim to edit; its result is written in the step as a plain number.
        target: What the answer is in the graph; None where it is no result of it.
        text: Blind text of the claim's step.
        seed: Server-side; draws the order of the families and the new value.
        context: Text that shows how the words of the step are spelled in singular and plural: the problem.
    """
    generator = random.Random(seed)
    families = list(NUMERIC_FAMILIES)
    generator.shuffle(families)
    for family in chain.from_iterable([one] * (VALUES_DRAWN if one is EditFamily.VALUE else 1) for one in families):
        edit = _edit(graph, claim, text, family, generator, context)
        if edit is not None and isinstance(edit.new, Fraction):
            yield replace(edit, predicted=replayed_answer(graph, claim, edit.new, target))


def _edit(
    graph: QuantityGraph, index: int, text: str, family: EditFamily, generator: random.Random, context: str
) -> Edit | None:
    claim = graph.claims[index]
    numeral = read_result(claim, text)
    if numeral is None or claim.result is None or claim.result_span is None:
        return None
    scale = 1 if claim.result == numeral.value else Fraction(1, 100)
    changes: list[Change] = []
    if family is EditFamily.VALUE:
        other = nearby_value(numeral.value, numeral.unit, generator)
        if other is None or other * scale == claim.value:
            return None  # the latter would put a mistake right
        new = other * scale
    elif (changed := recalculate(family, claim, numeral, text, generator)) is None:
        return None
    else:
        new, changes = changed
    written = write_like(new / scale, numeral)
    if written is None or new == claim.result:
        return None
    places = [(claim.result_span.start, claim.result_span.start + numeral.n_chars, written)]
    places += restate(claim, numeral, text, new / scale, is_given=claim.result in graph.problem_values)
    words = agreeing_words(text, places, numeral.value, new / scale, f"{context}\n{text}")
    if words is None:
        return None
    edited = apply_changes(text, [*changes, *(_before_currency(text, *place) for place in places), *words])
    return Edit(step=claim.step, claim=index, family=family, text=edited, old=claim.result, new=new, predicted=None)


def _before_currency(text: str, start: int, end: int, written: str) -> Change:
    """Put the minus of a number before the currency that its place begins behind: `-$5`, not `$-5`."""
    currency = CURRENCY_END.search(text, max(0, start - CURRENCY_CHARS), start)
    if currency is None or text[start] in "-−" or written[0] not in "-−":
        return start, end, written
    return currency.start(), end, f"{written[0]}{currency.group()}{written[1:]}"


def apply_changes(text: str, changes: Sequence[Change]) -> str:
    """Return the text with every change made; no two of them overlap."""
    for start, end, written in sorted(changes, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def restate(claim: Claim, numeral: Numeral, text: str, new: Fraction, *, is_given: bool) -> list[Change]:
    """Repeat the new conclusion where the step repeats the old one: in its annotation, and in what follows.

    What follows is left alone where the problem gives the same number, for it may be the problem's. A fraction is
    repeated as it stands.
    """
    assert claim.result_span is not None
    if numeral.bar:
        begin, written = claim.result_span.start + numeral.n_chars, write_like(new, numeral)
        old = re.compile(rf"(?<![\d.]){re.escape(text[claim.result_span.start : begin])}(?![\d.]*\d)")
        return [(*found.span(), written) for found in old.finditer(text, begin)] if written is not None else []
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
