"""What of a conversation and its answer can be scored, or why nothing can."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from rafs.limits import MAX_PROBLEM_CHARS, MAX_TRACE_CHARS
from rafs.messages import Message
from rafs.request import ScoreRequest
from service.gate.chat import ChatMessage
from service.gate.decision import GATE_PRESET

ASKING_ROLES = ("user", "tool", "function")
"""What the model was given: the questions, and what its tools said. Its own earlier answers are not, and neither are
the operator's instructions."""
TEXT_TYPES = ("text", "input_text")
EARLIER_TURNS = "earlier_answers_left_out"
INSTRUCTIONS = "instructions_left_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotScorable:
    """There is nothing to decide on."""

    why: str
    """Machine-readable code, such as `tool_calls`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The problem as far as it is text."""

    problem: str
    notes: tuple[str, ...]
    """What of the conversation is no part of it."""


def read_problem(messages: Sequence[ChatMessage]) -> Asked | NotScorable:
    """Return what the model was asked: the texts of the user's messages, and of its tools, in order."""
    texts: list[str] = []
    for message in messages:
        if message.role not in ASKING_ROLES:
            continue
        parts = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content
        for part in parts or []:
            if (
                not isinstance(part, dict)
                or part.get("type") not in TEXT_TYPES
                or not isinstance(part.get("text"), str)
            ):
                return NotScorable(why="prompt_is_not_all_text")
            texts.append(str(part["text"]))
    problem = "\n\n".join(text for text in texts if text.strip())
    if not problem:
        return NotScorable(why="no_question")
    if len(problem) > MAX_PROBLEM_CHARS:
        return NotScorable(why="prompt_too_long")
    roles = {message.role for message in messages}
    notes = [EARLIER_TURNS] if "assistant" in roles else []
    return Asked(problem=problem, notes=(*notes, *([INSTRUCTIONS] if roles & {"system", "developer"} else ())))


def to_request(
    asked: Asked, choices: Sequence[Mapping[str, Any]], model: str, samples: Sequence[Mapping[str, Any]] = ()
) -> ScoreRequest | NotScorable:
    """Return what is to be scored of an answer.

    Args:
        asked: The problem.
        choices: Of the answer.
        model: Id of the model that wrote it.
        samples: More choices of the same model on the same problem.
    """
    if len(choices) != 1:
        return NotScorable(why="several_choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        return NotScorable(why="no_message")
    for key in ("tool_calls", "function_call", "audio", "refusal"):
        if message.get(key):
            return NotScorable(why=key)
    trace = {key: message.get(key) for key in ("content", "reasoning_content", "reasoning")}
    return read_request(asked.problem, trace, model, samples)


def read_request(
    problem: str, trace: Mapping[str, Any] | str, model: str | None, samples: Sequence[Mapping[str, Any]] = ()
) -> ScoreRequest | NotScorable:
    """Return a request for the gate; every rule for what can be scored is that of `/v1/score`."""
    said = [trace] if isinstance(trace, str) else [part for part in trace.values() if isinstance(part, str)]
    if sum(map(len, said)) > MAX_TRACE_CHARS:
        return NotScorable(why="answer_too_long")
    try:
        text = trace if isinstance(trace, str) else Message.model_validate_json(to_json(trace)).to_text()
        if not text.strip():
            return NotScorable(why="no_text")
        fields = {"problem": problem, "trace": trace, "preset": GATE_PRESET, "samples": samples}
        return ScoreRequest.model_validate_json(to_json(fields | ({"generator": {"model": model}} if model else {})))
    except ValidationError:
        return NotScorable(why="unusable_text")
