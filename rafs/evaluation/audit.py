"""Is a judge worth hearing? What it passes of what is wrong, and of what is right, by an oracle that knows.

Both rates stand together: a judge that rejects everything passes nothing wrong, and knows nothing. Errors that models
made and errors that were planted are kept apart, for planted ones flatter a judge.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from rafs.evaluation.detection import auroc
from rafs.evaluation.intervals import Figure, Measurement, draw_resamples, measure, measure_rate
from rafs.outcomes import Unmeasured

PASS_AT = 0.5
"""A judge passes what it holds for more likely right than wrong; a tie is no rejection."""


class AuditVerdict(StrEnum):
    """What an audit ends in."""

    ADMITTED = "admitted"
    NO_DISCRIMINATION = "no discrimination"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One question put to a judge, of which an oracle knows the answer."""

    id: str
    domain: str
    question: str
    """The problem: items of one question are not independent."""
    natural: bool
    """Whether somebody wrote it who did not mean to be wrong; False for an error that was planted."""
    right: bool
    """By the oracle."""
    p_correct: float | None
    """By the judge; None where it gave nothing that could be used."""
    own: bool | None = None
    """Whether the judge's own family wrote it; None where the writer is not known."""
    why: str = ""
    """Why there is no opinion."""

    @property
    def passed(self) -> bool:
        """Whether the judge lets it pass."""
        return self.p_correct is not None and self.p_correct >= PASS_AT


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRates:
    """How a judge did on the items of one domain, or of several."""

    domain: str
    n_right: int
    n_wrong: int
    n_unusable: int
    """Items without an opinion; they are in no rate."""
    true_pass: Measurement
    """Share of the right that it passed."""
    false_pass: Measurement
    """Share of the wrong that it passed."""
    discrimination: Measurement
    """True-pass minus false-pass, in [-1, 1]: 0 for a coin, whatever it is weighted with."""


ALL_DOMAINS = "all domains"


def pass_rates(records: Sequence[AuditRecord], *, seed: int) -> list[PassRates]:
    """Return the rates of every domain, and last of all, where there are two or more, their mean over domains.

    The mean gives every domain the same weight: pooled items would let a domain with many right ones stand for
    discrimination where a judge passes whatever is of that domain.
    """
    domains = sorted({record.domain for record in records})
    rates = [_rates_of(name, [one for one in records if one.domain == name], seed) for name in domains]
    return [*rates, _mean_of(rates)] if len(rates) > 1 else rates


def _rates_of(domain: str, records: Sequence[AuditRecord], seed: int) -> PassRates:
    usable = [record for record in records if record.p_correct is not None]
    right, wrong = ([one for one in usable if one.right is truth] for truth in (True, False))
    true_pass, false_pass = (_rate([one.passed for one in part], part, seed) for part in (right, wrong))
    return PassRates(
        domain=domain,
        n_right=len(right),
        n_wrong=len(wrong),
        n_unusable=len(records) - len(usable),
        true_pass=true_pass,
        false_pass=false_pass,
        discrimination=difference_of(true_pass, false_pass),
    )


def _rate(events: Sequence[bool], records: Sequence[AuditRecord], seed: int) -> Measurement:
    resamples = draw_resamples([record.question for record in records], seed=seed)
    return measure_rate(np.array(events, dtype=bool), resamples)


def difference_of(first: Measurement, second: Measurement) -> Measurement:
    """Return first minus second with an interval from those of the two rates.

    low = d - sqrt((a - low_a)^2 + (high_b - b)^2), high = d + sqrt((high_a - a)^2 + (b - low_b)^2) for d = a - b. It
    has a width where both rates are 0 or 1, as resampling has not. The rates are taken for independent; those of right
    and wrong items of the same questions rise together, so that the interval is then wider than it has to be.

    Source:
        Newcombe 1998, "Interval estimation for the difference between independent proportions", method 10, with exact
        instead of score intervals; Zou and Donner 2008 for any pair of intervals.
    """
    if isinstance(first, Unmeasured) or isinstance(second, Unmeasured):
        return Unmeasured(reason="no_items", detail="right and wrong ones are needed")
    difference = first.value - second.value
    low = high = None
    if (a := _interval(first)) is not None and (b := _interval(second)) is not None:
        low = difference - math.hypot(first.value - a[0], b[1] - second.value)
        high = difference + math.hypot(a[1] - first.value, second.value - b[0])
    return Figure(
        value=difference,
        low=low,
        high=high,
        n=first.n + second.n,
        n_problems=max(first.n_problems, second.n_problems),
        method="from the intervals of both rates",
    )


def mean_of(figures: Iterable[Measurement]) -> Measurement:
    """Return the mean of independent figures: low = mean - sqrt(sum (v_k - low_k)^2) / K, likewise high.

    What is not measured is left out. Source: as for `difference_of`.
    """
    known = [figure for figure in figures if isinstance(figure, Figure)]
    if not known:
        return Unmeasured(reason="no_items")
    n, value = len(known), sum(figure.value for figure in known) / len(known)
    low = high = None
    intervals = [_interval(figure) for figure in known]
    if (ends := [interval for interval in intervals if interval is not None]) == intervals:
        low = value - math.hypot(*(figure.value - end for figure, (end, _) in zip(known, ends, strict=True))) / n
        high = value + math.hypot(*(end - figure.value for figure, (_, end) in zip(known, ends, strict=True))) / n
    return Figure(
        value=value,
        low=low,
        high=high,
        n=sum(figure.n for figure in known),
        n_problems=sum(figure.n_problems for figure in known),
        method="mean over domains, from their intervals",
    )


def _interval(figure: Figure) -> tuple[float, float] | None:
    return None if figure.low is None or figure.high is None else (figure.low, figure.high)


def _mean_of(rates: Sequence[PassRates]) -> PassRates:
    return PassRates(
        domain=ALL_DOMAINS,
        n_right=sum(rate.n_right for rate in rates),
        n_wrong=sum(rate.n_wrong for rate in rates),
        n_unusable=sum(rate.n_unusable for rate in rates),
        true_pass=mean_of(rate.true_pass for rate in rates),
        false_pass=mean_of(rate.false_pass for rate in rates),
        discrimination=mean_of(rate.discrimination for rate in rates),
    )


def ranking(records: Sequence[AuditRecord], *, seed: int) -> Measurement:
    """Return P(a right item gets more than a wrong one) + P(tie) / 2: 0.5 for a coin.

    A judge that leans to one side whatever it reads passes all or nothing, and may still rank; a calibration could then
    make something of it. No verdict hangs on it.
    """
    usable = [(one, one.p_correct) for one in records if one.p_correct is not None]
    wrong = np.array([not one.right for one, _ in usable], dtype=bool)
    suspicion = np.array([1 - p for _, p in usable], dtype=np.float64)
    resamples = draw_resamples([one.question for one, _ in usable], seed=seed)
    return measure(auroc(wrong, suspicion), resamples, "one_class_only")


def admit(rates: Sequence[PassRates]) -> AuditVerdict:
    """Admit a judge whose discrimination is above 0 with its whole interval, over all domains.

    One that cannot be told from a coin is not admitted, nor one that is worse, nor one that gave too few usable
    outputs for an interval: discrimination is to be shown, not assumed.
    """
    shown = rates[-1].discrimination if rates else Unmeasured(reason="no_items")
    is_above = isinstance(shown, Figure) and shown.low is not None and shown.low > 0
    return AuditVerdict.ADMITTED if is_above else AuditVerdict.NO_DISCRIMINATION
