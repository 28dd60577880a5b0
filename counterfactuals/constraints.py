"""What makes an edit valid; an invalid one is discarded, and counted under its code."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from fractions import Fraction

from counterfactuals.givens import is_fact_of_units, restates_given, restates_sentence
from counterfactuals.numerals import mentions, read_result
from counterfactuals.prefixes import leaks_answer
from counterfactuals.targets import answer_of
from rafs.answers.extraction import answer_value
from rafs.claims.reader import read_claims
from rafs.derivation import listed_choices, nearest_choice
from rafs.interventions import WORD_FAMILIES, Edit, EditFamily, Target
from rafs.types import BlindStep, Claim, Reading

_ANNOTATED = re.compile(r">>\s?(?:\\?[$£€¥]\s?)?$")
"""An annotation ends right before a number, which repeats what it computed."""
MAX_CHANGED_TOKENS = 8
"""An operator, two operands and a conclusion that is restated a few times."""
_COPULAS = frozenset("is are was were not".split())
_MAX_ALIGNED = 100
"""Tokens between the first and the last change that are aligned; comparing more of them takes too long."""


class Broken(StrEnum):
    """The constraint that an edit broke."""

    NOT_ATOMIC = "not_atomic"
    """More than one claim changed, or more than one place of the words."""
    NOT_BOUNDED = "not_bounded"
    NOT_ISOLATED = "not_isolated"
    """Claims came or went, or the step still says what it said before."""
    CONTRADICTS_PROBLEM = "contradicts_problem"
    """It changes what the problem gives, rather than what the step concludes."""
    NOT_REPLAYABLE = "not_replayable"
    """The answer hangs on the edit, but what it would become cannot be computed for sure."""
    LEAKS_ANSWER = "leaks_answer"
    RESTATED = "restated"
    """An earlier step, which a writer reads too and may go by, concludes the same."""
    VACUOUS = "vacuous"
    """Nothing changed, or the replay leads to the answer that was derived or stated: the step is not pivotal."""


def broken_constraint(
    edit: Edit, reading: Reading, target: Target | None, first_mentions: Mapping[Fraction, int] | None
) -> Broken | None:
    """Return the first constraint that the edit breaks, or None.

    Args:
        edit: The edit.
        reading: The trace that it edits.
        target: What the answer is in the graph; None where it is no result of it.
        first_mentions: First mention of every number of the trace, where a generator will read the edited prefix; None
            where nobody reads it, so that nothing can leak or be gone by.
    """
    before = reading.trace.steps[edit.step].blind_text
    if edit.new == edit.old or edit.text == before:
        return Broken.VACUOUS
    if _changed_tokens(before.split(), edit.text.split()) > MAX_CHANGED_TOKENS:
        return Broken.NOT_BOUNDED
    is_read = first_mentions is not None
    is_text = edit.family in WORD_FAMILIES
    broken = _broken_in_words(edit, reading, is_read=is_read) if is_text else _broken_in_number(edit, reading, target)
    if broken is not None or first_mentions is None:
        return broken
    if leaks_answer(edit, reading.trace, target, first_mentions):
        return Broken.LEAKS_ANSWER
    return Broken.RESTATED if not is_text and _is_restated(edit, reading, first_mentions) else None


def _broken_in_number(edit: Edit, reading: Reading, target: Target | None) -> Broken | None:
    assert edit.claim is not None
    claim = reading.graph.claims[edit.claim]
    changed = _changed_claims(edit, reading)
    if changed is None or _contradicts_itself(edit, claim, reading) or _is_solved_later(claim, reading):
        return Broken.NOT_ISOLATED
    if len(changed) != 1:
        return Broken.NOT_ATOMIC
    if changed[0].result != edit.new:
        return Broken.NOT_ISOLATED
    if restates_given(claim, reading) or is_fact_of_units(claim):
        return Broken.CONTRADICTS_PROBLEM
    if target is None:
        return None
    if edit.predicted is None:
        return Broken.NOT_REPLAYABLE
    return Broken.VACUOUS if _keeps_answer(edit.predicted, answer_of(reading.graph, target), reading) else None


def _keeps_answer(predicted: Fraction, before: Fraction | None, reading: Reading) -> bool:
    """Whether a number is the answer already, derived or stated; of options, whether it is nearest to the same one."""
    answer = reading.trace.answer
    if predicted == before or answer is None:
        return predicted == before
    choices = listed_choices(reading.trace.problem)
    if answer.text not in choices:
        return predicted == answer_value(answer.text)
    nearest = nearest_choice(predicted, choices)
    return nearest == answer.text or (before is not None and nearest == nearest_choice(before, choices))


def _is_restated(edit: Edit, reading: Reading, first_mentions: Mapping[Fraction, int]) -> bool:
    """Whether an earlier step holds the old conclusion: by the same calculation, or by none and not from the problem.

    Another calculation that comes to the same number is another conclusion.
    """
    assert edit.claim is not None and isinstance(edit.old, Fraction)
    if first_mentions.get(edit.old, edit.step) >= edit.step:
        return False
    own = {operand.value for operand in reading.graph.claims[edit.claim].operands}
    earlier = [
        {operand.value for operand in claim.operands}
        for claim in reading.graph.claims
        if claim.step < edit.step and claim.result == edit.old
    ]
    if earlier:
        return any(values <= own or own <= values for values in earlier)
    return edit.old not in reading.graph.problem_values


def _is_solved_later(claim: Claim, reading: Reading) -> bool:
    """Whether the step goes on to give a name of the claim its value, which then follows from the claim: `3x = 21`."""
    behind = reading.trace.steps[claim.step].blind_text[claim.span.end :]
    names = {operand.text for operand in claim.operands if operand.text.isalpha()}
    return any(re.search(rf"(?<![A-Za-z]){re.escape(name)}\s*=", behind) for name in names)


def _broken_in_words(edit: Edit, reading: Reading, *, is_read: bool) -> Broken | None:
    """Words have no replay: they are for a model that reads them."""
    before = reading.trace.steps[edit.step].blind_text
    start, end = _changed_place(before, edit.text)
    if before[start:end].strip() not in str(edit.old):
        return Broken.NOT_ATOMIC
    if _changed_claims(edit, reading) != [] or _says_again(str(edit.old), before):
        return Broken.NOT_ISOLATED
    if restates_sentence(before, start, reading.trace.problem):
        return Broken.CONTRADICTS_PROBLEM
    return None if is_read else Broken.NOT_REPLAYABLE


def _changed_place(before: str, after: str) -> tuple[int, int]:
    """Return the characters [start, end) of the text before outside which nothing changed."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    kept = next((i for i in range(most - start) if before[-1 - i] != after[-1 - i]), most - start)
    return start, len(before) - kept


