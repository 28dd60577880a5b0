"""Risk, coverage and probabilities against tables made by hand and scikit-learn."""

import numpy as np
import pytest

from rafs.evaluation.intervals import Metric
from rafs.evaluation.selection import area_under_risk_coverage, brier, expected_calibration_error, risk_coverage

SCORE = np.array([90.0, 80.0, 70.0, 60.0])
FAITHFUL = np.array([True, False, True, False])


def once(metric: Metric, n: int = 4) -> float:
    return float(metric(np.ones((1, n)))[0])


def test_the_curve_accepts_from_the_highest_score_down() -> None:
    points = [(point.threshold, point.coverage, point.risk) for point in risk_coverage(SCORE, FAITHFUL, 0)]
    assert points == [(90, 0.25, 0), (80, 0.5, 0.5), (70, 0.75, 1 / 3), (60, 1, 0.5)]


def test_traces_without_a_score_keep_the_coverage_below_1() -> None:
    assert risk_coverage(SCORE, FAITHFUL, 4)[-1].coverage == 0.5


def test_equal_scores_are_one_point_of_the_curve() -> None:
    assert len(risk_coverage(np.array([5.0, 5.0, 1.0]), np.array([True, False, True]), 0)) == 2


def test_nothing_scored_has_an_empty_curve() -> None:
    assert risk_coverage(np.zeros(0), np.zeros(0, bool), 3) == []


def test_the_area_is_the_mean_risk_over_all_coverages() -> None:
    assert once(area_under_risk_coverage(SCORE, FAITHFUL)) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_in_the_area_equal_scores_share_their_failures() -> None:
    constant = area_under_risk_coverage(np.full(4, 50.0), FAITHFUL)
    assert once(constant) == pytest.approx(0.5)


def test_an_item_drawn_twice_is_two_items_in_the_area() -> None:
    metric = area_under_risk_coverage(SCORE, FAITHFUL)
    doubled = area_under_risk_coverage(np.repeat(SCORE, [2, 1, 1, 0]), np.repeat(FAITHFUL, [2, 1, 1, 0]))
    weights = np.array([[2.0, 1.0, 1.0, 0.0]])
    assert metric(weights)[0] == pytest.approx(once(doubled))


def test_the_brier_score_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import brier_score_loss

    p = np.array([0.9, 0.2, 0.6, 0.4])
    assert once(brier(p, FAITHFUL)) == pytest.approx(brier_score_loss(FAITHFUL, p))


def test_the_calibration_error_weighs_the_gaps_of_the_bins() -> None:
    p = np.array([0.91, 0.92, 0.11, 0.12, 1.0])
    true = np.array([True, False, False, False, True])
    gaps = [2 * abs(0.915 - 0.5), 2 * abs(0.115 - 0), 1 * 0]
    # 0.91 and 0.92 are in the 14th of 15 bins, 1.0 in the last.
    assert once(expected_calibration_error(p, true), 5) == pytest.approx(sum(gaps) / 5)


def test_probabilities_that_come_true_as_often_as_they_say_have_no_calibration_error() -> None:
    p = np.full(4, 0.5)
    assert once(expected_calibration_error(p, FAITHFUL)) == 0
