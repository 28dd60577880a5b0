"""Requests to an OpenAI-compatible server: bounded, retried within a deadline, failing with a clear message."""

import asyncio
import json
import os
import random
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import tenacity

from rafs.engines.concurrency import AdaptiveLimit
from rafs.errors import BackendError, ConfigError
from rafs.retry_after import read_retry_after
from rafs.usage import Priority

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]

Result = TypeVar("Result")
Shape = TypeVar("Shape")

DEADLINE_S = 120.0
"""For one call with all its retries."""
ATTEMPTS = 4
MAX_CONCURRENT = 64
"""Where the adaptive limit stops growing: vLLM batches more, but a trace has few steps."""
CONNECT_S = 5.0
"""A host that does not even accept is down or wrong; the deadline is for servers that compute."""
MAX_REPLY_BYTES = 16 << 20
"""The longest honest reply, 32 samples of 1024 tokens, each with its log-probability, is some four megabytes."""
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 20.0
"""Of one pause, also where the server's Retry-After asks for more: then the deadline decides."""
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
JSON = {"Content-Type": "application/json"}
OVERLOAD_STATUSES = frozenset({408, 429, 503, 504})
MESSAGE_CHARS = 300
SAID_CHARS = 4096


class RejectedError(BackendError):
    """The server understood the request and refused it (4xx); asking again cannot help.

    Attributes:
        status: The HTTP status.
        said: What the server said, without the key, and cut.
    """

    def __init__(self, message: str, *, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


class _TransientError(Exception):
    def __init__(self, message: str, *, retry_after_s: float | None = None, timed_out: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.timed_out = timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a model is served, and how patient to be."""

    base_url: str
    """Up to and without `/v1`; a trailing `/v1` is accepted."""
    model: str
    """Name under which the server knows the model."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key."""
    deadline_s: float = DEADLINE_S
    attempts: int = ATTEMPTS
    max_concurrent: int = MAX_CONCURRENT


class ServerConnection:
    """Posts JSON to one server, used from one event loop."""

    def __init__(self, settings: ServerSettings) -> None:
        """Read the key and open no connection yet.

        Raises:
            ConfigError: The key's environment variable is named but not set, or its value fits no header; the address
                is none; or a proxy that the environment names cannot be used.
        """
        self._key = None if settings.api_key_env is None else read_key(settings.api_key_env)
        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        headers["Accept-Encoding"] = "identity"  # a packed reply has no size that could be bounded beforehand
        self._settings = settings
        self._limit = AdaptiveLimit(settings.max_concurrent)
        self._times_lost = 0
        self._client = _open_client(settings, headers)

    @property
    def settings(self) -> ServerSettings:
        """As given."""
        return self._settings

    @property
    def times_lost(self) -> int:
        """How often the connection broke; what comes after may be another server, or the same with other weights."""
        return self._times_lost

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def post(
        self, path: str, body: Mapping[str, Json], priority: Priority = Priority.SCORE
    ) -> Mapping[str, Json]:
        """Post `body` plus the model's name and return the JSON object that comes back.

        Waiting for a slot, pauses between attempts and all attempts together stay within the deadline. A caller that
        is cancelled closes its request, which a server takes as leave to stop computing.

        Raises:
            RejectedError: The server refused the request.
            BackendError: It could not be reached, kept failing, answered with something else than a JSON object,
                or the deadline passed (`timed_out`).
            OverloadedError: Too many requests wait for this server.
        """
        return self._expect(dict, path, await self._post(path, body, priority))

    async def post_for_list(
        self, path: str, body: Mapping[str, Json], priority: Priority = Priority.SCORE
    ) -> Sequence[Json]:
        """Return the JSON list that comes back; see `post`."""
        return self._expect(list, path, await self._post(path, body, priority))

    async def get(self, path: str) -> Mapping[str, Json]:
        """Return the JSON object at `path`; see `post`."""
        return self._expect(dict, path, await self._ask("GET", path, None, Priority.GATE))

    async def _post(self, path: str, body: Mapping[str, Json], priority: Priority) -> Json:
        return await self._ask("POST", path, {"model": self._settings.model, **body}, priority)

    def _expect(self, kind: type[Shape], path: str, parsed: Json) -> Shape:
        if not isinstance(parsed, kind):
            wanted = "a JSON object" if issubclass(kind, dict) else "a JSON list"
            raise BackendError(f"{self._where(path)} sent a {type(parsed).__name__}, not {wanted}")
        return parsed

    async def _ask(self, method: str, path: str, body: Mapping[str, Json] | None, priority: Priority) -> Json:
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(_TransientError),
            stop=tenacity.stop_after_attempt(self._settings.attempts),
            wait=_pause_s,
            reraise=True,
        )
        try:
            async with asyncio.timeout(self._settings.deadline_s) as budget:
                return await retrying(self._ask_once, method, path, body, priority, budget)
        except TimeoutError as error:
            raise BackendError(
                f"{self._where(path)} gave no answer within {self._settings.deadline_s} s", timed_out=True
            ) from error
        except _TransientError as error:
            raise BackendError(
                f"{self._where(path)} failed {self._settings.attempts} times, last: {error}",
                timed_out=error.timed_out,
            ) from error

    async def _ask_once(
        self, method: str, path: str, body: Mapping[str, Json] | None, priority: Priority, budget: asyncio.Timeout
    ) -> Json:
        async with self._limit.slot(priority) as slot:
            try:
                status, headers, content = await self._exchange(method, path, body)
            except httpx.TimeoutException as error:
                slot.overloaded = True
                raise _TransientError("timed out", timed_out=True) from error
            except httpx.TransportError as error:
                self._times_lost += 1
                raise _TransientError(f"no connection ({type(error).__name__}: {self._redact(str(error))})") from error
            except asyncio.CancelledError:
                slot.overloaded = budget.expired()
                raise
            slot.overloaded = status in OVERLOAD_STATUSES
            slot.succeeded = status < 300
        if status in TRANSIENT_STATUSES:
            retry_after_s = read_retry_after(headers.get("retry-after", ""))
            raise _TransientError(f"status {status}, {self._outline(content)}", retry_after_s=retry_after_s)
        if status >= 300:
            message = f"{self._where(path)} refused: status {status}, {self._outline(content)}{self._hint(status)}"
            raise RejectedError(message, status=status, said=self._said(content))
        try:
            parsed: Json = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BackendError(f"{self._where(path)} sent no JSON: {self._outline(content)}") from error
        return parsed

    async def _exchange(
        self, method: str, path: str, body: Mapping[str, Json] | None
    ) -> tuple[int, httpx.Headers, bytes]:
        """Send one request and read the reply, as far as one may be long."""
        content = bytearray()
        sent = None if body is None else json.dumps(body)
        async with self._client.stream(method, path, content=sent, headers=JSON) as response:
            async for block in response.aiter_raw():
                content += block
                if len(content) > MAX_REPLY_BYTES:
                    raise BackendError(f"{self._where(path)} sent more than {MAX_REPLY_BYTES} bytes")
            return response.status_code, response.headers, bytes(content)

    def _where(self, path: str) -> str:
        return f"model server {str(self._client.base_url).rstrip('/')}{path} ({self._settings.model!r})"

    def _outline(self, content: bytes) -> str:
        return repr(self._said(content)[:MESSAGE_CHARS])

    def _said(self, content: bytes) -> str:
        return self._redact(content.decode(errors="replace"))[:SAID_CHARS]

    def _redact(self, text: str) -> str:
        """Take the key out of what the server said, which may quote the request."""
        return text if self._key is None else text.replace(self._key, "[key]")

    def _hint(self, status: int) -> str:
        match status:
            case 401 | 403:
                return f"; check the key in {self._settings.api_key_env or 'api_key_env (none is set)'}"
            case 404:
                return "; check `model` and the endpoint's address in models.yaml"
            case _:
                return ""


def _open_client(settings: ServerSettings, headers: Mapping[str, str]) -> httpx.AsyncClient:
    address = settings.base_url.rstrip("/").removesuffix("/v1")
    try:
        return httpx.AsyncClient(
            base_url=address,
            headers=headers,
            timeout=httpx.Timeout(settings.deadline_s, connect=min(CONNECT_S, settings.deadline_s)),
            limits=httpx.Limits(max_connections=settings.max_concurrent),
        )
    except httpx.InvalidURL as error:
        raise ConfigError(f"endpoint of {settings.model!r}: {address!r} is no address: {error}") from error
    except (ImportError, ValueError) as error:
        raise ConfigError(f"the proxy of the environment (HTTP_PROXY, ALL_PROXY) cannot be used: {error}") from error


def read_key(variable: str) -> str:
    """Return the key in an environment variable.

    Raises:
        ConfigError: It is not set, or holds what fits no header.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(f"environment variable {variable!r} (api_key_env) is not set")
    if not all("!" <= char <= "~" for char in key):  # httpx would refuse it with a message that shows it
        raise ConfigError(f"environment variable {variable!r} (api_key_env) holds characters that no key has")
    return key


async def run_together(calls: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run the calls at once, started in order, and return their results; the first failure cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except ExceptionGroup as failures:
        raise _first_of(failures) from failures
    return [task.result() for task in tasks]


def _first_of(failures: BaseExceptionGroup[Exception]) -> Exception:
    """Return one of several simultaneous failures; they name the same server."""
    first = failures.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first


def _pause_s(state: tenacity.RetryCallState) -> float:
    """Return what Retry-After asks for, else a doubling pause with jitter so that callers do not return at once."""
    error = state.outcome.exception() if state.outcome is not None else None
    asked = error.retry_after_s if isinstance(error, _TransientError) else None
    if asked is not None:
        return min(asked, MAX_WAIT_S)
    # Jitter spreads load and decides no result, so it needs no seed.
    return float(min(FIRST_WAIT_S * 2 ** (state.attempt_number - 1), MAX_WAIT_S) * random.uniform(0.5, 1.0))
