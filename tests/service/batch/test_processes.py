import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from multiprocessing import active_children
from pathlib import Path

import pytest

from rafs.errors import ConfigError
from service.batch.engine import Queue
from service.batch.outcome import Finished
from service.batch.processes import ProcessEngine
from service.settings import Settings
from tests.service.batch.logs import (
    Batch,
    build_poisoned,
    build_scripted,
    errors_of,
    order_for,
    plan_for,
    results_of,
    row_of,
    write_log,
    write_models,
)
from tests.service.batch.processes_of import descendants_of, has_ended

pytestmark = pytest.mark.slow


def build_nothing(settings: Settings) -> None:
    raise ConfigError("the weights are not here")


class Killing(ProcessEngine):
    """Ends one of its processes after its first result."""

    async def score(self, queue: Queue) -> AsyncGenerator[Sequence[Finished]]:
        is_first = True
        async for finished in super().score(queue):
            yield finished
            if is_first:
                os.kill(active_children()[0].pid or 0, signal.SIGKILL)
            is_first = False


async def test_the_items_of_a_process_that_dies_are_scored_by_the_next(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(60)])
    totals = await Batch(order_for(log, tmp_path / "out")).score(Killing(plan_for(build_scorer=build_scripted), 2))
    assert (totals.scored, totals.failed) == (60, 0)
    assert [row["row"] for row in results_of(tmp_path / "out")] == list(range(1, 61))


async def test_an_item_that_ends_its_process_twice_fails_alone(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(30)])
    totals = await Batch(order_for(log, tmp_path / "out")).score(
        ProcessEngine(plan_for(build_scorer=build_poisoned), 2)
    )
    (error,) = errors_of(tmp_path / "out")
    assert (totals.scored, error["id"], error["problem"], error["retryable"]) == (29, "r13", "worker_died", True)


async def test_a_wrong_configuration_is_told_by_the_first_process(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1)])
    with pytest.raises(ConfigError, match="the weights are not here"):
        await Batch(order_for(log, tmp_path / "out")).score(ProcessEngine(plan_for(build_scorer=build_nothing), 2))


async def test_no_process_is_left_when_a_batch_is_done(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1)])
    await Batch(order_for(log, tmp_path / "out")).score(ProcessEngine(plan_for(build_scorer=build_scripted), 2))
    assert active_children() == []


def test_a_batch_that_is_killed_takes_its_processes_with_it(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(2000)])
    options = ["--workers", "2", "--models-file", str(write_models(tmp_path)), "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", "from service.cli import main; main()", "batch", str(log), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "of 2000 rows" not in process.stderr.readline():
            pass
        started = descendants_of(process.pid)
        process.send_signal(signal.SIGKILL)
    assert len(started) >= 2
    assert all(has_ended(one, within_s=30) for one in started)
