"""A step that computes something is an inference, whatever words it begins with."""

from fractions import Fraction

import pytest

from rafs.answers.extraction import extract_answer
from rafs.claims.reader import read_claims
from rafs.splitting.step_kinds import classify_step, numbers_in
from rafs.types import BlindStep, StepKind, Truth

COMPUTED = {
    "share_which_is": "The tip is 20% of $45, which is $20.",
    "share_is": "Now 20 percent of 45 is 20.",
    "fraction_of": "That half of 45 is 20.",
    "given_that_computes": "We know 20 * 45 = 45.",
}


@pytest.mark.parametrize("text", COMPUTED.values(), ids=COMPUTED.keys())
def test_a_step_that_computes_is_an_inference(text: str) -> None:
    assert classify_step(text, numbers_in("20 45")) is StepKind.INFERENCE


GIVEN = {
    "share_alone": "The tip is 20% of $45.",
    "name": "Let x = 20 + y be the tip.",
    "plan": "We need to find 20% of 45.",
}


@pytest.mark.parametrize("text", GIVEN.values(), ids=GIVEN.keys())
def test_a_step_that_only_says_what_is_given_or_wanted_is_none(text: str) -> None:
    assert classify_step(text, numbers_in("20 45")) is StepKind.SETUP


OPERANDS = {
    "second": "6 * 7 is easy to find.",
    "both": r"We look at $6 \times 7$.",
    "power": "So it is about x^2.",
    "range": "It takes 5-10 minutes.",
    "factors": "x^2 - 5x - 14 = (x - 2)(x + 7)",
    "cut_list": "These are 3,4.",
}


@pytest.mark.parametrize("text", OPERANDS.values(), ids=OPERANDS.keys())
def test_an_operand_is_no_answer(text: str) -> None:
    assert extract_answer(text) is None


STATED = {
    "result": ("So 6 * 7 = 42", "42"),
    "negative": ("It is -5", "-5"),
    "negative_result": ("3 - 8 = -5", "-5"),
    "emphasis": ("There are **42** of them.", "42"),
    "fraction": ("The share is 3/4", "3/4"),
    "before_operands": ("Thus there are 42 of them. Indeed 6 * 7 is easy to find.", "42"),
    "beside_operands": ("So of the 20 - 5 apples we need 15.", "15"),
}


@pytest.mark.parametrize(("text", "answer"), STATED.values(), ids=STATED.keys())
def test_a_number_that_is_no_operand_is_still_the_answer(text: str, answer: str) -> None:
    found = extract_answer(text)
    assert found is not None
    assert found.text == answer


def test_a_run_on_says_that_it_is_one() -> None:
    step = BlindStep(index=0, text="83 + 90 = 173 + 94 = 267", kind=StepKind.INFERENCE)
    first, second = read_claims([step], "")
    assert (first.truth, first.reason) == (Truth.TRUE, "run-on, read step by step")
    assert (first.result, second.result) == (Fraction(173), Fraction(267))
    assert second.truth is Truth.TRUE
