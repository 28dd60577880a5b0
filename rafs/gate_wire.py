"""JSON of a decision of the gate."""

from typing import Literal

from pydantic import Field

from rafs.messages import Wire
from rafs.wire import SuspectOut


class GateDecision(Wire):
    """Whether an answer may be shown, who decided that, and on what grounds."""

    id: str
    passes: bool = Field(description="Whether the answer may be shown.")
    decided_by: Literal["rafs", "fail_open", "fail_closed"] = Field(
        description="`rafs`: by the status. Otherwise by the policy for what RAFS could not decide."
    )
    fail: Literal["fail_open", "fail_closed"] = Field(description="The policy that was in force.")
    failure: str | None = Field(description="Why RAFS could not decide; null where it did.")
    status: Literal["Accept", "Review", "Abstain"] | None = Field(description="Null where nothing was concluded.")
    outcome: (
        Literal["faithful_success", "silent_failure", "extraction_failure", "overt_failure", "undetermined"] | None
    ) = None
    reasons: list[str] = Field(default=[], description="Codes of the status.")
    suspect_step: SuspectOut | None = None
    score: float | None = None
    interval: tuple[float, float] | None = None
    not_evaluated: dict[str, str] = Field(
        default={}, description="Components without a value, and verifiers that were asked nothing, with the reason."
    )
    tokens: int = Field(default=0, description="That went through models.")
    milliseconds: float
    preset: str | None = None
    calibration: str | None = None
    config_hash: str | None = None
