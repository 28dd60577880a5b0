"""A seeded bootstrap over what was sampled: an interval for the score."""

from collections.abc import Callable, Sequence

import numpy as np

N_RESAMPLES = 200
"""Enough for the two decimals that a score is shown with; each resample is a few microseconds of arithmetic."""
LEVEL = 0.95


def bootstrap_interval(
    score_of: Callable[[Sequence[int], Sequence[int]], float | None],
    n_samples: int,
    n_effects: int,
    seed: int,
) -> tuple[float, float] | None:
    """Percentile interval of the score over resampled samples and interventions.

    Args:
        score_of: Gives the score for resampled indices of samples and of effects; None where it is not measured.
        n_samples: Number of samples; 0 where there are none.
        n_effects: Number of effects from continuations; 0 where there are none.
        seed: Makes the interval reproducible.

    Returns:
        (low, high) at 95 %; None when there is nothing to resample.

    Source:
        Efron and Tibshirani 1993, "An Introduction to the Bootstrap", percentile intervals.
    """
    if n_samples == 0 and n_effects == 0:
        return None
    generator = np.random.default_rng(seed)
    scores = []
    for _ in range(N_RESAMPLES):
        samples = generator.integers(0, n_samples, n_samples).tolist() if n_samples else []
        effects = generator.integers(0, n_effects, n_effects).tolist() if n_effects else []
        score = score_of(samples, effects)
        if score is not None:
            scores.append(score)
    if not scores:
        return None
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(scores, [tail, 100 - tail])
    return float(low), float(high)
