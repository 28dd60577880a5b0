"""Finding the flawed among traces: how well a suspicion ranks them, and how well a verdict names them.

Everywhere `suspicion` is a number per item that is higher where something is more likely wrong, shape (n_items,), and
`positive` says what is to be found, shape (n_items,).

The curves are our own because a library computes one resample at a time: scikit-learn takes 2 to 5 ms for each, so that
one report would take minutes. The tests hold them against it.
"""

import numpy as np
import numpy.typing as npt

from rafs.evaluation.intervals import Bools, Metric, Values, Weights, ratio, share

Floats = npt.NDArray[np.float64]

N_LENGTH_BINS = 10
"""Deciles: narrow enough that length says little inside one, wide enough that both kinds stand in most."""


def average_precision(positive: Bools, suspicion: Floats) -> Metric:
    """AUPRC as average precision, sum_k (R_k - R_(k-1)) P_k over the distinct suspicions, highest first.

    Range (0, 1]; a suspicion that knows nothing reaches the prevalence. NaN unless both kinds are there.
    """
    curve = _Curve(positive, suspicion)

    def value(weights: Weights) -> Values:
        found, alarms, defined = curve.counts(weights)
        precision = np.divide(found, found + alarms, out=np.zeros_like(found), where=found + alarms > 0)
        gained = np.diff(found, axis=1, prepend=0)
        return np.where(defined, ratio((gained * precision).sum(axis=1), found[:, -1]), np.nan)

    return value


def auroc(positive: Bools, suspicion: Floats) -> Metric:
    """P(a flawed item is more suspect than a right one) + P(tie) / 2; in [0, 1]. NaN unless both kinds are there."""
    curve = _Curve(positive, suspicion)

    def value(weights: Weights) -> Values:
        found, alarms, defined = curve.counts(weights)
        before = np.concatenate([np.zeros((len(found), 1)), found[:, :-1]], axis=1)
        area = (np.diff(alarms, axis=1, prepend=0) * (before + found) / 2).sum(axis=1)
        return np.where(defined, ratio(area, found[:, -1] * alarms[:, -1]), np.nan)

    return value


def recall_at_false_alarm(positive: Bools, suspicion: Floats, allowed: float) -> Metric:
    """Largest share of the flawed found by a threshold that alarms at most a share `allowed` of the right ones.

    0 where even the most suspect items hold too many right ones. NaN unless both kinds are there.
    """
    curve = _Curve(positive, suspicion)

    def value(weights: Weights) -> Values:
        found, alarms, defined = curve.counts(weights)
        within = alarms <= allowed * alarms[:, -1:]
        best = np.where(within, found, 0).max(axis=1)
        return np.where(defined, ratio(best, found[:, -1]), np.nan)

    return value


def length_matched(positive: Bools, suspicion: Floats, length: Floats) -> tuple[Metric, Bools]:
    """Average precision with the right items weighted so that in every bin of length the share of flawed is the same.

    Inside a bin w(right) is scaled to W(flawed in the bin) / W(right in the bin) * W(right) / W(flawed), so that length
    alone is no better than chance, up to what it says inside a bin, and the prevalence is what it was. Bins are deciles
    of length; those with one kind only compare nothing and are left out.

    Returns:
        The metric, over the items that are left, and which these are, shape (n_items,). Ours.
    """
    edges = np.quantile(length, np.linspace(0, 1, N_LENGTH_BINS + 1)[1:-1]) if len(length) else np.zeros(0)
    bins = np.searchsorted(edges, length, side="left")
    comparable = np.isin(bins, bins[positive]) & np.isin(bins, bins[~positive])
    flawed, ranked = positive[comparable], average_precision(positive[comparable], suspicion[comparable])
    in_bin = np.eye(N_LENGTH_BINS)[bins[comparable]]  # (n_left, n_bins)

    def value(weights: Weights) -> Values:
        wrong, right = (weights * flawed) @ in_bin, (weights * ~flawed) @ in_bin  # (n_resamples, n_bins)
        both = (wrong > 0) & (right > 0)
        wrong, right = wrong * both, right * both
        odds = ratio(right.sum(axis=1), wrong.sum(axis=1))
        scale = np.divide(wrong, right, out=np.zeros_like(wrong), where=both) * np.nan_to_num(odds)[:, None]
        return ranked(weights * np.where(flawed, both @ in_bin.T, scale @ in_bin.T))

    return value, comparable


def within_problem(positive: Bools, suspicion: Floats, problem: npt.NDArray[np.intp]) -> tuple[Metric, Bools]:
    """Mean over problems of P(a flawed trace is more suspect than a right one of the same problem) + P(tie) / 2.

    What makes a problem hard, or its traces long, cannot help here.

    Returns:
        The metric, over the items of problems with both kinds, and which these are, shape (n_items,). In [0, 1]; NaN
        where no problem has both.
    """
    both = np.isin(problem, problem[positive]) & np.isin(problem, problem[~positive])
    share_of, per_item = np.zeros(int(both.sum())), problem[both]
    flawed, level = positive[both], suspicion[both]
    first = np.zeros(len(per_item), dtype=bool)
    for name in np.unique(per_item):
        here = per_item == name
        difference = level[here & flawed][:, None] - level[here & ~flawed][None, :]
        share_of[here] = ((difference > 0) + (difference == 0) / 2).mean()
        first[np.argmax(here)] = True  # one item stands for its problem, so that every problem counts once
    return lambda weights: share(weights, share_of, first), both


def f1(named: Bools, true: Bools) -> Metric:
    """2 TP / (2 TP + FP + FN), in [0, 1]; NaN where nothing is true, so that there was nothing to name."""

    def value(weights: Weights) -> Values:
        hits, truths = weights @ (named & true).astype(np.float64), weights @ true.astype(np.float64)
        return np.where(truths > 0, ratio(2 * hits, weights @ named.astype(np.float64) + truths), np.nan)

    return value


def matthews(named: Bools, true: Bools) -> Metric:
    """Matthews correlation of name and truth, in [-1, 1]; 0 where one of the two never varies."""

    def value(weights: Weights) -> Values:
        total = weights.sum(axis=1)
        p, t, both = (ratio(weights @ side.astype(np.float64), total) for side in (named, true, named & true))
        spread = np.sqrt(p * (1 - p) * t * (1 - t))
        return np.nan_to_num(ratio(both - p * t, spread))

    return value


class _Curve:
    """Items by falling suspicion; those of equal suspicion are taken together."""

    def __init__(self, positive: Bools, suspicion: Floats) -> None:
        self.order = np.argsort(-suspicion, kind="stable")
        ranked = suspicion[self.order]
        self.ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)])
        self.positive = positive[self.order].astype(np.float64)

    def counts(self, weights: Weights) -> tuple[Weights, Weights, Bools]:
        """Return what is found and what is a false alarm down to each suspicion, and where both kinds are there.

        Returns:
            Two of shape (n_resamples, n_distinct) and one of (n_resamples,).
        """
        if len(self.ends) == 0:
            empty = np.zeros((len(weights), 1))
            return empty, empty, np.zeros(len(weights), dtype=bool)
        ranked = weights[:, self.order]
        found = np.cumsum(ranked * self.positive, axis=1)[:, self.ends]
        alarms = np.cumsum(ranked * (1 - self.positive), axis=1)[:, self.ends]
        return found, alarms, (found[:, -1] > 0) & (alarms[:, -1] > 0)
