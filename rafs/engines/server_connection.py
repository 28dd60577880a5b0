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

from rafs.errors import BackendError, ConfigError

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]

Result = TypeVar("Result")

DEADLINE_S = 120.0
"""For one call with all its retries."""
ATTEMPTS = 4
MAX_CONCURRENT = 16
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 20.0
"""Of one pause, also where the server's Retry-After asks for more: then the deadline decides."""
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
MESSAGE_CHARS = 300


class RejectedError(BackendError):
    """The server understood the request and refused it (4xx); asking again cannot help.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


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
            ConfigError: The key's environment variable is named but not set, or its value fits no header.
        """
        self._key = None if settings.api_key_env is None else _read_key(settings.api_key_env)
        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.max_concurrent)
        base = settings.base_url.rstrip("/").removesuffix("/v1")
        self._client = httpx.AsyncClient(base_url=base, headers=headers, timeout=settings.deadline_s)

    @property
    def settings(self) -> ServerSettings:
        """As given."""
        return self._settings

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def post(self, path: str, body: Mapping[str, Json]) -> Mapping[str, Json]:
        """Post `body` plus the model's name and return the JSON object that comes back.

        Waiting for a slot, pauses between attempts and all attempts together stay within the deadline.

        Raises:
            RejectedError: The server refused the request.
            BackendError: It could not be reached, kept failing, answered with something else than a JSON object,
                or the deadline passed (`timed_out`).
        """
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(_TransientError),
            stop=tenacity.stop_after_attempt(self._settings.attempts),
            wait=_pause_s,
            reraise=True,
        )
        content = {"model": self._settings.model, **body}
        try:
            async with asyncio.timeout(self._settings.deadline_s), self._slots:
                return await retrying(self._post_once, path, content)
        except TimeoutError as error:
            raise BackendError(
                f"{self._where(path)} gave no answer within {self._settings.deadline_s} s", timed_out=True
            ) from error
        except _TransientError as error:
            raise BackendError(
                f"{self._where(path)} failed {self._settings.attempts} times, last: {error}",
                timed_out=error.timed_out,
            ) from error

    async def _post_once(self, path: str, body: Mapping[str, Json]) -> Mapping[str, Json]:
        try:
            response = await self._client.post(path, json=body)
        except httpx.TimeoutException as error:
            raise _TransientError("timed out", timed_out=True) from error
        except httpx.TransportError as error:
            raise _TransientError(f"no connection ({type(error).__name__}: {self._redact(str(error))})") from error
        if response.status_code in TRANSIENT_STATUSES:
            raise _TransientError(self._said(response), retry_after_s=_retry_after_s(response))
        if response.status_code >= 300:
            raise RejectedError(
                f"{self._where(path)} refused: {self._said(response)}{self._hint(response.status_code)}",
                status=response.status_code,
            )
        try:
            parsed = response.json()
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise BackendError(f"{self._where(path)} sent no JSON: {self._said(response)}") from error
        if not isinstance(parsed, dict):
            raise BackendError(f"{self._where(path)} sent a {type(parsed).__name__}, not a JSON object")
        return parsed

    def _where(self, path: str) -> str:
        return f"model server {str(self._client.base_url).rstrip('/')}{path} ({self._settings.model!r})"

    def _said(self, response: httpx.Response) -> str:
        return f"status {response.status_code}, {self._redact(response.text)[:MESSAGE_CHARS]!r}"

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


def _read_key(variable: str) -> str:
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


def _retry_after_s(response: httpx.Response) -> float | None:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):  # Absent, or an HTTP date, which few servers send.
        return None
