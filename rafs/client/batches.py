"""Batches of a running service: the same calls for both clients."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Unpack

import tenacity

from rafs.batch_wire import BatchError, BatchList, BatchRecord, BatchStatus
from rafs.client.batch_calls import (
    BatchFields,
    Line,
    Page,
    UploadFields,
    cancel_call,
    create_call,
    following,
    list_call,
    page_call,
    status_call,
    until_over,
    upload_call,
)
from rafs.client.calls import Call, Result

PAGE = 1_000


class _Asks(Protocol):
    def __call__(self, call: Call[Result], /) -> Result: ...


class _AsksAwaited(Protocol):
    def __call__(self, call: Call[Result], /) -> Coroutine[Any, Any, Result]: ...


class Batches:
    """Traces that are scored in the background; `Client.batches`.

    Errors of all methods: ProblemError where the service refuses or fails, UnreachableError where nobody answers,
    ReplyError where what came back is nothing of RAFS.
    """

    def __init__(self, ask: _Asks, new_key: Callable[[], str | None]) -> None:
        """Keep how a client asks, and what makes its idempotency keys."""
        self._ask = ask
        self._new_key = new_key

    def create(
        self,
        requests: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        **fields: Unpack[BatchFields],
    ) -> BatchStatus:
        """Hand over requests, and return the batch that was made of them.

        Args:
            requests: Each as for `Client.score`: `problem`, `trace` and whatever else, and a `custom_id`.
            idempotency_key: The same key with the same requests gets the first batch again.
            fields: What holds for all.

        Raises:
            InputError: A trace is nothing that can be sent.
        """
        return self._ask(create_call(requests, fields, idempotency_key or self._new_key()))

    def upload(self, path: Path, *, idempotency_key: str | None = None, **fields: Unpack[UploadFields]) -> BatchStatus:
        """Hand over a file of JSON Lines, in a shape that `rafs batch` reads; it is held in memory meanwhile.

        Raises:
            InputError: The file cannot be read.
        """
        return self._ask(upload_call(path, fields, idempotency_key or self._new_key()))

    def list(self, *, before: str | None = None, limit: int = 20) -> BatchList:
        """Return the newest batches, or those before the batch with an id."""
        return self._ask(list_call(before, limit))

    def status(self, batch_id: str) -> BatchStatus:
        """Return how far a batch is."""
        return self._ask(status_call(batch_id))

    def cancel(self, batch_id: str) -> BatchStatus:
        """End a batch where it is; what is scored stays."""
        return self._ask(cancel_call(batch_id))

    def wait(self, batch_id: str, *, timeout_s: float | None = None) -> BatchStatus:
        """Return the status of a batch when it is over, however it ended.

        Raises:
            BackendError: It was not over after `timeout_s`; it goes on.
        """
        waiting = tenacity.Retrying(**until_over(batch_id, timeout_s))
        return waiting(self.status, batch_id)

    def results(self, batch_id: str, *, page: int = PAGE) -> Iterator[BatchRecord]:
        """Yield the rows that have a score, in order; `page` of them are in memory at once."""
        return self._lines(page_call(batch_id, "results", page, BatchRecord))

    def errors(self, batch_id: str, *, page: int = PAGE) -> Iterator[BatchError]:
        """Yield the rows that have none, in order."""
        return self._lines(page_call(batch_id, "errors", page, BatchError))

    def _lines(self, call: "Call[Page[Line]] | None") -> Iterator[Line]:
        while call is not None:
            page = self._ask(call)
            yield from page.lines
            call = following(call, page)


class AsyncBatches:
    """`Batches` for an event loop; `AsyncClient.batches`."""

    def __init__(self, ask: _AsksAwaited, new_key: Callable[[], str | None]) -> None:
        """Keep how a client asks, and what makes its idempotency keys."""
        self._ask = ask
        self._new_key = new_key

    async def create(
        self,
        requests: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        **fields: Unpack[BatchFields],
    ) -> BatchStatus:
        """Hand over requests; see `Batches.create`."""
        return await self._ask(create_call(requests, fields, idempotency_key or self._new_key()))

    async def upload(
        self, path: Path, *, idempotency_key: str | None = None, **fields: Unpack[UploadFields]
    ) -> BatchStatus:
        """Hand over a file of JSON Lines; see `Batches.upload`."""
        return await self._ask(upload_call(path, fields, idempotency_key or self._new_key()))

    async def list(self, *, before: str | None = None, limit: int = 20) -> BatchList:
        """Return the newest batches, or those before the batch with an id."""
        return await self._ask(list_call(before, limit))

    async def status(self, batch_id: str) -> BatchStatus:
        """Return how far a batch is."""
        return await self._ask(status_call(batch_id))

    async def cancel(self, batch_id: str) -> BatchStatus:
        """End a batch where it is; what is scored stays."""
        return await self._ask(cancel_call(batch_id))

    async def wait(self, batch_id: str, *, timeout_s: float | None = None) -> BatchStatus:
        """Return the status of a batch when it is over; see `Batches.wait`."""
        waiting = tenacity.AsyncRetrying(**until_over(batch_id, timeout_s))
        return await waiting(self.status, batch_id)

    def results(self, batch_id: str, *, page: int = PAGE) -> AsyncIterator[BatchRecord]:
        """Yield the rows that have a score; see `Batches.results`."""
        return self._lines(page_call(batch_id, "results", page, BatchRecord))

    def errors(self, batch_id: str, *, page: int = PAGE) -> AsyncIterator[BatchError]:
        """Yield the rows that have none, in order."""
        return self._lines(page_call(batch_id, "errors", page, BatchError))

    async def _lines(self, call: "Call[Page[Line]] | None") -> AsyncIterator[Line]:
        while call is not None:
            page = await self._ask(call)
            for line in page.lines:
                yield line
            call = following(call, page)
