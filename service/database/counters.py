"""Counters of the library `limits`, in our database."""

import time
from collections.abc import Callable
from typing import Any

from limits.aio.storage import Storage
from sqlalchemy import case, delete, select
from sqlalchemy.exc import SQLAlchemyError

from service.database.engine import Database
from service.database.tables import COUNTERS


class CounterStorage(Storage):
    """Windows with a count each: they outlive the process, and several processes share them."""

    STORAGE_SCHEME = None

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._database = database
        self._clock = clock

    @property
    def base_exceptions(self) -> type[Exception]:
        """Return what a failing database raises."""
        return SQLAlchemyError

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Add `amount`, in a new window of `expiry` seconds where the last one has ended, and return the count."""
        now = self._now()
        fresh = self._database.insert(COUNTERS).values(key=key, count=amount, expires_at=now + expiry * 1000)
        ended = COUNTERS.c.expires_at <= now
        counted = fresh.on_conflict_do_update(
            index_elements=[COUNTERS.c.key],
            set_={
                "count": case((ended, amount), else_=COUNTERS.c.count + amount),
                "expires_at": case((ended, now + expiry * 1000), else_=COUNTERS.c.expires_at),
            },
        ).returning(COUNTERS.c.count)
        async with self._database.begin() as connection:
            return int((await connection.execute(counted)).scalar_one())

    async def get(self, key: str) -> int:
        """Return the count of the window, 0 where it has ended."""
        row = await self._find(key)
        return 0 if row is None else row[0]

    async def get_expiry(self, key: str) -> float:
        """Return when the window ends, in seconds since the epoch; now where it has ended."""
        row = await self._find(key)
        return self._clock() if row is None else row[1] / 1000

    async def check(self) -> bool:
        """Say whether the database answers."""
        await self._find("")
        return True

    async def reset(self) -> int | None:
        """Forget all counts."""
        return await self._delete(COUNTERS.delete())

    async def clear(self, key: str) -> None:
        """Forget one count."""
        await self._delete(delete(COUNTERS).where(COUNTERS.c.key == key))

    async def prune(self) -> int:
        """Forget windows that have ended; return how many."""
        return await self._delete(delete(COUNTERS).where(COUNTERS.c.expires_at <= self._now()))

    async def _find(self, key: str) -> tuple[int, int] | None:
        wanted = select(COUNTERS.c.count, COUNTERS.c.expires_at)
        wanted = wanted.where(COUNTERS.c.key == key, COUNTERS.c.expires_at > self._now())
        async with self._database.connect() as connection:
            row = (await connection.execute(wanted)).one_or_none()
            return None if row is None else (row[0], row[1])

    async def _delete(self, statement: Any) -> int:
        async with self._database.begin() as connection:
            return int((await connection.execute(statement)).rowcount)

    def _now(self) -> int:
        return round(self._clock() * 1000)
