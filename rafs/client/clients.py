"""The clients: one blocks, one is awaited; what they send and read is the same."""

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from types import TracebackType
from typing import Self, Unpack

import httpx
import tenacity
from httpx_sse import EventSource, SSEError

from rafs.client.batches import AsyncBatches, Batches
from rafs.client.bodies import BoundedBody
from rafs.client.calls import (
    MODELS,
    READY,
    Call,
    GateFields,
    Result,
    ScoreFields,
    gate_call,
    score_call,
    stream_call,
)
from rafs.client.errors import ReplyError, UnreachableError
from rafs.client.events import BROKEN_OFF, ScoreEvent, read_event
from rafs.client.repeating import repeating
from rafs.client.replies import explained, result_of
from rafs.client.settings import ClientOptions, ClientSettings, opening, read_settings
from rafs.gate_wire import GateDecision
from rafs.wire import ModelStatus, ScoreResponse


class Client:
    """Asks a running service, and blocks until it answers; may be used from several threads.

    A request is sent again after a broken connection and where the service says that it is busy (429, 503), after the
    pause that it asks for. What `score` sends carries an idempotency key, so that nothing is scored twice.
    """

    def __init__(
        self, base_url: str | None = None, *, api_key: str | None = None, **options: Unpack[ClientOptions]
    ) -> None:
        """Open no connection yet.

        Args:
            base_url: Of the service, without path; RAFS_URL where it is not given, else http://127.0.0.1:8000.
            api_key: RAFS_API_KEY where it is not given; a service on this machine may need none.
            options: Time-outs, attempts and bounds: see `ClientSettings`.

        Raises:
            ConfigError: The address is none, the key fits no header, or an option is out of range.
        """
        self._settings = read_settings(base_url, api_key, options)
        with opening():
            self._http = httpx.Client(**self._settings.http_options(), event_hooks={"response": [self._bound]})
        self.batches = Batches(self._ask, lambda: _new_key(self._settings))

    def __enter__(self) -> Self:
        """Return the client; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def score(
        self, problem: str, trace: object, *, idempotency_key: str | None = None, **fields: Unpack[ScoreFields]
    ) -> ScoreResponse:
        """Return the score of a trace with all its evidence.

        Args:
            problem: As the writer saw it.
            trace: Text, a list of steps, an assistant message, a conversation, or the chat completion it came in;
                as mappings or as objects of a client library.
            idempotency_key: The same key with the same request gets the first answer again.
            fields: As in the request of `POST /v1/score`.

        Raises:
            InputError: The trace is nothing that can be sent.
            ProblemError: The service refused or failed.
            UnreachableError: Nobody answered.
            ReplyError: What came back is no response of RAFS.
        """
        return self._ask(score_call(problem, trace, fields, idempotency_key or _new_key(self._settings)))

    def gate(
        self, problem: str, trace: object, *, idempotency_key: str | None = None, **fields: Unpack[GateFields]
    ) -> GateDecision:
        """Return whether the answer of a trace may be shown; arguments and errors are those of `score`.

        A decision that has to be asked for again is made again, unless `idempotency_key` is given: keeping the first
        one for that would take as long as deciding.
        """
        return self._ask(gate_call(problem, trace, fields, idempotency_key))

    @contextmanager
    def stream(self, problem: str, trace: object, **fields: Unpack[ScoreFields]) -> Iterator[Iterator[ScoreEvent]]:
        """Yield what is known of a score while it grows; its end is the response of `score`.

        Leaving the block gives the score up. Arguments and errors are those of `score`, also while events are read.
        """
        with closing(self._ask(stream_call(problem, trace, fields))) as response, closing(self._told(response)) as told:
            yield told

    def models(self) -> list[ModelStatus]:
        """Return the models of the service; errors are those of `score`."""
        return self._ask(MODELS)

    def ready(self) -> bool:
        """Return whether the service has loaded its models; errors are those of `score`."""
        return self._ask(READY)

    def _ask(self, call: Call[Result]) -> Result:
        result: Result = repeating(tenacity.Retrying, self._settings)(self._ask_once, call)
        return result

    def _ask_once(self, call: Call[Result]) -> Result:
        with explained(self._settings):
            response = self._http.send(_request(self._http, call), stream=call.is_stream)
            if response.status_code not in call.answers:
                response.read()
        return result_of(call, response)

    def _told(self, response: httpx.Response) -> Generator[ScoreEvent]:
        with explained(self._settings), _events_expected():
            for sent in EventSource(response).iter_sse():
                event = read_event(sent, response.headers)
                if event is not None:
                    yield event
                if isinstance(event, ScoreResponse):
                    return
        raise UnreachableError(BROKEN_OFF, may_repeat=True)

    def _bound(self, response: httpx.Response) -> None:
        response.stream = BoundedBody(response.stream, self._settings.max_reply_bytes)


class AsyncClient:
    """`Client` for an event loop; a call that is cancelled ends the work of the service for it."""

    def __init__(
        self, base_url: str | None = None, *, api_key: str | None = None, **options: Unpack[ClientOptions]
    ) -> None:
        """Open no connection yet; see `Client`."""
        self._settings = read_settings(base_url, api_key, options)
        with opening():
            self._http = httpx.AsyncClient(**self._settings.http_options(), event_hooks={"response": [self._bound]})
        self.batches = AsyncBatches(self._ask, lambda: _new_key(self._settings))

    async def __aenter__(self) -> Self:
        """Return the client; leaving the block closes it."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def score(
        self, problem: str, trace: object, *, idempotency_key: str | None = None, **fields: Unpack[ScoreFields]
    ) -> ScoreResponse:
        """Return the score of a trace with all its evidence; see `Client.score`."""
        return await self._ask(score_call(problem, trace, fields, idempotency_key or _new_key(self._settings)))

    async def gate(
        self, problem: str, trace: object, *, idempotency_key: str | None = None, **fields: Unpack[GateFields]
    ) -> GateDecision:
        """Return whether the answer of a trace may be shown; see `Client.gate`."""
        return await self._ask(gate_call(problem, trace, fields, idempotency_key))

    @asynccontextmanager
    async def stream(
        self, problem: str, trace: object, **fields: Unpack[ScoreFields]
    ) -> AsyncIterator[AsyncIterator[ScoreEvent]]:
        """Yield what is known of a score while it grows; see `Client.stream`."""
        response = await self._ask(stream_call(problem, trace, fields))
        async with aclosing(response), aclosing(self._told(response)) as told:
            yield told

    async def models(self) -> list[ModelStatus]:
        """Return the models of the service; see `Client.models`."""
        return await self._ask(MODELS)

    async def ready(self) -> bool:
        """Return whether the service has loaded its models; see `Client.ready`."""
        return await self._ask(READY)

    async def _ask(self, call: Call[Result]) -> Result:
        return await repeating(tenacity.AsyncRetrying, self._settings)(self._ask_once, call)

    async def _ask_once(self, call: Call[Result]) -> Result:
        with explained(self._settings):
            response = await self._http.send(_request(self._http, call), stream=call.is_stream)
            if response.status_code not in call.answers:
                await response.aread()
        return result_of(call, response)

    async def _told(self, response: httpx.Response) -> AsyncGenerator[ScoreEvent]:
        with explained(self._settings), _events_expected():
            async for sent in EventSource(response).aiter_sse():
                event = read_event(sent, response.headers)
                if event is not None:
                    yield event
                if isinstance(event, ScoreResponse):
                    return
        raise UnreachableError(BROKEN_OFF, may_repeat=True)

    async def _bound(self, response: httpx.Response) -> None:
        response.stream = BoundedBody(response.stream, self._settings.max_reply_bytes)


def _request(http: httpx.Client | httpx.AsyncClient, call: Call[Result]) -> httpx.Request:
    timeout = http.timeout
    if call.patience_s is not None:
        timeout = httpx.Timeout(call.patience_s, connect=timeout.connect)
    return http.build_request(call.method, call.path, content=call.content, headers=call.headers, timeout=timeout)


def _new_key(settings: ClientSettings) -> str | None:
    """Return an idempotency key for a request that may be repeated."""
    return uuid.uuid4().hex if settings.attempts > 1 else None


@contextmanager
def _events_expected() -> Iterator[None]:
    try:
        yield
    except SSEError as error:
        raise ReplyError(f"{error}: this is no stream of RAFS") from error
