"""A threshold from data, with a bound on what it lets through."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rafs.evaluation.detection import Floats
from rafs.evaluation.intervals import Bools
from rafs.evaluation.libraries import scipy_stats
from rafs.outcomes import Unmeasured

THRESHOLDS = np.arange(100.0, -0.5, -0.5)
"""Tried in this order, strictest first; fixed beforehand, for thresholds chosen on the labels would void the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The smallest threshold that is proven safe enough."""

    value: float
    """Accept scores of at least this, in [0, 100]."""
    alpha: float
    delta: float
    n: int
    """Traces it was learned from, each of a problem of its own."""
    n_accepted: int
    """Of these, those with at least this score."""
    n_failures: int
    """Of the accepted, those that are not faithful."""
    p_value: float

    @property
    def guarantee(self) -> str:
        """The bound in words."""
        return (
            f"With probability at least {1 - self.delta:g} over the draw of the {self.n} calibration problems, at most "
            f"{self.alpha:.1%} of the traces it accepts are not faithful: for one trace each of new problems drawn "
            "like those, and as long as the risk of what is accepted does not fall when the threshold is lowered."
        )


def learn_threshold(
    score: Floats, faithful: Bools, groups: Sequence[str], *, alpha: float, delta: float, seed: int
) -> Threshold | Unmeasured:
    """Return the smallest threshold with P(not faithful | accepted) <= alpha, with confidence 1 - delta.

    Learn then Test, fixed sequence: thresholds are tested from the strictest down, H: risk > alpha, and the first one
    that is not rejected at level delta ends the search, so that no correction for their number is due. Given how many
    are accepted, the failures among them are binomial with the risk as its rate: p = P(Bin(n, alpha) <= failures).
    Thresholds that accept too few to be rejected even without a failure, (1 - alpha)^n > delta, are passed over (ours).
    So the bound is exact where the risk does not fall as the threshold is lowered; a score that ranks worse than chance
    near its top has none.

    Exchangeability is by problem. Traces of one problem are dependent, and as separate trials they would make p too
    small: one is drawn of each, by the seed and before any label is read, and the others are not used. The alternative,
    Hoeffding-Bentkus p-values on the means of problems, is valid too, but accepted less wherever it was tried.

    Args:
        score: In [0, 100], shape (n_items,); -1 for a trace that is refused whatever the threshold, for want of a
            score or for another reason, so that the bound is on what is accepted in the end.
        faithful: Whether answer and reasoning are right, shape (n_items,).
        groups: Problem of each item.
        alpha: Largest risk, in (0, 1).
        delta: Largest probability that the bound does not hold, in (0, 1).
        seed: Draws the one trace of each problem.

    Returns:
        The threshold; Unmeasured where none can be proven safe.

    Source:
        Angelopoulos et al. 2021, "Learn then Test", arXiv:2110.01052, fixed-sequence testing.
    """
    kept = _one_each(groups, seed)
    accepted, failures = _accepted_and_failed(score[kept], faithful[kept])
    p_values = scipy_stats().binom.cdf(failures, accepted, alpha)
    tested = np.flatnonzero((1 - alpha) ** accepted <= delta)
    rejected = np.cumprod(p_values[tested] <= delta).astype(bool)
    if not rejected.any():
        detail = f"none bounds the risk by {alpha:g} with confidence {1 - delta:g} on {len(kept)} problems"
        return Unmeasured(reason="no_threshold_is_safe", detail=detail)
    last = tested[rejected][-1]
    return Threshold(
        value=float(THRESHOLDS[last]),
        alpha=alpha,
        delta=delta,
        n=len(kept),
        n_accepted=int(accepted[last]),
        n_failures=int(failures[last]),
        p_value=float(p_values[last]),
    )


def conformal_threshold(
    score: Floats, faithful: Bools, groups: Sequence[str], *, alpha: float, seed: int
) -> float | Unmeasured:
    """Return the smallest threshold with P(accepted and not faithful) <= alpha on a new problem, on average.

    Conformal risk control with the loss 1[accepted and not faithful], which only grows as the threshold is lowered:
    inf { t : (failures(t) + 1) / (n + 1) <= alpha }. Weaker than `learn_threshold` in two ways: the bound is on all
    traces, not on the accepted ones, and it holds on average over calibration sets, not for most of them. The arguments
    are those of `learn_threshold`.

    Source:
        Angelopoulos et al. 2022, "Conformal Risk Control", arXiv:2208.02814.
    """
    kept = _one_each(groups, seed)
    _, failures = _accepted_and_failed(score[kept], faithful[kept])
    safe = np.flatnonzero((failures + 1) / (len(kept) + 1) <= alpha)
    if len(safe) == 0:
        return Unmeasured(reason="no_threshold_is_safe", detail=f"{alpha:g} cannot be bounded on {len(kept)} problems")
    return float(THRESHOLDS[safe[-1]])


def _one_each(groups: Sequence[str], seed: int) -> npt.NDArray[np.intp]:
    """Return one item of every problem."""
    names = np.asarray(groups, dtype=str)
    order = np.random.default_rng(seed).permutation(len(names))
    return order[np.unique(names[order], return_index=True)[1]]


def _accepted_and_failed(score: Floats, faithful: Bools) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return how many each threshold accepts, and how many of these are not faithful."""
    over = [np.sort(part) for part in (score, score[~faithful])]
    accepted, failures = (len(part) - np.searchsorted(part, THRESHOLDS, side="left") for part in over)
    return accepted, failures
