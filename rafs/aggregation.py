"""The score: a weighted geometric mean of the components that were measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rafs.outcomes import Component, ComponentName, Measured

ZERO_CAP = 5.0
"""Highest score with one component at 0, whatever the others say; a models.yaml whose weights break it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """The score and where it comes from."""

    score: float
    """In [0, 100]."""
    weights: Mapping[ComponentName, float]
    """Weights renormalised over the measured components; they sum to 1."""
    log_contributions: Mapping[ComponentName, float]
    """w_m * log(s_m + eps); they sum to log(score / 100), up to eps."""
    coverage: float
    """sum_m w_m * coverage_m over ALL components, an unmeasured one counting 0; in [0, 1]."""
    coverage_of_measured: float
    """The same over the measured components alone, with the renormalised weights."""


def aggregate(
    components: Mapping[ComponentName, Component], weights: Mapping[ComponentName, float], epsilon: float
) -> Aggregate | None:
    """RAFS = min(100, 100 * exp(sum_m w_m * log(s_m + eps))) over the measured components.

    One component at 0 leaves at most 100 * eps^w, since the others bring no factor above 1.

    Args:
        components: What was measured of P, S, C and D.
        weights: Positive weight of every component; they sum to 1.
        epsilon: Keeps the logarithm finite at 0.

    Returns:
        The score and its contributions; None when nothing was measured.

    Source:
        Shukla et al. 2026, arXiv:2607.26102.
    """
    measured = {name: part for name, part in components.items() if isinstance(part, Measured)}
    if not measured:
        return None
    total = math.fsum(weights[name] for name in measured)
    effective = {name: weights[name] / total for name in measured}
    contributions = {name: effective[name] * math.log(part.value + epsilon) for name, part in measured.items()}
    return Aggregate(
        score=min(100.0, 100.0 * math.exp(sum(contributions.values()))),
        weights=effective,
        log_contributions=contributions,
        coverage=math.fsum(weights[name] * part.coverage for name, part in measured.items()),
        coverage_of_measured=math.fsum(effective[name] * part.coverage for name, part in measured.items()),
    )
