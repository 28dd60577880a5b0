"""Bytes of a request to a `ScoreRequest`: strict JSON, every fault named by field, what was got and what is allowed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rafs.errors import InputError
from rafs.request import GeneratorInfo, ScoreRequest
from service.visible import show_text, show_value

MAX_FAULTS = 1_000
"""A body of nothing but unknown keys has hundreds of thousands; describing them would take seconds."""
MAX_NAMED_FAULTS = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MODELS_BY_PATH: dict[str, type[BaseModel]] = {"generator": GeneratorInfo}
"""The model of every object below a body that has no keys but its own."""
Body = TypeVar("Body", bound=BaseModel)
LONE_SURROGATE = ("lone leading surrogate", "unexpected end of hex escape")
"""What pydantic's parser says of an escape such as `\\ud800` that is not one of a pair."""
WORDS = {
    "model_type": "an object",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "int_type": "an integer",
    "list_type": "a list",
}
"""pydantic's names of types, in the words of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with a request; every text is safe to show."""

    field: str
    got: str
    allowed: str

    def __str__(self) -> str:
        return f"field `{self.field}`: got {self.got}, allowed: {self.allowed}"


class RequestError(InputError):
    """The body is not a request.

    Attributes:
        faults: At least one, at most `MAX_NAMED_FAULTS`.
        malformed: True when it is no JSON at all.
    """

    def __init__(self, faults: list[Fault], *, malformed: bool = False, n_faults: int | None = None) -> None:
        first, more = faults[0], (n_faults or len(faults)) - 1
        message = f"{first} (and {more} more)" if more else str(first)
        super().__init__(message, field=first.field, got=first.got, allowed=first.allowed)
        self.faults = tuple(faults)
        self.malformed = malformed


def parse_request(body: bytes) -> ScoreRequest:
    """Read a request to score; see `parse_body`."""
    return parse_body(body, ScoreRequest)


def parse_body(body: bytes, model: type[Body]) -> Body:
    """Read a request. Never recurses with the depth of the body, and never evaluates a number it does not need.

    Args:
        body: UTF-8 JSON, already limited in size; a byte order mark is ignored.
        model: What it has to be.

    Raises:
        RequestError: It is no JSON, or not a request, or has a key twice (readers disagree on which one counts).
    """
    body = body.removeprefix(BYTE_ORDER_MARK)
    if not body.strip():
        raise RequestError([Fault(field="body", got="nothing", allowed="a JSON object")], malformed=True)
    try:
        request = model.model_validate_json(body)
    except ValidationError as error:
        raise to_request_error(error, model) from None
    _refuse_repeated_keys(body)
    return request


def to_request_error(error: ValidationError, model: type[BaseModel] = ScoreRequest) -> RequestError:
    """Return pydantic's complaint about a request of a model in our words."""
    n_faults = error.error_count()
    if n_faults > MAX_FAULTS:
        return RequestError([Fault(field="body", got=f"{n_faults} faults", allowed=_known_keys("", model))])
    details = error.errors(include_url=False)
    if details[0]["type"] == "json_invalid":
        why = details[0]["ctx"]["error"]
        if why.startswith(LONE_SURROGATE):
            got = f"the escape of a lone surrogate{why[why.rfind(' at line') :]}"
            return RequestError([Fault(field="body", got=got, allowed="text, whose surrogates come in pairs")])
        got = f"no JSON: {why}"
        return RequestError([Fault(field="body", got=got, allowed="a JSON object in UTF-8")], malformed=True)
    return RequestError([_fault(each, model) for each in details[:MAX_NAMED_FAULTS]], n_faults=n_faults)


def _fault(details: ErrorDetails, model: type[BaseModel]) -> Fault:
    path = list(_path(details["loc"]))
    context = details.get("ctx", {})
    got, allowed = show_value(details["input"]), WORDS.get(details["type"], "")
    match details["type"]:
        case "missing":
            got, allowed = "nothing", "no omission, this key is required"
        case "extra_forbidden":
            got, allowed = f"the unknown key '{show_text(path[-1])}'", _known_keys(".".join(path[:-1]), model)
        case "unusable":
            path += [part for part in context["where"].split(".") if part]
            got, allowed = context["got"], context["allowed"]
        case "wrong_shape":
            allowed = context["allowed"]
        case "string_too_long":
            got, allowed = f"{len(details['input'])} characters", f"at most {context['max_length']}"
        case "too_long":
            got, allowed = f"{context['actual_length']} items", f"at most {context['max_length']}"
        case "too_short":
            allowed = f"at least {context['min_length']}"
        case _:
            allowed = allowed or details["msg"].removeprefix("Input should be ")
    return Fault(field=".".join(map(show_text, path)) or "body", got=got, allowed=allowed)


def _path(loc: tuple[int | str, ...]) -> Iterator[str]:
    """Yield the keys of a location, without the tags of unions."""
    return (str(part) for part in loc if not (isinstance(part, str) and part.startswith("<")))


def _known_keys(path: str, body: type[BaseModel]) -> str:
    model = MODELS_BY_PATH.get(path) if path else body
    return "only known keys" if model is None else f"the keys {', '.join(model.model_fields)}"


def _refuse_repeated_keys(body: bytes) -> None:
    """Called after the strict parse, which has bounded the depth."""

    def check(pairs: list[tuple[str, object]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RequestError([Fault(field=show_text(key), got="this key twice", allowed="every key once")])
            seen.add(key)

    # Numbers stay text: Python refuses to read very long ones.
    json.loads(body, object_pairs_hook=check, parse_int=str, parse_float=str, strict=False)
