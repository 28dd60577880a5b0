"""Error grading is that of tables made by hand, and kappa that of scikit-learn."""

import numpy as np
import pytest

from rafs.evaluation.error_grading import GradedFlaw, error_grading, kappa
from rafs.evaluation.intervals import Figure, Measurement
from rafs.outcomes import Unmeasured


def value(measurement: Measurement) -> float:
    assert isinstance(measurement, Figure)
    return measurement.value


def flaws(*said: tuple[bool | None, bool | None, bool | None]) -> list[GradedFlaw]:
    return [
        GradedFlaw(problem=str(t), flagged=flagged, equivalent=equivalent, by_people=people)
        for t, (flagged, equivalent, people) in enumerate(said)
    ]


def test_a_flaw_that_was_not_seen_counts_as_not_named() -> None:
    graded = error_grading(flaws((True, True, None), (True, False, None), (False, None, None)), seed=0)
    assert value(graded.accuracy) == pytest.approx(1 / 3)


def test_unusable_outputs_and_grades_are_counted_and_in_no_figure() -> None:
    graded = error_grading(flaws((None, None, None), (True, None, True), (True, True, None)), seed=0)
    assert (graded.n_unusable, value(graded.accuracy)) == (2, 1)


def test_the_judge_of_equivalence_is_held_against_people() -> None:
    said = flaws(
        (True, True, True), (True, True, False), (True, False, False), (True, False, False), (True, True, None)
    )
    graded = error_grading(said, seed=0)
    # 3 of 4 alike; by chance 0.5 * 0.25 + 0.5 * 0.75 = 0.5; kappa (0.75 - 0.5) / (1 - 0.5).
    assert (value(graded.agreement), value(graded.kappa), value(graded.by_people)) == (0.75, 0.5, 0.25)


def test_a_judge_that_nobody_audited_has_no_agreement() -> None:
    graded = error_grading(flaws((True, True, None)), seed=0)
    assert isinstance(graded.agreement, Unmeasured)
    assert isinstance(graded.kappa, Unmeasured)


def test_kappa_under_weights_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

    generator = np.random.default_rng(0)
    for _ in range(25):
        first, second = generator.random((2, 30)) < 0.5
        weights = generator.integers(0, 4, 30).astype(float)
        expected = cohen_kappa_score(first, second, sample_weight=weights)
        assert kappa(first, second)(weights[None, :])[0] == pytest.approx(expected)
