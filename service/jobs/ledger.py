"""Batches as workers see them: what waits, what is done, and who works. Every write says on what it depends."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, and_, delete, func, or_, select, update

from service.batch.outcome import Failed, Finished, Item, Scored
from service.database.engine import Database
from service.database.packed import pack, unpack
from service.database.tables import BATCH_ITEMS, BATCH_RESULTS, BATCH_ROWS, BATCH_WORKERS, BATCHES
from service.jobs.store import OVER, UNFINISHED

MAX_SEEN = 1_000
"""Batches that one look returns; the others wait for the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a worker has to know of a batch."""

    id: str
    tenant: str
    is_full: bool


class Ledger:
    """What the workers write, in the order in which the database takes it; nothing that is written is ever changed."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def open(self, batch: str) -> Task | None:
        """Say that a batch is being worked on, and return what to know of it; None where it is over or gone.

        Raises:
            BackendError: The database failed.
        """
        now = self._now()
        begun = update(BATCHES).where(BATCHES.c.id == batch, BATCHES.c.status.in_(UNFINISHED))
        begun = begun.values(status="running", started_at=func.coalesce(BATCHES.c.started_at, now))
        async with self._database.begin() as connection:
            row = (await connection.execute(begun.returning(BATCHES.c.tenant, BATCHES.c.is_full))).one_or_none()
        return None if row is None else Task(id=batch, tenant=row.tenant, is_full=row.is_full)

    async def waiting_after(self, batch: str, number: int, limit: int) -> Sequence[Item]:
        """Return items without a result, in order, from those behind a number on.

        Raises:
            BackendError: The database failed.
        """
        done = and_(BATCH_RESULTS.c.batch == BATCH_ITEMS.c.batch, BATCH_RESULTS.c.number == BATCH_ITEMS.c.number)
        chosen = (
            select(BATCH_ITEMS.c.number, BATCH_ITEMS.c.request)
            .where(BATCH_ITEMS.c.batch == batch, BATCH_ITEMS.c.number > number)
            .where(~select(BATCH_RESULTS.c.number).where(done).exists())
            .order_by(BATCH_ITEMS.c.number)
            .limit(limit)
        )
        async with self._database.connect() as connection:
            rows = (await connection.execute(chosen)).all()
        return [Item(number=row.number, request=unpack(row.request)) for row in rows]

    async def settle(self, batch: str, finished: Sequence[Finished]) -> bool:
        """Write what is done; what has a result already keeps it.

        Returns:
            False where the batch is not running any more, so that nothing was written.

        Raises:
            BackendError: The database failed; nothing was written.
        """
        rows = [await _to_row(batch, one) for one in finished]
        running = and_(BATCHES.c.id == batch, BATCHES.c.status == "running")
        async with self._database.begin() as connection:
            # It also holds the batch until the end, so that its counts and its results go together.
            held = await connection.execute(update(BATCHES).where(running).values(changed_at=self._now()))
            if held.rowcount == 0:
                return False
            written = await connection.scalars(
                self._database.insert(BATCH_RESULTS)
                .values(rows)
                .on_conflict_do_nothing()
                .returning(BATCH_RESULTS.c.number)
            )
            new = set(written)
            copies = await connection.execute(
                select(BATCH_ROWS.c.item, func.count())
                .where(BATCH_ROWS.c.batch == batch, BATCH_ROWS.c.item.in_(new))
                .group_by(BATCH_ROWS.c.item)
            )
            n_rows = {row[0]: row[1] for row in copies}
            scored = [one for one in finished if one.number in new and isinstance(one.result, Scored)]
            tokens = sum(one.result.record.tokens for one in scored if isinstance(one.result, Scored))
            n_scored = sum(n_rows[one.number] for one in scored)
            await connection.execute(
                update(BATCHES)
                .where(running)
                .values(
                    n_scored=BATCHES.c.n_scored + n_scored,
                    n_failed=BATCHES.c.n_failed + sum(n_rows.values()) - n_scored,
                    tokens=BATCHES.c.tokens + tokens,
                )
            )
        return True

    async def finish(self, batch: str, failure: str | None = None) -> None:
        """End a batch that is not over: completed, or failed where something is said.

        Raises:
            BackendError: The database failed.
        """
        status, now = "completed" if failure is None else "failed", self._now()
        ended = update(BATCHES).where(BATCHES.c.id == batch, BATCHES.c.status.in_(UNFINISHED))
        async with self._database.begin() as connection:
            await connection.execute(ended.values(status=status, failure=failure, finished_at=now, changed_at=now))

    async def find_unfinished(self) -> Sequence[str]:
        """Return the ids of batches that are to be scored, the oldest first.

        Raises:
            BackendError: The database failed.
        """
        chosen = select(BATCHES.c.id).where(BATCHES.c.status.in_(UNFINISHED)).order_by(BATCHES.c.created_at)
        async with self._database.connect() as connection:
            return (await connection.scalars(chosen.limit(MAX_SEEN))).all()

    async def find_untold(self) -> Sequence[str]:
        """Return the ids of batches that are over and whose webhook is to be told.

        Raises:
            BackendError: The database failed.
        """
        chosen = select(BATCHES.c.id).where(BATCHES.c.status.in_(OVER), BATCHES.c.webhook_state == "pending")
        async with self._database.connect() as connection:
            return (await connection.scalars(chosen.order_by(BATCHES.c.finished_at).limit(MAX_SEEN))).all()

    async def read(self, batch: str) -> Row[Any] | None:
        """Return a batch, whoever's it is; None where it is gone.

        Raises:
            BackendError: The database failed.
        """
        async with self._database.connect() as connection:
            return (await connection.execute(select(BATCHES).where(BATCHES.c.id == batch))).one_or_none()

    async def note_delivery(self, batch: str, attempt: int, state: str, error: str | None) -> None:
        """Write how an attempt to tell a webhook went; the secret goes with the last one.

        Raises:
            BackendError: The database failed.
        """
        values: dict[str, object] = {"webhook_attempts": attempt, "webhook_state": state, "webhook_error": error}
        if state != "pending":
            values["webhook_secret"] = None
        chosen = update(BATCHES).where(BATCHES.c.id == batch, BATCHES.c.webhook_state == "pending")
        async with self._database.begin() as connection:
            await connection.execute(chosen.values(values))

    async def beat(self, worker: str) -> None:
        """Say that a worker is alive.

        Raises:
            BackendError: The database failed.
        """
        now = self._now()
        seen = self._database.insert(BATCH_WORKERS).values(id=worker, seen_at=now)
        async with self._database.begin() as connection:
            await connection.execute(
                seen.on_conflict_do_update(index_elements=[BATCH_WORKERS.c.id], set_={"seen_at": now})
            )

    async def find_alive(self, within_s: float) -> set[str]:
        """Return the workers that were heard of within so many seconds.

        Raises:
            BackendError: The database failed.
        """
        since = self._now() - round(within_s * 1000)
        async with self._database.connect() as connection:
            return set(await connection.scalars(select(BATCH_WORKERS.c.id).where(BATCH_WORKERS.c.seen_at > since)))

    async def leave(self, worker: str, silent_s: float) -> None:
        """Forget a worker that ends, and those that were not heard of for so many seconds.

        Raises:
            BackendError: The database failed.
        """
        silent = BATCH_WORKERS.c.seen_at <= self._now() - round(silent_s * 1000)
        async with self._database.begin() as connection:
            await connection.execute(delete(BATCH_WORKERS).where(or_(BATCH_WORKERS.c.id == worker, silent)))

    def _now(self) -> int:
        return round(self._clock() * 1000)


async def _to_row(batch: str, one: Finished) -> dict[str, object]:
    row: dict[str, object] = {"batch": batch, "number": one.number, "ms": one.ms, "problem": None, "response": None}
    match one.result:
        case Failed(kind=kind, message=message):
            return row | {"problem": kind.value, "body": message}
        case Scored(record=record, response=response):
            packed = None if response is None else await pack(response.encode())
            return row | {"body": json.dumps(asdict(record)), "response": packed}
