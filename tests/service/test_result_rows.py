"""Rows that are written behind their answers."""

import asyncio
from typing import Any

from sqlalchemy import func, select

from service.database.engine import Database, open_database
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


async def test_what_waits_when_the_database_is_closed_is_written_and_nothing_more_is_taken(
    database: Database, database_url: str
) -> None:
    one = open_database(database_url)
    rows = ResultRows(one)
    assert rows.add(row(1))
    await one.close()
    assert not rows.add(row(2))
    assert await count(database) == 1


async def test_two_processes_that_write_the_same_rows_in_another_order_do_not_stop_each_other(
    database: Database, database_url: str
) -> None:
    other = open_database(database_url)
    own = {database: 1, other: 2}
    shared = [{**row(0), "key_digest": n.to_bytes(4)} for n in range(2_000)]
    writers = [ResultRows(each) for each in own]
    for rows, order, key in zip(writers, (shared, shared[::-1]), own.values(), strict=True):
        for each in [*order, row(key)]:
            rows.add(each)
    await asyncio.gather(*(rows.settle() for rows in writers))
    await other.close()
    assert await count(database) == len(shared) + len(own)
