"""What several callers want is worked out once, and remembered for a while."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import TTLCache

from rafs.errors import BackendError
from rafs.usage import Priority

MAX_ENTRIES = 65_536
"""Opinions remembered of one model, the least recently used given up first: about 8000 traces, 24 MB."""
MAX_AGE_S = 3600.0
"""A server may be given other weights under the same name; after an hour nothing of the old ones is left."""

Value = TypeVar("Value")


@dataclass(slots=True, eq=False)
class _Flight(Generic[Value]):
    """One call under way."""

    keys: Sequence[bytes]
    priority: Priority
    task: "asyncio.Task[Mapping[bytes, Value]]"
    waiting: int = 0


class SharedWork(Generic[Value]):
    """Values by key: each worked out by one caller at a time, for all who want it, and kept.

    A caller waits for a call that another began only where that call is as urgent as its own. A call goes on as long
    as somebody waits for it, whoever began it, and is cancelled when the last one has left. A failed call fails all
    who wait for it, and leaves nothing behind. Belongs to one event loop.
    """

    def __init__(
        self, is_lasting: Callable[[Value], bool], *, max_entries: int = MAX_ENTRIES, max_age_s: float = MAX_AGE_S
    ) -> None:
        """Start empty.

        Args:
            is_lasting: Whether a value would come out the same if it were asked for again; only those are kept.
            max_entries: Bound of the values kept.
            max_age_s: How long each is kept at most.
        """
        self._is_lasting = is_lasting
        self._known: TTLCache[bytes, Value] = TTLCache(max_entries, max_age_s)
        self._flights: dict[bytes, _Flight[Value]] = {}

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._known)

    async def find(
        self,
        keys: Sequence[bytes],
        priority: Priority,
        work: Callable[[Sequence[int]], Awaitable[Sequence[Value]]],
    ) -> tuple[list[Value], int]:
        """Return the values of `keys`, in order, and how many distinct ones this caller did not have worked out.

        Args:
            keys: May hold equal ones.
            priority: Of the caller.
            work: Works out the values at some positions of `keys`, in that order; called at most once.

        Raises:
            RafsError: What `work` raised, here or for the caller whose call was shared.
        """
        first = {key: at for at, key in reversed(list(enumerate(keys)))}
        found = {key: value for key in first if (value := self._known.get(key)) is not None}
        flights = {key: flight for key in first if (flight := self._flights.get(key)) and key not in found}
        flights = {key: flight for key, flight in flights.items() if flight.priority <= priority}
        missing = [key for key in dict.fromkeys(keys) if key not in found and key not in flights]
        if missing:
            flights |= dict.fromkeys(missing, self._start(missing, priority, work, [first[key] for key in missing]))
        found |= await self._join(set(flights.values()))
        return [found[key] for key in keys], len(first) - len(missing)

    def _start(
        self,
        keys: Sequence[bytes],
        priority: Priority,
        work: Callable[[Sequence[int]], Awaitable[Sequence[Value]]],
        positions: Sequence[int],
    ) -> _Flight[Value]:
        async def fly() -> Mapping[bytes, Value]:
            try:
                values = dict(zip(keys, await work(positions), strict=True))
            finally:
                self._end(flight)
            self._known.update({key: value for key, value in values.items() if self._is_lasting(value)})
            return values

        flight = _Flight(keys=keys, priority=priority, task=asyncio.create_task(fly()))
        # Looked at even where the last one has just left: asyncio logs a failure that nobody asked after.
        flight.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._flights.update(dict.fromkeys(keys, flight))
        return flight

    async def _join(self, flights: set[_Flight[Value]]) -> Mapping[bytes, Value]:
        if not flights:
            return {}
        for flight in flights:
            flight.waiting += 1
        try:
            done, _ = await asyncio.wait([flight.task for flight in flights], return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for flight in flights:
                flight.waiting -= 1
                if not flight.waiting and not flight.task.done():
                    flight.task.cancel()
                    self._end(flight)  # at once: nobody may join a call that is being cancelled
        for task in done:
            if task.cancelled():
                raise BackendError("the call was cancelled from within")
            if error := task.exception():
                raise error
        return {key: value for task in done for key, value in task.result().items()}

    def _end(self, flight: _Flight[Value]) -> None:
        for key in flight.keys:
            if self._flights.get(key) is flight:
                del self._flights[key]
