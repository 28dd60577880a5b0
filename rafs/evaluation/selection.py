"""Deciding which traces to trust: what the accepted ones are worth, and what accepting more would cost."""

from dataclasses import dataclass

import numpy as np

from rafs.evaluation.detection import Floats
from rafs.evaluation.intervals import Bools, Metric, Values, Weights, ratio, share


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One threshold of the risk-coverage curve."""

    threshold: float
    """Items with at least this score are accepted."""
    coverage: float
    """Share of all items, those without a score among them, that is accepted."""
    risk: float
    """Share of the accepted that is not faithful."""


def risk_coverage(score: Floats, faithful: Bools, n_unscored: int) -> list[CurvePoint]:
    """Return the curve at every distinct score, highest first.

    Args:
        score: Higher is more to be trusted, shape (n_items,).
        faithful: Whether answer and reasoning are right, shape (n_items,).
        n_unscored: Items without a score, which no threshold accepts: the curve ends below coverage 1.

    Source:
        El-Yaniv and Wiener 2010, "On the Foundations of Noise-free Selective Classification".
    """
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)])
    failures = np.cumsum(~faithful[order])
    return [
        CurvePoint(
            threshold=float(ranked[end]),
            coverage=float((end + 1) / (len(score) + n_unscored)),
            risk=float(failures[end] / (end + 1)),
        )
        for end in ends
    ]


def area_under_risk_coverage(score: Floats, faithful: Bools) -> Metric:
    """AURC: the risk at every coverage 1/n, 2/n ... 1 of the scored items, averaged; in [0, 1], lower is better.

    Items of equal score are accepted in any order, so that each of them adds what they hold on average. NaN without
    items. Source: Geifman et al. 2019, "Bias-Reduced Uncertainty Estimation", arXiv:1805.08206.
    """
    order = np.argsort(-score, kind="stable")
    failed = (~faithful[order]).astype(np.float64)
    _, tie = np.unique(-score[order], return_inverse=True)
    starts = np.flatnonzero(np.diff(tie, prepend=-1))

    def value(weights: Weights) -> Values:
        if len(order) == 0:
            return np.full(len(weights), np.nan)
        ranked = weights[:, order]
        tied, tied_failures = (np.add.reduceat(part, starts, axis=1) for part in (ranked, ranked * failed))
        average = np.divide(tied_failures, tied, out=np.zeros_like(tied), where=tied > 0)
        accepted = np.cumsum(ranked, axis=1)
        failures = np.cumsum(ranked * average[:, tie], axis=1)
        risk = np.divide(failures, accepted, out=np.zeros_like(accepted), where=accepted > 0)
        return ratio((ranked * risk).sum(axis=1), ranked.sum(axis=1))

    return value


def brier(probability: Floats, true: Bools) -> Metric:
    """Mean of (p - y)^2, in [0, 1], lower is better. Source: Brier 1950."""
    return lambda weights: share(weights, (probability - true) ** 2)


N_PROBABILITY_BINS = 15
"""Of equal width, as in the papers that calibration errors are compared with."""


def expected_calibration_error(probability: Floats, true: Bools) -> Metric:
    """Sum over bins of n_b / n |mean p - mean y|, in [0, 1], lower is better.

    It cannot fall below 0, so that noise pushes it up: on few items, and in every resample, it is larger than it is.
    Source: Guo et al. 2017, "On Calibration of Modern Neural Networks", arXiv:1706.04599.
    """
    bins = np.minimum((probability * N_PROBABILITY_BINS).astype(int), N_PROBABILITY_BINS - 1)
    gaps = np.eye(N_PROBABILITY_BINS)[bins] * (probability - true)[:, None]  # (n_items, n_bins)
    return lambda weights: ratio(np.abs(weights @ gaps).sum(axis=1), weights.sum(axis=1))
