"""A function that doubles numbers, for tests of the queue in front of a model."""

import asyncio
import threading
from collections.abc import Sequence

from rafs.engines.batching import MicroBatcher
from rafs.usage import Caller

DEADLINE_S = 5
SCORE = Caller()


class Doubler:
    """Doubles numbers; can be held back, and remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.started = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        self.started.set()
        self.may_go_on.wait(DEADLINE_S)
        if 13 in items:
            raise ValueError("thirteen")
        return [2 * item for item in items]

    async def begun(self) -> None:
        await asyncio.to_thread(self.started.wait, DEADLINE_S)


async def held(batcher: MicroBatcher[int, int], doubler: Doubler, tokens: int) -> "asyncio.Task[list[int]]":
    """Start one call and return while it runs, held back inside the model."""
    doubler.may_go_on.clear()
    task = asyncio.create_task(batcher.run([(1, tokens)], SCORE))
    await doubler.begun()
    return task
