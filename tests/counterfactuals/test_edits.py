"""Edits change one conclusion and nothing else, and the replay foretells the answer."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfactuals.edits import draw_edits, predict
from rafs.interventions import Edit, EditFamily
from rafs.quantities.replaying import leading_to
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
    assert set(edits(1, seed)) == set(EditFamily)


def test_the_order_of_families_is_drawn_by_the_seed() -> None:
    orders = {tuple(edits(1, seed)) for seed in range(40)}
    assert len(orders) == 6


def test_an_operator_edit_by_hand() -> None:
    edit = edits(1, 0)[EditFamily.OPERATOR]
    assert edit.text == "Without the broken ones it has 432 + 32 = 464 chairs, so 464 can be used."
    assert [edit.old, edit.new, edit.predicted] == [400, 464, 232]


def test_an_operand_swap_by_hand() -> None:
    edit = edits(1, 0)[EditFamily.OPERAND_SWAP]
    assert edit.text == "Without the broken ones it has 32 - 432 = -400 chairs, so -400 can be used."
    assert edit.predicted == -200


@given(seeds)
def test_a_value_edit_keeps_the_calculation_and_moves_the_answer(seed: int) -> None:
    edit = edits(0, seed)[EditFamily.VALUE]
    assert edit.text.startswith("The hall has 18 * 24 = ")
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


def test_a_number_that_the_problem_gives_is_not_taken_for_the_conclusion() -> None:
    edit = drawn_from("Then 16 * 2 = 32 are taken, and 32 are broken.")[EditFamily.VALUE]
    assert edit.text.endswith(", and 32 are broken.")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("48/2 = 24 = 12 * 2", id="ends in an expression"),
        pytest.param("48/96 = 1/2", id="fraction"),
    ],
)
def test_a_result_that_is_no_plain_number_is_not_edited(text: str) -> None:
    assert drawn_from(text) == {}


def test_a_link_in_the_middle_of_a_chain_is_not_edited() -> None:
    text = "That is 2 * 12 = 20 + 4 = 24 cats."
    assert [len(list(draw_edits(reading(text).graph, claim, 1, text, 0))) for claim in range(2)] == [0, 1]


def test_the_percent_sign_stays() -> None:
    edits = drawn_from("So 12 / 48 = 25% are taken.")
    assert set(edits) == {EditFamily.VALUE}
    assert edits[EditFamily.VALUE].text == f"So 12 / 48 = {100 * edits[EditFamily.VALUE].new}% are taken."


def test_an_answer_that_cannot_be_computed_again_has_no_prediction() -> None:
    graph = reading().graph
    edit = next(draw_edits(graph, 0, LAST, STEPS[0], 0))
    unreadable = replace(graph.claims[1], left="without the broken ones")
    claims = (graph.claims[0], unreadable, *graph.claims[2:])
    assert predict(replace(graph, claims=claims), edit, LAST) is None


def test_what_leads_to_the_answer_is_found_backwards() -> None:
    graph = reading(STEPS[0], "By the way, 18 + 24 = 42.", *STEPS[1:]).graph
    assert leading_to(graph, 3) == {0, 2, 3}
    assert leading_to(graph, None) == frozenset()
