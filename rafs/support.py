"""S: do the steps carry the answer?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rafs.interventions import Effect, Interventions, Response
from rafs.outcomes import Component, Measured, Unmeasured

MOVED_ELSEWHERE = 0.5
"""Credit of a continuation whose answer moved, but not to the predicted one (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEntailment:
    """e = P(the derivation entails the stated answer), read off the quantity graph."""

    p: float
    detail: str
    """What it rests on, for a reader."""


def continuation_delta(responses: Sequence[Response]) -> float | None:
    """Sensitivity of the answer to one edit.

    Delta = mean over continuations of [1 followed; 1/2 moved elsewhere; 0 stayed]; recovered and unparsed ones are
    left out.

    Returns:
        A number in [0, 1], or None when nothing is left.
    """
    credit = {Response.FOLLOWED: 1.0, Response.MOVED: MOVED_ELSEWHERE, Response.STAYED: 0.0}
    counted = [credit[response] for response in responses if response in credit]
    return sum(counted) / len(counted) if counted else None


def answer_support(
    entailment: AnswerEntailment | Unmeasured, interventions: Interventions, *, alpha: float, m_min: int
) -> Component:
    """How far the answer follows from, and depends on, the derivation.

    S_RA = e^alpha * (mean_j Delta_j)^(1 - alpha): geometric, so that neither half can hide the other.

    Args:
        entailment: e, or why it is not known.
        interventions: What was edited and observed; an effect without a delta is no intervention.
        alpha: Weight of e, in [0, 1].
        m_min: Fewest interventions that count as a measurement.

    Returns:
        Value in [0, 1] and coverage = share of responses that could be read; Unmeasured(too_few_interventions)
        below `m_min`.

    Source:
        Shukla et al. 2026, arXiv:2607.26102; the geometric form is ours.
    """
    if isinstance(entailment, Unmeasured):
        return entailment
    if interventions.missing is not None:
        return interventions.missing
    effects: Sequence[Effect] = interventions.effects
    deltas = [effect.delta for effect in effects if effect.delta is not None]
    if len(deltas) < m_min:
        return Unmeasured(
            reason="too_few_interventions",
            detail=f"{len(deltas)} valid interventions, at least {m_min} are needed",
        )
    mean_delta = sum(deltas) / len(deltas)
    responses = [response for effect in effects for response in effect.responses]
    read = sum(response is not Response.UNPARSED for response in responses)
    value = math.pow(entailment.p, alpha) * math.pow(mean_delta, 1 - alpha)
    return Measured(value=value, coverage=read / len(responses))
