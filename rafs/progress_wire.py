"""JSON of a score that grows: the steps that were read, verdicts, and bounds that narrow."""

from pydantic import Field

from rafs.messages import Wire


class StepRead(Wire):
    """A step, before anybody judged it."""

    index: int
    start: int = Field(description="Where it begins in the trace, in characters.")
    end: int
    text: str
    kind: str


class StepsRead(Wire):
    """How the trace was read."""

    steps: list[StepRead]
    answer: str | None = Field(description="The stated answer.")


class StepJudged(Wire):
    """What is known of one step; told once."""

    index: int
    p_correct: float | None
    refuted: bool
    suspect: bool
    decided_by: list[str]
    reason: str


class ScoreBounds(Wire):
    """Between which scores the trace still lies; a later pair lies within an earlier one."""

    lower: float
    upper: float
