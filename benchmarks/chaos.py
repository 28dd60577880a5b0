"""A batch of 5 000 rows whose service, database connections and workers are killed 50 times on the way.

    python benchmarks/chaos.py [--rows N] [--kills N] [--database URL]

A real service with its checkers and no models. After every so many results something is killed, by chance:
    service   the process, with SIGKILL; it is started again on the same port
    database  one connection, ended by PostgreSQL; on SQLite another writer holds the file for a second instead
    worker    one process that decides identities, with SIGKILL
Then the same rows are scored once more without any kill, and the results are compared.
    lost      rows without a result or an error
    twice     rows with more than one
    changed   rows whose result is another than that of the unbroken run, or than what was told before a kill
    recovery  from a kill of the service until the next new result
"""

import argparse
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import yaml
from rich.console import Console
from rich.table import Table

from service.server import serve
from service.settings import load_settings
from service.wiring import build_scorer

ROWS = 5_000
KILLS = 50
KINDS = ("service", "database", "worker")
PATH = "/v1/batches"
PAGE = 1_000
LOOK_S = 0.05
PATIENCE_S = 600.0
HELD_S = 1.0
MODELS = Path(__file__).parent.parent / "models.yaml"
SCRIPT = Path(__file__)
Rows = dict[int, dict[str, Any]]


class Service:
    """A service process that is started again when it was killed."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        self.database = database
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            port = held.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._environment = os.environ | {"RAFS_PORT": str(port), "RAFS_DATABASE": database, "RAFS_LOG_LEVEL": "error"}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, str(SCRIPT), "--serve", str(self._folder / "models.yaml")]
        with (self._folder / "service.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=self._environment, stderr=log)
        ends_at = time.monotonic() + PATIENCE_S
        while not self._is_ready():
            if time.monotonic() > ends_at or self.process.poll() is not None:
                raise SystemExit((self._folder / "service.log").read_text()[-2_000:])
            time.sleep(LOOK_S)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def workers(self) -> list[int]:
        """Return the processes that decide identities."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in children if "algebra_worker" in Path(f"/proc/{child}/cmdline").read_text()]

    def _is_ready(self) -> bool:
        try:
            return httpx.get(self.url + "/readyz").status_code == 200
        except httpx.TransportError:
            return False


class Batch:
    """A batch of the service."""

    def __init__(self, service: Service, lines: Sequence[str]) -> None:
        self._service = service
        content = "\n".join(lines).encode()
        headers = {"content-type": "application/jsonl"}
        made = httpx.post(f"{service.url}{PATH}?preset=gate", content=content, headers=headers, timeout=PATIENCE_S)
        self.id = made.raise_for_status().json()["id"]

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self._service.url}{PATH}/{self.id}", timeout=PATIENCE_S).json()
        return found

    def wait_for(self, n_done: int) -> dict[str, Any]:
        """Wait until so many rows are done, or the batch is over."""
        ends_at = time.monotonic() + PATIENCE_S
        while (found := self.status())["counts"]["scored"] + found["counts"]["failed"] < n_done:
            if found["status"] not in ("queued", "running"):
                break
            if time.monotonic() > ends_at:
                raise SystemExit(f"the batch stands still: {found}")
            time.sleep(LOOK_S)
        return found

    def lines(self, what: str) -> Iterator[dict[str, Any]]:
        path: str | None = f"{PATH}/{self.id}/{what}?limit={PAGE}"
        while path is not None:
            page = httpx.get(self._service.url + path, timeout=PATIENCE_S)
            yield from map(json.loads, page.text.splitlines())
            path = page.links.get("next", {}).get("url")


def make_lines(n: int) -> list[str]:
    """Return rows of which a third states an identity, a third arithmetic, and a seventh something false."""
    lines = []
    for k in range(n):
        off = int(k % 7 == 0)
        identity = f"(x + {k})^2 = x^2 + {2 * k + off}x + {k * k}"
        stated = identity if k % 3 == 0 else f"{k} + {k + 1} = {2 * k + 1 + off}"
        row = {"custom_id": f"r{k}", "problem": f"Problem {k}: work it out.", "trace": f"{stated}\nThe answer is {k}."}
        lines.append(json.dumps(row))
    return lines


