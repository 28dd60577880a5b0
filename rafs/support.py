"""S: do the steps carry the answer?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rafs.interventions import Effect, Interventions, Response
from rafs.outcomes import Component, Measured, Unmeasured

MOVED_ELSEWHERE = 0.5
"""Credit of a continuation whose answer moved, but not to the predicted one (ours)."""


class EntailmentSource(StrEnum):
    """Who said how far the derivation entails the answer, the most trusted first."""

    GRAPH = "graph"
    VALIDATOR = "validator"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEntailment:
    """e = P(the derivation entails the stated answer)."""

    p: float
    detail: str
    """What it rests on, for a reader."""
    source: EntailmentSource = EntailmentSource.GRAPH


def continuation_delta(responses: Sequence[Response]) -> float | None:
    """Sensitivity of the answer to one edit.

    Delta = mean over continuations of [1 followed; 1/2 moved elsewhere; 0 stayed]; recovered and unparsed ones are
    left out.

    Returns:
        A number in [0, 1], or None when nothing is left.
    """
    earned = credits_of(responses)
    return sum(earned) / len(earned) if earned else None


def credits_of(responses: Sequence[Response]) -> list[float]:
    """Return the credit of every response that counts."""
    credit = {Response.FOLLOWED: 1.0, Response.MOVED: MOVED_ELSEWHERE, Response.STAYED: 0.0}
    return [credit[response] for response in responses if response in credit]


def mean_delta(effects: Sequence[Effect]) -> float | None:
    """Return the mean of the effects that have a delta, in [0, 1]; None where none has."""
    deltas = [effect.delta for effect in effects if effect.delta is not None]
    return sum(deltas) / len(deltas) if deltas else None


def share_read(effects: Sequence[Effect]) -> float:
    """Share of the responses that were needed and could be read, in [0, 1]; what was not run is not read."""
    needed = [one for effect in effects for one in effect.responses if one is not Response.NOT_NEEDED]
    lost = (Response.UNPARSED, Response.NOT_RUN)
    return sum(one not in lost for one in needed) / len(needed) if needed else 0.0


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
        Value in [0, 1] and coverage = `share_read`; below `m_min` Unmeasured(too_few_interventions), or
        Unmeasured(deadline) where time ran out.

    Source:
        Shukla et al. 2026, arXiv:2607.26102; the geometric form is ours.
    """
    if isinstance(entailment, Unmeasured):
        return entailment
    if interventions.missing is not None:
        return interventions.missing
    effects = interventions.effects
    valid = sum(effect.delta is not None for effect in effects)
    sensitivity = mean_delta(effects)
    if valid < m_min or sensitivity is None:
        return Unmeasured(
            reason="deadline" if interventions.late else "too_few_interventions",
            detail=f"{valid} valid interventions, at least {m_min} are needed",
        )
    value = math.pow(entailment.p, alpha) * math.pow(sensitivity, 1 - alpha)
    return Measured(value=value, coverage=share_read(effects))
