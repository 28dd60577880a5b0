"""Scoring in several processes of this machine; one that dies is replaced, and its items are scored again."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context

from rafs.errors import BackendError
from service.batch.engine import Plan, Queue
from service.batch.outcome import Failed, Finished, Item, Kind
from service.batch.worker import begin, score_here

MAX_DEATHS = 2
"""Processes that one item may end before it is given up."""


class ProcessEngine:
    """Scores in processes of this machine, each with models of its own.

    Every process stands alone, so that it is known whose items ended it.
    """

    def __init__(self, plan: Plan, n_processes: int) -> None:
        self._plan = plan
        self._n_processes = n_processes

    async def score(self, queue: Queue) -> AsyncGenerator[Sequence[Finished]]:
        """Yield what is done; see `Engine`."""
        lanes = [_Lane(self._plan) for _ in range(self._n_processes)]
        flying: dict[asyncio.Task[Sequence[Finished]], _Lane] = {}
        idle = list(lanes)
        try:
            while True:
                while idle and (items := queue.take(self._plan.concurrency)):
                    lane = idle.pop()
                    flying[asyncio.create_task(lane.score(items))] = lane
                if not flying:
                    return
                done, _ = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    idle.append(flying.pop(task))
                    yield task.result()
        finally:
            for task in flying:
                task.cancel()
            for lane in lanes:
                lane.close()
            await asyncio.gather(*flying, return_exceptions=True)


class _Lane:
    """One process after the other."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._pool: ProcessPoolExecutor | None = None
        self._process_id = 0

    async def score(self, items: Sequence[Item]) -> Sequence[Finished]:
        """Score a chunk; where the process dies of it, item by item."""
        try:
            return await self._ask(items)
        except BrokenProcessPool:
            self.close()
        return [await self._score_alone(item) for item in items]

    async def _score_alone(self, item: Item) -> Finished:
        for _ in range(MAX_DEATHS):
            try:
                return (await self._ask([item]))[0]
            except BrokenProcessPool:
                self.close()
        message = f"the process that scored it ended, {MAX_DEATHS} times"
        return Finished(number=item.number, ms=0.0, result=Failed(kind=Kind.WORKER_DIED, message=message))

    async def _ask(self, items: Sequence[Item]) -> Sequence[Finished]:
        pool = self._pool or await self._started()
        return await asyncio.get_running_loop().run_in_executor(pool, score_here, items)

    async def _started(self) -> ProcessPoolExecutor:
        """Return a pool whose process is ready; one that dies while it starts is started again.

        Raises:
            BackendError: It died every time.
            ConfigError: It cannot be set up.
        """
        for _ in range(MAX_DEATHS):
            self._pool, self._process_id = ProcessPoolExecutor(1, get_context("spawn")), 0
            try:
                self._process_id = await asyncio.get_running_loop().run_in_executor(self._pool, begin, self._plan)
            except BrokenProcessPool:
                self.close()
            else:
                return self._pool
        raise BackendError(f"a scoring process ended before it was ready, {MAX_DEATHS} times")

    def close(self) -> None:
        """End the process; what it works on is given up."""
        if self._pool is None:
            return
        for process in active_children():
            if process.pid == self._process_id:
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None
