"""95 % intervals of the metrics that are no rates hold the truth in 93 to 97 % of simulations, problems drawn whole."""

from collections.abc import Callable

import numpy as np
import pytest

from rafs.evaluation.detection import auroc, average_precision
from rafs.evaluation.first_error import NO_ERROR, processbench_f1
from rafs.evaluation.intervals import N_RESAMPLES, Figure, Metric, draw_resamples, measure

N_SIMULATIONS = 400
N_PROBLEMS = 200
SILENT_RATE = 0.4
Simulated = tuple[list[str], Metric]


def problems_of(generator: np.random.Generator, n_problems: int) -> np.ndarray:
    """Give each problem 1 to 3 traces."""
    return np.repeat(np.arange(n_problems), generator.integers(1, 4, n_problems))


def ranking(metric: Callable[..., Metric]) -> Callable[[np.random.Generator, int], Simulated]:
    """Simulate suspicions that traces of a problem share in part."""

    def simulate(generator: np.random.Generator, n_problems: int) -> Simulated:
        problem = problems_of(generator, n_problems)
        positive = generator.random(len(problem)) < SILENT_RATE
        shared = generator.normal(size=n_problems)[problem]
        suspicion = positive + 0.6 * shared + 0.8 * generator.normal(size=len(problem))
        return [str(name) for name in problem], metric(positive, suspicion)

    return simulate


def first_errors(generator: np.random.Generator, n_problems: int) -> Simulated:
    """Simulate hits that come more often on some problems than on others."""
    problem = problems_of(generator, n_problems)
    is_wrong = generator.random(len(problem)) < 0.5
    ease = generator.uniform(0.2, 0.8, n_problems)[problem]
    hit = generator.random(len(problem)) < np.where(is_wrong, 0.8 * ease, ease)
    label = np.where(is_wrong, 2, NO_ERROR)
    return [str(name) for name in problem], processbench_f1(label, np.where(hit, label, 7))


@pytest.mark.parametrize(
    "simulate",
    [
        pytest.param(ranking(auroc), id="AUROC"),
        pytest.param(ranking(average_precision), id="AUPRC"),
        pytest.param(first_errors, id="ProcessBench F1"),
    ],
)
@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(simulate: Callable[..., Simulated]) -> None:
    generator = np.random.default_rng(21)
    groups, metric = simulate(generator, 300_000)
    truth = metric(np.ones((1, len(groups))))[0]
    held: list[bool] = []
    for seed in range(N_SIMULATIONS):
        groups, metric = simulate(generator, N_PROBLEMS)
        figure = measure(metric, draw_resamples(groups, seed=seed, n_resamples=N_RESAMPLES), "undefined")
        assert isinstance(figure, Figure) and figure.low is not None and figure.high is not None
        held.append(figure.low <= truth <= figure.high)
    assert 0.93 <= np.mean(held) <= 0.97
