"""Scoring on a Ray cluster, for what outgrows one machine: the same items, the same results.

The driver reads the input, tells duplicates apart and keeps the index; what is distinct goes through Ray Data in small
blocks, whose results come back as they are done. Ray starts the workers that die anew, and gives them their blocks.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from tenacity import Retrying, stop_after_attempt

from rafs.errors import BackendError, ConfigError, RafsError
from service.batch.engine import Plan, Queue
from service.batch.libraries import arrow, ray_data
from service.batch.outcome import Finished, Item
from service.batch.scoring import MAX_MESSAGE_CHARS
from service.batch.worker import Worker
from service.visible import show_text

BLOCK = 32
"""Items of a block; as many at most are scored again when a worker dies."""
STARTS = 3
"""Attempts to start a cluster: on a busy machine it takes longer than the half minute that Ray waits."""

FINISHED: TypeAdapter[list[Finished]] = TypeAdapter(list[Finished])


class RayScorer:
    """Scores blocks in a worker of the cluster, where RAFS and its weights have to be installed."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._worker: Worker | None = None

    def __call__(self, block: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Score a block; a fault of the configuration is handed on, for Ray would try it again."""
        items = [Item(number=int(n), request=bytes(r)) for n, r in zip(block["number"], block["request"], strict=True)]
        try:
            if self._worker is None:
                self._worker = Worker(self._plan)
            finished = self._worker.score(items)
        except RafsError as error:
            return {"finished": [b"[]"], "config": [isinstance(error, ConfigError)], "problem": [str(error)]}
        return {"finished": [FINISHED.dump_json(finished)], "config": [False], "problem": [""]}


class RayEngine:
    """Scores in the workers of a cluster: of the one at RAY_ADDRESS, or else of one on this machine."""

    def __init__(self, plan: Plan, n_workers: int) -> None:
        """Keep the plan.

        Raises:
            ConfigError: Ray is not installed.
        """
        ray_data()
        self._plan = plan
        self._n_workers = n_workers

    async def score(self, queue: Queue) -> AsyncGenerator[Sequence[Finished]]:
        """Yield what is done; see `Engine`. Everything is read before the first item is scored."""
        import ray

        self._join_cluster()
        try:
            blocks = [ray.put(block) for block in _blocks(queue)]
            if not blocks:
                return
            batches = iter(self._scored(blocks).iter_batches(batch_size=None, batch_format="pyarrow"))
            while (batch := await asyncio.to_thread(next, batches, None)) is not None:
                for row in batch.to_pylist():
                    if row["problem"]:
                        raise (ConfigError if row["config"] else BackendError)(row["problem"])
                    yield FINISHED.validate_json(row["finished"])
        except ray.exceptions.RayError as error:
            raise BackendError(f"the Ray cluster failed: {show_text(str(error), MAX_MESSAGE_CHARS)}") from error
        finally:
            ray.shutdown()

    def _join_cluster(self) -> None:
        import ray

        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        own: dict[str, Any] = {}
        if "RAY_ADDRESS" not in os.environ:  # reading needs a place beside the workers
            own = {"num_cpus": max(os.cpu_count() or 1, self._n_workers + 1), "include_dashboard": False}
        try:
            for attempt in Retrying(stop=stop_after_attempt(STARTS), after=lambda _: ray.shutdown(), reraise=True):
                with attempt:
                    ray.init(logging_level=logging.ERROR, log_to_driver=False, **own)
        except Exception as error:  # Ray raises bare ones
            message = f"the Ray cluster cannot be started or reached: {show_text(str(error), MAX_MESSAGE_CHARS)}"
            raise BackendError(message) from error
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        context = ray_data().DataContext.get_current()
        context.enable_progress_bars = False
        context.max_errored_blocks = -1  # what a block holds is given up, not the batch

    def _scored(self, blocks: Sequence[Any]) -> Any:
        library = ray_data()
        return library.from_arrow_refs(list(blocks)).map_batches(
            RayScorer,
            batch_size=None,
            batch_format="numpy",
            compute=library.ActorPoolStrategy(size=self._n_workers),
            fn_constructor_args=(self._plan,),
            num_cpus=1,
        )


def _blocks(queue: Queue) -> Iterator[Any]:
    """Yield all items as tables, a block each."""
    library = arrow()
    schema = library.schema([("number", library.int64()), ("request", library.binary())])
    while items := queue.take(BLOCK):
        rows = [{"number": item.number, "request": item.request} for item in items]
        yield library.Table.from_pylist(rows, schema=schema)
