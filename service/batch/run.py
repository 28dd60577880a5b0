"""Running a batch: what is taken is scored, what is scored is kept, what is complete is written."""

from collections.abc import Sequence
from contextlib import aclosing
from time import perf_counter

from rafs.errors import BackendError
from service.batch.engine import Engine
from service.batch.feed import Feed
from service.batch.index import SECONDS, BatchIndex
from service.batch.outcome import Failed, Finished, Kind
from service.batch.parts import Parts
from service.batch.watch import Watch

OUTAGE = 20
"""Items that fail one after the other before the batch stops: the model is down, and a million would fail like them."""
OUTAGES = (Kind.BACKEND, Kind.TIMEOUT, Kind.OVERLOADED, Kind.WORKER_DIED)
SHOWN_FAILURES = 5


class Run:
    """One run over a batch: from where the index is to the end, or until it is cancelled."""

    def __init__(self, index: BatchIndex, feed: Feed, parts: Parts, watch: Watch) -> None:
        self._index = index
        self._feed = feed
        self._parts = parts
        self._watch = watch
        self._n_failed = 0
        self._n_down = 0
        before = index.read_fact(SECONDS)
        self._seconds_before = float(before) if isinstance(before, int | float) else 0.0
        self._started = perf_counter()
        self._n_rows_before = feed.cursor.n_rows
        self._n_waiting_before = index.n_pending

    async def score(self, engine: Engine) -> None:
        """Score everything; cancelled, it leaves what is done.

        Raises:
            BackendError: One item after the other failed, so that the model is down.
            InputError: The input cannot be read on, or the results cannot be written.
        """
        async with aclosing(engine.score(self._feed)) as batches:
            async for finished in batches:
                self._keep(finished)
        if self._index.n_pending and self._feed.has_read_enough:
            self._index.give_up(
                Failed(kind=Kind.WORKER_DIED, message="the worker that scored it ended again and again")
            )
        self._keep([])

    def _keep(self, finished: Sequence[Finished]) -> None:
        seconds = perf_counter() - self._started
        self._index.settle(finished, self._seconds_before + seconds)
        cursor = self._feed.cursor
        self._parts.write_complete(cursor, read_enough=self._feed.has_read_enough)
        for one in finished:
            self._judge(one)
        n_waiting = self._index.n_pending
        n_new = cursor.n_rows - self._n_rows_before - n_waiting + self._n_waiting_before
        self._watch.show(cursor.n_rows - n_waiting, self._n_failed, rows_per_s=n_new / seconds if seconds > 0 else 0.0)

    def _judge(self, one: Finished) -> None:
        if not isinstance(one.result, Failed):
            self._n_down = 0
            return
        self._n_failed += 1
        if self._n_failed <= SHOWN_FAILURES:
            self._watch.say(f"row {one.number}: {one.result.kind}: {one.result.message}")
        self._n_down = self._n_down + 1 if one.result.kind in OUTAGES else 0
        if self._n_down >= OUTAGE:
            raise BackendError(f"the last {OUTAGE} items all failed, the last one so: {one.result.message}")
