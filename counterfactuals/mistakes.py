"""Mistakes planted in right solutions, for training only: what a step would look like had its writer slipped there."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from counterfactuals.constraints import broken_constraint
from counterfactuals.edits import apply_changes, draw_edits, restate
from counterfactuals.numerals import nearby_value, read_numeral, read_result, write_like
from counterfactuals.recalculating import compute_left
from counterfactuals.text_edits import draw_negations
from rafs.errors import InputError
from rafs.evaluation.labels import PLANTED, LabelledTrace, LabelLevel
from rafs.interventions import EditFamily
from rafs.reading import read_text
from rafs.types import ANSWER_PLACEHOLDER, Claim, Reading, SourceKind

INVENTED = "invented_quantity"
WRONG_UNIT = "wrong_unit"
_UNITS = (
    *(("minute", "hour"), ("second", "minute"), ("day", "week"), ("month", "year"), ("cent", "dollar")),
    *(("centimeter", "meter"), ("inch", "foot"), ("inches", "feet"), ("gram", "kilogram"), ("ounce", "pound")),
)
_OTHER_UNIT = {
    f"{one}{end}": f"{other}{end}" for pair in _UNITS for one, other in (pair, pair[::-1]) for end in ("", "s")
}
"""Units of one dimension, which a hasty writer mixes up."""
_MEASURED = re.compile(rf"\d\s?(?P<unit>{'|'.join(sorted(_OTHER_UNIT, key=len, reverse=True))})\b")


def plant_mistakes(trace: LabelledTrace, n: int, seed: int) -> Sequence[LabelledTrace]:
    """Return up to n copies of a right solution, each ending in a step with a mistake planted in it.

    No two are of one family. All but a changed conclusion (`value`, which is taken last) compute rightly what they
    should not compute, so that no calculator finds them. A trace that is not known to be all right has none.

    Args:
        trace: A labelled trace.
        n: Most copies.
        seed: Draws steps, families and numbers.
    """
    if n == 0 or trace.solution_correct is not True or not trace.located:
        return ()
    try:
        reading = read_text(trace.problem, trace.steps, None)
    except InputError:
        return ()
    generator = random.Random(f"{seed} {trace.id}")
    planted = list(_mistakes(reading, generator))
    generator.shuffle(planted)
    by_family: dict[str, LabelledTrace] = {}
    for step, family, text in planted:
        if ANSWER_PLACEHOLDER not in text:
            by_family.setdefault(family, _copy(trace, step, family, text))
    drawn = sorted(generator.sample(sorted(by_family), len(by_family)), key=EditFamily.VALUE.__eq__)
    return [by_family[family] for family in drawn[:n]]


def _copy(trace: LabelledTrace, step: int, family: str, text: str) -> LabelledTrace:
    return replace(
        trace,
        id=f"{trace.id} {family}",
        source=PLANTED,
        subset=family,
        steps=(*trace.steps[:step], text),
        first_error=step,
        step_labels=(*(None for _ in range(step)), False),  # the steps before it teach by the trace that they are from
        solution_correct=False,
        answer_correct=None,
        silent_failure=None,
        extraction_failure=None,
        natural=False,
        label_level=LabelLevel.FIRST_ERROR,
    )


def _mistakes(reading: Reading, generator: random.Random) -> Iterator[tuple[int, str, str]]:
    """Yield (step, family, text of the step) of every mistake that fits somewhere."""
    problem = reading.trace.problem
    for index, claim in enumerate(reading.graph.claims):
        text, seed = reading.trace.steps[claim.step].blind_text, generator.getrandbits(32)
        made = set[EditFamily]()
        for edit in draw_edits(reading.graph, index, None, text, seed, problem):
            if edit.family not in made and broken_constraint(edit, reading, None, None) is None:
                made.add(edit.family)
                yield edit.step, edit.family.value, edit.text
        if (invented := _invent(reading, claim, text, generator)) is not None:
            yield claim.step, INVENTED, invented
    for step in reading.trace.steps:
        for edit in draw_negations(step, generator.getrandbits(32)):
            if broken_constraint(edit, reading, None, None) is None:
                yield edit.step, edit.family.value, edit.text
                break
        if (found := _MEASURED.search(step.blind_text)) is not None:
            change = (*found.span("unit"), _OTHER_UNIT[found["unit"]])
            yield step.index, WRONG_UNIT, apply_changes(step.blind_text, [change])


def _invent(reading: Reading, claim: Claim, text: str, generator: random.Random) -> str | None:
    """Return the step with one number of the problem misquoted in its calculation, and the result that follows."""
    given = [one for one in claim.operands if one.source is SourceKind.PROBLEM]
    numeral = read_result(claim, text)
    begin, end = claim.span.start, claim.span.start + len(claim.left)
    if not given or numeral is None or claim.value != claim.result or text[begin:end] != claim.left:
        return None
    operand = generator.choice(given)
    written = read_numeral(text[operand.span.start : operand.span.end])
    other = None if written is None else nearby_value(written.value, written.unit, generator)
    if written is None or other is None or other in reading.graph.problem_values:
        return None
    misquoted = write_like(other, written)
    if misquoted is None:
        return None
    change = (operand.span.start, operand.span.end, misquoted)
    bindings = {one.text: one.value for one in claim.operands}
    new = compute_left(text[begin : change[0]] + misquoted + text[change[1] : end], bindings)
    result = None if new is None else write_like(new, numeral)
    if new is None or result is None or claim.result_span is None or claim.result_span.start < end:
        return None
    at = claim.result_span.start
    again = restate(claim, numeral, text, new, is_given=claim.result in reading.graph.problem_values)
    return apply_changes(text, [change, (at, at + numeral.n_chars, result), *again])
