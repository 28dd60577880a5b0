"""What came back: a result, or the error that says why there is none."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from pydantic import BaseModel, ValidationError

from rafs.client.calls import Call, Result
from rafs.client.errors import Fault, ProblemError, ReplyError, UnreachableError
from rafs.client.settings import URL_VARIABLE, ClientSettings
from rafs.retry_after import read_retry_after
from rafs.visible import show_text

MAX_MESSAGE = 1000
"""Characters of the service's words in a message."""


class _Fault(BaseModel):
    field: str
    got: str
    allowed: str


class _Problem(BaseModel):
    """A problem document (RFC 9457), of any server."""

    type: str = "about:blank"
    title: str = ""
    status: int | None = None
    detail: str = ""
    instance: str | None = None
    errors: list[_Fault] = []


@contextmanager
def explained(settings: ClientSettings) -> Iterator[None]:
    """Turn what goes wrong on the way into our errors.

    Raises:
        UnreachableError: Always, for what httpx raises.
    """
    where = settings.base_url
    try:
        yield
    except httpx.ConnectTimeout as error:
        message = f"{where} did not accept a connection within {settings.connect_timeout_s:g} s{_HINT}"
        raise UnreachableError(message, may_repeat=True, timed_out=True) from error
    except httpx.PoolTimeout as error:
        message = f"no connection became free: {settings.max_connections} requests are under way (max_connections)"
        raise UnreachableError(message, may_repeat=False, timed_out=True) from error
    except httpx.TimeoutException as error:
        message = f"{where} was silent for too long (timeout_s, or deadline_s of the request)"
        raise UnreachableError(message, may_repeat=False, timed_out=True) from error
    except httpx.ConnectError as error:
        raise UnreachableError(f"nobody answers at {where}{_HINT}", may_repeat=True) from error
    except httpx.RequestError as error:
        message = f"the connection to {where} broke ({type(error).__name__})"
        raise UnreachableError(message, may_repeat=isinstance(error, httpx.TransportError)) from error


_HINT = f": `rafs serve` starts the service, {URL_VARIABLE} or base_url says where it is"


def result_of(call: Call[Result], response: httpx.Response) -> Result:
    """Return what a response that was read to its end says.

    Raises:
        ProblemError: It is a failure.
        ReplyError: It is not what the service says.
    """
    if response.status_code not in call.answers:
        raise problem_of(response)
    try:
        return call.read(response)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "the body"
        said = show_text(error.errors()[0]["msg"])
        message = f"{call.method} {response.url} answered with something that is no reply of RAFS: {where}: {said}"
        raise ReplyError(message) from error


def problem_of(response: httpx.Response) -> ProblemError:
    """Return the error that a response with the status of a failure describes."""
    return read_problem(response.content, response.headers, response.status_code)


def read_problem(content: bytes | str, headers: httpx.Headers, status: int) -> ProblemError:
    """Return the error for a problem document.

    Args:
        content: The document; anything else is what something on the way sent.
        headers: Of the response.
        status: Of the response; that of the document wins.
    """
    try:
        problem = _Problem.model_validate_json(content)
    except ValidationError:
        problem = _Problem()
    status = problem.status or status
    title = problem.title or httpx.codes.get_reason_phrase(status) or "unknown status"
    told = [f"{title} (status {status})"] + [problem.detail] * bool(problem.detail)
    told += [f"{one.field}: got {one.got}, allowed {one.allowed}" for one in problem.errors if one.got not in told[-1]]
    return ProblemError(
        show_text(": ".join(told), MAX_MESSAGE),
        status=status,
        type=problem.type,
        title=title,
        detail=problem.detail,
        errors=[Fault(field=fault.field, got=fault.got, allowed=fault.allowed) for fault in problem.errors],
        request_id=headers.get("x-request-id") or problem.instance,
        retry_after_s=read_retry_after(headers.get("retry-after", "")),
    )
