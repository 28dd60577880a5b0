"""Edits change one conclusion and nothing else, and the replay foretells the answer."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfactuals.edits import VALUES_DRAWN, draw_edits
from counterfactuals.targets import answer_of, leading_claims, replayed_answer
from rafs.interventions import Edit, EditFamily
from rafs.reading import read_text
from rafs.types import Reading

PROBLEM = "A hall has 18 rows of 24 chairs. 32 chairs are broken, and half of the others are taken. How many are taken?"
STEPS = (
    "The hall has 18 * 24 = 432 chairs.",
    "Without the broken ones it has 432 - 32 = 400 chairs, so 400 can be used.",
    "Half of them are taken, so 400 / 2 = 200 are taken.",
    "The answer is 200.",
)
LAST = 2
seeds = st.integers(0, 2**40)


def reading(*steps: str) -> Reading:
    return read_text(PROBLEM, steps or STEPS, None)


def edits(claim: int, seed: int) -> dict[EditFamily, Edit]:
    read = reading()
    text = read.trace.steps[read.graph.claims[claim].step].blind_text
    return {edit.family: edit for edit in draw_edits(read.graph, claim, LAST, text, seed)}


@given(seeds)
def test_every_family_is_tried_where_it_applies(seed: int) -> None:
    assert set(edits(0, seed)) == {EditFamily.VALUE, EditFamily.OPERATOR}
    assert set(edits(2, seed)) == {EditFamily.VALUE, EditFamily.OPERATOR, EditFamily.OPERAND_SWAP}


def test_the_order_of_families_is_drawn_by_the_seed() -> None:
    orders = {tuple(edits(2, seed)) for seed in range(40)}
    assert len(orders) == 6


def test_an_operator_edit_by_hand() -> None:
    edit = edits(1, 0)[EditFamily.OPERATOR]
    assert edit.text == "Without the broken ones it has 432 + 32 = 464 chairs, so 464 can be used."
    assert [edit.old, edit.new, edit.predicted] == [400, 464, 232]


def test_an_operand_swap_by_hand() -> None:
    step = "At -5 degrees it has 432 - 32 = 400, so 400 can be used."
    read = reading(STEPS[0], step, *STEPS[2:])
    [edit] = [one for one in draw_edits(read.graph, 1, LAST, step, 0) if one.family is EditFamily.OPERAND_SWAP]
    assert edit.text == "At -5 degrees it has 32 - 432 = -400, so -400 can be used."
    assert edit.predicted == -200


def test_what_is_counted_does_not_become_negative() -> None:
    assert EditFamily.OPERAND_SWAP not in edits(1, 0)


@given(seeds)
def test_a_value_edit_keeps_the_calculation_and_moves_the_answer(seed: int) -> None:
    edit = edits(0, seed)[EditFamily.VALUE]
    assert edit.text.startswith("The hall has 18 * 24 = ")
    assert isinstance(edit.new, Fraction)
    assert edit.predicted == (edit.new - 32) / 2 != 200


@pytest.mark.parametrize(
    ("text", "family", "edited"),
    [
        pytest.param("So $4 \\times 6 = 24$.", EditFamily.OPERATOR, "So $4 + 6 = 10$.", id="LaTeX operator"),
        pytest.param("4 + 6 = 10 cats.", EditFamily.OPERATOR, "4 * 6 = 24 cats.", id="a sum does not turn negative"),
        pytest.param("96 / 6 = 16 cats.", EditFamily.OPERATOR, "96 + 6 = 102 cats.", id="division"),
        pytest.param(
            "That is <<10-24=-14>>-14 cats.",
            EditFamily.OPERAND_SWAP,
            "That is <<24-10=14>>14 cats.",
            id="negative annotation",
        ),
    ],
)
def test_a_family_by_hand(text: str, family: EditFamily, edited: str) -> None:
    assert drawn_from(text)[family].text == edited


def drawn_from(text: str) -> dict[EditFamily, Edit]:
    """Return the edits of the last claim of a trace of one step."""
    graph = reading(text).graph
    last = len(graph.claims) - 1
    return {edit.family: edit for edit in draw_edits(graph, last, last, text, 1)}


@given(seeds)
def test_a_value_edit_changes_the_annotation_with_the_number_that_it_computed(seed: int) -> None:
    text = "She has 54/2 = $<<54/2=27.0>>27, so $27 are left."
    graph = reading(text).graph
    edit = next(edit for edit in draw_edits(graph, 0, 0, text, seed) if edit.family is EditFamily.VALUE)
    assert edit.text == f"She has 54/2 = $<<54/2={edit.new}.0>>{edit.new}, so ${edit.new} are left."


@given(seeds)
def test_a_value_edit_puts_no_mistake_right(seed: int) -> None:
    graph = reading("So 4 + 5 = 8 are red.").graph
    assert 9 not in [edit.new for edit in draw_edits(graph, 0, 0, "So 4 + 5 = 8 are red.", seed)]


def test_a_number_that_the_problem_gives_is_not_taken_for_the_conclusion() -> None:
    edit = drawn_from("Then 16 * 2 = 32 are taken, and 32 are broken.")[EditFamily.VALUE]
    assert edit.text.endswith(", and 32 are broken.")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("48/2 = 24 = 12 * 2", id="ends in an expression"),
        pytest.param("4/6 = 1 - 1/3", id="ends in a difference"),
    ],
)
def test_a_result_that_is_no_plain_number_is_not_edited(text: str) -> None:
    assert drawn_from(text) == {}


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        pytest.param(
            "So 6/8 = \\frac{3}{4}, and \\frac{3}{4} are red.",
            {f"So 6/8 = \\frac{{{n}}}{{4}}, and \\frac{{{n}}}{{4}} are red." for n in (1, 2)},
            id="in LaTeX",
        ),
        pytest.param("So 6/8 = 3/4.", {"So 6/8 = 1/4.", "So 6/8 = 2/4."}, id="with a bar"),
    ],
)
def test_the_numerator_of_a_fraction_is_another_one(text: str, edited: set[str]) -> None:
    assert values(text) == edited


def test_the_minus_of_an_amount_stands_before_its_currency() -> None:
    text = "At -3 degrees it is 9 - 4 = 5, so $5."
    assert drawn_from(text)[EditFamily.OPERAND_SWAP].text == "At -3 degrees it is 4 - 9 = -5, so -$5."


def test_a_link_in_the_middle_of_a_chain_is_not_edited() -> None:
    text = "That is 2 * 12 = 20 + 4 = 24 cats."
    assert [len(list(draw_edits(reading(text).graph, claim, 1, text, 0))) for claim in range(2)] == [
        0,
        VALUES_DRAWN,
    ]


def test_the_percent_sign_stays() -> None:
    edits = drawn_from("So 12 / 48 = 25% are taken.")
    assert set(edits) == {EditFamily.VALUE}
    new = edits[EditFamily.VALUE].new
    assert isinstance(new, Fraction)
    assert edits[EditFamily.VALUE].text == f"So 12 / 48 = {100 * new}% are taken."


def test_an_answer_that_cannot_be_computed_again_has_no_prediction() -> None:
    graph = reading().graph
    edit = next(draw_edits(graph, 0, LAST, STEPS[0], 0))
    unreadable = replace(graph.claims[1], left="without the broken ones")
    claims = (graph.claims[0], unreadable, *graph.claims[2:])
    assert isinstance(edit.new, Fraction)
    assert replayed_answer(replace(graph, claims=claims), 0, edit.new, LAST) is None


def test_what_leads_to_the_answer_is_found_backwards() -> None:
    graph = reading(STEPS[0], "By the way, 18 + 24 = 42.", *STEPS[1:]).graph
    assert leading_claims(graph, 3) == {0, 2, 3}


def test_an_answer_that_is_said_in_words_is_replayed() -> None:
    graph = reading(STEPS[0], "Once 32 are taken out, that leaves 400 chairs.", "The answer is 400.").graph
    assert graph.derived_implied is not None
    said = graph.implied[graph.derived_implied]
    assert (answer_of(graph, said), set(leading_claims(graph, said))) == (Fraction(400), {0})
    assert [
        edit.predicted for edit in draw_edits(graph, 0, said, STEPS[0], 0) if edit.family is EditFamily.OPERATOR
    ] == [18 + 24 - 32]


# A given that is left out


def dropped(text: str) -> set[str]:
    """Return all texts that leave out a given of the last claim of a step."""
    graph = reading(text).graph
    last = len(graph.claims) - 1
    drawn = (edit for seed in range(20) for edit in draw_edits(graph, last, last, text, seed))
    return {edit.text for edit in drawn if edit.family is EditFamily.DROPPED_GIVEN}


@pytest.mark.parametrize(
    ("text", "without"),
    [
        pytest.param(
            "So 18 + 24 + 5 = 47 are red.", {"So 24 + 5 = 29 are red.", "So 18 + 5 = 23 are red."}, id="a sum"
        ),
        pytest.param(
            "So 18 chairs + 32 chairs + 7 chairs = 57 chairs.",
            {"So 32 chairs + 7 chairs = 39 chairs.", "So 18 chairs + 7 chairs = 25 chairs."},
            id="with units",
        ),
        pytest.param(
            "That is 90 - 18 - 32 = 40.", {"That is 90 - 32 = 58.", "That is 90 - 18 = 72."}, id="not the first"
        ),
        pytest.param("It is 5 + 18 * 3 = 59.", {"It is 5 + 3 = 8."}, id="a factor goes with its own sign"),
        pytest.param("It is 5 * 24 + 7 = 127.", {"It is 5 + 7 = 12."}, id="a second factor"),
        pytest.param("It is 9 * (7 + 24) = 279.", set(), id="no bracket is cut open"),
        pytest.param("It is 5 * (18 / 24) = 3.75.", set(), id="a bracket alone is no calculation"),
        pytest.param("That is $18 + $5 + $7 = $30.", {"That is $5 + $7 = $12."}, id="an amount goes with its currency"),
        pytest.param(
            "That is 5 books + 7 books + 18 books = 30 books.",
            {"That is 5 books + 7 books = 12 books."},
            id="the last one goes with its unit",
        ),
        pytest.param("It is 24 / 3 * 5 = 40.", set(), id="no dividend"),
        pytest.param("So 18 + 24 = 42 are red.", set(), id="one number is no calculation"),
        pytest.param("So 4 + 5 + 6 = 15 are red.", set(), id="the problem gives none of them"),
    ],
)
def test_a_given_is_left_out_with_the_sign_that_joins_it(text: str, without: set[str]) -> None:
    assert dropped(text) == without


# Grammar


def values(text: str, problem: str = "") -> set[str]:
    """Return all texts with another value of the last claim of a step."""
    graph = read_text(problem, [text], None).graph
    last = len(graph.claims) - 1
    drawn = (edit for seed in range(20) for edit in draw_edits(graph, last, last, text, seed, problem))
    return {edit.text for edit in drawn if edit.family is EditFamily.VALUE}


def test_one_thing_becomes_several_and_its_verb_with_it() -> None:
    assert values("So 9 - 8 = 1 box is left.", "Ann has 9 boxes.") == {
        "So 9 - 8 = 2 boxes are left.",
        "So 9 - 8 = 3 boxes are left.",
    }


@pytest.mark.parametrize("number", [0, 2, 3])
def test_nothing_becomes_one_by_another_value(number: int) -> None:
    assert not [text for text in values(f"So {9 + number} - 9 = {number} boxes are left.") if "= 1 " in text]


@pytest.mark.parametrize(
    ("problem", "texts"),
    [
        pytest.param("Each box is red.", ["So 5 - 4 = 1 box is left."], id="the problem says it of one"),
        pytest.param("Boxes are red.", [], id="nobody says it of one"),
    ],
)
def test_several_things_become_one(problem: str, texts: list[str]) -> None:
    text = "So 5 + 4 = 9 boxes are left."
    drawn = draw_edits(read_text(problem, [text], None).graph, 0, 0, text, 0, problem)
    assert [edit.text for edit in drawn if edit.family is EditFamily.OPERATOR] == texts


def test_a_word_whose_plural_nobody_wrote_is_not_guessed() -> None:
    assert values("So 9 - 8 = 1 sheep is left.", "Ann has 9.") == set()


def test_the_unit_behind_a_rate_stays() -> None:
    text = "So it makes 12 miles/day * 5 days/week = 60 miles/week."
    assert {re.sub(r"= \d+", "= 60", one) for one in values(text)} == {text}


def test_an_equation_that_is_to_be_solved_is_not_edited() -> None:
    text = "Then 3a + 5 = 12."
    graph = reading(text).graph
    assert [list(draw_edits(graph, index, None, text, 0)) for index in range(len(graph.claims))] == [[]]
