"""What one continuation did with an edit, and how sure its effect is."""

from dataclasses import replace
from fractions import Fraction

import pytest

from counterfactuals.effects import continuation_effect, delta_interval, is_stated, read_response
from counterfactuals.repairs import repairs
from rafs.interventions import Edit, EditFamily, Response
from rafs.types import Sampled

PROBLEM = "A press prints 15 pages a minute. It runs for 40 minutes, and 60 pages are spoilt. How many are good?"
EDIT = Edit(
    step=0,
    claim=0,
    family=EditFamily.VALUE,
    text="",
    old=Fraction(600),
    new=Fraction(610),
    predicted=Fraction(550),
)
F, M, S, R, U = Response.FOLLOWED, Response.MOVED, Response.STAYED, Response.RECOVERED, Response.UNPARSED


@pytest.mark.parametrize(
    ("continuation", "truncated", "response"),
    [
        pytest.param("The answer is 550.", False, F, id="followed"),
        pytest.param("The answer is 700.", False, M, id="moved elsewhere"),
        pytest.param("The answer is 540.", False, S, id="stayed"),
        pytest.param("Wait, that is a mistake: 15 * 40 = 600. The answer is 540.", False, R, id="repaired"),
        pytest.param("600, not 610, are printed. The answer is 540.", False, R, id="denied"),
        pytest.param("So 15 * 40 = 600. The answer is 540.", False, S, id="passed over in silence"),
        pytest.param("This should be a whole number. The answer is 540.", False, S, id="what a number is to be"),
        pytest.param("The problem statement is incorrect. The answer is 540.", False, S, id="the problem blamed"),
        pytest.param("Is there a mistake in the data? No. The answer is 540.", False, S, id="nothing put right"),
        pytest.param("Presses wait for 600 pages. The answer is 540.", False, S, id="waiting is no doubt"),
        pytest.param("and so on", False, U, id="no answer"),
        pytest.param("", False, U, id="nothing"),
        pytest.param(" ", False, U, id="a space"),
        pytest.param("\nI do not know.", False, U, id="a refusal"),
        pytest.param("That is all she has.", False, U, id="words alone"),
        pytest.param("The answer is 550.", True, U, id="truncated"),
    ],
)
def test_responses(continuation: str, truncated: bool, response: Response) -> None:
    assert read_response(EDIT, "540", Sampled(text=continuation, truncated=truncated), PROBLEM) is response


@pytest.mark.parametrize(
    ("continuation", "is_repair"),
    [
        pytest.param("Wait, 15 * 40 is 600.", True, id="doubt and the old conclusion"),
        pytest.param("Let me recalculate: 15 pages * 40 minutes = 600 pages.", True, id="calculated again"),
        pytest.param("But that is wrong. A minute gives 15, so it is 600 pages.", True, id="called wrong"),
        pytest.param("Step 1 should be 600.", True, id="a step corrected"),
        pytest.param("I made a mistake above; there are 600 pages.", True, id="a mistake owned"),
        pytest.param("It prints 600 instead of 610 pages.", True, id="one number for the other"),
        pytest.param("Hold on, it was to print 620.", False, id="another number"),
        pytest.param("Wait. 610 - 60 = 550.", False, id="doubt that keeps the edit"),
        pytest.param("The number should be 600.", False, id="what is wanted"),
        pytest.param("Actually the press is fast. " + "It runs on. " * 30 + "600 it is.", False, id="far apart"),
        pytest.param("There are 600 of them.", False, id="no doubt"),
    ],
)
def test_a_repair_takes_the_edit_back_and_says_the_right_conclusion(continuation: str, is_repair: bool) -> None:
    assert repairs(EDIT, continuation, PROBLEM) is is_repair


def test_a_repair_may_say_what_the_edited_calculation_really_comes_to() -> None:
    edit = replace(EDIT, text="It prints 15 * 40 = 620 pages.", old=Fraction(610), new=Fraction(620))
    assert repairs(edit, "That is not right: 15 * 40 = 600.", PROBLEM)
    assert not repairs(edit, "That is not right: 15 * 40 = 630.", PROBLEM)


@pytest.mark.parametrize(
    ("continuation", "is_repair"),
    [("Wait, the press is slower.", True), ("The press is slower.", False), ("Wait, it stops.", False)],
)
def test_words_are_repaired_by_the_words_they_replaced(continuation: str, is_repair: bool) -> None:
    edit = replace(EDIT, claim=None, family=EditFamily.NEGATION, text="It is faster.", old="slower", new="faster")
    assert repairs(edit, continuation, PROBLEM) is is_repair


@pytest.mark.parametrize(
    ("found", "stated", "same"),
    [
        pytest.param("540", "540", True, id="one number"),
        pytest.param("541", "540", False, id="another number"),
        pytest.param("x + 1", "1 + x", True, id="one expression"),
        pytest.param("x + 1", "x + 2", False, id="another expression"),
        pytest.param("many", "540", None, id="words for a number"),
        pytest.param("540", None, False, id="a number where none was stated"),
    ],
)
def test_answers_are_compared_by_what_they_mean(found: str, stated: str | None, same: bool | None) -> None:
    assert is_stated(found, stated, PROBLEM) is same


@pytest.mark.parametrize(
    ("responses", "low", "high"),
    [
        pytest.param([F, F, F, F], 0.5101, 1.0, id="all followed"),
        pytest.param([S, S, S, S], 0.0, 0.4899, id="all stayed"),
        pytest.param([F, S, F, S], 0.1500, 0.8500, id="half"),
        pytest.param([F, S, F, S, R, U], 0.1500, 0.8500, id="what does not count is left out"),
    ],
)
def test_the_interval_is_wilsons(responses: list[Response], low: float, high: float) -> None:
    # Reference values from tables of Wilson's score interval without continuity correction.
    assert delta_interval(responses) == pytest.approx((low, high), abs=1e-4)


def test_without_continuations_that_count_there_is_no_interval() -> None:
    assert delta_interval([R, U, Response.NOT_RUN]) is None


def test_more_continuations_make_the_interval_narrower() -> None:
    widths = [high - low for n in (2, 8, 32) if (interval := delta_interval([F, S] * n)) for low, high in [interval]]
    assert widths == sorted(widths, reverse=True)


def test_an_effect_keeps_why_the_rest_was_not_asked() -> None:
    said = [Sampled(text="The answer is 550.", truncated=False)]
    effect = continuation_effect(EDIT, "540", PROBLEM, said, [Response.NOT_NEEDED])
    assert (effect.responses, effect.delta) == ((F, Response.NOT_NEEDED), 1.0)
