"""A batch of 5 000 rows whose service, database connections and workers are killed 50 times on the way.

    python benchmarks/chaos.py [--rows N] [--kills N] [--kinds KIND ...] [--database URL | --postgres]

A real service with its checkers and a judge behind a model server. After every so many results something is killed,
by chance:
    service   the process, with SIGKILL; it is started again on the same port
    database  one connection, ended by PostgreSQL; on SQLite another writer holds the file for a second instead
    worker    one process that decides identities, with SIGKILL
    engine    the model server, with SIGKILL; it is started again after at most six seconds
Then the same rows are scored once more without any kill, and the results are compared.
    lost      rows without a result or an error
    failed    rows with an error
    twice     rows with more than one
    changed   rows whose result is another than that of the unbroken run (what it cost aside), or than what was told
              before a kill
    recovery  from a kill of the service until the next new result
"""

import argparse
import json
import os
import random
import signal
import sqlite3
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

from benchmarks.chaos_engine import MODEL, Engine
from benchmarks.served import LOOK_S, PATIENCE_S, Service

ROWS = 5_000
KILLS = 50
KINDS = ("service", "database", "worker", "engine")
PATH = "/v1/batches"
PAGE = 1_000
HELD_S = 1.0
LONGEST_OUTAGE_S = 6.0
SHOWN = 5
MODELS = Path(__file__).parent.parent / "models.yaml"
COST = ("ms", "tokens")
"""Of a row; what a judge said of an equal step costs nothing the second time, so it hangs on what else was asked."""
Rows = dict[int, dict[str, Any]]


class Batch:
    """A batch of the service."""

    def __init__(self, service: Service, lines: Sequence[str]) -> None:
        self._service = service
        content = "\n".join(lines).encode()
        headers = {"content-type": "application/jsonl"}
        made = httpx.post(f"{service.address}{PATH}?preset=gate", content=content, headers=headers, timeout=PATIENCE_S)
        self.id = made.raise_for_status().json()["id"]

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self._service.address}{PATH}/{self.id}", timeout=PATIENCE_S).json()
        return found

    def wait_for(self, n_done: int) -> dict[str, Any]:
        """Wait until so many rows are done, or the batch is over."""
        before, ends_at = -1, 0.0
        while (n := _count(found := self.status())) < n_done and found["status"] in ("queued", "running"):
            if n != before:
                before, ends_at = n, time.monotonic() + PATIENCE_S
            if time.monotonic() > ends_at:
                raise SystemExit(f"the batch stands still: {found}")
            time.sleep(LOOK_S)
        return found

    def lines(self, what: str) -> Iterator[dict[str, Any]]:
        path: str | None = f"{PATH}/{self.id}/{what}?limit={PAGE}"
        while path is not None:
            page = httpx.get(self._service.address + path, timeout=PATIENCE_S)
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


