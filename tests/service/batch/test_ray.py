"""On a Ray cluster of this machine with two workers, one of which is killed on the way."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.service.batch.logs import STABLE, results_of, row_of, write_log, write_models
from tests.service.batch.processes_of import descendants_of, title_of

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("ray") is None, reason="pip install 'rafs[ray]'")]

N_ROWS = 640
CODE = "from service.cli import main; main()"


def test_a_worker_that_is_killed_on_the_way_changes_no_result(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n % 500, id=f"r{n}") for n in range(N_ROWS)])
    options = ["--models-file", str(write_models(tmp_path)), "--out"]
    command = [sys.executable, "-c", CODE, "batch", str(log), *options]
    subprocess.run([*command, str(tmp_path / "local")], check=True, capture_output=True)
    on_cluster = [*command, str(tmp_path / "ray"), "--engine", "ray", "--workers", "2"]
    with subprocess.Popen(on_cluster, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = []
        while f"of {N_ROWS} rows" not in (line := process.stderr.readline()):
            told.append(line)
            assert line, "".join(told)
        workers = [one for one in descendants_of(process.pid) if "RayScorer" in title_of(one)]
        os.kill(workers[0], signal.SIGKILL)
        told.append(process.stderr.read())
        assert process.wait() == 0, "".join(told)
    assert len(workers) == 2
    columns = [*STABLE, "request_hash"]
    assert results_of(tmp_path / "ray", columns) == results_of(tmp_path / "local", columns)
