"""What sways a judge but is not what it judges: the place of an answer, and who wrote it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rafs.evaluation.audit import PASS_AT, AuditRecord
from rafs.evaluation.intervals import Bools, Measurement, draw_resamples, measure_difference, measure_rate, share


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRecord:
    """A right and a wrong answer to one question, put to a judge in both orders."""

    question: str
    domain: str
    p_first: tuple[float | None, float | None]
    """P(the first one is the better one) with the right one first, and with the wrong one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRates:
    """What a judge chose of pairs, in both orders; the four shares sum to 1."""

    n: int
    n_unusable: int
    right: Measurement
    """The right one in both orders."""
    wrong: Measurement
    always_first: Measurement
    """The first one in both orders, so that the place decided."""
    always_second: Measurement


def pair_rates(pairs: Sequence[PairRecord], *, seed: int) -> PairRates:
    """Return how often a judge chose by what stands there, and how often by where it stands."""
    usable = [pair for pair in pairs if None not in pair.p_first]
    resamples = draw_resamples([pair.question for pair in usable], seed=seed)
    first = np.array([[p is not None and p >= PASS_AT for p in pair.p_first] for pair in usable], dtype=bool)
    with_right, with_wrong = first.reshape(-1, 2).T  # (n_pairs,) each
    return PairRates(
        n=len(usable),
        n_unusable=len(pairs) - len(usable),
        right=measure_rate(with_right & ~with_wrong, resamples),
        wrong=measure_rate(~with_right & with_wrong, resamples),
        always_first=measure_rate(with_right & with_wrong, resamples),
        always_second=measure_rate(~with_right & ~with_wrong, resamples),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPreference:
    """What a judge passes of the errors of its own family, and of others' errors on the same questions."""

    n_questions: int
    """Questions that both answered wrongly; on others, one of the two may have met harder ones."""
    own: Measurement
    other: Measurement
    difference: Measurement
    """Own minus other: above 0, it goes easier on its own; or the errors of its family are harder to see, which this
    cannot tell apart."""


def self_preference(records: Sequence[AuditRecord], *, seed: int) -> SelfPreference:
    """Compare the false-pass rates on errors of the judge's own family and of others, over the same questions."""
    wrong = [one for one in records if not one.right and one.p_correct is not None and one.own is not None]
    by_writer = [{one.question for one in wrong if one.own is own} for own in (True, False)]
    both = by_writer[0] & by_writer[1]
    kept = [one for one in wrong if one.question in both]
    passed = np.array([one.passed for one in kept], dtype=bool)
    own: Bools = np.array([one.own is True for one in kept], dtype=bool)
    resamples = draw_resamples([one.question for one in kept], seed=seed)
    return SelfPreference(
        n_questions=len(both),
        own=measure_rate(passed, resamples, among=own),
        other=measure_rate(passed, resamples, among=~own),
        difference=measure_difference(
            lambda weights: share(weights, passed, own),
            lambda weights: share(weights, passed, ~own),
            resamples,
            "no_items",
        ),
    )
