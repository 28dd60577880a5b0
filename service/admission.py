"""How many requests are let in, how much of a body is read, and when a request is given up."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from rafs.errors import OverloadedError

FIRST_GUESS_S = 1.0
"""Duration of a request before any was measured."""
SMOOTHING = 0.2
"""Weight of the newest request in the moving average: about the last ten count."""
MAX_RETRY_AFTER_S = 60.0
DISCARD_BYTES = 16 << 20
DISCARD_S = 1.0
"""How much of a refused body is read and thrown away, so that the client sees the reply and not a reset connection."""

Result = TypeVar("Result")


class BodyTooLarge(Exception):
    """The body passed the limit; no more than the limit was held."""


class Admission:
    """Lets a bounded number of requests in; the next is refused at once. Not for several threads."""

    def __init__(self, max_in_flight: int) -> None:
        self._max_in_flight = max_in_flight
        self._in_flight = 0
        self._mean_s = FIRST_GUESS_S

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Hold one place for the block.

        Raises:
            OverloadedError: All are taken; a retry has a chance after the mean duration of a request.
        """
        if self._in_flight >= self._max_in_flight:
            message = f"{self._in_flight} requests are being scored, at most {self._max_in_flight} at once"
            raise OverloadedError(message, retry_after_s=min(self._mean_s, MAX_RETRY_AFTER_S))
        self._in_flight += 1
        started = perf_counter()
        try:
            yield
        finally:
            self._in_flight -= 1
            self._mean_s += SMOOTHING * (perf_counter() - started - self._mean_s)


async def read_body(request: Request, limit: int, timeout_s: float) -> bytes:
    """Return the body, of which never more than `limit` bytes and one chunk are held.

    Raises:
        BodyTooLarge: It is, or says that it is, longer than `limit` bytes.
        TimeoutError: It was not there after `timeout_s`.
        ClientDisconnect: The client left before it was complete.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > limit:
        raise BodyTooLarge
    body = bytearray()
    async with asyncio.timeout(timeout_s):
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise BodyTooLarge
    return bytes(body)


async def discard_body(request: Request) -> None:
    """Read a refused body to its end, within bounds."""
    discarded = 0
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):  # RuntimeError: it was being read already
        async with asyncio.timeout(DISCARD_S):
            async for chunk in request.stream():
                discarded += len(chunk)
                if discarded > DISCARD_BYTES:
                    return


async def until_disconnect(request: Request, work: Coroutine[object, object, Result]) -> Result:
    """Return what `work` returns; cancel it when the client leaves first. The body must have been read.

    Raises:
        ClientDisconnect: The client left; `work` has ended.
    """
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        for each in (task, leaving):
            each.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
