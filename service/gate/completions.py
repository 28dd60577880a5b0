"""What becomes of a chat completion: the verdict beside it, a note behind it, or another text in its place."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from rafs.gate_wire import GateDecision
from rafs.messages import Wire

REPORT_KEY = "rafs"
Completion = Mapping[str, Any]


class Report(Wire):
    """What RAFS did with an answer: the field `rafs` of a completion, or of the last chunk."""

    policy: str = Field(description="What was to become of an answer that is not accepted.")
    action: str = Field(description="What became of this one: `passed`, `annotated`, `held` or `abstained`.")
    held_id: str | None = Field(default=None, description="Under which the answer is kept for review.")
    attempts: int = Field(default=1, description="Answers that were judged, this one included.")
    upstream_calls: int = Field(default=1, description="Requests to the model, those for samples included.")
    notes: list[str] = Field(default=[], description="What was left out or could not be done.")
    decision: GateDecision


def with_report(completion: Completion, report: Report) -> dict[str, Any]:
    """Return a completion with the verdict; a field of that name which the model's server sent is replaced."""
    return {**completion, REPORT_KEY: report.model_dump(mode="json")}


def note_of(decision: GateDecision) -> str:
    """Return what a reader is told of an answer that is not accepted; no word of it comes from the answer."""
    if decision.decided_by != "rafs":
        return "Note: this answer was not checked."
    if decision.suspect_step is not None:
        return f"Note: this answer did not pass its checks; step {decision.suspect_step.index + 1} is doubtful."
    return "Note: this answer did not pass its checks."


def annotated(completion: Completion, note: str) -> dict[str, Any] | None:
    """Return a completion with a note behind its one text; None where there is no such text."""
    choices = completion["choices"]
    if len(choices) != 1 or not isinstance(choices[0]["message"].get("content"), str):
        return None
    message = {**choices[0]["message"], "content": f"{choices[0]['message']['content']}\n\n{note}"}
    return {**completion, "choices": [{**choices[0], "message": message}]}


def replaced(completion: Completion, text: str) -> dict[str, Any]:
    """Return a completion that says `text` in every choice; of the answer nothing is left."""
    kept = {key: completion[key] for key in ("id", "object", "created", "model", "usage") if key in completion}
    message = {"role": "assistant", "content": text}
    choices = [
        {"index": index, "message": message, "logprobs": None, "finish_reason": "content_filter"}
        for index in range(len(completion["choices"]))
    ]
    return {**kept, "choices": choices}
