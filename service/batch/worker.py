"""One scoring process of a batch: a scorer of its own, on an event loop of its own."""

import asyncio
import os
import signal
from collections.abc import Sequence
from multiprocessing import connection, parent_process
from threading import Thread

from service.batch.engine import Plan
from service.batch.outcome import Finished, Item
from service.batch.scoring import score_item


class Worker:
    """Scores chunks of items; the models are loaded for the first one."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._runner = asyncio.Runner()
        self._scorer = plan.build_scorer(plan.settings)

    def score(self, items: Sequence[Item]) -> list[Finished]:
        """Score a chunk, as many items at a time as the plan says.

        Raises:
            ConfigError: Weights or libraries are missing.
            BackendError: A model cannot be loaded.
        """
        return self._runner.run(self._score(items))

    async def _score(self, items: Sequence[Item]) -> list[Finished]:
        await self._scorer.warm(self._plan.preset)
        places = asyncio.Semaphore(self._plan.concurrency)

        async def one(item: Item) -> Finished:
            async with places:
                return await score_item(self._scorer, item, full=self._plan.full)

        tasks = [asyncio.create_task(one(item)) for item in items]
        return await asyncio.gather(*tasks)


_here: list[Worker] = []
"""The worker of this process, where it is one of a pool: a pool calls functions, and they find it here."""


def begin(plan: Plan) -> int:
    """Make this process a worker, which ends with its parent, however that ends; return its id.

    Raises:
        ConfigError: The configuration is wrong.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and says what happens
    parent = parent_process()
    assert parent is not None  # called in a pool
    Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()
    _here.append(Worker(plan))
    return os.getpid()


def score_here(items: Sequence[Item]) -> list[Finished]:
    """Score a chunk in this process; errors as of `Worker.score`."""
    return _here[0].score(items)


def _end_after(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
