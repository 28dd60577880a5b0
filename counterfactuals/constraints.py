"""What makes an edit valid; an invalid one is discarded, and counted under its code."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

from counterfactuals.numerals import mentions
from counterfactuals.prefixes import leaks_answer
from rafs.claims.reader import read_claims
from rafs.interventions import Edit, EditFamily
from rafs.types import BlindStep, Claim, Reading

_ANNOTATED = re.compile(r">>\s?(?:\\?[$£€¥]\s?)?$")
"""An annotation ends right before a number, which repeats what it computed."""
MAX_CHANGED_TOKENS = 8
"""An operator, two operands and a conclusion that is restated a few times."""


class Broken(StrEnum):
    """The constraint that an edit broke."""

    NOT_ATOMIC = "not_atomic"
    NOT_BOUNDED = "not_bounded"
    NOT_ISOLATED = "not_isolated"
    NOT_REPLAYABLE = "not_replayable"
    """The answer hangs on the edit, but what it would become cannot be computed."""
    LEAKS_ANSWER = "leaks_answer"
    VACUOUS = "vacuous"


def broken_constraint(
    edit: Edit, reading: Reading, target: int | None, first_mentions: Mapping[Fraction, int] | None
) -> Broken | None:
    """Return the first constraint that the edit breaks, or None.

    Args:
        edit: The edit.
        reading: The trace that it edits.
        target: The claim whose result is the answer; None where the answer is no result of any claim.
        first_mentions: First mention of every number of the trace, where a generator will read the edited prefix; None
            where nobody reads it, so that nothing can leak.
    """
    before = reading.trace.steps[edit.step].blind_text
    if edit.new == edit.old or edit.text == before:
        return Broken.VACUOUS
    if _changed_tokens(before, edit.text) > MAX_CHANGED_TOKENS:
        return Broken.NOT_BOUNDED
    changed = _changed_claims(edit, reading)
    if changed is None or _contradicts_itself(edit, reading):
        return Broken.NOT_ISOLATED
    if changed != 1:
        return Broken.NOT_ATOMIC
    if target is not None and edit.predicted is None:
        return Broken.NOT_REPLAYABLE
    if first_mentions is not None and leaks_answer(edit, reading.trace, target, first_mentions):
        return Broken.LEAKS_ANSWER
    return None


def _changed_tokens(before: str, after: str) -> int:
    old, new = before.split(), after.split()
    return max(len(old), len(new)) - sum(a == b for a, b in zip(old, new, strict=False))


def _changed_claims(edit: Edit, reading: Reading) -> int | None:
    """Read the step alone, before and after; return how many of its claims changed, None if claims came or went."""
    step = reading.trace.steps[edit.step]
    old, new = (
        read_claims([BlindStep(index=step.index, text=text, kind=step.kind)], reading.trace.problem)
        for text in (step.blind_text, edit.text)
    )
    before, after = _by_place(old), _by_place(new)
    if len(before) != len(after):
        return None
    return sum((a.left, a.result) != (b.left, b.result) for a, b in zip(before, after, strict=True))


def _by_place(claims: Sequence[Claim]) -> Sequence[Claim]:
    """Return one claim a place of a result: a calculation and its annotation claim the same number."""
    return list({claim.result_span or claim.span: claim for claim in claims}.values())


def _contradicts_itself(edit: Edit, reading: Reading) -> bool:
    """Whether the edited step still holds the old conclusion, or the old calculation, in another place.

    A number of the problem is no conclusion where it stands before the claim.
    """
    claim, text = reading.graph.claims[edit.claim], reading.trace.steps[edit.step].blind_text
    outside = text[: claim.span.start].rstrip()
    is_annotation = outside.endswith("<<")
    if claim.result_span is not None and not is_annotation and _ANNOTATED.search(text[: claim.result_span.start]):
        return True
    if edit.family is not EditFamily.VALUE and is_annotation and any(one.text in outside for one in claim.operands):
        return True
    if any(operand.value == edit.old for operand in claim.operands):
        return False
    begin = claim.span.start if edit.old in reading.graph.problem_values else 0
    return any(value == edit.old for at, value in mentions(edit.text) if at.start >= begin)
