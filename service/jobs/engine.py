"""DBOS in this process: started where there is work for it, quiet, and without files, servers or senders of its own."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from rafs.errors import BackendError, ConfigError
from service.database.engine import Database
from service.jobs.work import Work, install

NAME = "rafs"
SCHEMA = "rafs_jobs"
"""Of DBOS's tables in PostgreSQL; in SQLite they lie beside ours under their own names."""
POOL_SIZE = 6
POLL_S = 0.5
"""Between two looks for workflows to begin; a batch starts so much later."""
TOLD = ".told"
"""Ends the id of the workflow that tells the end of a batch."""
LOGGER = "dbos"

_taken: list[str] = []
"""DBOS has one instance a process: the worker that has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A workflow as it lies in the database."""

    id: str
    is_over: bool
    worker: str | None
    """That runs it; None while it waits in line."""


class DurableEngine:
    """Begins workflows, and takes over those of workers that are gone. For one event loop."""

    def __init__(self, database: Database, work: Work, *, worker: str, at_once: int) -> None:
        """Keep the parts; nothing is started.

        Args:
            database: On whose address DBOS keeps its tables.
            work: What the steps do.
            worker: Name of this process; a process that is started again under it goes on with its workflows at once.
            at_once: Batches that this process works on at a time.
        """
        self._database = database
        self._work = work
        self._worker = worker
        self._at_once = at_once
        self.is_running = False

    async def start(self) -> None:
        """Start DBOS, unless it runs; it goes on with what it finds.

        Raises:
            ConfigError: It is not installed, or runs in this process for another application.
            BackendError: The database failed.
        """
        if self.is_running:
            return
        check_installed()
        if _taken:
            raise ConfigError("batches are worked on by one application in a process, and another one does")
        _taken.append(self._worker)
        launching = asyncio.ensure_future(asyncio.to_thread(self._launch))
        try:
            await asyncio.shield(launching)
        except asyncio.CancelledError:  # the service stops; a thread does not, so what it began is ended behind it
            await asyncio.wait({launching})
            await asyncio.to_thread(self._destroy)
            raise
        except Exception as error:  # whatever it raises: it has its own errors, and those of two drivers
            await asyncio.to_thread(self._destroy)
            raise BackendError(f"the durable jobs did not start ({type(error).__name__})") from error
        self.is_running = True

    async def stop(self) -> None:
        """Stop DBOS; what is under way is left as it is, for the next start or another process."""
        if self.is_running:
            self.is_running = False
            await asyncio.to_thread(self._destroy)

    async def find(self, ids: Sequence[str]) -> dict[str, Known]:
        """Return those of some workflows that exist, by id.

        Raises:
            BackendError: The database failed.
        """
        found: dict[str, Known] = await _asked(self._find, ids)
        return found

    async def begin_scoring(self, batch: str) -> None:
        """Put a batch in line to be scored; once, however often it is called.

        Raises:
            BackendError: The database failed.
        """
        from service.jobs.workflows import SCORE, score_batch

        await _asked(_enqueue, SCORE, batch, score_batch, batch)

    async def begin_telling(self, batch: str) -> None:
        """Put the end of a batch in line to be told; once, however often it is called.

        Raises:
            BackendError: The database failed.
        """
        from service.jobs.workflows import TELL, tell_end

        await _asked(_enqueue, TELL, batch + TOLD, tell_end, batch)

    async def take_over(self, workflow: Known) -> None:
        """Put a workflow of a worker that is gone in line again.

        Two that do so at once do no harm: DBOS lets the last one have it, and no result is written twice.

        Raises:
            BackendError: The database failed.
        """
        from dbos import DBOS

        from service.jobs.workflows import SCORE, TELL

        queue = TELL if workflow.id.endswith(TOLD) else SCORE
        await _asked(DBOS.resume_workflow, workflow.id, queue_name=queue)

    async def forget(self, batch: str) -> None:
        """Delete what DBOS keeps of a batch.

        Raises:
            BackendError: The database failed.
        """
        from dbos import DBOS

        await _asked(DBOS.delete_workflows, [batch, batch + TOLD])

    def _launch(self) -> None:
        from dbos import DBOS, DBOSPortableJSONSerializer

        from service.jobs.workflows import SCORE, TELL, VERSION

        install(self._work)
        _quieten()
        DBOS(
            config={
                "name": NAME,
                "system_database_url": self._database.sync_url,
                "dbos_system_schema": SCHEMA,
                "sys_db_pool_size": POOL_SIZE,
                "executor_id": self._worker,
                "application_version": VERSION,
                "serializer": DBOSPortableJSONSerializer(),  # pickles would be evaluated
                "use_listen_notify": False,  # nobody listens, and poolers of connections lack it
                "notification_listener_polling_interval_sec": 0.5,  # nobody waits for one; a stop waits for this
                "scheduler_polling_interval_sec": 3600.0,  # nothing is scheduled
                "enable_otlp": False,
                "log_level": "ERROR",
            }
        )
        DBOS.launch()
        DBOS.register_queue(SCORE, worker_concurrency=self._at_once, polling_interval_sec=POLL_S)
        DBOS.register_queue(TELL, polling_interval_sec=POLL_S)  # most of them sleep until their next attempt

    def _destroy(self) -> None:
        from dbos import DBOS

        DBOS.destroy()
        _taken.clear()

    def _find(self, ids: Sequence[str]) -> dict[str, Known]:
        from dbos import DBOS

        if not ids:
            return {}
        found = DBOS.list_workflows(workflow_ids=list(ids), load_input=False, load_output=False)
        return {
            one.workflow_id: Known(
                id=one.workflow_id,
                is_over=one.status not in ("ENQUEUED", "PENDING", "DELAYED"),
                worker=one.executor_id if one.status == "PENDING" else None,
            )
            for one in found
        }


def check_installed() -> None:
    """Refuse to make batches where nothing can work on them.

    Raises:
        ConfigError: A library is missing.
    """
    if find_spec("dbos") is None or find_spec("standardwebhooks") is None:
        raise ConfigError("POST /v1/batches needs libraries that are not installed: pip install 'rafs[jobs]'")


def _enqueue(queue: str, workflow_id: str, function: Any, batch: str) -> None:
    from dbos import DBOS, SetWorkflowID

    with SetWorkflowID(workflow_id):
        DBOS.enqueue_workflow(queue, function, batch)


async def _asked(call: Any, *args: Any, **options: Any) -> Any:
    """Call DBOS in a thread: it blocks, and asked from an event loop it would give that loop its own threads."""
    try:
        return await asyncio.to_thread(call, *args, **options)
    except Exception as error:  # whatever it raises: it has its own errors, and those of two drivers
        raise BackendError(f"the durable jobs failed ({type(error).__name__})") from error


def _quieten() -> None:
    """Let DBOS's log lines pass through ours, and no parameters of statements with them."""
    log = logging.getLogger(LOGGER)
    if not log.handlers:
        log.addHandler(logging.NullHandler())  # or it would write to standard error in a form of its own
    log.propagate = True
