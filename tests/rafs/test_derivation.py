"""How the stated answer hangs on the derivation is read off the graph, and not claimed where it cannot be."""

import pytest

from rafs.derivation import E_ABSENT, E_DERIVED, E_DIFFERENT, E_REACHED, link_answer
from rafs.outcomes import Unmeasured
from rafs.reading import read_text
from rafs.support import AnswerEntailment

PROBLEM = (
    "A crew of 6 lays 45 bricks an hour each and works for 7 hours. 90 bricks are taken out again. How many are left?"
)
CHAIN = (
    "One hour gives 6 * 45 = 270 bricks.\n7 hours give 270 * 7 = 1890 bricks.\nThat leaves 1890 - 90 = 1800 bricks.\n"
)
SCATTERED = "There are 6 * 45 = 270 of one kind.\nThere are 90 - 7 = 83 of another.\n"


@pytest.mark.parametrize(
    ("text", "matches", "target", "p"),
    [
        pytest.param(CHAIN + "The answer is 1800.", True, 2, E_DERIVED, id="the end of the derivation"),
        pytest.param(CHAIN + "The answer is 1,800 bricks.", True, 2, E_DERIVED, id="the same number in other clothes"),
        pytest.param(CHAIN + "**Answer:** 1 800", True, 2, E_DERIVED, id="spaced thousands"),
        pytest.param(CHAIN + "The answer is 270.", False, 2, E_DIFFERENT, id="an intermediate result"),
        pytest.param(CHAIN + "The answer is 55.", False, 2, E_DIFFERENT, id="another number"),
        pytest.param("The answer is 55.\n" + CHAIN, False, 2, E_DIFFERENT, id="an answer that was stated first"),
        pytest.param(SCATTERED + "The answer is 270.", None, 0, E_REACHED, id="a result, but no clear end"),
        pytest.param(SCATTERED + "The answer is 55.", None, None, E_ABSENT, id="no calculation leads there"),
    ],
)
def test_where_the_answer_stands(text: str, matches: bool | None, target: int | None, p: float) -> None:
    reading = read_text(PROBLEM, text, None)
    link = link_answer(reading.trace, reading.graph)
    assert (link.matches, link.target) == (matches, target)
    assert isinstance(link.entailment, AnswerEntailment)
    assert link.entailment.p == p


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(CHAIN, None, id="the closing equation is the answer"),
        pytest.param("Many are left.\n", "no_answer", id="no answer"),
        pytest.param(CHAIN + "The answer is (270, 1800).", "derivation_not_readable", id="an answer that is no number"),
        pytest.param("Let n be the rest.\nThe answer is 55.", "derivation_not_readable", id="no calculation"),
    ],
)
def test_what_cannot_be_read_is_unmeasured(text: str, reason: str | None) -> None:
    reading = read_text(PROBLEM, text, None)
    entailment = link_answer(reading.trace, reading.graph).entailment
    assert (entailment.reason if isinstance(entailment, Unmeasured) else None) == reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2^n > 5, and 2^3 = 8 is the first power above it.\nThe answer is 3.", id="an inequality decides"),
        pytest.param("6 * 45 = 270.\nSo the crew needs two more days.\nThe answer is 2.", id="words decide"),
        pytest.param("2x + 90 = 100 and 6 * 45 = 270.\nThe answer is 5.", id="an equation in a variable decides"),
    ],
)
def test_an_answer_is_called_absent_only_where_all_inference_is_arithmetic(text: str) -> None:
    reading = read_text(PROBLEM, text, None)
    assert not link_answer(reading.trace, reading.graph).is_absent


PICKERS = "Ben picks 9 pears in 3 hours and Kim picks 8 in 4 hours. How many more pears does Ben pick in an hour?"


