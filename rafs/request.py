"""JSON in: what a caller sends."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from rafs.channels import REASONING_TYPES, REPLY_TYPES, read_message
from rafs.limits import (
    MAX_ANSWER_CHARS,
    MAX_NAME_CHARS,
    MAX_PROBLEM_CHARS,
    MAX_SAMPLES,
    MAX_SEED,
    MAX_STEP_CHARS,
    MAX_STEPS,
    MAX_TRACE_CHARS,
)


class Wire(BaseModel):
    """Strict JSON: no unknown keys, no coercion between types, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Problem = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PROBLEM_CHARS)]
TraceText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TRACE_CHARS)]
StepText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_STEP_CHARS)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARS)]
MAX_BLOCKS = 256
"""Blocks of a message, and parts of a block: an agent's turn has a thinking and a tool block for every call."""
MAX_TURNS = 256
"""Messages of a conversation."""
UNUSABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def unusable(got: str, allowed: str, where: str) -> PydanticCustomError:
    """Return the error for a rule that no type can say; `where` is the dotted path below the field or model."""
    return PydanticCustomError("unusable", "{got}{allowed}", {"got": got, "allowed": allowed, "where": where})


def shape_of(value: object) -> str | None:
    """Return the tag of the union member that a value belongs to, so that an error speaks of that member alone."""
    match value:
        case str():
            return "<text>"
        case list():
            return "<list>"
        case dict() | BaseModel():
            return "<object>"
        case None:
            return "<null>"
        case _:
            return None


def shape_of_trace(value: object) -> str | None:
    """Return the tag of a trace's union member; a list of objects is a conversation."""
    match value:
        case [dict() | BaseModel(), *_]:
            return "<messages>"
        case _:
            return shape_of(value)


def _shapes(allowed: str, shape: Callable[[object], str | None] = shape_of) -> Discriminator:
    return Discriminator(
        shape,
        custom_error_type="wrong_shape",
        custom_error_message="{allowed}",
        custom_error_context={"allowed": allowed},
    )


class Sent(Wire):
    """A part of a message as an API returns it: keys that hold neither text nor reasoning are left out."""

    model_config = ConfigDict(extra="ignore")


MessageText = Annotated[str, StringConstraints(max_length=MAX_TRACE_CHARS)]


class TextPart(Sent):
    """One part of a block's text."""

    text: MessageText | None = None


Parts = Annotated[list[TextPart], Field(max_length=MAX_BLOCKS)]


class ContentBlock(Sent):
    """One block of a message: text of the reply, or reasoning. Of any other type nothing but the type is kept."""

    type: Name = Field(examples=[*REPLY_TYPES[:2], *REASONING_TYPES[:2]])
    text: MessageText | None = None
    thinking: MessageText | None = None
    reasoning: MessageText | None = None
    content: Annotated[
        Annotated[MessageText, Tag("<text>")] | Annotated[Parts, Tag("<list>")] | Annotated[None, Tag("<null>")],
        _shapes("text, a list of parts or null"),
    ] = None
    summary: Parts | None = None

    @model_validator(mode="before")
    @classmethod
    def leave_out_other_types(cls, value: Any) -> Any:
        """Keep nothing of an image, a tool call or redacted reasoning."""
        kind = value.get("type") if isinstance(value, dict) else None
        is_other = isinstance(kind, str) and kind not in (*REPLY_TYPES, *REASONING_TYPES)
        return {"type": kind} if is_other else value


class Spoken(Sent):
    """What a message of any role says."""

    content: Annotated[
        Annotated[MessageText, Tag("<text>")]
        | Annotated[list[ContentBlock], Field(max_length=MAX_BLOCKS), Tag("<list>")]
        | Annotated[None, Tag("<null>")],
        _shapes("text, a list of content blocks or null"),
    ] = None
    reasoning_content: MessageText | None = None
    reasoning: MessageText | None = Field(default=None, description="Another name of `reasoning_content`.")

    def to_text(self) -> str:
        """Return reasoning and reply as one text; see `channels.read_message`."""
        blocks = [block.model_dump() for block in self.content] if isinstance(self.content, list) else self.content
        return read_message(blocks, self.reasoning_content or self.reasoning)


class Message(Spoken):
    """An assistant message in the common chat shape."""

    role: Literal["assistant"] = "assistant"


class Turn(Spoken):
    """One message of a conversation; only the assistant's hold the trace."""

    role: Literal["assistant", "user", "system", "developer", "tool", "function"]


Conversation = Annotated[list[Turn], Field(min_length=1, max_length=MAX_TURNS)]


def conversation_text(turns: Sequence[object]) -> str:
    """Return what the assistant said in a conversation, turn after turn."""
    said = (turn.to_text() for turn in turns if isinstance(turn, Turn) and turn.role == "assistant")
    return "\n\n".join(text for text in said if text.strip())


TraceInput = Annotated[
    Annotated[TraceText, Tag("<text>")]
    | Annotated[list[StepText], Field(min_length=1, max_length=MAX_STEPS), Tag("<list>")]
    | Annotated[Message, Tag("<object>")]
    | Annotated[Conversation, Tag("<messages>")],
    _shapes("text, a list of steps, an assistant message or a list of messages", shape_of_trace),
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
    samples: Annotated[list[TraceText], Field(max_length=MAX_SAMPLES)] = Field(
        default=[],
        description="More traces of the same model on the same problem, for consensus and stability.",
    )
    preset: Name | None = Field(default=None, examples=["gate", "standard", "deep"])
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    include: list[Literal["record", "interventions"]] = Field(
        default=[],
        max_length=8,
        description="`record`: what `rafs replay` needs. `interventions`: the edits that were made.",
    )

    @field_validator("problem", "trace", "answer", "generator", "samples")
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
            if found := UNUSABLE_CHARACTER.search(text):
                got = f"the character U+{ord(found[0]):04X}"
                raise unusable(got, "Unicode text without null bytes and lone surrogates", where)
        return value

    def trace_text(self) -> str | tuple[str, ...]:
        """Return the trace as text, or as the caller's own steps."""
        if isinstance(self.trace, Message):
            return self.trace.to_text()
        if isinstance(self.trace, str):
            return self.trace
        steps = tuple(step for step in self.trace if isinstance(step, str))
        return steps or conversation_text(self.trace)

    @model_validator(mode="after")
    def bound_the_whole(self) -> "ScoreRequest":
        """Refuse steps, or blocks of a message, that together are longer than a trace may be."""
        if (total := sum(len(text) for _, text in _texts(self.trace))) > MAX_TRACE_CHARS:
            raise unusable(f"{total} characters in all", f"at most {MAX_TRACE_CHARS}", "trace")
        return self


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
