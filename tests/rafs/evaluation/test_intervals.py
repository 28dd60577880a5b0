"""Intervals hold the truth as often as they say, and say nothing where nothing is known."""

import numpy as np
import pytest

from rafs.evaluation.detection import auroc
from rafs.evaluation.intervals import (
    MAX_WEIGHTS,
    Figure,
    Metric,
    Resamples,
    Weights,
    draw_resamples,
    exact_interval,
    measure,
    measure_difference,
    measure_rate,
    share,
)
from rafs.evaluation.selection import expected_calibration_error
from rafs.outcomes import Unmeasured

N_SIMULATIONS = 400
N_PROBLEMS = 60
EVENT_RATE = 0.3


def clustered(generator: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Draw 1 to 4 traces for each problem; half of the problems give the same event to all of theirs."""
    problem = np.repeat(np.arange(N_PROBLEMS), generator.integers(1, 5, N_PROBLEMS))
    alike = (generator.random(N_PROBLEMS) < 0.5)[problem]
    own, common = generator.random(len(problem)), generator.random(N_PROBLEMS)[problem]
    return [str(name) for name in problem], np.where(alike, common, own) < EVENT_RATE


def figure_of(metric: Metric, resamples: Resamples) -> Figure:
    found = measure(metric, resamples, "undefined")
    assert isinstance(found, Figure)
    return found


def covers(figure: object, truth: float) -> bool:
    assert isinstance(figure, Figure) and figure.low is not None and figure.high is not None
    return figure.low <= truth <= figure.high


def test_95_percent_intervals_over_problems_hold_the_truth_in_93_to_97_percent_of_simulations() -> None:
    generator = np.random.default_rng(20)
    held = []
    for seed in range(N_SIMULATIONS):
        groups, event = clustered(generator)
        held.append(covers(measure_rate(event, draw_resamples(groups, seed=seed, n_resamples=300)), EVENT_RATE))
    assert 0.93 <= np.mean(held) <= 0.97


def test_resampling_single_traces_would_hold_the_truth_too_rarely() -> None:
    generator = np.random.default_rng(20)
    held = []
    for seed in range(N_SIMULATIONS // 2):
        _, event = clustered(generator)
        alone = draw_resamples([str(i) for i in range(len(event))], seed=seed, n_resamples=300)
        held.append(covers(figure_of(lambda weights, event=event: share(weights, event), alone), EVENT_RATE))  # type: ignore[misc]
    assert np.mean(held) < 0.93


def test_a_problem_is_drawn_with_all_of_its_traces() -> None:
    resamples = draw_resamples(["a", "a", "b", "b", "c"], seed=0)

    def split(weights: Weights) -> np.ndarray:
        return np.abs(weights[:, 0] - weights[:, 1]) + np.abs(weights[:, 2] - weights[:, 3])

    assert resamples.values(split).max() == 0


def test_the_first_resample_is_the_data() -> None:
    assert draw_resamples(["a", "b", "b"], seed=0).counts[0].tolist() == [1, 1]


def test_the_same_seed_gives_the_same_interval() -> None:
    groups, event = clustered(np.random.default_rng(0))
    first, second, other = (measure_rate(event, draw_resamples(groups, seed=seed)) for seed in (1, 1, 2))
    assert first == second != other


def test_portions_of_resamples_add_up_to_all_of_them() -> None:
    groups = [str(i % 400) for i in range(MAX_WEIGHTS // 100)]
    event = np.arange(len(groups)) % 3 == 0
    resamples = draw_resamples(groups, seed=0, n_resamples=150)
    at_once = share(resamples.counts[:, resamples.problem_of], event)
    assert resamples.values(lambda weights: share(weights, event)).tolist() == pytest.approx(at_once.tolist())


def test_a_difference_is_taken_on_the_same_resamples() -> None:
    generator = np.random.default_rng(3)
    positive = generator.random(200) < 0.4
    base = positive + generator.normal(size=200)
    better = base + 0.3 * positive
    drawn = draw_resamples([str(i) for i in range(200)], seed=0)
    gain = measure_difference(auroc(positive, better), auroc(positive, base), drawn, "undefined")
    assert isinstance(gain, Figure) and gain.low is not None
    separate = [figure_of(auroc(positive, rank), drawn) for rank in (better, base)]
    assert gain.value == pytest.approx(separate[0].value - separate[1].value)
    assert gain.low > 0
    assert separate[0].low is not None and separate[1].high is not None and separate[0].low < separate[1].high


def test_an_undefined_metric_is_unmeasured_with_its_reason() -> None:
    drawn = draw_resamples(["a", "b"], seed=0)
    found = measure(auroc(np.array([True, True]), np.array([1.0, 2.0])), drawn, "one_class_only")
    assert found == Unmeasured(reason="one_class_only", detail="2 items")


def test_no_items_are_unmeasured() -> None:
    drawn = draw_resamples([], seed=0)
    assert measure(auroc(np.zeros(0, bool), np.zeros(0)), drawn, "one_class_only") == Unmeasured(reason="no_items")
    assert measure_rate(np.zeros(0, bool), drawn) == Unmeasured(reason="no_items")


def test_one_problem_has_no_interval() -> None:
    figure = figure_of(lambda weights: share(weights, np.array([True, False])), draw_resamples(["a", "a"], seed=0))
    assert (figure.value, figure.low, figure.high) == (0.5, None, None)


def test_a_metric_that_no_resample_moves_has_no_interval_of_width_0() -> None:
    drawn = draw_resamples(["a", "b", "c"], seed=0)
    figure = figure_of(auroc(np.array([True, False, False]), np.array([3.0, 2.0, 1.0])), drawn)
    assert (figure.value, figure.low, figure.high) == (1.0, None, None)


def test_a_metric_that_resampling_pushes_up_keeps_its_value_inside_its_interval() -> None:
    generator = np.random.default_rng(4)
    p = generator.uniform(size=120)
    true = generator.random(120) < p
    figure = figure_of(expected_calibration_error(p, true), draw_resamples([str(i) for i in range(120)], seed=0))
    assert covers(figure, figure.value)


def test_a_value_that_most_resamples_repeat_is_no_sign_of_a_bias() -> None:
    def holds_the_first(weights: Weights) -> np.ndarray:
        return np.minimum(1.0, weights[:, 0])  # 1 on the data, and 0 on a third of the resamples

    figure = figure_of(holds_the_first, draw_resamples([str(i) for i in range(20)], seed=0))
    assert (figure.value, figure.low, figure.high) == (1.0, 0.0, 1.0)


def test_a_rate_of_single_problems_has_the_exact_interval_of_scipy() -> None:
    from scipy.stats import binomtest

    figure = measure_rate(np.array([True] * 3 + [False] * 17), draw_resamples([str(i) for i in range(20)], seed=0))
    expected = binomtest(3, 20).proportion_ci(method="exact")
    assert isinstance(figure, Figure)
    assert (figure.low, figure.high) == pytest.approx((expected.low, expected.high))


def test_no_failure_among_traces_of_few_problems_proves_only_what_the_problems_do() -> None:
    groups = [str(i // 10) for i in range(100)]
    figure = measure_rate(np.zeros(100, bool), draw_resamples(groups, seed=0))
    assert isinstance(figure, Figure)
    assert (figure.low, figure.high) == exact_interval(0, 10)


def test_a_conditional_rate_counts_only_its_condition() -> None:
    drawn = draw_resamples(["a", "b", "c", "d"], seed=0)
    figure = measure_rate(np.array([1, 0, 1, 1], bool), drawn, among=np.array([1, 1, 0, 0], bool))
    assert isinstance(figure, Figure)
    assert (figure.value, figure.n, figure.n_problems) == (0.5, 2, 2)
