"""Edits change one conclusion and nothing else, and the replay foretells the answer."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfactuals.constraints import Broken, broken_constraint
from counterfactuals.edits import draw_edits, nearby_value, write_like
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


@given(st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=100), seeds)
def test_a_nearby_value_is_another_one_of_the_same_sign(value: Fraction, seed: int) -> None:
    other = nearby_value(value, random.Random(seed))
    assert other != value
    assert other * value >= 0


@pytest.mark.parametrize(
    ("value", "model", "written"),
    [
        pytest.param(Fraction(1234), "1,250", "1,234", id="thousands comma"),
        pytest.param(Fraction(1234), "1250", "1234", id="no comma"),
        pytest.param(Fraction(-5, 2), "3", "-2.5", id="negative decimal"),
        pytest.param(Fraction(1, 20), "3", "0.05", id="leading zeros of the fraction"),
        pytest.param(Fraction(1, 3), "3", None, id="no short decimal"),
    ],
)
def test_numbers_are_written_like_the_one_they_replace(value: Fraction, model: str, written: str | None) -> None:
    assert write_like(value, model) == written


def made(text: str, *, claim: int = 0, new: int = 433, predicted: int | None = None) -> Edit:
    return Edit(
        step=claim,
        claim=claim,
        family=EditFamily.VALUE,
        text=text,
        old=Fraction(432),
        new=Fraction(new),
        predicted=None if predicted is None else Fraction(predicted),
    )


@given(st.integers(0, 2), seeds)
def test_drawn_edits_are_valid(claim: int, seed: int) -> None:
    assert {broken_constraint(edit, reading(), is_read=False) for edit in edits(claim, seed).values()} == {None}


@pytest.mark.parametrize(
    ("edit", "broken"),
    [
        pytest.param(made("The hall has 18 * 24 = 432 chairs.", new=432), Broken.VACUOUS, id="nothing changed"),
        pytest.param(
            made("In the hall there are, as one can easily work out, 18 * 24 = 433 chairs."),
            Broken.NOT_BOUNDED,
            id="rewritten",
        ),
        pytest.param(made("The hall has many chairs."), Broken.NOT_ISOLATED, id="the claim is gone"),
        pytest.param(
            made("The hall has 18 * 24 = 433, 1 + 1 = 2 chairs."), Broken.NOT_ISOLATED, id="a claim was added"
        ),
    ],
)
def test_a_broken_constraint_is_named(edit: Edit, broken: Broken) -> None:
    assert broken_constraint(edit, reading(), is_read=False) is broken


def test_two_changed_claims_are_not_atomic() -> None:
    read = reading("18 * 24 = 432, and 432 - 32 = 400.", *STEPS[2:])
    assert broken_constraint(made("18 * 24 = 433, and 432 - 32 = 401."), read, is_read=False) is Broken.NOT_ATOMIC


def test_an_edit_that_gives_the_new_answer_away_leaks_only_where_it_is_read() -> None:
    edit = made("The hall has 18 * 24 = 433 chairs.", predicted=24)
    assert broken_constraint(edit, reading(), is_read=True) is Broken.LEAKS_ANSWER
    assert broken_constraint(edit, reading(), is_read=False) is None
