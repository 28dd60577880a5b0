"""Results of a batch as JSON Lines: a page at a time, and never more than a few rows of it in memory."""

from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel
from pydantic_core import from_json
from sqlalchemy import Row, Select, and_, select

from rafs.batch_wire import BatchError, BatchRecord
from service.batch.outcome import RETRYABLE, Kind
from service.database.engine import Database
from service.database.packed import unpack
from service.database.tables import BATCH_ITEMS, BATCH_RESULTS, BATCH_ROWS

ROWS_AT_ONCE = 200
"""In memory, of whole responses at most some megabytes."""


class ResultReader:
    """Reads what became of the rows of a batch, in their order."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_next(self, batch: str, after: int, limit: int, *, errors: bool) -> int | None:
        """Return the row behind which the next page begins; None where there is no other page now.

        Args:
            batch: Of which.
            after: The row behind which this page begins.
            limit: Rows of a page.
            errors: Whether the rows without a score are asked for, or those with one.

        Raises:
            BackendError: The database failed.
        """
        order = _chosen(select(BATCH_ROWS.c.number), batch, after, errors=errors)
        async with self._database.connect() as connection:
            ends = (await connection.scalars(order.offset(limit - 1).limit(2))).all()
        return ends[0] if len(ends) == 2 else None

    async def read(self, batch: str, after: int, limit: int, *, errors: bool) -> AsyncIterator[bytes]:
        """Yield the rows of a page as lines of JSON; arguments and errors are those of `find_next`."""
        columns = (BATCH_ROWS.c.number, BATCH_ROWS.c.custom_id, BATCH_ROWS.c.item, BATCH_ITEMS.c.digest)
        result = (BATCH_RESULTS.c.problem, BATCH_RESULTS.c.body, BATCH_RESULTS.c.response, BATCH_RESULTS.c.ms)
        while limit > 0:
            chosen = _chosen(select(*columns, *result), batch, after, errors=errors)
            async with self._database.connect() as connection:
                rows = (await connection.execute(chosen.limit(min(limit, ROWS_AT_ONCE)))).all()
            if not rows:
                return
            yield b"".join(_show(row).model_dump_json(exclude_defaults=True).encode() + b"\n" for row in rows)
            after, limit = rows[-1].number, limit - len(rows)


def _chosen(columns: Select[Any], batch: str, after: int, *, errors: bool) -> Select[Any]:
    settled = and_(BATCH_RESULTS.c.batch == BATCH_ROWS.c.batch, BATCH_RESULTS.c.number == BATCH_ROWS.c.item)
    asked = and_(BATCH_ITEMS.c.batch == BATCH_ROWS.c.batch, BATCH_ITEMS.c.number == BATCH_ROWS.c.item)
    problem = BATCH_RESULTS.c.problem
    return (
        columns.select_from(BATCH_ROWS)
        .join(BATCH_RESULTS, settled)
        .outerjoin(BATCH_ITEMS, asked)
        .where(BATCH_ROWS.c.batch == batch, BATCH_ROWS.c.number > after)
        .where(problem.is_not(None) if errors else problem.is_(None))
        .order_by(BATCH_ROWS.c.number)
    )


def _show(row: Row[Any]) -> BaseModel:
    is_first = row.number == row.item
    place: dict[str, Any] = {"row": row.number, "id": row.custom_id, "duplicate_of": None if is_first else row.item}
    if row.problem is not None:
        retryable = Kind(row.problem) in RETRYABLE
        return BatchError(**place, problem=row.problem, message=row.body, retryable=retryable)
    record: dict[str, Any] = from_json(row.body)
    cost = {"tokens": record["tokens"], "ms": row.ms} if is_first else {"tokens": 0, "ms": 0.0}
    response = None if row.response is None else unpack(row.response).decode()
    return BatchRecord(**{**place, **record, **cost}, request_hash=bytes(row.digest).hex(), response=response)
