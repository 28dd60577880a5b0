"""Did a critic name the flaw that the expert named? Graded by a judge of equivalence, who is graded himself.

To call a solution flawed is one thing, to say what is wrong with it another: a critic that calls everything flawed gets
every flawed solution right, and names no flaw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rafs.evaluation.intervals import (
    Bools,
    Measurement,
    Metric,
    Values,
    Weights,
    draw_resamples,
    measure,
    measure_rate,
    ratio,
    share,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedFlaw:
    """What a critic said of a solution that is flawed by its label."""

    problem: str
    flagged: bool | None
    """Whether it called the solution flawed; None where its output could not be used."""
    equivalent: bool | None
    """Whether the flaw that it named is the expert's, by the judge; None where there is none, or no usable grade."""
    by_people: bool | None = None
    """The same by people, of the items on which the judge is audited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGrading:
    """How often the expert's flaw was named, and how far the judge who says so can be believed."""

    accuracy: Measurement
    """Share of the usable items whose flaw was named; a solution that was not called flawed counts as a miss."""
    by_people: Measurement
    """The same by people, on the audited items alone."""
    n_unusable: int
    """Items without a usable output or grade; they are in no figure."""
    agreement: Measurement
    """Share of the audited items on which judge and people say the same."""
    kappa: Measurement
    """Cohen's kappa of the same, in [-1, 1]: 0 for what chance alone would give."""


def error_grading(flaws: Sequence[GradedFlaw], *, seed: int) -> ErrorGrading:
    """Return the figures over flawed solutions, with intervals over problems."""
    usable = [flaw for flaw in flaws if flaw.flagged is False or (flaw.flagged and flaw.equivalent is not None)]
    resamples = draw_resamples([flaw.problem for flaw in usable], seed=seed)
    named: Bools = np.array([flaw.flagged is True and flaw.equivalent is True for flaw in usable], dtype=bool)
    audited: Bools = np.array([flaw.flagged is True and flaw.by_people is not None for flaw in usable], dtype=bool)
    people: Bools = np.array([flaw.by_people is True for flaw in usable], dtype=bool)
    return ErrorGrading(
        accuracy=measure_rate(named, resamples),
        by_people=measure_rate(people, resamples, among=audited),
        n_unusable=len(flaws) - len(usable),
        agreement=measure_rate(named == people, resamples, among=audited),
        kappa=measure(kappa(named[audited], people[audited]), resamples.of(audited), "all_graded_alike"),
    )


def kappa(first: Bools, second: Bools) -> Metric:
    """(p_o - p_e) / (1 - p_e) with p_o the share of equal grades and p_e that of two graders who do not look.

    NaN where both give one and the same grade to everything. Source: Cohen 1960, "A coefficient of agreement for
    nominal scales".
    """

    def value(weights: Weights) -> Values:
        observed, yes_1, yes_2 = (share(weights, part) for part in (first == second, first, second))
        expected = yes_1 * yes_2 + (1 - yes_1) * (1 - yes_2)
        return ratio(observed - expected, 1 - expected)

    return value