def run(service: Service, engine: Engine, rows: int, kills: int, kinds: Sequence[str]) -> dict[str, object]:
    chance, counted, pauses = random.Random(11), Counter[str](), list[float]()
    engine.start()
    service.start()
    lines, told = make_lines(rows), Rows()
    started = time.monotonic()
    batch = Batch(service, lines)
    for n in range(kills):
        found = batch.wait_for((n + 1) * rows // (kills + 1) - chance.randrange(rows // (kills + 1) // 2 + 1))
        if n % 10 == 0:
            told |= {row["row"]: row for row in batch.lines("results")}
        kind = chance.choice(kinds)
        counted[kind] += _kill(kind, service, engine, chance)
        print(f"kill {n + 1} of {kills}: {kind}", file=sys.stderr, flush=True)
        if kind == "service":
            killed_at, n_done = time.monotonic(), _count(found)
            service.start()
            batch.wait_for(n_done + 1)
            pauses.append(time.monotonic() - killed_at)
    found = batch.wait_for(rows)
    seconds = time.monotonic() - started
    batch.wait_for(rows + 1)
    service.kill()  # so that nothing of what was asked is remembered
    service.start()
    unbroken = Batch(service, lines)
    unbroken.wait_for(rows + 1)
    outcome = _compare(batch, unbroken, told, rows)
    return {
        "rows": rows,
        **{f"kills of {kind}": counted[kind] for kind in kinds},
        "status": batch_status(found),
        "seconds": round(seconds, 1),
        "recovery, median s": round(median(pauses), 1) if pauses else None,
        "recovery, longest s": round(max(pauses), 1) if pauses else None,
        **outcome,
    }


def _count(found: dict[str, Any]) -> int:
    return int(found["counts"]["scored"] + found["counts"]["failed"])


def batch_status(found: dict[str, Any]) -> str:
    return f"{found['counts']['scored']} scored, {found['counts']['failed']} failed"


def _compare(batch: Batch, unbroken: Batch, told: Rows, n_rows: int) -> dict[str, object]:
    scored = list(batch.lines("results"))
    failed = list(batch.lines("errors"))
    times = Counter(row["row"] for row in [*scored, *failed])
    here = {row["row"]: row for row in scored}
    there = {row["row"]: row for row in unbroken.lines("results")}
    changed = {
        row: what for row in here.keys() | there.keys() if (what := _differ(here.get(row, {}), there.get(row, {})))
    }
    for row in list(changed)[:SHOWN]:
        print(f"row {row}: {changed[row]}", file=sys.stderr)
    return {
        "failed": len(failed),
        "lost": n_rows - len(times),
        "twice": sum(n > 1 for n in times.values()),
        "changed against the unbroken run": len(changed),
        "changed after it was told": sum(here.get(row) != before for row, before in told.items()),
    }


def _differ(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in one | other if name not in COST]
    return {name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)}


def _kill(kind: str, service: Service, engine: Engine, chance: random.Random) -> int:
    """Kill something, and return how many there were to kill."""
    if kind == "service":
        service.kill()
        return 1
    if kind == "engine":
        engine.kill()
        time.sleep(chance.uniform(0.0, LONGEST_OUTAGE_S))
        engine.start()
        return 1
    if kind == "database":
        return _break_connection(service.database, chance)
    workers = _workers(service.pid)
    if workers:
        os.kill(chance.choice(workers), signal.SIGKILL)
    return bool(workers)


def _workers(pid: int) -> list[int]:
    """Return the processes that decide identities."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if "algebra_worker" in Path(f"/proc/{child}/cmdline").read_text()]


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
def prepared(judge: dict[str, object]) -> Iterator[Path]:
    """Yield a folder with a registry whose presets have this judge and no other model."""
    with tempfile.TemporaryDirectory() as name:
        registry = yaml.safe_load(MODELS.read_text("utf-8"))
        registry["models"].append(judge)
        for preset in registry["presets"].values():
            preset["models"] = {"judge": [MODEL]}
        (Path(name) / "models.yaml").write_text(yaml.safe_dump(registry))
        yield Path(name)


@contextmanager
def database_of(given: argparse.Namespace, folder: Path) -> Iterator[str]:
    """Yield the address of an empty database."""
    if not given.postgres:
        yield given.database or f"sqlite:///{folder / 'rafs.db'}"
        return
    from tests.service.databases import running_postgres

    with running_postgres() as server:
        yield server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--database", default="")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL of its own")
    given = parser.parse_args()
    engine = Engine()
    with prepared(engine.entry) as folder, database_of(given, folder) as database:
        service = Service(folder, folder / "models.yaml", database)
        try:
            figures = run(service, engine, given.rows, given.kills, given.kinds)
        finally:
            service.kill()
            engine.kill()
    table = Table("figure", "value", title="Kills during a batch")
    for name, value in figures.items():
        table.add_row(name, str(value))
    Console().print(table)


if __name__ == "__main__":
    main()
