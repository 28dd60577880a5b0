"""How many requests a server is sent at once: found out by asking, as TCP finds out what a line carries."""

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from rafs.errors import OverloadedError
from rafs.usage import Priority

START = 4
"""Enough to keep a server busy, few enough for one that serves a single user."""
MAX_WAITING = 16_384
"""Requests that may wait here: about forty traces of the most steps."""
RETRY_AFTER_S = 1.0
"""Told to a refused caller: the time in which a server works off some dozens of probes."""


@dataclass(slots=True)
class Slot:
    """One request under way; its user says how it went, and nothing where that says nothing about load."""

    era: int
    """How often the limit had been cut when the request was sent."""
    succeeded: bool = False
    overloaded: bool = False


class AdaptiveLimit:
    """Slow start, then additive increase and multiplicative decrease, within [1, most].

    Until the first overload the limit doubles with every round of as many successes as it allows; from then on it
    grows by one a round. An overload halves it. Requests
    sent before a cut cannot cut again: one burst of refusals is one overload. The most urgent waits least; among
    equals, the first. Belongs to one event loop.

    Source:
        Jacobson 1988, "Congestion Avoidance and Control"; Chiu and Jain 1989, "Analysis of the Increase and Decrease
        Algorithms for Congestion Avoidance".
    """

    def __init__(self, most: int, *, max_waiting: int = MAX_WAITING) -> None:
        """Start small.

        Args:
            most: Bound of the limit, at least 1.
            max_waiting: Bound of the requests that wait for a slot.
        """
        self._most = most
        self._limit = min(START, most)
        self._max_waiting = max_waiting
        self._running = 0
        self._era = 0
        self._successes = 0
        self._arrivals = 0
        self._waiting: list[tuple[Priority, int, asyncio.Future[None]]] = []

    @property
    def limit(self) -> int:
        """How many may run now."""
        return self._limit

    @asynccontextmanager
    async def slot(self, priority: Priority) -> AsyncIterator[Slot]:
        """Wait for a slot and hold it.

        Raises:
            OverloadedError: Too many wait already.
        """
        await self._enter(priority)
        slot = Slot(era=self._era)
        try:
            yield slot
        finally:
            self._learn(slot)
            self._running -= 1
            self._admit()

    async def _enter(self, priority: Priority) -> None:
        if len(self._waiting) >= self._max_waiting:
            raise OverloadedError(
                f"{len(self._waiting)} requests wait for the model server, at most {self._max_waiting} may",
                retry_after_s=RETRY_AFTER_S,
            )
        turn = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        entry = (priority, self._arrivals, turn)
        heapq.heappush(self._waiting, entry)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn had come, and is handed on
                self._running -= 1
                self._admit()
            elif entry in self._waiting:
                self._waiting.remove(entry)
                heapq.heapify(self._waiting)
            raise

    def _admit(self) -> None:
        while self._waiting and self._running < self._limit:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                self._running += 1

    def _learn(self, slot: Slot) -> None:
        if slot.overloaded and slot.era == self._era:
            self._limit = max(1, self._limit // 2)
            self._era += 1
            self._successes = 0
        elif slot.succeeded:
            self._successes += 1
            if self._successes >= self._limit:
                self._limit = min(self._most, self._limit + (1 if self._era else self._limit))
                self._successes = 0
