"""Intervals by drawing again: for the score over what was sampled, and for C over samples that were not drawn."""

from collections.abc import Callable, Sequence

import numpy as np

from rafs.consensus import consensus_value

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
    return _middle(scores)


def consensus_interval(class_sizes: Sequence[int], seed: int = 0) -> tuple[float, float]:
    """Return where C of K new samples of the same writer lies, 95 %.

    A resample of the samples themselves never sees an answer that nobody gave yet, so that K which agree would have no
    width. Here a new sample is such an answer with probability u ~ Beta(s + 1/2, K - s + 1/2), s being the number of
    classes of size 1; else it falls into a class by shares ~ Dirichlet(class_sizes). There are K^2 answers that nobody
    gave, all as likely, so that two of K coincide in 2 of 5 cases.

    Args:
        class_sizes: Positive sizes of the answer classes, the one of missing answers included; they sum to K >= 2.
        seed: Makes the interval reproducible.

    Source:
        Good 1953, "The population frequencies of species", for s / K as the share of what was not seen.
    """
    k, single = sum(class_sizes), sum(size == 1 for size in class_sizes)
    random = np.random.default_rng(seed)
    unseen = random.binomial(k, random.beta(single + 0.5, k - single + 0.5, N_RESAMPLES))
    shares = random.dirichlet(class_sizes, N_RESAMPLES)
    seen = random.multinomial(k - unseen, shares)
    new = random.multinomial(unseen, [1 / k**2] * k**2)
    counts = np.hstack([seen, new]).tolist()  # (N_RESAMPLES, classes)
    return _middle([consensus_value([size for size in sizes if size]) for sizes in counts])


def _middle(values: Sequence[float]) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)
