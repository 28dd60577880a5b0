"""What exact reading sees of a step: of the problem and the steps up to it, and of nothing else."""

import numpy as np
import pytest

from rafs.reading import read_text
from verifiers.trained.features import FEATURES, LIMIT, step_features

PROBLEM = "A shop sells 4 bags of 15 nuts each. It then loses 10 nuts. How many nuts are left?"
STEPS = ["It has 4 * 15 = 60 nuts.", "After losing 10 it has 60 - 10 = 50 nuts.", "A tenth of them is 5.5 nuts."]


def features(steps: list[str], problem: str = PROBLEM) -> np.ndarray:
    return step_features(read_text(problem, steps, None).blind())


def value(row: np.ndarray, name: str) -> float:
    return float(row[FEATURES.index(name)])


def test_there_is_one_bounded_row_per_step() -> None:
    rows = features(STEPS)
    assert rows.shape == (3, len(FEATURES))
    assert np.abs(rows).max() <= LIMIT


def test_every_column_has_a_name_of_its_own() -> None:
    assert len(set(FEATURES)) == len(FEATURES)


@pytest.mark.parametrize("n", [1, 2])
def test_later_steps_change_no_earlier_row(n: int) -> None:
    assert np.array_equal(features(STEPS[:n]), features(STEPS)[:n])


@pytest.mark.parametrize("statement", ["The answer is {}.", "#### {}", "The final answer is $\\boxed{{{}}}$."])
def test_swapping_the_stated_answer_changes_nothing(statement: str) -> None:
    one, other = (features([*STEPS, statement.format(answer)]) for answer in (50, 51))
    assert np.array_equal(one, other)


def test_no_step_is_no_row() -> None:
    assert features([" "]).shape[1] == len(FEATURES)


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        ("says_proven", "It has 4 * 15 = 60 nuts.", 1),
        ("says_refuted", "It has 4 * 15 = 50 nuts.", 1),
        ("op_times", "It has 4 * 15 = 60 nuts.", 1),
        ("operands_problem", "It has 4 * 15 = 60 nuts.", 2),
        ("given_new", "It has 4 * 15 = 60 nuts.", 2),
        ("fractions", "It has 15 / 4 = 3.75 nuts.", 1),
        ("near_each_times", "It has 4 * 15 = 60 nuts.", 1),
        ("near_each_plus", "It has 4 + 15 = 19 nuts.", 1),
        ("near_less_times", "It has 4 * 15 = 60 nuts.", 0),
        ("has_therefore", "Therefore there are many.", 1),
        ("numbers_unexplained", "Of 77 boxes it fills 4 * 15 = 60.", 1),
        ("has_answer", "The answer is 7.", 0),
    ],
)
def test_a_feature_says_what_its_name_says(name: str, step: str, expected: float) -> None:
    assert value(features([step, "So it goes on."])[0], name) == expected


def test_a_result_used_again_is_linked() -> None:
    rows = features(STEPS)
    assert [value(row, "uses_latest") for row in rows[:2]] == [0, 1]


def test_a_huge_number_is_clipped() -> None:
    assert np.isfinite(features(["It has 10^30 * 10 = 10^31 nuts and " + "9" * 39 + " more."])).all()
