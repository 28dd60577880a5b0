"""A batch that is killed at random points, again and again, gives what an unbroken one gives."""

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.service.batch.logs import errors_of, results_of, row_of, write_log, write_models

pytestmark = pytest.mark.slow

COMPARED = ("row", "place", "id", "duplicate_of", "status", "outcome", "score", "suspect_step", "reasons", "coverage",
            "tokens", "request_hash", "models", "calibration")  # fmt: skip
CODE = "from service.cli import main; main()"
CONCURRENCY = 3


def log_of(path: Path, n_rows: int) -> Path:
    """Write a log with duplicates near and far, and a row that is at fault."""
    draw = random.Random(5)
    rows: list[object] = [row_of(draw.randrange(n_rows * 3 // 4), id=f"r{n}") for n in range(n_rows)]
    rows[n_rows // 3] = "{broken"
    return write_log(path, rows)


def run_to_a_kill(command: list[str], draw: random.Random, n_lines: int) -> bool:
    """Start a command and kill it behind a random line of what it prints; return whether it came to its end."""
    kill_at, some_s = draw.randrange(n_lines), draw.random() * 0.05
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for number, _ in enumerate(process.stdout):
            if number == kill_at:
                try:
                    process.wait(some_s)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                break
        process.stdout.read()
    return process.returncode == 0


def test_thirty_kills_lose_nothing_and_repeat_only_what_was_in_flight(tmp_path: Path) -> None:
    log, notes, draw = log_of(tmp_path / "log.jsonl", 400), tmp_path / "notes", random.Random(1)
    module = [sys.executable, "-m", "tests.service.batch.killed", str(log)]
    whole = [*module, str(tmp_path / "whole"), str(tmp_path / "whole.notes")]
    broken = [*module, str(tmp_path / "broken"), str(notes)]
    subprocess.run(whole, check=True, capture_output=True)
    n_kills = sum(not run_to_a_kill(broken, draw, 18) for _ in range(30))
    subprocess.run(broken, check=True, capture_output=True)
    assert n_kills >= 8  # the others came to their end first: the faster the machine, the more
    assert results_of(tmp_path / "broken", COMPARED) == results_of(tmp_path / "whole", COMPARED)
    assert errors_of(tmp_path / "broken") == errors_of(tmp_path / "whole")
    scored = Counter(notes.read_text().splitlines())
    assert scored.keys() == set((tmp_path / "whole.notes").read_text().splitlines())
    assert sum(scored.values()) - len(scored) <= n_kills * CONCURRENCY


def test_twelve_kills_of_the_command_change_no_result(tmp_path: Path) -> None:
    log, draw = log_of(tmp_path / "log.jsonl", 300), random.Random(2)
    options = ["--models-file", str(write_models(tmp_path)), "--out"]
    command = [sys.executable, "-c", CODE, "batch", str(log), *options]
    subprocess.run([*command, str(tmp_path / "whole")], check=True, capture_output=True)
    broken = [*command, str(tmp_path / "broken")]
    ended = [run_to_a_kill(broken, draw, 5) for _ in range(12)]
    subprocess.run(broken, check=True, capture_output=True)
    assert ended.count(False) >= 10
    assert results_of(tmp_path / "broken", COMPARED) == results_of(tmp_path / "whole", COMPARED)
