"""What a step asserts, and what it only denies, supposes, quotes, tries out or takes back."""

import pytest

from rafs.claims.reader import read_claims
from rafs.types import BlindStep, StepKind, Truth


def truths(*texts: str) -> list[Truth]:
    steps = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(texts)]
    return [claim.truth for claim in read_claims(steps, "")]


NOT_ASSERTED = {
    "denied": "It is not true that 4*7 = 27.",
    "denied_after": '"4*7 = 27" is false.',
    "does_not_hold": "4*7 = 27 does not hold.",
    "supposed": "Suppose for contradiction that 4*7 = 27.",
    "conditional": "If 4*7 = 27, then 4*7 is odd.",
    "inverted_condition": "Had we found 4*7 = 27, we would be wrong.",
    "question": "Does 4*7 = 27?",
    "reported": "Tom says 4*7 = 27.",
    "nobody": "Nobody would say that 4*7 = 27.",
    "mistake": "A common mistake is to write 4*7 = 27.",
    "labelled_wrong": "Wrong: 4*7 = 27.",
    "instead_of": "We use 4*7 = 28 instead of 4*7 = 27.",
    "cannot_have": "We cannot have 4*7 = 27.",
    "choices": "(A) 4*7 = 27 (B) 4*7 = 29",
    "tried_out": "Let's try a third: 1 = 1/2 + 1/3. This does not equal 1, so we go on.",
    "condition_on_a_name": "x > 3",
    "not_correct": "It is not correct that 4*7 = 27.",
    "contracted": "It isn't true that 4*7 = 27.",
    "do_not_have": "We do not have 4*7 = 27.",
    "doubted": "I doubt that 4*7 = 27.",
    "no_way": "There's no way that 4*7 = 27.",
    "named_wrong": "A wrong approach: 4*7 = 27.",
    "remark": "4*7 = 27 (wrong)",
    "remark_behind_a_unit": "4*7 = 27 apples (incorrect), it is 28.",
    "square_remark": "4*7 = 27 [wrong]",
    "remark_behind_a_dash": "4*7 = 27 -- wrong",
    "seems_wrong": "4*7 = 27 looks wrong.",
    "typo": "4*7 = 27 is a typo.",
    "had_been": "Had the price been 4*7 = 27, we would pay less.",
    "world": "In a world where 4*7 = 27, we would pay less.",
    "provided": "Provided that 4*7 = 27, we are done.",
    "as_long_as": "As long as 4*7 = 27, it fits.",
    "were_the_case": "If it were the case that 4*7 = 27, it would fit.",
    "for_argument": "Take 4*7 = 27 for the sake of argument.",
    "told_by_a_person": "According to my friend, 4*7 = 27.",
    "task": "Prove that 4*7 = 27.",
    "to_be_shown": "We need to show 4*7 = 27.",
    "true_or_false": "True or false: 4*7 = 27",
    "struck_out": "~~4*7 = 27~~ 4*7 = 28",
    "deleted": "<del>4*7 = 27</del> 4*7 = 28",
}
TAKEN_BACK = {
    "that_is_wrong": "4*7 = 27. Wait, that is wrong: 4*7 = 28.",
    "no_wait": "4*7 = 27, no wait, 4*7 = 28.",
    "actually": "4*7 = 27. Actually, 4*7 = 28.",
    "asked": "4*7 = 27? No, 4*7 = 28.",
    "correction": "First attempt: 4*7 = 27. Correction: 4*7 = 28.",
    "solution": "x = 9. Wait, that is wrong: 3x = 12, so x = 4.",
}
ASSERTED = {
    "unrelated_wait": "4*7 = 27. Wait, we also need 2 + 2 = 4.",
    "worse_correction": "4*7 = 28. Actually, 4*7 = 27.",
    "clause_of_its_own": "If he buys 4*7 = 27 apples, he pays more.",
    "own_opinion": "I think 4*7 = 27.",
    "contrast": "She thinks 4*7 = 28, but 4*7 = 27.",
    "certain": "Not surprisingly, 4*7 = 27.",
    "since": "Since 4*7 = 27, we go on.",
    "case_at_hand": "If that is the case, 4*7 = 27.",
    "shown": "We can verify that 4*7 = 27.",
    "by_a_formula": "According to the formula, 4*7 = 27.",
    "wrong_things_are_counted": "Points for wrong answers: 4*7 = 27.",
    "remark_on_something_else": "4*7 = 27 apples (no pears)",
    "subject_of_a_verb": "4*7 = 27 pupils cannot be seated.",
    "after_a_denial": "It is wrong that 4*7 = 28; in fact 4*7 = 27.",
}


@pytest.mark.parametrize("text", NOT_ASSERTED.values(), ids=NOT_ASSERTED.keys())
def test_what_is_not_asserted_is_not_refuted(text: str) -> None:
    assert Truth.FALSE not in truths(text)


@pytest.mark.parametrize("text", TAKEN_BACK.values(), ids=TAKEN_BACK.keys())
def test_what_a_step_takes_back_it_does_not_assert(text: str) -> None:
    assert Truth.FALSE not in truths(text)
    assert Truth.TRUE in truths(text)


@pytest.mark.parametrize("text", ASSERTED.values(), ids=ASSERTED.keys())
def test_what_is_asserted_after_all_is_refuted(text: str) -> None:
    assert Truth.FALSE in truths(text)


def test_a_later_step_takes_nothing_back() -> None:
    assert truths("4*7 = 27.", "Wait, that is wrong: 4*7 = 28.") == [Truth.FALSE, Truth.TRUE]
