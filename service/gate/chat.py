"""JSON of a chat request: what the proxy needs of it; all else goes to the model as it came."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from rafs.messages import MAX_TURNS, Name

MAX_CHOICES = 128


class Lenient(BaseModel):
    """An object of another API: what is read of it is checked, and other keys are kept."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class ChatMessage(Lenient):
    """One message of the conversation."""

    role: Name
    content: str | list[JsonValue] | None = None


class ChatRequest(Lenient):
    """The body of a chat completion."""

    model: Name
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_TURNS)]
    n: Annotated[int, Field(ge=1, le=MAX_CHOICES)] | None = None
    stream: bool | None = None
    stream_options: dict[str, JsonValue] | None = None
    seed: int | None = None
    temperature: float | None = None
    response_format: dict[str, JsonValue] | None = None

    @property
    def is_structured(self) -> bool:
        """Whether the answer has to be JSON, to which no note can be added."""
        return (self.response_format or {}).get("type", "text") != "text"

    @property
    def wants_usage(self) -> bool:
        """Whether a stream shall end with what it cost."""
        return (self.stream_options or {}).get("include_usage") is True

    def to_upstream(
        self, model: str, *, draw: int = 0, stream: bool = False, n: Literal[1] | None = None
    ) -> dict[str, Any]:
        """Return the body for the model's server.

        Args:
            model: Name under which the server knows the model.
            draw: Number of this draw; added to a seed, so that another draw is another answer.
            stream: Whether the server shall stream.
            n: Choices, where they are not the caller's.
        """
        dropped = {"model", "stream"} | (set() if stream else {"stream_options"}) | (set() if n is None else {"n"})
        body = {key: value for key, value in self.model_dump(exclude_unset=True).items() if key not in dropped}
        if self.seed is not None:
            body["seed"] = self.seed + draw
        return {**body, "model": model, **({"stream": True} if stream else {}), **({} if n is None else {"n": n})}
