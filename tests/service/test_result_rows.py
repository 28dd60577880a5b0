"""Rows that are written behind their answers."""

from typing import Any

from sqlalchemy import func, select

from service.database.engine import Database
from service.database.tables import RESULTS
from service.result_rows import MAX_WAITING_BYTES, ResultRows


def row(n: int, n_bytes: int = 10) -> dict[str, Any]:
    return {"key_digest": bytes([n]), "tenant": "t", "body": b"x" * n_bytes, "created_at": n, "expires_at": n + 1}


async def count(database: Database) -> int:
    async with database.connect() as connection:
        return (await connection.execute(select(func.count()).select_from(RESULTS))).scalar_one()


async def test_what_waits_is_bounded_in_bytes_and_the_rest_is_told_apart(database: Database) -> None:
    rows = ResultRows(database)
    assert [rows.add(row(n, MAX_WAITING_BYTES // 3)) for n in range(4)] == [True, True, True, False]
    await rows.settle()
    assert await count(database) == 3


async def test_what_is_written_makes_room(database: Database) -> None:
    rows = ResultRows(database)
    for n in range(3):
        assert rows.add(row(n, MAX_WAITING_BYTES))
        await rows.settle()
    assert await count(database) == 3


async def test_rows_are_written_without_being_asked_for(database: Database) -> None:
    rows = ResultRows(database)
    for n in range(3):
        rows.add(row(n))
    while await count(database) < 3:
        pass
