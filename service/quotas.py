"""How much one key may ask: requests a minute, traces a day."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from limits import RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter, SlidingWindowCounterRateLimiter

from service.database.counters import CounterStorage
from service.database.engine import Database
from service.errors import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What one key may ask; None is no limit."""

    requests_per_minute: int | None = None
    traces_per_day: int | None = None


NO_QUOTA = Quota()


class Quotas:
    """Counts what keys ask.

    Requests are counted in this process, since they may come by the thousand: of n processes each allows the whole
    rate. Traces are counted in the database, for all processes together, and a restart forgets none.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._requests = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._storage = CounterStorage(database, clock)
        self._traces = FixedWindowRateLimiter(self._storage)

    async def count_request(self, counted_for: str, quota: Quota) -> dict[str, str]:
        """Count one request in the last 60 seconds, sliding.

        Args:
            counted_for: Id of the key.
            quota: What it may ask.

        Returns:
            Headers that say what is left; empty without a limit.

        Raises:
            Problem: 429, that was one too many; it is not counted.
        """
        if quota.requests_per_minute is None:
            return {}
        item = RateLimitItemPerMinute(quota.requests_per_minute)
        is_allowed = await self._requests.hit(item, counted_for)
        stats = await self._requests.get_window_stats(item, counted_for)
        wait_s = _seconds(stats.reset_time - time.time())
        headers = {
            "ratelimit-policy": f'"requests";q={item.amount};w={item.get_expiry()}',
            "ratelimit": f'"requests";r={stats.remaining};t={wait_s}',
        }
        if not is_allowed:
            raise _too_much(f"this key may send {item.amount} requests a minute", wait_s, headers)
        return headers

    async def count_traces(self, counted_for: str, quota: Quota, n_traces: int) -> None:
        """Count traces in a window of 24 hours, which begins with the first trace after the last window.

        Args:
            counted_for: Id of the key.
            quota: What it may ask.
            n_traces: At least 1.

        Raises:
            Problem: 429, fewer were left; none is counted.
            BackendError: The database failed.
        """
        if quota.traces_per_day is None:
            return
        item = RateLimitItemPerDay(quota.traces_per_day)
        if await self._traces.hit(item, counted_for, cost=n_traces):
            return
        await self._storage.incr(item.key_for(counted_for), item.get_expiry(), -n_traces)
        stats = await self._traces.get_window_stats(item, counted_for)
        detail = (
            f"this key may have {item.amount} traces scored a day, {stats.remaining} are left, this asks for {n_traces}"
        )
        raise _too_much(detail, _seconds(stats.reset_time - self._clock()), {})

    async def give_back(self, counted_for: str, quota: Quota, n_traces: int) -> None:
        """Take back what was counted for traces that there were none of; a window that has ended stays as it is.

        Raises:
            BackendError: The database failed.
        """
        if quota.traces_per_day is None:
            return
        item = RateLimitItemPerDay(quota.traces_per_day)
        if await self._storage.get(item.key_for(counted_for)) >= n_traces:
            await self._storage.incr(item.key_for(counted_for), item.get_expiry(), -n_traces)

    async def prune(self) -> int:
        """Forget windows that have ended; return how many.

        Raises:
            BackendError: The database failed.
        """
        return await self._storage.prune()


def _too_much(detail: str, wait_s: int, headers: dict[str, str]) -> Problem:
    return Problem(
        status=429,
        slug="quota-exceeded",
        title="Quota exceeded",
        detail=f"{detail}; come back in {wait_s} s",
        headers={"Retry-After": str(wait_s), **headers},
    )


def _seconds(wait_s: float) -> int:
    return max(1, math.ceil(wait_s))
