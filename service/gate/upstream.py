"""The model's server behind the proxy: asked once, within bounds of time and size, and its refusals passed on.

Where it is stands in models.yaml; nothing that a caller sends names a host.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
from fastapi.responses import Response
from httpx_sse import EventSource, SSEError
from pydantic_core import from_json

from rafs.engines.server_connection import CONNECT_S, DEADLINE_S, MAX_REPLY_BYTES, read_key
from rafs.errors import BackendError, ConfigError
from rafs.model_entry import ModelEntry
from service.errors import Problem
from service.gate.completions import Completion

MAX_CONNECTIONS = 64
MAX_ERROR_BYTES = 64 << 10
STREAM_S = 1800.0
"""For a whole stream, however steadily it comes; between two chunks the model's `timeout_s` holds."""
PATH = "/v1/chat/completions"
DONE = "[DONE]"
ORIGIN = {"rafs-origin": "upstream"}
"""Header of what the model's server said, so that nobody takes its refusal for one of RAFS."""


class UpstreamRefusal(Exception):
    """The server answered with an error, to be passed on as it is.

    Attributes:
        status: 400 to 599.
    """

    def __init__(self, status: int, content: bytes, headers: httpx.Headers) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self._content = content
        self._is_json = "json" in headers.get("content-type", "")
        self._retry_after = headers.get("retry-after")

    def to_response(self) -> Response:
        """Return what the server said; as text where it is no JSON, so that no browser takes it for a page."""
        headers = ORIGIN | ({} if self._retry_after is None else {"retry-after": self._retry_after})
        media_type = "application/json" if self._is_json else "text/plain"
        return Response(self._content, status_code=self.status, media_type=media_type, headers=headers)


class Upstream:
    """One model's server, used from one event loop."""

    def __init__(self, entry: ModelEntry) -> None:
        """Read the key; no connection is opened yet.

        Args:
            entry: Of models.yaml, with an `endpoint:` source.

        Raises:
            ConfigError: The variable of the key is not set, or the address is none.
        """
        self.id = entry.id
        self.served_name = entry.model or entry.id
        self._timeout_s = entry.timeout_s or DEADLINE_S
        self._key = None if entry.api_key_env is None else read_key(entry.api_key_env)
        self._client = _open_client(entry.location, self._key, self._timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def complete(self, body: Mapping[str, Any]) -> Completion:
        """Return a whole completion, with at least one choice that has a message.

        Raises:
            UpstreamRefusal: The server answered with an error.
            BackendError: It did not answer, or with something else than a completion.
        """
        with _translated(self.id):
            async with asyncio.timeout(self._timeout_s), self._client.stream("POST", PATH, json=body) as response:
                await self._refuse_errors(response)
                content = await response.aread()
        return _as_completion(content, self.id)

    @asynccontextmanager
    async def stream(self, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Open a stream and yield its chunks, to be read in any task; errors of both as of `complete`."""
        with _translated(self.id):
            async with self._client.stream("POST", PATH, json=body) as response:
                await self._refuse_errors(response)
                yield self._chunks(EventSource(response))

    async def _chunks(self, source: EventSource) -> AsyncIterator[dict[str, Any]]:
        with _translated(self.id):
            async with asyncio.timeout(STREAM_S):
                async for event in source.aiter_sse():
                    if event.data == DONE:
                        return
                    if event.data:
                        yield _as_object(event.data, self.id)

    async def _refuse_errors(self, response: httpx.Response) -> None:
        if response.status_code < 300:
            return
        if response.status_code < 400:
            raise BackendError(f"the server of {self.id!r} sends its callers elsewhere; models.yaml has to say where")
        content = bytearray()
        async for block in response.aiter_raw():
            content += block
            if len(content) > MAX_ERROR_BYTES:
                detail = f"the model's server refused, with more than {MAX_ERROR_BYTES} bytes of reasons"
                raise Problem(status=response.status_code, slug="upstream", title="Refused upstream", detail=detail)
        said = bytes(content) if self._key is None else bytes(content).replace(self._key.encode(), b"[key]")
        raise UpstreamRefusal(response.status_code, said, response.headers)


class _Bounded(httpx.AsyncByteStream):
    """A reply that ends with an error where it is longer than one may be."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_REPLY_BYTES
        async for block in self._stream:
            left -= len(block)
            if left < 0:
                raise BackendError(f"a model's server sent more than {MAX_REPLY_BYTES} bytes")
            yield block

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":  # its size says nothing of what it holds
        raise BackendError("a model's server packed its reply, though it was asked not to")
    assert isinstance(response.stream, httpx.AsyncByteStream)
    response.stream = _Bounded(response.stream)


def _open_client(address: str, key: str | None, timeout_s: float) -> httpx.AsyncClient:
    headers = {"accept-encoding": "identity"} | ({} if key is None else {"authorization": f"Bearer {key}"})
    try:
        return httpx.AsyncClient(
            base_url=address.rstrip("/").removesuffix("/v1"),
            headers=headers,
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS),
            follow_redirects=False,
            event_hooks={"response": [_bound]},
        )
    except httpx.InvalidURL as error:
        raise ConfigError(f"models.yaml: {address!r} is no address: {error}") from error


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Turn what a connection raises into our errors."""
    try:
        yield
    except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout) as error:
        raise BackendError(f"the server of {name!r} took too long", timed_out=True) from error
    except (httpx.HTTPError, httpx.StreamError, SSEError) as error:
        raise BackendError(f"the server of {name!r} failed ({type(error).__name__})") from error


def _as_object(text: str | bytes, name: str) -> dict[str, Any]:
    try:
        parsed = from_json(text, allow_inf_nan=False)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise BackendError(f"the server of {name!r} sent something else than JSON objects")
    return parsed


def _as_completion(content: bytes, name: str) -> Completion:
    completion = _as_object(content, name)
    choices = completion.get("choices")
    is_whole = isinstance(choices, list) and choices and all(_has_message(choice) for choice in choices)
    if not is_whole:
        raise BackendError(f"the server of {name!r} sent a completion without messages")
    return completion


def _has_message(choice: Any) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("message"), dict)
