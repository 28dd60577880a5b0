"""The jobs of this process: sees to it that every batch has its workflow, and every workflow a worker that lives."""

import asyncio
import socket
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from rafs.errors import BackendError, ConfigError
from service.admission import Admission
from service.batch.scoring import Scores
from service.database.engine import Database
from service.jobs.addresses import AddressGuard
from service.jobs.engine import TOLD, DurableEngine
from service.jobs.ledger import Ledger
from service.jobs.scoring import BatchScorer
from service.jobs.store import BatchStore
from service.jobs.webhook import WebhookSender
from service.jobs.work import Work
from service.observability import log_unexpected, logger
from service.settings import Settings

LOOK_S = 5.0
"""Between two looks at what there is to do; a batch made here, or ended here, is seen at once."""
SILENT_S = 30.0
"""A worker that was not heard of for so long is taken for dead."""
PRUNE_EVERY = 12
"""Looks between two that forget old batches."""
LOST = "its work ended without a result; the log of the service says more"


class Jobs:
    """Keeps the batches of a service going."""

    def __init__(
        self,
        scorer: Scores,
        settings: Settings,
        database: Database,
        admission: Admission,
    ) -> None:
        """Put the parts together; nothing is started.

        Args:
            scorer: Scores; it is the application's.
            settings: The operator's.
            database: Where batches are.
            admission: The room for tokens that all work of this process shares.
        """
        self.store = BatchStore(database, kept_s=settings.batches_kept_s, max_unfinished=settings.batch_max_unfinished)
        self.guard = AddressGuard(settings)
        self._settings = settings
        self._database = database
        self._ledger = Ledger(database)
        self._scorer = BatchScorer(
            scorer,
            self._ledger,
            admission,
            concurrency=settings.batch_concurrency,
            attempts=settings.batch_attempts,
        )
        self._worker = f"{socket.gethostname()}:{settings.port}" if settings.port else uuid.uuid4().hex
        self._pauses_s = settings.webhook_pauses_s
        self._news = asyncio.Event()

    def look(self) -> None:
        """Look soon at what there is to do."""
        self._news.set()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Work on batches as long as the block runs; what is under way at its end goes on at the next start."""
        sender = WebhookSender(self._ledger, self.guard, timeout_s=self._settings.webhook_timeout_s)
        work = Work(
            loop=asyncio.get_running_loop(),
            score_slice=self._score_slice,
            tell=lambda batch, attempt: sender.attempt(batch, attempt, is_last=attempt >= len(self._pauses_s)),
            pauses_s=self._pauses_s,
        )
        engine = DurableEngine(self._database, work, worker=self._worker, at_once=self._settings.batches_at_once)
        looking = asyncio.create_task(self._look_forever(engine))
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
            was_running = engine.is_running
            await engine.stop()
            if was_running:
                with suppress(BackendError):  # then others find out by its silence
                    await self._ledger.leave(self._worker, SILENT_S)
            await sender.close()

    async def _score_slice(self, batch: str, number: int) -> int | None:
        after = await self._scorer.score_slice(batch, number)
        if after is None:
            self.look()  # its end may have to be told
        return after

    async def _look_forever(self, engine: DurableEngine) -> None:
        n_looks = 0
        while True:
            self._news.clear()
            try:
                await self._look(engine, prune=n_looks % PRUNE_EVERY == 0)
            except (BackendError, ConfigError) as error:
                logger.warning("batches wait", reason=str(error))
            except Exception as error:  # a task of its own: nobody else would hear of it
                log_unexpected(error)
            n_looks += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._news.wait()

    async def _look(self, engine: DurableEngine, *, prune: bool) -> None:
        scoring, telling = await self._ledger.find_unfinished(), await self._ledger.find_untold()
        old = await self.store.find_old() if prune else []
        if scoring or telling or old or engine.is_running:
            await self._ledger.beat(self._worker)  # first, so that nobody takes over what is begun now
            await engine.start()
            await self._see_to(engine, scoring, telling)
        for batch in old:
            await engine.forget(batch)
            await self.store.remove(batch)

    async def _see_to(self, engine: DurableEngine, scoring: Sequence[str], telling: Sequence[str]) -> None:
        """Begin what has no workflow, take over what has no worker, and give up what ended without a result."""
        known = await engine.find([*scoring, *(batch + TOLD for batch in telling)])
        alive = await self._ledger.find_alive(SILENT_S)
        for workflow in known.values():
            if workflow.worker is not None and workflow.worker not in alive:
                logger.warning("taking over from a worker that is gone", workflow=workflow.id, worker=workflow.worker)
                await engine.take_over(workflow)
        for batch in scoring:
            if batch not in known:
                await engine.begin_scoring(batch)
            elif known[batch].is_over:
                await self._ledger.finish(batch, LOST)
        for batch in telling:
            if batch + TOLD not in known:
                await engine.begin_telling(batch)
            elif known[batch + TOLD].is_over:
                await self._ledger.note_delivery(batch, len(self._pauses_s), "failed", LOST)
