"""Every failure as an RFC 9457 problem document; the one place that knows which status an error has."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from rafs.errors import BackendError, ConfigError, InputError, OverloadedError, RafsError
from service.observability import request_id
from service.request_body import Fault, RequestError
from service.visible import show_text

MEDIA_TYPE = "application/problem+json"
MAX_DETAIL = 500
"""Characters; a fault repeats at most 80 of the caller's."""
BACKEND_RETRY_S = 5
"""A model server that restarts takes seconds; there is nothing to measure it by."""


class FaultOut(BaseModel):
    """One thing that is wrong with the request."""

    field: str = Field(description="Dotted path of the key, `body` for the whole.", examples=["trace.3"])
    got: str = Field(description="What arrived: shortened and escaped.", examples=["the number 123"])
    allowed: str = Field(description="What would have been accepted.", examples=["text"])


class ProblemDocument(BaseModel):
    """What went wrong, and whose turn it is (RFC 9457)."""

    type: str = Field(description="Stable name of the kind of problem.", examples=["/problems/invalid-input"])
    title: str = Field(description="The kind of problem in words.")
    status: int
    detail: str = Field(description="This occurrence of it.")
    instance: str = Field(description="Id of the request, also in the header `x-request-id` and in the server's log.")
    errors: list[FaultOut] = Field(description="Empty where no field is to blame.")


@dataclass(kw_only=True, eq=False)
class Problem(Exception):
    """A failure that is ready to be sent."""

    status: int
    slug: str
    title: str
    detail: str
    faults: Sequence[Fault] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


def from_error(error: RafsError) -> Problem:
    """Return the problem that tells a caller of one of our errors; an operator's mistake is not described."""
    match error:
        case InputError():
            return _from_input(error)
        case OverloadedError():
            return Problem(
                status=429,
                slug="overloaded",
                title="Too many requests",
                detail=str(error),
                headers={"Retry-After": str(max(1, math.ceil(error.retry_after_s)))},
            )
        case BackendError(timed_out=True):
            return Problem(status=504, slug="backend-timeout", title="A model took too long", detail=str(error))
        case BackendError():
            return Problem(
                status=503,
                slug="backend-failed",
                title="A model is not available",
                detail=str(error),
                headers={"Retry-After": str(BACKEND_RETRY_S)},
            )
        case ConfigError():
            detail = "the service is not configured for this request; its log says what to mend"
            return Problem(status=503, slug="misconfigured", title="The service is misconfigured", detail=detail)
        case _:
            return INTERNAL


def from_http(error: HTTPException, paths: Sequence[str]) -> Problem:
    """Return the problem for what the router refused; `paths` are those it knows."""
    if error.status_code == 404:
        detail = f"there is nothing here; known paths are {', '.join(paths)}"
        return Problem(status=404, slug="not-found", title="Unknown path", detail=detail)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        detail = f"this path answers {headers.get('Allow', 'other methods')} only"
        return Problem(
            status=405, slug="method-not-allowed", title="Method not allowed", detail=detail, headers=headers
        )
    slug = f"http-{error.status_code}"
    return Problem(status=error.status_code, slug=slug, title="HTTP error", detail=str(error.detail), headers=headers)


def too_large(limit: int) -> Problem:
    """Return the problem for a body over the limit."""
    fault = Fault(field="body", got="more bytes than that", allowed=f"at most {limit} bytes")
    detail = f"the body is longer than {limit} bytes"
    return Problem(status=413, slug="too-large", title="Body too large", detail=detail, faults=[fault])


def too_slow(timeout_s: float) -> Problem:
    """Return the problem for a body that did not arrive in time."""
    detail = f"the body was not complete after {timeout_s:g} s"
    return Problem(status=408, slug="too-slow", title="Body too slow", detail=detail, headers={"Connection": "close"})


def wrong_media_type(got: str) -> Problem:
    """Return the problem for a body that does not say it is JSON."""
    fault = Fault(field="header content-type", got=show_text(got), allowed="application/json")
    detail = "send JSON, with the header `content-type: application/json`"
    return Problem(
        status=415, slug="unsupported-media-type", title="Unsupported media type", detail=detail, faults=[fault]
    )


def wrong_encoding(got: str) -> Problem:
    """Return the problem for a body that is compressed."""
    fault = Fault(field="header content-encoding", got=show_text(got), allowed="identity")
    return Problem(
        status=415,
        slug="unsupported-encoding",
        title="Unsupported content encoding",
        detail="send the body uncompressed, without the header `content-encoding`",
        faults=[fault],
        headers={"Accept-Encoding": "identity"},
    )


def not_ready(reasons: Sequence[str]) -> Problem:
    """Return the problem of a service that cannot score yet."""
    return Problem(
        status=503,
        slug="not-ready",
        title="Not ready",
        detail="; ".join(reasons),
        headers={"Retry-After": str(BACKEND_RETRY_S)},
    )


def stopping() -> Problem:
    """Return the problem of a service that was told to stop."""
    return Problem(
        status=503,
        slug="stopping",
        title="The service is stopping",
        detail="the service stopped before this was scored; send it again",
        headers={"Retry-After": str(BACKEND_RETRY_S), "Connection": "close"},
    )


INTERNAL = Problem(
    status=500,
    slug="internal",
    title="Internal error",
    detail="this is a fault of the service; its log has the request id",
)
"""Rendered, and never raised: an exception that is raised again keeps every frame it passed through."""


def render(problem: Problem, request: Request) -> Response:
    """Return the problem as a response."""
    content = describe(problem, request).model_dump_json()
    return Response(content, status_code=problem.status, media_type=MEDIA_TYPE, headers=dict(problem.headers))


def describe(problem: Problem, request: Request) -> ProblemDocument:
    """Return the problem as a document."""
    return ProblemDocument(
        type=f"/problems/{problem.slug}",
        title=problem.title,
        status=problem.status,
        detail=show_text(problem.detail, MAX_DETAIL),
        instance=request_id(request.scope),
        errors=[FaultOut(field=fault.field, got=fault.got, allowed=fault.allowed) for fault in problem.faults],
    )


def _from_input(error: InputError) -> Problem:
    faults: Sequence[Fault]
    if isinstance(error, RequestError):
        faults = error.faults
        if error.malformed:
            return Problem(status=400, slug="malformed", title="The body is not JSON", detail=str(error), faults=faults)
    else:
        faults = [Fault(field=error.field, got=show_text(error.got), allowed=error.allowed)]
    status, title = (413, "Input too large") if error.too_large else (422, "Invalid input")
    return Problem(status=status, slug="invalid-input", title=title, detail=str(error), faults=faults)
