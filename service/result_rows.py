"""Scored traces on their way to the database: written behind their answers, those of a moment in one transaction."""

import asyncio
from typing import Any

from rafs.errors import BackendError
from service.database.engine import Database
from service.database.tables import RESULTS
from service.observability import logger

GATHER_S = 0.1
"""A transaction costs more processor time than all else of an answer; a process that dies loses so much of them."""
MAX_WAITING_BYTES = 16 << 20
"""Where the database is slower than the scoring; what comes on top is not kept."""
CHANGED = ("tenant", "body", "created_at", "expires_at")


class ResultRows:
    """What waits to be written. For one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[bytes, dict[str, Any]] = {}
        self._n_bytes = 0
        self._writing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._is_closed = False
        database.before_close(self._close)

    def add(self, row: dict[str, Any]) -> bool:
        """Take a row; False where too much waits already, or the database was closed.

        Args:
            row: By column, all of them.
        """
        if self._is_closed or self._n_bytes + len(row["body"]) > MAX_WAITING_BYTES:
            return False
        self._n_bytes += len(row["body"])
        self._waiting[row["key_digest"]] = row
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())
        return True

    async def settle(self) -> None:
        """Write what waits, now; return when it is written, or was given up because the database failed."""
        async with self._turn:
            await self._write()
            if self._writing is not None and not self._waiting:
                self._writing.cancel()  # it sleeps, or stands in line behind this
                self._writing = None

    async def _close(self) -> None:
        """Write what waits: a task that is left amid a transaction would outlive the event loop."""
        self._is_closed = True
        await self.settle()

    async def _write_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHER_S)
            async with self._turn:
                await self._write()

    async def _write(self) -> None:
        # In the order of all processes: PostgreSQL ends one of two that wait for each other's rows.
        rows = [self._waiting[key] for key in sorted(self._waiting)]
        self._waiting, self._n_bytes = {}, 0
        if not rows:
            return
        insert = self._database.insert(RESULTS)
        changed = {name: insert.excluded[name] for name in CHANGED}
        writing = insert.on_conflict_do_update(index_elements=[RESULTS.c.key_digest], set_=changed)
        try:
            async with self._database.begin() as connection:
                await connection.execute(writing, rows)
        except BackendError as error:
            logger.warning("not stored among the scored traces", n=len(rows), reason=str(error))
