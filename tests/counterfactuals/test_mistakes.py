"""Mistakes planted in right solutions."""

import re
from dataclasses import replace

from counterfactuals.mistakes import plant_mistakes
from rafs.evaluation.labels import PLANTED, LabelledTrace, LabelLevel
from rafs.reading import read_text
from rafs.types import Truth

RIGHT = LabelledTrace(
    id="t1",
    source="made",
    problem="Nia walks 12 km on Monday, 7 km on Tuesday and 5 km on Sunday. She walks 4 km in 1 hour. How long in all?",
    steps=(
        "Nia walks 12 + 7 + 5 = 24 km in all.",
        "At 4 km in 1 hour, that takes 24 / 4 = 6 hours.",
        "The answer is \\boxed{6}.",
    ),
    first_error=None,
    step_labels=None,
    answer_correct=True,
    solution_correct=True,
    silent_failure=False,
    extraction_failure=False,
    natural=True,
    group="walks",
    subset="sums",
    label_level=LabelLevel.FIRST_ERROR,
)


def planted(family: str) -> LabelledTrace:
    (found,) = [one for one in plant_mistakes(RIGHT, 9, seed=0) if one.subset == family]
    return found


def test_each_copy_ends_in_its_mistake() -> None:
    made = plant_mistakes(RIGHT, 9, seed=0)
    assert {one.subset for one in made} >= {"value", "operator", "dropped_given", "invented_quantity", "wrong_unit"}
    for one in made:
        assert one.first_error == len(one.steps) - 1
        assert one.steps[:-1] == RIGHT.steps[: one.first_error]
        assert one.steps[-1] != RIGHT.steps[one.first_error]
        assert one.step_labels is not None
        assert one.step_labels[-1] is False


def test_a_planted_mistake_is_of_no_natural_source_and_of_the_same_problem() -> None:
    for one in plant_mistakes(RIGHT, 9, seed=0):
        assert (one.source, one.natural, one.group) == (PLANTED, False, RIGHT.group)


def test_only_a_changed_conclusion_is_refuted_by_arithmetic() -> None:
    for one in plant_mistakes(RIGHT, 9, seed=0):
        claims = read_text(one.problem, one.steps, None).graph.claims
        assert any(claim.truth is Truth.FALSE for claim in claims) == (one.subset == "value")


def test_an_invented_quantity_is_none_of_the_problem_and_its_result_follows() -> None:
    numbers = set(re.findall(r"\d+", planted("invented_quantity").steps[-1]))
    assert not numbers <= set(re.findall(r"\d+", RIGHT.problem + " ".join(RIGHT.steps)))


def test_a_wrong_unit_changes_no_number() -> None:
    one = planted("wrong_unit")
    assert one.first_error is not None
    assert re.findall(r"\d+", one.steps[-1]) == re.findall(r"\d+", RIGHT.steps[one.first_error])


def test_a_changed_conclusion_is_taken_last() -> None:
    n = len(plant_mistakes(RIGHT, 9, seed=0))
    assert all("value" not in {one.subset for one in plant_mistakes(RIGHT, n - 1, seed)} for seed in range(5))


def test_one_seed_plants_the_same_mistakes() -> None:
    assert plant_mistakes(RIGHT, 3, seed=1) == plant_mistakes(RIGHT, 3, seed=1)


def test_a_trace_that_is_not_known_to_be_right_gets_none() -> None:
    assert not plant_mistakes(replace(RIGHT, solution_correct=None), 3, seed=0)
    assert not plant_mistakes(replace(RIGHT, solution_correct=False, first_error=1), 3, seed=0)
