"""Ways of scoring the items of a batch: in this process, in several on this machine, on a cluster."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from service.batch.outcome import Finished, Item
from service.batch.scoring import Scores, score_item
from service.settings import Settings
from service.wiring import build_scorer


class Queue(Protocol):
    """Where items come from."""

    def take(self, n: int) -> Sequence[Item]:
        """Return up to `n` items that were not given out yet; none where there are no more."""
        ...


class Engine(Protocol):
    """Scores the items of a queue."""

    def score(self, queue: Queue) -> AsyncGenerator[Sequence[Finished]]:
        """Yield what is done as it is done, in any order, until the queue is empty.

        What was taken and not yielded when the iteration is given up has no result.

        Raises:
            ConfigError: Weights or libraries are missing.
            BackendError: What scores cannot be started, or ends again and again.
        """
        ...


class WarmScores(Scores, Protocol):
    """A scorer that can be made ready before the first item."""

    async def warm(self, preset: str | None = None) -> None:
        """Load the models of a preset."""
        ...

    async def close(self) -> None:
        """Free them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How items are scored, wherever that is; it travels to other processes."""

    settings: Settings
    preset: str
    concurrency: int = 4
    """Items that one scorer works on at a time."""
    full: bool = False
    """Keep whole responses."""
    build_scorer: Callable[[Settings], WarmScores] = build_scorer
    """Builds what scores, in every process that does; a function of a module that all of them can import."""


class LocalEngine:
    """Scores in this process, a bounded number of items at a time."""

    def __init__(self, scorer: WarmScores, plan: Plan) -> None:
        self._scorer = scorer
        self._plan = plan

    async def score(self, queue: Queue) -> AsyncGenerator[Sequence[Finished]]:
        """Yield what is done; see `Engine`."""
        flying: set[asyncio.Task[Finished]] = set()
        try:
            items = queue.take(1)
            if items:
                await self._scorer.warm(self._plan.preset)
            while items or flying:
                flying |= {asyncio.create_task(score_item(self._scorer, one, full=self._plan.full)) for one in items}
                if len(flying) >= self._plan.concurrency or not items:
                    done, flying = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                    yield [task.result() for task in done]
                items = queue.take(1)
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)
            await self._scorer.close()
