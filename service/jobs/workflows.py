"""The durable part, as DBOS runs it: which step comes next is in the database, and a kill repeats at most one step.

A step says only how far it came. What it did is in our own tables, where doing it twice changes nothing.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from dbos import DBOS

from service.jobs.work import installed

Result = TypeVar("Result")

VERSION = "1"
"""Of the order of the steps; workflows of another version are left alone, so a change of the order needs a new one."""
SCORE = "rafs-score"
TELL = "rafs-tell"


@DBOS.workflow(name="rafs_score_batch", max_recovery_attempts=None)
async def score_batch(batch: str) -> None:
    """Score a batch to its end."""
    number: int | None = 0
    while number is not None:
        number = await score_slice(batch, number)


@DBOS.workflow(name="rafs_tell_end", max_recovery_attempts=None)
async def tell_end(batch: str) -> None:
    """Tell the end of a batch, as often as it takes and is worth."""
    attempt = 0
    while not await tell(batch, attempt + 1):
        attempt += 1
        if attempt >= len(installed().pauses_s):
            return
        await DBOS.sleep_async(installed().pauses_s[attempt])


@DBOS.step(name="rafs_score_slice")
async def score_slice(batch: str, number: int) -> int | None:
    """Score some items of a batch."""
    return await _on_our_loop(installed().score_slice(batch, number))


@DBOS.step(name="rafs_tell")
async def tell(batch: str, attempt: int) -> bool:
    """Make one attempt to tell the end of a batch."""
    return await _on_our_loop(installed().tell(batch, attempt))


async def _on_our_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """Await a coroutine on the application's event loop, to which models, database and clients belong."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, installed().loop))
