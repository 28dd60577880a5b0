"""What makes an edit valid; an invalid one is discarded, and counted under its code."""

from dataclasses import replace
from enum import StrEnum

from rafs.answers import answer_value
from rafs.claims import read_claims
from rafs.interventions import Edit
from rafs.lexing import lex
from rafs.tokens import Kind
from rafs.types import Reading, StepKind, Trace

MAX_CHANGED_TOKENS = 8
"""An operator, two operands and a conclusion that is restated a few times."""


class Broken(StrEnum):
    """The constraint that an edit broke."""

    NOT_ATOMIC = "not_atomic"
    NOT_BOUNDED = "not_bounded"
    NOT_ISOLATED = "not_isolated"
    LEAKS_ANSWER = "leaks_answer"
    VACUOUS = "vacuous"


def broken_constraint(edit: Edit, reading: Reading, *, is_read: bool) -> Broken | None:
    """Return the first constraint that the edit breaks, or None.

    Args:
        edit: The edit.
        reading: The trace that it edits.
        is_read: Whether a generator will read the edited prefix; only then can it leak.
    """
    before = reading.trace.steps[edit.step].blind_text
    if edit.new == edit.old or edit.text == before:
        return Broken.VACUOUS
    if _changed_tokens(before, edit.text) > MAX_CHANGED_TOKENS:
        return Broken.NOT_BOUNDED
    changed = _changed_claims(edit, reading)
    if changed is None:
        return Broken.NOT_ISOLATED
    if changed != 1:
        return Broken.NOT_ATOMIC
    if is_read and edit.claim != len(reading.graph.claims) - 1 and _leaks(edit, reading.trace):
        return Broken.LEAKS_ANSWER
    return None


def _changed_tokens(before: str, after: str) -> int:
    old, new = before.split(), after.split()
    return max(len(old), len(new)) - sum(a == b for a, b in zip(old, new, strict=False))


def _changed_claims(edit: Edit, reading: Reading) -> int | None:
    """Re-read the edited trace; return how many claims of the edited step changed, None if claims came or went."""
    blind = reading.blind()
    steps = [replace(step, text=edit.text) if step.index == edit.step else step for step in blind.steps]
    old = [(claim.left, claim.result) for claim in reading.graph.claims if claim.step == edit.step]
    new = [(claim.left, claim.result) for claim in read_claims(steps, blind.problem) if claim.step == edit.step]
    if len(old) != len(new):
        return None
    return sum(a != b for a, b in zip(old, new, strict=True))


def _leaks(edit: Edit, trace: Trace) -> bool:
    """Whether the stated or the predicted answer stands in the edited prefix."""
    stated = None if trace.answer is None else answer_value(trace.answer.text)
    prefix = [*(step.text for step in trace.steps[: edit.step] if step.kind is not StepKind.ANSWER), edit.text]
    present = {token.value for text in prefix for token in lex(text) if token.kind is Kind.NUMBER}
    return any(value is not None and value in present for value in (stated, edit.predicted))
