"""Starting and stopping the durable library."""

import asyncio
from contextlib import suppress

from service.database.engine import Database
from service.jobs.engine import DurableEngine
from service.jobs.work import Work


async def nothing_to_score(batch: str, number: int) -> int | None:
    return None


async def told(batch: str, attempt: int) -> bool:
    return True


def engine_on(database: Database, worker: str) -> DurableEngine:
    work = Work(loop=asyncio.get_running_loop(), score_slice=nothing_to_score, tell=told, pauses_s=(0.0,))
    return DurableEngine(database, work, worker=worker, at_once=1)


async def test_a_start_that_is_cut_off_leaves_nothing_in_the_way_of_the_next(database: Database) -> None:
    await database.prepare()
    starting = asyncio.create_task(engine_on(database, "first").start())
    await asyncio.sleep(0)  # it has begun, and its thread works
    starting.cancel()
    with suppress(asyncio.CancelledError):
        await starting
    second = engine_on(database, "second")
    await second.start()
    assert second.is_running
    await second.stop()
