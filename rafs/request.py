"""JSON in: what a caller sends."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, StringConstraints, Tag, field_validator, model_validator

from rafs.limits import (
    MAX_ANSWER_CHARS,
    MAX_DEADLINE_S,
    MAX_PROBLEM_CHARS,
    MAX_RULES,
    MAX_SAMPLES,
    MAX_SEED,
    MAX_STEP_CHARS,
    MAX_STEPS,
    MAX_TOKEN_BUDGET,
    MAX_TRACE_CHARS,
)
from rafs.messages import Conversation, Message, Name, Turn, Wire, conversation_text, shape_of, shapes, unusable
from rafs.sent_samples import SampleInput, to_sampled
from rafs.types import Sampled

Problem = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PROBLEM_CHARS)]
TraceText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TRACE_CHARS)]
StepText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_STEP_CHARS)]
BYTES_PER_TOKEN = 4
"""About, of English and of most other writing."""
UNUSABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def shape_of_trace(value: object) -> str | None:
    """Return the tag of a trace's union member; a list of objects is a conversation."""
    match value:
        case [dict() | BaseModel(), *_]:
            return "<messages>"
        case _:
            return shape_of(value)


TraceInput = Annotated[
    Annotated[TraceText, Tag("<text>")]
    | Annotated[list[StepText], Field(min_length=1, max_length=MAX_STEPS), Tag("<list>")]
    | Annotated[Message, Tag("<object>")]
    | Annotated[Conversation, Tag("<messages>")],
    shapes("text, a list of steps, an assistant message or a list of messages", shape_of_trace),
]


class GeneratorInfo(Wire):
    """Who wrote the trace; independence is decided by the family."""

    model: Name | None = Field(default=None, examples=["gpt-4o-mini"])
    family: Name | None = Field(default=None, examples=["gpt"])


class ScoreRequest(Wire):
    """A problem and a chain of thought to score."""

    problem: Problem = Field(description="The problem as the model saw it.")
    trace: TraceInput = Field(
        description="The chain of thought: text, the caller's own list of steps, an assistant message, or the messages "
        "of a conversation, of which the assistant's are read."
    )
    answer: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ANSWER_CHARS)] | None = Field(
        default=None,
        description="The stated answer, where it is known apart from the trace; it wins over the text.",
    )
    generator: GeneratorInfo | None = Field(default=None, description="The model that wrote the trace.")
    samples: Annotated[list[SampleInput], Field(max_length=MAX_SAMPLES)] = Field(
        default=[],
        description="More traces of the same model on the same problem, for consensus and stability: each a text, an "
        "assistant message, the messages of a conversation, or one of the `choices` of a reply, with its "
        "`finish_reason` and, if there are, its `logprobs`.",
    )
    rules: Annotated[list[dict[str, JsonValue]], Field(max_length=MAX_RULES)] = Field(
        default=[],
        description="Rules that the reply has to keep, checked by program and reported beside the score.",
        examples=[[{"rule": "words", "at_most": 200}, {"rule": "excludes", "phrases": ["obviously"]}]],
    )
    preset: Name | None = Field(default=None, examples=["gate", "standard", "deep"])
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    deadline_s: float | None = Field(
        default=None,
        gt=0,
        le=MAX_DEADLINE_S,
        description="Seconds after which no model is waited for, where that is less than the preset's deadline; what "
        "was cut off is named.",
    )
    token_budget: int | None = Field(
        default=None,
        ge=0,
        le=MAX_TOKEN_BUDGET,
        description="When so many tokens went through models, no model is asked any more; calls under way end. What "
        "was cut off is named as by a deadline.",
    )
    include: list[Literal["record", "interventions"]] = Field(
        default=[],
        max_length=8,
        description="`record`: what `rafs replay` needs. `interventions`: the edits that were made.",
    )

    @field_validator("samples")
    @classmethod
    def refuse_unusable_samples(cls, samples: list[SampleInput]) -> list[SampleInput]:
        """Refuse what is not text, as in a trace, and a message longer than one; a cut sample may be empty."""
        for index, sample in enumerate(map(to_sampled, samples)):
            if not (sample.truncated or sample.text.strip()):
                raise unusable("no text", "text of an assistant with something to read in it", str(index))
            if len(sample.text) > MAX_TRACE_CHARS:
                raise unusable(f"{len(sample.text)} characters in all", f"at most {MAX_TRACE_CHARS}", str(index))
            _refuse_characters(str(index), sample.text)
        return samples

    @field_validator("problem", "trace", "answer", "generator")
    @classmethod
    def refuse_unusable_text(cls, value: object) -> object:
        """Refuse what is not text: white space alone, null bytes, lone surrogates."""
        for where, text in _texts(value):
            if _is_conversation(value) and not text.strip():
                raise unusable("no text of an assistant", "an assistant message with text or reasoning in it", where)
            if isinstance(value, Message) and not text.strip():
                raise unusable("a message without text", "a message with text or reasoning in it", where)
            if not text.strip():
                raise unusable("white space only", "text with something to read in it", where)
            _refuse_characters(where, text)
        return value

    def sampled(self) -> tuple[Sampled, ...]:
        """Return the caller's samples."""
        return tuple(map(to_sampled, self.samples))

    def trace_text(self) -> str | tuple[str, ...]:
        """Return the trace as text, or as the caller's own steps."""
        if isinstance(self.trace, Message):
            return self.trace.to_text()
        if isinstance(self.trace, str):
            return self.trace
        steps = tuple(step for step in self.trace if isinstance(step, str))
        return steps or conversation_text(self.trace)

    def estimate_tokens(self) -> int:
        """Return about how many tokens models will read: the problem with the trace, and with every sample."""
        n_texts = 1 + len(self.samples)
        n_bytes = len(self.problem.encode()) * n_texts
        n_bytes += sum(len(text.encode()) for _, text in _texts(self.trace))
        n_bytes += sum(len(sample.text.encode()) for sample in self.sampled())
        return max(1, n_bytes // BYTES_PER_TOKEN)

    @model_validator(mode="after")
    def bound_the_whole(self) -> "ScoreRequest":
        """Refuse steps, or blocks of a message, that together are longer than a trace may be."""
        if (total := sum(len(text) for _, text in _texts(self.trace))) > MAX_TRACE_CHARS:
            raise unusable(f"{total} characters in all", f"at most {MAX_TRACE_CHARS}", "trace")
        return self


def _refuse_characters(where: str, text: str) -> None:
    if found := UNUSABLE_CHARACTER.search(text):
        got = f"the character U+{ord(found[0]):04X}"
        raise unusable(got, "Unicode text without null bytes and lone surrogates", where)


def _is_conversation(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Turn)


def _texts(value: object) -> Iterator[tuple[str, str]]:
    """Yield every text of a field, with its dotted path below the field."""
    match value:
        case str():
            yield "", value
        case [Turn(), *_]:
            yield "", conversation_text(value)
        case list():
            yield from ((str(index), text) for index, text in enumerate(value))
        case GeneratorInfo():
            yield from ((name, text) for name in ("model", "family") if (text := getattr(value, name)) is not None)
        case Message():
            yield "", value.to_text()
