"""How many requests are let in, how much of a body is read, and when a request is given up."""

import asyncio
import math
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from rafs.errors import OverloadedError
from rafs.usage import Priority

FIRST_GUESS_S = 1.0
"""Told to a refused caller before the rate is known."""
MAX_RETRY_AFTER_S = 60.0
RATE_MEMORY_S = 30.0
"""Time after which a measured rate counts 1 / e as much."""
SHARES = {Priority.GATE: 1.25, Priority.SCORE: 1.0, Priority.BATCH: 0.5}
"""Of the places, how many may be taken before a request of a priority is refused: a quarter more is kept for those who
wait in front of a screen, and batch work leaves half to the others."""
DISCARD_BYTES = 16 << 20
DISCARD_S = 1.0
"""How much of a refused body is read and thrown away, so that the client sees the reply and not a reset connection."""

Result = TypeVar("Result")


class BodyTooLarge(Exception):
    """The body passed the limit; no more than the limit was held."""


class Rate:
    """Tokens finished per second of work, the last half minute counting most."""

    def __init__(self) -> None:
        self._tokens = 0.0
        self._seconds = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        """Note that so many tokens were finished in a stretch of work."""
        kept = math.exp(-seconds / RATE_MEMORY_S)
        self._tokens = self._tokens * kept + tokens
        self._seconds = self._seconds * kept + seconds

    def seconds_for(self, tokens: int) -> float:
        """Return how long so many tokens will take, at least `FIRST_GUESS_S` and at most `MAX_RETRY_AFTER_S`."""
        if not self._tokens:
            return FIRST_GUESS_S
        return min(MAX_RETRY_AFTER_S, max(FIRST_GUESS_S, tokens * self._seconds / self._tokens))


class Place:
    """One request that was let in."""

    def __init__(self, admission: "Admission", priority: Priority) -> None:
        self._admission = admission
        self._priority = priority

    @contextmanager
    def hold(self, tokens: int) -> Iterator[None]:
        """Hold room for so many tokens for the block.

        Raises:
            OverloadedError: There is no room. One that alone is larger than all the room is let in when it is empty.
        """
        self._admission.take_tokens(tokens, self._priority)
        done = 0
        try:
            yield
            done = tokens
        finally:
            self._admission.give_back(tokens, done, self._priority)


class Admission:
    """Lets in a bounded number of requests with a bounded number of tokens. Not for several threads."""

    def __init__(self, max_in_flight: int, max_tokens: int) -> None:
        """Start empty.

        Args:
            max_in_flight: Requests being read or scored at once; gate requests may be a quarter more.
            max_tokens: Tokens, as estimated, that may be ahead of a request: those of requests as urgent or more. So a
                backlog of batch work refuses no gate request, and all together are at most three times as many.
        """
        self._max_in_flight = max_in_flight
        self._max_tokens = max_tokens
        self._tokens = dict.fromkeys(Priority, 0)
        self._rate = Rate()
        self._changed_at = perf_counter()
        self.in_flight = 0
        """Requests."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of the requests that are being worked on."""
        return sum(self._tokens.values())

    @contextmanager
    def enter(self, priority: Priority = Priority.SCORE) -> Iterator[Place]:
        """Hold one place for the block.

        Raises:
            OverloadedError: All are taken, or all room for tokens is; a retry has a chance when those are done.
        """
        if refused := self.refusal(priority):
            raise refused
        self.in_flight += 1
        try:
            yield Place(self, priority)
        finally:
            self.in_flight -= 1

    def refusal(self, priority: Priority) -> OverloadedError | None:
        """Return why a request of a priority would be refused now; None where there is room."""
        allowed = max(1, math.ceil(SHARES[priority] * self._max_in_flight))
        if self.in_flight >= allowed:
            return self._refuse(f"{self.in_flight} requests are being scored, at most {allowed} at once", priority)
        if (ahead := self._ahead(priority)) >= self._max_tokens:
            return self._refuse(f"{ahead} tokens wait to be read, at most {self._max_tokens} at once", priority)
        return None

    def take_tokens(self, tokens: int, priority: Priority) -> None:
        """Take room for so many tokens, to be given back; see `Place.hold`."""
        ahead = self._ahead(priority)
        if ahead and ahead + tokens > self._max_tokens:
            message = f"{ahead} tokens wait to be read, {tokens} more would pass the bound of {self._max_tokens}"
            raise self._refuse(message, priority)
        if not self.tokens:
            self._changed_at = perf_counter()
        self._tokens[priority] += tokens

    def give_back(self, tokens: int, done: int, priority: Priority) -> None:
        """Give room back, of which `done` tokens were worked on to the end."""
        now = perf_counter()
        self._rate.add(done, now - self._changed_at)
        self._changed_at = now
        self._tokens[priority] -= tokens

    def _ahead(self, priority: Priority) -> int:
        return sum(tokens for each, tokens in self._tokens.items() if each <= priority)

    def _refuse(self, message: str, priority: Priority) -> OverloadedError:
        return OverloadedError(message, retry_after_s=self._rate.seconds_for(self._ahead(priority)))


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
