"""95 % intervals: a seeded bootstrap over problems, the same resamples for every metric and scorer.

A metric is a function of weights: how often each item stands in a resample. So one product of matrices gives a rate on
all resamples at once, and two scorers are compared on the same ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rafs.evaluation.libraries import scipy_stats
from rafs.outcomes import Unmeasured

Weights = npt.NDArray[np.float64]
"""How often an item stands in a resample, shape (n_resamples, n_items)."""
Values = npt.NDArray[np.float64]
"""A metric on each resample, shape (n_resamples,); NaN where it is not defined on one, and nowhere further out."""
Bools = npt.NDArray[np.bool_]
Metric = Callable[[Weights], Values]

LEVEL = 0.95
N_RESAMPLES = 1000
"""Fewer leave the ends to chance: with 400, intervals of average precision held the truth 1 % less often."""
MAX_WEIGHTS = 4_000_000
"""Weights held at once (32 MB); larger sets are gone through in several portions of resamples."""
MIN_DEFINED = 0.5
"""Share of the resamples on which a metric must be defined for an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its interval."""

    value: float
    low: float | None
    """None where there is no interval: a single problem, a metric undefined on most resamples, or the same on all of
    them, which would pass for certainty."""
    high: float | None
    n: int
    """Items it was computed from."""
    n_problems: int
    method: str


Measurement = Figure | Unmeasured


@dataclass(frozen=True, slots=True, kw_only=True)
class Resamples:
    """Resamples of the problems of some items; the first one is the data as they are."""

    counts: Weights
    """How often each problem was drawn, shape (1 + n_resamples, n_problems)."""
    problem_of: npt.NDArray[np.intp]
    """Problem of each item, shape (n_items,)."""

    def of(self, items: Bools) -> "Resamples":
        """Return the same resamples of some of the items."""
        return replace(self, problem_of=self.problem_of[items])

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.problem_of)

    @property
    def n_problems(self) -> int:
        """Number of problems that have an item."""
        return len(np.unique(self.problem_of))

    def values(self, metric: Metric) -> Values:
        """Return the metric on the data and on every resample, shape (1 + n_resamples,)."""
        return np.concatenate([metric(weights) for weights in self._portions()])

    def _portions(self) -> Iterator[Weights]:
        rows = max(1, MAX_WEIGHTS // max(1, self.n))
        for start in range(0, len(self.counts), rows):
            yield self.counts[start : start + rows, self.problem_of]


def draw_resamples(groups: Sequence[str], *, seed: int, n_resamples: int = N_RESAMPLES) -> Resamples:
    """Draw as many problems as there are, with replacement, `n_resamples` times; a problem brings all of its items.

    Source:
        Field and Welsh 2007, "Bootstrapping clustered data"; the resampling of whole clusters goes back to Davison and
        Hinkley 1997, section 3.8.
    """
    names, problem_of = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    n = len(names)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(n, np.full(n, 1 / n), size=n_resamples) if n else np.zeros((n_resamples, 0))
    counts = np.concatenate([np.ones((1, n)), drawn])
    return Resamples(counts=counts, problem_of=problem_of.astype(np.intp))


def measure(metric: Metric, resamples: Resamples, undefined: str) -> Measurement:
    """Return a metric with its expanded, bias-corrected percentile interval.

    The ends are the quantiles Phi(2 z - t') and Phi(2 z + t') of the resampled values. t' = t sqrt(G / (G - 1)), with t
    the 97.5 % point of Student's distribution with G - 1 degrees of freedom, for G problems: plain percentiles are too
    narrow where G is small. z = Phi^-1 of the share of the resampled values below the value itself, 0 where those equal
    to it decide on which side of a half that is: a metric such as average precision is larger on a sample than it is,
    and larger once more on a resample of it.

    Simulated with 2 traces a problem, the interval of average precision held the truth in 93.1 % of 2 500 samples of
    100 problems, in 93.6 % of 800 of 200, and in 93.8 % of 1 000 of 40, where without z it was 92.9 %: a little too
    narrow, and missing nearly as often above as below. That of AUROC held it in 94.4 %, that of an F1 in 95.5 % of
    1 000 of 100.

    Args:
        metric: The metric over the items of the resamples.
        resamples: Of these items.
        undefined: Reason to give where the metric is not defined on the data, such as `one_class_only`.

    Returns:
        The figure; Unmeasured where there are no items or the metric is not defined on them.

    Source:
        Hesterberg 2015, "What Teachers Should Know About the Bootstrap", arXiv:1411.5279, expanded percentiles; Efron
        1981, "Nonparametric standard errors and confidence intervals", bias correction.
    """
    if resamples.n == 0:
        return Unmeasured(reason="no_items")
    values = resamples.values(metric)
    if np.isnan(values[0]):
        return Unmeasured(reason=undefined, detail=f"{resamples.n} items")
    return _figure(float(values[0]), values[1:], resamples)


def measure_difference(first: Metric, second: Metric, resamples: Resamples, undefined: str) -> Measurement:
    """Return first minus second with the interval of the difference on the same resamples."""
    return measure(lambda weights: first(weights) - second(weights), resamples, undefined)


def _figure(value: float, drawn: Values, resamples: Resamples) -> Figure:
    defined = drawn[~np.isnan(drawn)]
    low = high = None
    method = "none: too few resamples on which it is defined and differs"
    enough = resamples.n_problems > 1 and len(defined) >= max(1, MIN_DEFINED * len(drawn))
    if enough and defined.min() < defined.max():
        method = "bootstrap over problems"
        low, high = (float(end) for end in np.quantile(defined, _ends(value, defined, resamples.n_problems)))
    return Figure(
        value=value,
        low=low,
        high=high,
        n=resamples.n,
        n_problems=resamples.n_problems,
        method=method,
    )


def _ends(value: float, drawn: Values, n_problems: int) -> tuple[float, float]:
    """Return which quantiles of the resampled values the interval ends at; see `measure`."""
    stats = scipy_stats()
    t = stats.t.ppf((1 + LEVEL) / 2, n_problems - 1) * np.sqrt(n_problems / (n_problems - 1))
    below, up_to = float((drawn < value).mean()), float((drawn <= value).mean())
    least = 1 / (len(drawn) + 1)  # what no resample shows is still possible
    z = stats.norm.ppf(min(max(min(max(0.5, below), up_to), least), 1 - least))
    return float(stats.norm.cdf(2 * z - t)), float(stats.norm.cdf(2 * z + t))


def measure_rate(events: Bools, resamples: Resamples, among: Bools | None = None) -> Measurement:
    """Return the share of the items, or of those in `among`, with an event.

    The interval is exact (Clopper and Pearson 1934) where every item is a problem of its own. Else it is the bootstrap
    over problems; and where all items agree, so that resampling moves nothing, the exact one with as many trials as
    there are problems, as if the items of a problem were copies of each other.
    """
    if among is not None:
        events, resamples = events[among], resamples.of(among)
    if resamples.n == 0:
        return Unmeasured(reason="no_items")
    n_events, independent = int(events.sum()), resamples.n == resamples.n_problems
    if not independent and 0 < n_events < resamples.n:
        return measure(lambda weights: share(weights, events), resamples, "no_items")
    n_trials = resamples.n if independent else resamples.n_problems
    low, high = exact_interval(n_events if independent else n_trials * (n_events > 0), n_trials)
    return Figure(
        value=n_events / resamples.n,
        low=low,
        high=high,
        n=resamples.n,
        n_problems=resamples.n_problems,
        method="Clopper-Pearson" if independent else "Clopper-Pearson over problems",
    )


def exact_interval(n_events: int, n_trials: int) -> tuple[float, float]:
    """Return the exact interval of a rate at 95 %."""
    found = scipy_stats().binomtest(int(n_events), n_trials).proportion_ci(confidence_level=LEVEL, method="exact")
    return float(found.low), float(found.high)


def share(weights: Weights, event: Bools | Values, among: Bools | None = None) -> Values:
    """Return sum(w * event) / sum(w) over the items in `among`, on every resample; NaN where there are none."""
    kept = np.ones(weights.shape[1]) if among is None else among.astype(np.float64)
    return ratio(weights @ (event * kept), weights @ kept)


def ratio(top: Values, bottom: Values) -> Values:
    """Return top / bottom, NaN where bottom is 0, shape (n_resamples,)."""
    quotient: Values = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return quotient
