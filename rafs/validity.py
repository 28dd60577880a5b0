"""P: are the steps themselves valid?"""

import math
from collections.abc import Sequence

from rafs.outcomes import Component, Measured, Unmeasured
from rafs.types import Judged, Verdict, judged_only

Q_FLOOR = 1e-6
"""Smallest q_t in the mean's logarithm: one step at exactly 0 must not erase the order of all other traces."""


def step_validity(verdicts: Sequence[Verdict], carries: Sequence[bool], mean_weight: float) -> Component:
    """Validity of a derivation from the verdicts on its steps.

    P_R = lambda * exp(mean_t log q_t) + (1 - lambda) * min_t q_t. The mean runs over judged steps that carry the
    derivation, so that padding with trivially true steps does not raise P_R; where a trace has no such step, its
    weakest one is the mean. The minimum runs over all judged steps. Coverage is counted over the same steps as the
    mean: a heading that nobody judged hides nothing.

    Args:
        verdicts: One per step of the derivation, shape (n_steps,). Abstentions are left out, and reduce coverage.
        carries: Whether each step carries the derivation (`padding.carrying_steps`), shape (n_steps,).
        mean_weight: lambda in [0, 1].

    Returns:
        Value in [0, 1] and coverage = share of those steps that were judged; Unmeasured where none was.

    Source:
        Shukla et al. 2026, arXiv:2607.26102; the mix of mean and minimum is ours.
    """
    if not verdicts:
        return Unmeasured(reason="no_steps")
    counted = [verdict for verdict, does in zip(verdicts, carries, strict=True) if does or not any(carries)]
    averaged = [verdict.p_correct for verdict in judged_only(counted)]
    if not averaged:
        return Unmeasured(reason="no_step_judged")
    weakest = min(verdict.p_correct for verdict in judged_only(verdicts))
    logs = [math.log(max(q, Q_FLOOR)) for q in (averaged if any(carries) else [weakest])]
    geometric_mean = math.exp(sum(logs) / len(logs))
    value = mean_weight * geometric_mean + (1 - mean_weight) * weakest
    return Measured(value=min(value, 1.0), coverage=len(averaged) / len(counted))


def suspect_positions(verdicts: Sequence[Verdict], tau_step: float) -> list[int]:
    """Return the positions of the steps with q_t < tau_step, earliest first; the first one is the suspect step."""
    return [t for t, verdict in enumerate(verdicts) if isinstance(verdict, Judged) and verdict.p_correct < tau_step]
