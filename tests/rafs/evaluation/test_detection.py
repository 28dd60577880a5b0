"""The ranking metrics are those of scikit-learn, with and without weights, and of tables made by hand."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from rafs.evaluation.detection import (
    auroc,
    average_precision,
    f1,
    length_matched,
    matthews,
    recall_at_false_alarm,
    within_problem,
)
from rafs.evaluation.intervals import Metric

N = 30
Case = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def cases(n_cases: int = 25) -> Iterator[Case]:
    """Draw two flags, a suspicion with few distinct values, so that ties are common, and weights of a resample."""
    generator = np.random.default_rng(0)
    for _ in range(n_cases):
        first, second = generator.random((2, N)) < 0.4
        yield first, second, generator.integers(0, 7, N) / 4, generator.integers(0, 4, N).astype(float)


def once(metric: Metric, n: int) -> float:
    return float(metric(np.ones((1, n)))[0])


def library(name: str) -> Callable[..., Any]:
    from sklearn import metrics

    return getattr(metrics, name)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        pytest.param(average_precision, "average_precision_score", id="auprc"),
        pytest.param(auroc, "roc_auc_score", id="auroc"),
    ],
)
def test_a_curve_under_weights_is_that_of_scikit_learn(ours: Callable[..., Metric], theirs: str) -> None:
    for positive, _, suspicion, weights in cases():
        expected = library(theirs)(positive, suspicion, sample_weight=weights)
        assert ours(positive, suspicion)(weights[None, :])[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [pytest.param(f1, "f1_score", id="f1"), pytest.param(matthews, "matthews_corrcoef", id="mcc")],
)
def test_a_count_under_weights_is_that_of_scikit_learn(ours: Callable[..., Metric], theirs: str) -> None:
    for named, true, _, weights in cases():
        expected = library(theirs)(true, named, sample_weight=weights)
        assert ours(named, true)(weights[None, :])[0] == pytest.approx(expected)


def test_recall_at_a_false_alarm_is_the_best_point_of_the_roc_curve() -> None:
    for positive, _, suspicion, _ in cases():
        false_alarm, found, _ = library("roc_curve")(positive, suspicion, drop_intermediate=False)
        value = once(recall_at_false_alarm(positive, suspicion, 0.2), N)
        assert value == pytest.approx(found[false_alarm <= 0.2].max())


@pytest.mark.parametrize("kind", [pytest.param(True, id="flawed"), pytest.param(False, id="right")])
@pytest.mark.parametrize("metric", [average_precision, auroc, partial(recall_at_false_alarm, allowed=0.1)])
def test_one_kind_alone_ranks_nothing(kind: bool, metric: Callable[..., Metric]) -> None:
    assert np.isnan(once(metric(np.full(N, kind), np.arange(N)), N))


def test_a_name_that_never_varies_correlates_with_nothing() -> None:
    assert once(matthews(np.full(N, True), np.arange(N) % 2 == 0), N) == 0


def test_where_nothing_is_true_there_is_no_f1() -> None:
    assert np.isnan(once(f1(np.full(N, True), np.full(N, False)), N))


def test_all_resamples_at_once_are_each_resample_alone() -> None:
    generator = np.random.default_rng(0)
    positive, suspicion = generator.random(N) < 0.4, generator.random(N)
    weights = generator.integers(0, 3, (5, N)).astype(float)
    metric = average_precision(positive, suspicion)
    assert metric(weights) == pytest.approx([metric(row[None, :])[0] for row in weights])


def matched(positive: Sequence[int], suspicion: Sequence[float], length: Sequence[float]) -> tuple[float, int]:
    metric, left = length_matched(np.array(positive, bool), np.array(suspicion, float), np.array(length, float))
    return once(metric, int(left.sum())), int(left.sum())


def test_length_alone_finds_nothing_among_traces_of_matched_length() -> None:
    generator = np.random.default_rng(0)
    length = generator.random(4000)
    flawed = generator.random(4000) < 0.1 + 0.5 * length
    raw = once(average_precision(flawed, length), 4000)
    value, n_left = matched(flawed.tolist(), length.tolist(), length.tolist())
    assert n_left == 4000
    assert raw > flawed.mean() + 0.1
    assert value == pytest.approx(flawed.mean(), abs=0.03)


def test_a_scorer_that_knows_keeps_its_precision_among_traces_of_matched_length() -> None:
    assert matched([1, 0, 1, 0], [9, 1, 8, 2], [5, 5, 5, 5]) == (1.0, 4)


def test_lengths_at_which_all_traces_are_of_one_kind_compare_nothing() -> None:
    flawed = [1, 0, *([1] * 9), *([0] * 9)]
    length = [1.0, 1.0, *([5.0] * 9), *([9.0] * 9)]
    assert matched(flawed, list(range(20)), length)[1] == 2


def test_right_traces_count_by_what_is_flawed_at_their_length() -> None:
    # Short: 1 flawed, 3 right. Long: 1 flawed, 1 right. The right ones weigh 2/3 and 2, so that each length holds one
    # flawed to two right, as the whole does. Highest first: flawed long, right long, flawed short, the rest.
    flawed, length = [1, 0, 0, 0, 1, 0], [1.0, 1.0, 1.0, 1.0, 9.0, 9.0]
    value, _ = matched(flawed, [4, 1, 2, 3, 6, 5], length)
    assert value == pytest.approx((1 / 1 + 2 / (2 + 2)) / 2)


def test_within_a_problem_only_its_own_traces_are_compared() -> None:
    positive = np.array([1, 0, 0, 1, 1, 0], bool)
    suspicion = np.array([5.0, 1.0, 9.0, 3.0, 2.0, 2.0])
    problem = np.array([0, 0, 0, 1, 2, 2])
    metric, kept = within_problem(positive, suspicion, problem)
    assert kept.tolist() == [True, True, True, False, True, True]
    assert once(metric, 5) == pytest.approx((0.5 + 0.5) / 2)


def test_every_problem_weighs_the_same_within_problems() -> None:
    positive = np.array([1, 0, *([1] * 5), *([0] * 5)], bool)
    suspicion = np.array([0.0, 1.0, *([1.0] * 5), *([0.0] * 5)])
    metric, kept = within_problem(positive, suspicion, np.array([0, 0, *([1] * 10)]))
    assert once(metric, int(kept.sum())) == 0.5


def test_a_resample_without_any_item_has_a_correlation_of_0_and_no_warning() -> None:
    named = np.array([True, False])
    assert matthews(named, named)(np.zeros((1, 2))).tolist() == [0]
