"""The bound holds in all but a share delta of 1 000 calibration sets."""

import numpy as np
import pytest

from rafs.evaluation.risk import Threshold, conformal_threshold, learn_threshold
from rafs.outcomes import Unmeasured

ALPHA, DELTA, N_SPLITS = 0.1, 0.1, 1000
N_PROBLEMS = 200


def failure_rate(score: np.ndarray) -> np.ndarray:
    """P(not faithful) of a trace with this score: falls from 0.6 to 0 and crosses ALPHA on average near 60."""
    return np.asarray(0.6 * (1 - score / 100) ** 2)


def risk_above(threshold: float) -> float:
    """P(not faithful | score >= threshold) where scores are uniform on [0, 100]."""
    grid = np.linspace(threshold, 100, 10_001)
    return float(failure_rate(grid).mean())


def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Draw 1 to 3 traces a problem that share their score and their fate: as dependent as can be."""
    score = np.round(generator.uniform(0, 100, N_PROBLEMS), 6)
    faithful = generator.random(N_PROBLEMS) >= failure_rate(score)
    problem = np.repeat(np.arange(N_PROBLEMS), generator.integers(1, 4, N_PROBLEMS))
    return score[problem], faithful[problem], [str(name) for name in problem]


def allowed_violations(rate: float) -> int:
    """Return what a true rate of violations stays below in 999 of 1 000 runs."""
    from scipy.stats import binom

    return int(binom.ppf(0.999, N_SPLITS, rate))


def test_the_risk_is_above_alpha_in_at_most_a_share_delta_of_the_splits() -> None:
    generator = np.random.default_rng(5)
    learned = [learn_threshold(*draw(generator), alpha=ALPHA, delta=DELTA, seed=split) for split in range(N_SPLITS)]
    found = [threshold.value for threshold in learned if isinstance(threshold, Threshold)]
    assert len(found) > N_SPLITS / 2
    assert sum(risk_above(value) > ALPHA for value in found) <= allowed_violations(DELTA)


def test_traces_of_one_problem_taken_for_independent_would_break_the_bound() -> None:
    generator = np.random.default_rng(5)
    violations = 0
    for split in range(N_SPLITS):
        score, faithful, groups = draw(generator)
        alone = [str(i) for i in range(len(groups))]
        threshold = learn_threshold(score, faithful, alone, alpha=ALPHA, delta=DELTA, seed=split)
        violations += isinstance(threshold, Threshold) and risk_above(threshold.value) > ALPHA
    assert violations > allowed_violations(DELTA)


def test_conformal_control_bounds_the_joint_risk_on_average() -> None:
    generator = np.random.default_rng(6)
    risks = []
    for split in range(N_SPLITS):
        value = conformal_threshold(*draw(generator), alpha=0.03, seed=split)
        assert isinstance(value, float)
        risks.append(risk_above(value) * (1 - value / 100))
    assert np.mean(risks) <= 0.03


def ranked(n: int, n_failures: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Give n problems falling scores from 90 down; the last ones fail."""
    return np.linspace(90, 10, n), np.arange(n) < n - n_failures, [str(i) for i in range(n)]


def test_the_smallest_safe_threshold_is_found() -> None:
    threshold = learn_threshold(*ranked(100, 40), alpha=0.1, delta=0.1, seed=0)
    assert isinstance(threshold, Threshold)
    lower = threshold.value - 0.5
    score, faithful, _ = ranked(100, 40)
    from scipy.stats import binom

    assert threshold.p_value <= 0.1 < binom.cdf((~faithful[score >= lower]).sum(), (score >= lower).sum(), 0.1)
    assert (threshold.n_accepted, threshold.n_failures) == (
        (score >= threshold.value).sum(),
        (~faithful[score >= threshold.value]).sum(),
    )


@pytest.mark.parametrize(
    ("n", "n_failures"), [pytest.param(10, 0, id="too few to prove anything"), pytest.param(100, 95, id="too many")]
)
def test_where_no_threshold_is_safe_there_is_none(n: int, n_failures: int) -> None:
    assert isinstance(learn_threshold(*ranked(n, n_failures), alpha=0.1, delta=0.1, seed=0), Unmeasured)


def test_a_trace_that_is_refused_anyway_is_never_accepted() -> None:
    score, faithful, groups = ranked(100, 0)
    refused = np.where(np.arange(100) < 50, score, -1)
    threshold = learn_threshold(refused, faithful, groups, alpha=0.1, delta=0.1, seed=0)
    assert isinstance(threshold, Threshold)
    assert (threshold.value, threshold.n_accepted) == (0.0, 50)


def test_the_bound_is_stated_in_words() -> None:
    threshold = learn_threshold(*ranked(100, 0), alpha=0.05, delta=0.1, seed=0)
    assert isinstance(threshold, Threshold)
    assert "at least 0.9" in threshold.guarantee and "at most 5.0%" in threshold.guarantee
