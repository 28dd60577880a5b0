"""Requests as they go out and what reads their replies: the same for both clients."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypedDict, TypeVar

import httpx
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from rafs.errors import InputError
from rafs.gate_wire import GateDecision
from rafs.request import GeneratorInfo
from rafs.wire import ModelStatus, ScoreResponse

Result = TypeVar("Result")
Document = TypeVar("Document", bound=BaseModel)

GRACE_S = 5.0
"""On top of a deadline, for the way there and back and for concluding."""
JSON = {"Content-Type": "application/json"}
IDEMPOTENCY = "Idempotency-Key"


class Choices(TypedDict, total=False):
    """How a trace is looked at; each as in the request of `POST /v1/score`."""

    generator: str | Mapping[str, str] | GeneratorInfo | None
    """Who wrote the trace; a text is the model's name."""
    preset: str | None
    seed: int
    deadline_s: float | None
    token_budget: int | None


class ScoreFields(Choices, total=False):
    """What may be sent with a trace to be scored."""

    answer: str | None
    samples: Sequence[object]
    """More traces of the same writer, in any shape that a trace may have, or `choices` of a reply."""
    rules: Sequence[Mapping[str, object]]
    include: Sequence[Literal["record", "interventions"]]


class GateChoices(Choices, total=False):
    """How the gate looks at a trace."""

    budget_ms: int | None
    """Time for the decision."""


class GateFields(GateChoices, total=False):
    """What may be sent with a trace to be decided on."""

    answer: str | None
    samples: Sequence[object]
    fail: Literal["fail_open", "fail_closed"] | None
    """What the service answers where it could not decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Result]):
    """One request and what its reply means."""

    method: Literal["GET", "POST"]
    path: str
    read: Callable[[httpx.Response], Result]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    patience_s: float | None = None
    """Longest silence; None is the client's."""
    answers: frozenset[int] = frozenset({200})
    """Statuses that are a reply and no failure."""
    is_stream: bool = False
    """Whether `read` takes the reply before its body came."""


def score_call(problem: str, trace: object, fields: ScoreFields, key: str | None) -> Call[ScoreResponse]:
    """Return a call of `POST /v1/score`; see `post`."""
    return post("/v1/score", fields_of(problem, trace, fields), read_as(ScoreResponse), key)


def gate_call(problem: str, trace: object, fields: GateFields, key: str | None) -> Call[GateDecision]:
    """Return a call of `POST /v1/gate`; see `post`."""
    return post("/v1/gate", fields_of(problem, trace, fields), read_as(GateDecision), key)


def stream_call(problem: str, trace: object, fields: ScoreFields) -> Call[httpx.Response]:
    """Return a call of `POST /v1/score/stream`, whose result is the reply before its events came; see `post`."""
    call = post("/v1/score/stream", fields_of(problem, trace, fields), lambda response: response, None)
    return replace(call, headers={**call.headers, "Accept": "text/event-stream"}, is_stream=True)


def post(
    path: str, fields: Mapping[str, object], read: Callable[[httpx.Response], Result], key: str | None
) -> Call[Result]:
    """Return a call that posts JSON.

    Args:
        path: Where to.
        fields: By key; what is None is not sent.
        read: What reads the reply.
        key: Under which the service answers a repeated request with the first reply; None sends none.

    Raises:
        InputError: A value cannot be written as JSON.
    """
    deadline_s = fields.get("deadline_s")
    return Call(
        method="POST",
        path=path,
        read=read,
        content=_to_json(fields),
        headers=JSON if key is None else JSON | {IDEMPOTENCY: key},
        patience_s=deadline_s + GRACE_S if isinstance(deadline_s, int | float) else None,
    )


def fields_of(problem: str, trace: object, fields: Mapping[str, object]) -> Mapping[str, object]:
    """Return a request's fields, with trace, samples and writer as the service takes them.

    Raises:
        InputError: The trace, or a sample, is nothing that can be sent.
    """
    changed: dict[str, object] = {"problem": problem, "trace": message_of(trace)}
    samples, generator = fields.get("samples"), fields.get("generator")
    if isinstance(samples, Sequence):
        changed["samples"] = [_plain(sample, "samples") for sample in samples]
    if isinstance(generator, str):
        changed["generator"] = {"model": generator}
    return {**fields, **changed}


def message_of(written: object) -> object:
    """Return what a model wrote as the service takes it: a text, a list of steps, a message or a conversation.

    Of a chat completion the first choice is taken, and of a choice its message.

    Args:
        written: One of these, or the chat completion they came in: as mappings, or as a client library's objects.

    Raises:
        InputError: It is none of these.
    """
    match _plain(written, "trace"):
        case {"choices": [choice, *_]}:
            return _message_in(choice)
        case plain:
            return _message_in(plain)


def _message_in(plain: object) -> object:
    match plain:
        case {"message": message}:
            return message
        case {"text": str(text)}:
            return text
        case _:
            return plain


def _plain(value: object, name: str) -> object:
    """Return text, list or mapping; models of client libraries without their empty fields."""
    try:
        plain = to_jsonable_python(value, exclude_none=True, by_alias=True)
    except (PydanticSerializationError, UnicodeError) as error:
        raise _unsendable(name, value) from error
    if not isinstance(plain, str | list | dict):
        raise _unsendable(name, value)
    return plain


def _unsendable(name: str, value: object) -> InputError:
    got, allowed = f"a value of type {type(value).__name__}", "text, a list of steps, a message or a chat completion"
    return InputError(f"{name}: got {got}, allowed {allowed}", field=name, got=got, allowed=allowed)


def _to_json(fields: Mapping[str, object]) -> bytes:
    try:
        return to_json({name: value for name, value in fields.items() if value is not None}, exclude_none=True)
    except (PydanticSerializationError, UnicodeError) as error:
        got, allowed = "a value that is no JSON", "text, numbers, lists, mappings and pydantic models"
        raise InputError(
            f"the request holds {got}, allowed are {allowed}", field="body", got=got, allowed=allowed
        ) from error


def read_as(model: type[Document]) -> Callable[[httpx.Response], Document]:
    """Return what reads a reply of this kind; keys that a newer service added are left out."""
    return lambda response: model.model_validate_json(response.content, extra="ignore")


class _ModelList(BaseModel):
    """Reply of `GET /v1/models`."""

    models: list[ModelStatus]


MODELS: Call[list[ModelStatus]] = Call(
    method="GET", path="/v1/models", read=lambda response: read_as(_ModelList)(response).models
)
READY: Call[bool] = Call(
    method="GET", path="/readyz", read=lambda response: response.status_code == 200, answers=frozenset({200, 503})
)
