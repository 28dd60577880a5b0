"""First errors against tables made by hand and scikit-learn."""

import numpy as np
import pytest

from rafs.evaluation.first_error import (
    MR_WEIGHTS,
    NO_ERROR,
    NO_PREDICTION,
    accuracy_correct,
    accuracy_erroneous,
    mr_score,
    processbench_f1,
)
from rafs.evaluation.intervals import Metric

LABEL = np.array([2, 0, 1, 3, NO_ERROR, NO_ERROR])
PREDICTED = np.array([2, 1, NO_ERROR, 3, NO_ERROR, 0])


def once(metric: Metric) -> float:
    return float(metric(np.ones((1, 6)))[0])


def test_an_error_is_found_where_the_step_is_named_exactly() -> None:
    assert once(accuracy_erroneous(LABEL, PREDICTED)) == 2 / 4


def test_a_right_trace_is_right_where_no_step_is_named() -> None:
    assert once(accuracy_correct(LABEL, PREDICTED)) == 1 / 2


def test_the_f1_of_processbench_is_the_harmonic_mean_of_its_accuracies() -> None:
    assert once(processbench_f1(LABEL, np.array([2, 1, 1, 3, NO_ERROR, 0]))) == pytest.approx(2 * 0.75 * 0.5 / 1.25)


def test_a_guess_that_is_never_right_has_f1_0() -> None:
    assert once(processbench_f1(LABEL, np.full(6, 9))) == 0


def test_silence_is_wrong_on_both_kinds_of_traces() -> None:
    silent = np.full(6, NO_PREDICTION)
    assert once(accuracy_erroneous(LABEL, silent)) == once(accuracy_correct(LABEL, silent)) == 0


def test_without_traces_of_one_kind_the_f1_is_not_defined() -> None:
    assert np.isnan(once(processbench_f1(np.full(6, NO_ERROR), PREDICTED)))


def test_the_mr_score_weighs_correctness_place_and_reason() -> None:
    from sklearn.metrics import matthews_corrcoef

    mcc = matthews_corrcoef(LABEL == NO_ERROR, PREDICTED == NO_ERROR)
    reasons = np.array([True, True, True, False, False, False])
    value = once(mr_score(LABEL, PREDICTED, reasons))
    assert value == pytest.approx(0.2 * mcc + 0.3 * 2 / 4 + 0.5 * 1 / 4)


def test_without_graded_reasons_the_other_weights_are_scaled_up() -> None:
    from sklearn.metrics import matthews_corrcoef

    mcc = matthews_corrcoef(LABEL == NO_ERROR, PREDICTED == NO_ERROR)
    assert once(mr_score(LABEL, PREDICTED, None)) == pytest.approx(0.4 * mcc + 0.6 * 2 / 4)


def test_a_correlation_below_0_counts_as_0_in_the_mr_score() -> None:
    assert once(mr_score(LABEL, np.array([NO_ERROR] * 4 + [0, 0]), None)) == 0


def test_a_published_row_of_the_mr_score_is_reproduced() -> None:
    # GPT-4-Turbo, k = 0, in the table of MR-GSM8K: MCC 63.3, step 48.8, reason 46.3, MR-Score 50.5.
    # Its inputs are rounded, so that the last digit may differ by one half.
    assert np.dot(MR_WEIGHTS, [63.3, 48.8, 46.3]) == pytest.approx(50.5, abs=0.1)