@pytest.mark.parametrize(
    ("problem", "text", "derived", "matches"),
    [
        pytest.param(
            PICKERS, "Ben picks 9/3 = 3 and Kim 8/4 = 2, so he picks 3 - 2 = 1 more pear in 1 hour.\nThe answer is 1.",
            1, True, id="the result itself is one",
        ),
        pytest.param(
            "Ben picks 27 pears in 3 hours and Kim picks 8 in 4 hours. How many more does Ben pick in an hour?",
            "Ben picks 27/3 = 9 and Kim 8/4 = 2. He picks 9 - 2 = 7 more pears than Kim in 1 hour.\nThe answer is 7.",
            7, True, id="a bare one behind the result",
        ),
        pytest.param(
            "A jar costs $8 to make and is sold for $14. How much do 10 jars bring?",
            "Subtract the cost from the price, and finally times that by 10.\nThe answer is 60.",
            None, None, id="an operand behind `by`",
        ),
        pytest.param(
            "Kim walked 5 miles on Monday and 15 on Tuesday, and 34 miles with Wednesday. How far on Wednesday?",
            "The three days make 34 miles, so it was 14 on Wednesday: 5 + 15 + 14 = 34.\nThe answer is 14.",
            34, None, id="an answer that makes the sum come out",
        ),
    ],
)  # fmt: skip
def test_what_stands_beside_the_end_is_not_the_end(
    problem: str, text: str, derived: int | None, matches: bool | None
) -> None:
    reading = read_text(problem, text, None)
    assert reading.graph.derived == derived
    assert link_answer(reading.trace, reading.graph).matches is matches


CHOICES = "A box holds 8 pens. How many pens do 3 boxes hold? "


@pytest.mark.parametrize(
    ("problem", "answer", "matches"),
    [
        pytest.param(CHOICES + "Options: ['20', '24 pens', '28']", "B", True, id="an option in a bracketed list"),
        pytest.param(CHOICES + "Options: ['20', '24 pens', '28']", "C", False, id="another option"),
        pytest.param(CHOICES + "Options: ['10', '25', '40']", "B", True, id="the nearest option"),
        pytest.param(CHOICES + "\nA. 20\nB. 24\nC. 28", "B", True, id="an option of a lettered list"),
        pytest.param(CHOICES, "24", True, id="a number"),
        pytest.param(CHOICES, ": 24", True, id="a number behind a colon"),
        pytest.param(CHOICES, "24.\n\nGlad to help!", True, id="a number and a greeting"),
        pytest.param(CHOICES, "The three boxes hold 24 pens.", True, id="a sentence"),
        pytest.param(CHOICES, "The three boxes hold 8 and 24 pens.", None, id="a sentence with two numbers"),
        pytest.param(CHOICES, "240", False, id="another scale"),
        pytest.param(CHOICES, "24.1", None, id="nearly the same"),
    ],
)
def test_a_stated_answer_is_compared_in_the_form_it_has(problem: str, answer: str, matches: bool | None) -> None:
    reading = read_text(problem, "3 boxes hold 3 * 8 = 24 pens.", answer)
    assert link_answer(reading.trace, reading.graph).matches is matches


@pytest.mark.parametrize(
    ("problem", "text", "answer", "matches"),
    [
        pytest.param("7 of 28 fail.", "7 / 28 = 0.25, or 25%.", "25", True, id="a percentage as a number"),
        pytest.param("7 of 28 fail. What percentage?", "7 / 28 = 0.25.", "25", True, id="a percentage was asked for"),
        pytest.param("Share 20 by 3.", "20 / 3 = 6.667", "6.67", True, id="rounded to two decimals"),
        pytest.param("Share 20 by 3.", "20 / 3 = 6.667", "7", None, id="rounded to a whole thing"),
        pytest.param("Share 4 by 3.", "4 / 3 = 1.333", "1.3", False, id="rounded too roughly"),
        pytest.param(
            "Share 4 by 3, to one decimal place.", "4 / 3 = 1.333", "1.3", None, id="a rounding was asked for"
        ),
        pytest.param("He has 20, she 60.", "20 - 60 = -40\nSo he has 40 less.", "-40", False, id="a sign too many"),
        pytest.param("He has 20, she 60.", "20 - 60 = -40\nSo he has 40 less.", "40", True, id="the size that is said"),
        pytest.param(
            "20 and 30.", "One earns 20, one 30.\nIn total they earn 50.", "500", False, id="words, other scale"
        ),
        pytest.param("20 and 30.", "One earns 20, one 30.\nIn total they earn 50.", "50", True, id="an end in words"),
    ],
)
def test_the_end_is_what_the_text_says_last(problem: str, text: str, answer: str, matches: bool | None) -> None:
    reading = read_text(problem, [*text.split("\n"), f"The answer is {answer}."], None)
    assert link_answer(reading.trace, reading.graph).matches is matches
