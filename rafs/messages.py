"""Messages as chat APIs return them: what a trace or a sample may come in."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from rafs.channels import REASONING_TYPES, REPLY_TYPES, read_message
from rafs.limits import MAX_NAME_CHARS, MAX_TRACE_CHARS


class Wire(BaseModel):
    """Strict JSON: no unknown keys, no coercion between types, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARS)]
MAX_BLOCKS = 256
"""Blocks of a message, and parts of a block: an agent's turn has a thinking and a tool block for every call."""
MAX_TURNS = 256
"""Messages of a conversation."""


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


def shapes(allowed: str, shape: Callable[[object], str | None] = shape_of) -> Discriminator:
    """Return how a union tells its members apart: by `shape`; a value of another one is refused with `allowed`."""
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
        shapes("text, a list of parts or null"),
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
        shapes("text, a list of content blocks or null"),
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
