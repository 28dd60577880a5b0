"""JSON of the gate: what is asked, and the decision alone."""

from typing import Any, Literal

from pydantic import Field, JsonValue

from rafs.gate_wire import GateDecision
from rafs.outcomes import Status
from rafs.policy import Reason
from rafs.request import ScoreRequest
from rafs.types import FAILED, Why
from rafs.wire import ScoreResponse
from service.gate_settings import FailPolicy

GATE_PRESET = "gate"
NOT_PART: Any = Field(default=[], max_length=0, description="Not part of a decision: must be empty.")


class GateRequest(ScoreRequest):
    """A problem and a chain of thought to decide on."""

    budget_ms: int | None = Field(
        default=None,
        ge=1,
        le=3_600_000,
        description="Time for the decision; at most the operator's, where there is one.",
    )
    fail: Literal["fail_open", "fail_closed"] | None = Field(
        default=None,
        description="The answer where RAFS could not decide; looser than the operator's only where that is allowed.",
    )
    rules: list[dict[str, JsonValue]] = NOT_PART
    include: list[Literal["record", "interventions"]] = NOT_PART

    def within(self, budget_ms: int | None) -> "GateRequest":
        """Return the request with the smallest of its deadline, its budget and the operator's as its deadline."""
        budgets = [one / 1000 for one in (self.budget_ms, budget_ms) if one is not None]
        known = [*budgets, *([self.deadline_s] if self.deadline_s is not None else [])]
        return self.model_copy(update={"deadline_s": min(known, default=None)})

    def to_score(self) -> ScoreRequest:
        """Return what is to be scored, with the preset `gate` unless another is named."""
        fields = {name: getattr(self, name) for name in ScoreRequest.model_fields}
        return ScoreRequest.model_construct(**fields | {"preset": self.preset or GATE_PRESET})


def conclude_gate(response: ScoreResponse, fail: FailPolicy, milliseconds: float) -> GateDecision:
    """Return the decision on a scored trace.

    Accept passes. A step that was proven wrong never passes, whatever else failed. Where time ran out or a verifier
    that was to judge failed, nothing was decided, and the policy answers.
    """
    refuted = any(step.refuted for step in response.steps)
    failure = None if refuted else _failure(response)
    return GateDecision(
        id=response.id,
        passes=response.status == Status.ACCEPT.value if failure is None else fail is FailPolicy.FAIL_OPEN,
        decided_by="rafs" if failure is None else fail.value,
        fail=fail.value,
        failure=failure,
        status=response.status,
        outcome=response.outcome.label,
        reasons=response.reasons,
        suspect_step=response.suspect_step,
        score=response.score,
        interval=response.interval,
        not_evaluated=_not_evaluated(response),
        tokens=sum(stage.tokens for stage in response.usage),
        milliseconds=milliseconds,
        preset=response.provenance.preset,
        calibration=response.provenance.calibration,
        config_hash=response.provenance.config_hash,
    )


def undecided(decision_id: str, failure: str, fail: FailPolicy, milliseconds: float) -> GateDecision:
    """Return the policy's answer where nothing was concluded at all."""
    return GateDecision(
        id=decision_id,
        passes=fail is FailPolicy.FAIL_OPEN,
        decided_by=fail.value,
        fail=fail.value,
        failure=failure,
        status=None,
        milliseconds=milliseconds,
    )


def _failure(response: ScoreResponse) -> str | None:
    """Return why the status is no decision: time or a failed model, not what was found out about the trace."""
    if Reason.DEADLINE in response.reasons:
        return Reason.DEADLINE.value
    failed = [member for member in response.members if member.judged == 0 and not FAILED.isdisjoint(member.silent)]
    missing_p = f"{Reason.REQUIRED_UNMEASURED}:P" in response.reasons
    if Reason.VERIFIER_DOWN not in response.reasons and not (missing_p and failed):
        return None
    late = any(Why.TIMEOUT in member.silent for member in failed)
    return Reason.DEADLINE.value if late else Reason.VERIFIER_DOWN.value


def _not_evaluated(response: ScoreResponse) -> dict[str, str]:
    parts = {part.name: part.unmeasured for part in response.components if part.unmeasured is not None}
    idle = [member for member in response.members if member.family is not None and not member.asked and member.silent]
    return parts | {member.member: max(member.silent, key=member.silent.__getitem__) for member in idle}
