"""Batches as callers see them: made, listed, read, cancelled, and forgotten when they are old."""

import json
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, and_, delete, func, insert, or_, select, update

from service.batch.outcome import Failed
from service.database.engine import Database
from service.database.packed import pack
from service.database.tables import BATCH_ITEMS, BATCH_RESULTS, BATCH_ROWS, BATCHES
from service.errors import Problem

ID_SHAPE = re.compile(r"batch_[0-9a-f]{32}")
RECEIVING = "receiving"
"""Rows are still coming; nobody sees the batch yet."""
UNFINISHED = ("queued", "running")
OVER = ("completed", "failed", "cancelled")
ABANDONED_S = 3_600
"""An upload that died with its process is forgotten after so long."""
ROWS_AT_ONCE = 5_000
"""Rows of an old batch that one transaction deletes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBatch:
    """A batch that is about to be made."""

    tenant: str
    preset: str
    is_full: bool
    metadata: dict[str, str]
    webhook_url: str | None
    webhook_secret: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A row of a batch."""

    number: int
    custom_id: str | None
    asks: tuple[bytes, bytes] | Failed
    """Digest and canonical form of its request, or why it makes none."""


class BatchStore:
    """The batches of every tenant, each for itself."""

    def __init__(
        self, database: Database, *, kept_s: int, max_unfinished: int, clock: Callable[[], float] = time.time
    ) -> None:
        """Keep the parts.

        Args:
            database: Where they are.
            kept_s: How long a batch is kept after it was made, in seconds.
            max_unfinished: Batches of one tenant that may be under way.
            clock: Seconds since the epoch.
        """
        self._database = database
        self._kept_ms = kept_s * 1000
        self._max_unfinished = max_unfinished
        self._clock = clock

    def now(self) -> int:
        """Return the time, in milliseconds since the epoch."""
        return round(self._clock() * 1000)

    async def create(self, new: NewBatch) -> str:
        """Begin a batch, which nobody sees or works on before it is sealed, and return its id.

        Raises:
            Problem: 429, the tenant has too many under way.
            BackendError: The database failed.
        """
        batch, now = f"batch_{uuid.uuid4().hex}", self.now()
        counts = dict.fromkeys(("n_rows", "n_distinct", "n_left_out", "n_scored", "n_failed", "tokens"), 0)
        row = {
            "id": batch,
            "tenant": new.tenant,
            "status": RECEIVING,
            "preset": new.preset,
            "details": json.dumps(new.metadata),
            "is_full": new.is_full,
            **counts,
            "created_at": now,
            "changed_at": now,
            "expires_at": now + self._kept_ms,
            "webhook_url": new.webhook_url,
            "webhook_secret": new.webhook_secret,
            "webhook_state": None if new.webhook_url is None else "pending",
            "webhook_attempts": 0,
        }
        under_way = and_(BATCHES.c.tenant == new.tenant, BATCHES.c.status.in_((RECEIVING, *UNFINISHED)))
        async with self._database.begin() as connection:
            n = await connection.scalar(select(func.count()).select_from(BATCHES).where(under_way))
            if n is not None and n >= self._max_unfinished:
                raise _too_many(n)
            await connection.execute(insert(BATCHES).values(row))
        return batch

    async def append(self, batch: str, rows: Sequence[NewRow]) -> None:
        """Add rows to a batch that is not sealed; what a row before them asked is not asked again.

        Raises:
            BackendError: The database failed.
        """
        asked = {row.number: row.asks for row in rows if not isinstance(row.asks, Failed)}
        failed = [(row.number, row.asks) for row in rows if isinstance(row.asks, Failed)]
        digests = list({digest for digest, _ in asked.values()})
        async with self._database.begin() as connection:
            known_rows = await connection.execute(
                select(BATCH_ITEMS.c.digest, BATCH_ITEMS.c.number).where(
                    BATCH_ITEMS.c.batch == batch, BATCH_ITEMS.c.digest.in_(digests)
                )
            )
            known = {bytes(digest): number for digest, number in known_rows}
            items = []
            for number, (digest, request) in asked.items():
                if known.setdefault(digest, number) == number:
                    items.append({"batch": batch, "number": number, "digest": digest, "request": await pack(request)})
            lines = [_to_line(batch, row, known) for row in rows]
            results = [_to_result(batch, number, why) for number, why in failed]
            for table, values in ((BATCH_ROWS, lines), (BATCH_ITEMS, items), (BATCH_RESULTS, results)):
                if values:
                    await connection.execute(insert(table), values)
            await connection.execute(
                update(BATCHES)
                .where(BATCHES.c.id == batch)
                .values(
                    n_rows=BATCHES.c.n_rows + len(rows),
                    n_distinct=BATCHES.c.n_distinct + len(items),
                    n_failed=BATCHES.c.n_failed + len(failed),
                    changed_at=self.now(),
                )
            )

    async def seal(self, batch: str, *, n_left_out: int = 0) -> None:
        """Let a batch be worked on.

        Raises:
            BackendError: The database failed.
        """
        sealed = update(BATCHES).where(BATCHES.c.id == batch, BATCHES.c.status == RECEIVING)
        async with self._database.begin() as connection:
            await connection.execute(sealed.values(status="queued", n_left_out=n_left_out, changed_at=self.now()))

    async def find(self, tenant: str, batch: str) -> Row[Any] | None:
        """Return a batch of a tenant; None where there is none of that id.

        Raises:
            BackendError: The database failed.
        """
        if not ID_SHAPE.fullmatch(batch):
            return None
        chosen = select(BATCHES).where(BATCHES.c.id == batch, BATCHES.c.tenant == tenant)
        async with self._database.connect() as connection:
            return (await connection.execute(chosen.where(BATCHES.c.status != RECEIVING))).one_or_none()

    async def list(self, tenant: str, before: str | None, limit: int) -> Sequence[Row[Any]] | None:
        """Return batches of a tenant, the newest first; None where `before` is no batch of the tenant.

        Args:
            tenant: Whose.
            before: The id of the last batch of the page before.
            limit: At most so many.

        Raises:
            BackendError: The database failed.
        """
        order = (BATCHES.c.created_at, BATCHES.c.id)
        chosen = select(BATCHES).where(BATCHES.c.tenant == tenant, BATCHES.c.status != RECEIVING)
        if before is not None:
            last = await self.find(tenant, before)
            if last is None:
                return None
            older = and_(order[0] == last.created_at, order[1] < last.id)
            chosen = chosen.where(or_(order[0] < last.created_at, older))
        async with self._database.connect() as connection:
            rows = await connection.execute(chosen.order_by(order[0].desc(), order[1].desc()).limit(limit))
            return rows.all()

    async def cancel(self, tenant: str, batch: str) -> None:
        """Let a batch end where it is; what is scored stays, and nothing is added. One that is over stays as it is.

        Raises:
            BackendError: The database failed.
        """
        chosen = update(BATCHES).where(BATCHES.c.id == batch, BATCHES.c.tenant == tenant)
        now = self.now()
        async with self._database.begin() as connection:
            await connection.execute(
                chosen.where(BATCHES.c.status.in_(UNFINISHED)).values(
                    status="cancelled", finished_at=now, changed_at=now
                )
            )

    async def remove(self, batch: str) -> None:
        """Forget a batch with its rows and results, a few at a time, so that others can write between.

        Raises:
            BackendError: The database failed.
        """
        for table in (BATCH_RESULTS, BATCH_ITEMS, BATCH_ROWS):
            mine = table.c.batch == batch
            some = select(table.c.number).where(mine).order_by(table.c.number).limit(ROWS_AT_ONCE)
            n = ROWS_AT_ONCE
            while n == ROWS_AT_ONCE:
                async with self._database.begin() as connection:
                    n = (await connection.execute(delete(table).where(mine, table.c.number.in_(some)))).rowcount
        async with self._database.begin() as connection:
            await connection.execute(delete(BATCHES).where(BATCHES.c.id == batch))

    async def find_old(self) -> Sequence[str]:
        """Return the ids of batches whose time is over, and of uploads that never came to their end.

        Raises:
            BackendError: The database failed.
        """
        now = self.now()
        old = and_(BATCHES.c.expires_at <= now, BATCHES.c.status.in_(OVER))
        abandoned = and_(BATCHES.c.status == RECEIVING, BATCHES.c.changed_at <= now - ABANDONED_S * 1000)
        async with self._database.connect() as connection:
            return (await connection.scalars(select(BATCHES.c.id).where(or_(old, abandoned)).limit(100))).all()


def _to_line(batch: str, row: NewRow, known: Mapping[bytes, int]) -> dict[str, object]:
    item = row.number if isinstance(row.asks, Failed) else known[row.asks[0]]
    return {"batch": batch, "number": row.number, "custom_id": row.custom_id, "item": item}


def _to_result(batch: str, number: int, why: Failed) -> dict[str, object]:
    return {
        "batch": batch,
        "number": number,
        "problem": why.kind.value,
        "body": why.message,
        "response": None,
        "ms": 0.0,
    }


def _too_many(n: int) -> Problem:
    return Problem(
        status=429,
        slug="too-many-batches",
        title="Too many batches",
        detail=f"{n} batches are under way, which is as many as may be; cancel one or wait for one to end",
        headers={"Retry-After": "60"},
    )