def _says_again(words: str, text: str) -> bool:
    """Whether a text holds the changed word in several places; a copula is everywhere."""
    key = words.lower().split()[-1]
    return key not in _COPULAS and len(re.findall(rf"\b{re.escape(key)}\b", text, re.IGNORECASE)) > 1


def _changed_tokens(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the tokens that were replaced, added or taken out."""
    if len(old) == len(new):
        return sum(a != b for a, b in zip(old, new, strict=True))
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - start
    kept = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    old, new = old[start : len(old) - kept], new[start : len(new) - kept]
    if max(len(old), len(new)) > _MAX_ALIGNED:
        return max(len(old), len(new))
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(max(b - a, d - c) for kind, a, b, c, d in steps if kind != "equal")


def _changed_claims(edit: Edit, reading: Reading) -> list[Claim] | None:
    """Read the step alone, before and after; return its claims that changed, None if claims came or went.

    A claim without a value, told in words, may come and go with the word that tells it.
    """
    step = reading.trace.steps[edit.step]
    old, new = (
        read_claims([BlindStep(index=step.index, text=text, kind=step.kind)], reading.trace.problem)
        for text in (step.blind_text, edit.text)
    )
    before, after = _by_place(old, edit), _by_place(new, edit)
    if len(before) != len(after):
        return None
    return [b for a, b in zip(before, after, strict=True) if (a.left, a.result) != (b.left, b.result)]


def _by_place(claims: Sequence[Claim], edit: Edit) -> Sequence[Claim]:
    """Return one claim a place of a result: a calculation and its annotation claim the same number."""
    if edit.family in WORD_FAMILIES:
        claims = [claim for claim in claims if claim.value is not None and claim.result is not None]
    return list({claim.result_span or claim.span: claim for claim in claims}.values())


def _contradicts_itself(edit: Edit, claim: Claim, reading: Reading) -> bool:
    """Whether the edited step still holds the old conclusion, or the old calculation, in another place.

    A number of the problem is no conclusion where it stands before the claim.
    """
    text = reading.trace.steps[edit.step].blind_text
    outside = text[: claim.span.start].rstrip()
    is_annotation = outside.endswith("<<")
    if claim.result_span is not None and not is_annotation and _ANNOTATED.search(text[: claim.result_span.start]):
        return True
    if edit.family is not EditFamily.VALUE and is_annotation and any(one.text in outside for one in claim.operands):
        return True
    if any(operand.value == edit.old for operand in claim.operands):  # which of them a later mention means is unclear
        return any(value == edit.old for at, value in mentions(text) if at.start >= claim.span.end)
    begin = claim.span.start if edit.old in reading.graph.problem_values else 0
    return any(value == edit.old for at, value in mentions(edit.text) if at.start >= begin) or _is_written(
        claim, text, edit.text
    )


def _is_written(claim: Claim, text: str, edited: str) -> bool:
    """Whether the old result still stands behind the claim just as it was written: `86` in `86_{10}`, a fraction."""
    numeral = read_result(claim, text)
    if numeral is None or claim.result_span is None:
        return False
    start = claim.result_span.start
    old = re.compile(rf"(?<![\d.,]){re.escape(text[start : start + numeral.n_chars])}(?![\d]|[.,]\d)")
    return old.search(edited, start) is not None