def run(service: Service, rows: int, kills: int) -> dict[str, object]:
    chance, counted, pauses = random.Random(11), Counter[str](), list[float]()
    service.start()
    lines, told = make_lines(rows), Rows()
    started = time.monotonic()
    batch = Batch(service, lines)
    for n in range(kills):
        found = batch.wait_for((n + 1) * rows // (kills + 1) - chance.randrange(rows // (kills + 1) // 2 + 1))
        if n % 10 == 0:
            told |= {row["row"]: _told(row) for row in batch.lines("results")}
        kind = chance.choice(KINDS)
        counted[kind] += _kill(kind, service, chance)
        if kind == "service":
            killed_at, n_done = time.monotonic(), found["counts"]["scored"] + found["counts"]["failed"]
            service.start()
            batch.wait_for(n_done + 1)
            pauses.append(time.monotonic() - killed_at)
    found = batch.wait_for(rows)
    seconds = time.monotonic() - started
    batch.wait_for(rows + 1)
    unbroken = Batch(service, lines)
    unbroken.wait_for(rows + 1)
    outcome = _compare(batch, unbroken, told, rows)
    return {
        "rows": rows,
        **{f"kills of {kind}": counted[kind] for kind in KINDS},
        "status": batch_status(found),
        "seconds": round(seconds, 1),
        "recovery, median s": round(median(pauses), 1) if pauses else None,
        "recovery, longest s": round(max(pauses), 1) if pauses else None,
        **outcome,
    }


def batch_status(found: dict[str, Any]) -> str:
    return f"{found['counts']['scored']} scored, {found['counts']['failed']} failed"


def _compare(batch: Batch, unbroken: Batch, told: Rows, n_rows: int) -> dict[str, object]:
    scored = list(batch.lines("results"))
    failed = list(batch.lines("errors"))
    times = Counter(row["row"] for row in [*scored, *failed])
    here = {row["row"]: _told(row) for row in scored}
    there = {row["row"]: _told(row) for row in unbroken.lines("results")}
    return {
        "lost": n_rows - len(times),
        "twice": sum(n > 1 for n in times.values()),
        "changed against the unbroken run": sum(here.get(row) != there.get(row) for row in here.keys() | there.keys()),
        "changed after it was told": sum(here.get(row) != before for row, before in told.items()),
    }


def _told(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"ms": 0.0}


def _kill(kind: str, service: Service, chance: random.Random) -> int:
    """Kill something, and return how many there were to kill."""
    if kind == "service":
        service.kill()
        return 1
    if kind == "database":
        return _break_connection(service.database, chance)
    workers = service.workers()
    if workers:
        os.kill(chance.choice(workers), signal.SIGKILL)
    return bool(workers)


def _break_connection(database: str, chance: random.Random) -> int:
    if database.startswith("sqlite"):
        with sqlite3.connect(database.removeprefix("sqlite:///"), timeout=60, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(HELD_S)
            other.execute("ROLLBACK")
        return 1
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        others = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
        if others:
            connection.execute("SELECT pg_terminate_backend(%s)", chance.choice(others))
        return bool(others)


@contextmanager
def prepared() -> Iterator[Path]:
    """Yield a folder with a registry that names no models."""
    with tempfile.TemporaryDirectory() as name:
        registry = yaml.safe_load(MODELS.read_text("utf-8"))
        for preset in registry["presets"].values():
            preset["models"] = {}
        (Path(name) / "models.yaml").write_text(yaml.safe_dump(registry))
        yield Path(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--database", default="")
    parser.add_argument("--serve", type=Path)
    given = parser.parse_args()
    if given.serve is not None:
        settings = load_settings(models_file=given.serve)
        serve(build_scorer(settings), settings)
        return
    with prepared() as folder:
        service = Service(folder, given.database or f"sqlite:///{folder / 'rafs.db'}")
        try:
            figures = run(service, given.rows, given.kills)
        finally:
            service.kill()
    table = Table("figure", "value", title="Kills during a batch")
    for name, value in figures.items():
        table.add_row(name, str(value))
    Console().print(table)


if __name__ == "__main__":
    main()
