"""The work on a batch: a bounded window of items, written as they are done, behind all who wait for an answer."""

import asyncio
from collections.abc import Sequence

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    retry_if_result,
    stop_after_attempt,
    wait_exponential,
    wait_random_exponential,
)

from rafs.errors import BackendError, ConfigError, OverloadedError
from rafs.request import ScoreRequest
from rafs.usage import Priority
from service.admission import Admission
from service.batch.outcome import RETRYABLE, Failed, Finished, Item
from service.batch.scoring import Scores, score_item
from service.jobs.ledger import Ledger, Task
from service.observability import logger
from service.terms import Terms

SLICE_ITEMS = 256
"""Items of one step: what is done is written at once, so that its size decides only how many steps there are."""
LONGEST_PAUSE_S = 30.0
LONGEST_ROOM_PAUSE_S = 1.0
"""Between two looks whether there is room; a request that is waited for does not wait in this line."""


class BatchScorer:
    """Scores slices of batches."""

    def __init__(
        self, scorer: Scores, ledger: Ledger, admission: Admission, *, concurrency: int, attempts: int
    ) -> None:
        """Keep the parts.

        Args:
            scorer: Scores; it is the application's.
            ledger: Where items come from and results go.
            admission: The room for tokens that all work of this process shares.
            concurrency: Items at once, of all batches together.
            attempts: Of an item whose model fails.
        """
        self._scorer = scorer
        self._ledger = ledger
        self._admission = admission
        self._places = asyncio.Semaphore(concurrency)
        self._window = concurrency
        self._attempts = attempts

    async def score_slice(self, batch: str, number: int) -> int | None:
        """Score the items of a batch behind a number, as many as a step has, and end the batch where there are none.

        A database or a model that cannot be reached is waited for: nothing is lost while it is away.

        Returns:
            The number to go on behind, None where the batch is over.
        """
        patiently = AsyncRetrying(
            retry=retry_if_exception_type((BackendError, ConfigError)),
            wait=wait_random_exponential(multiplier=0.5, max=LONGEST_PAUSE_S),
            before_sleep=lambda state: _log_waiting(batch, state),
        )
        return await patiently(self._score_slice, batch, number)

    async def _score_slice(self, batch: str, number: int) -> int | None:
        task = await self._ledger.open(batch)
        if task is None:
            return None
        items = await self._ledger.waiting_after(batch, number, SLICE_ITEMS)
        if not items:
            # An item before `number` may still wait, where an earlier step was recorded by a process that died since.
            if number and await self._ledger.waiting_after(batch, 0, 1):
                return 0
            await self._ledger.finish(batch)
            return None
        return items[-1].number if await self._score_window(task, items) else None

    async def _score_window(self, task: Task, items: Sequence[Item]) -> bool:
        """Score items, a few at a time; return False where the batch is not running any more."""
        waiting, flying = iter(items), set[asyncio.Task[Finished]]()
        try:
            while True:
                while len(flying) < self._window and (item := next(waiting, None)) is not None:
                    flying.add(asyncio.create_task(self._score(task, item)))
                if not flying:
                    return True
                done, flying = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                if not await self._ledger.settle(task.id, [one.result() for one in done]):
                    return False
        finally:
            for one in flying:
                one.cancel()
            await asyncio.gather(*flying, return_exceptions=True)

    async def _score(self, task: Task, item: Item) -> Finished:
        terms = Terms(priority=Priority.BATCH, tenant=task.tenant)
        again = AsyncRetrying(
            retry=retry_if_result(_may_go_well),
            stop=stop_after_attempt(self._attempts),
            wait=wait_exponential(multiplier=1.0, max=LONGEST_PAUSE_S),
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )

        async def attempt() -> Finished:
            async with self._places:
                tokens = await self._take_room(item)
                done = 0
                try:
                    finished = await score_item(self._scorer, item, full=task.is_full, terms=terms)
                    done = tokens
                finally:
                    self._admission.give_back(tokens, done, Priority.BATCH)
                return finished

        finished: Finished = await again(attempt)
        return finished

    async def _take_room(self, item: Item) -> int:
        """Wait until there is room for the tokens of an item, and take it."""
        try:
            tokens = ScoreRequest.model_validate_json(item.request).estimate_tokens()
        except ValueError:
            tokens = 1  # written by another version of RAFS; what is wrong with it is said where it is scored
        waiting = AsyncRetrying(
            retry=retry_if_exception_type(OverloadedError),
            wait=wait_random_exponential(multiplier=0.02, max=LONGEST_ROOM_PAUSE_S),
        )
        await waiting(_call, lambda: self._admission.take_tokens(tokens, Priority.BATCH))
        return tokens


async def _call(take: object) -> None:
    assert callable(take)
    take()


def _may_go_well(finished: Finished) -> bool:
    return isinstance(finished.result, Failed) and finished.result.kind in RETRYABLE


def _log_waiting(batch: str, state: RetryCallState) -> None:
    error = None if state.outcome is None else state.outcome.exception()
    logger.warning("a batch waits", batch=batch, reason=str(error))
