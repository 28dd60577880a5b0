"""A real service under 2 000 clients at once, half of which hang up amid their requests.

    python benchmarks/soak.py [--seconds 60] [--clients 2000] [--json]    minutes on two cores

`rafs serve` runs with its checkers and no models, on a new database, and with its result cache. The clients are as many
connections from other processes. Those that wait for their answers keep their connection, and after a refusal come back
when it says; those that hang up send a part or all of a request, and close or reset the connection. A fifth of the
requests is one that others send too; all other traces differ. The same load runs before as a warm-up.

The exit status is 1 where one of these fails:
    unanswered      requests that were sent whole, not hung up, and got no answer: 0
    5xx             answers with such a status other than 503: 0
    memory          of the service and its workers, settled after the run against settled after the warm-up: within 5 %
    in flight       requests and tokens that the service counts when all clients are gone: 0
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import yaml
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console
from rich.table import Table

from benchmarks.served import Service
from benchmarks.soak_clients import Plan, Tally, drive

CLIENTS = 2_000
SECONDS = 60.0
CLIENTS_OF_PROCESS = 1_000
SETTLE_S = 5.0
LOOK_S = 0.2
PATIENCE_S = 120.0
MEMORY_SHARE = 0.05
MODELS = Path(__file__).parent.parent / "models.yaml"
LEFT = ("rafs_requests_in_flight", "rafs_queued_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A run."""

    tally: Tally
    spent_s: float
    """Until the last answer was there."""
    memory_before: int
    """Bytes."""
    memory_after: int
    left: int
    """Requests in flight and tokens queued, when all clients were gone."""
    complaints: list[str]
    """Log lines of the service at the level `error`."""

    @property
    def faults(self) -> int:
        return sum(n for status, n in self.tally.statuses.items() if status >= 500 and status != 503)

    @property
    def growth(self) -> float:
        """Of the memory, as a share."""
        return self.memory_after / self.memory_before - 1

    def failed(self) -> list[str]:
        """Return which musts were not met."""
        musts = {
            "unanswered": not self.tally.unanswered.total(),
            "5xx": not self.faults,
            "memory": self.growth <= MEMORY_SHARE,
            "in flight": not self.left,
        }
        return [name for name, is_met in musts.items() if not is_met]


def settle(service: Service) -> tuple[int, int]:
    """Wait until nothing is in flight, or for as long as anything could be; return what is, and the memory."""
    ends_at = time.monotonic() + PATIENCE_S
    while _left(service) and time.monotonic() < ends_at:
        time.sleep(LOOK_S)
    time.sleep(SETTLE_S)
    return _left(service), resident_bytes(service.pid)


def _left(service: Service) -> int:
    text = httpx.get(f"{service.address}/metrics", timeout=PATIENCE_S).raise_for_status().text
    families = {family.name: family.samples for family in text_string_to_metric_families(text)}
    return int(sum(families[name][0].value for name in LEFT))


def resident_bytes(pid: int) -> int:
    """Return the memory that a process and its children have; one that has just ended has none."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        children = [int(child) for each in Path(f"/proc/{pid}/task").iterdir() for child in _words(each / "children")]
    except OSError:
        return 0
    own = sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))
    return own + sum(map(resident_bytes, children))


def _words(file: Path) -> list[str]:
    return file.read_text().split()


def load(port: int, n_clients: int, seconds: float, seed: int) -> Tally:
    """Let clients ask for so long, and return what they saw."""
    whole = Tally()
    plans = [
        Plan(port=port, first=first, n_clients=min(CLIENTS_OF_PROCESS, n_clients - first), seconds=seconds, seed=seed)
        for first in range(0, n_clients, CLIENTS_OF_PROCESS)
    ]
    with ProcessPoolExecutor(len(plans), mp_context=multiprocessing.get_context("spawn")) as processes:
        for tally in processes.map(drive, plans):
            whole.add(tally)
    return whole


@contextmanager
def running() -> Iterator[Service]:
    """Yield a service that scores with its checkers alone."""
    with tempfile.TemporaryDirectory() as name:
        registry = yaml.safe_load(MODELS.read_text("utf-8"))
        for preset in registry["presets"].values():
            preset["models"] = {}
        (Path(name) / "models.yaml").write_text(yaml.safe_dump(registry))
        service = Service(Path(name), Path(name) / "models.yaml")
        try:
            service.start()
            yield service
        finally:
            service.stop()


def soak(n_clients: int, warm_up_s: float, seconds: float) -> Found:
    """Warm up, measure, run, and measure again."""
    with running() as service:
        load(service.port, n_clients, warm_up_s, seed=1)
        _, before = settle(service)
        started = time.monotonic()
        tally = load(service.port, n_clients, seconds, seed=2)
        spent_s = time.monotonic() - started
        left, after = settle(service)
        return Found(
            tally=tally,
            spent_s=spent_s,
            memory_before=before,
            memory_after=after,
            left=left,
            complaints=service.complaints(),
        )


def figures_of(found: Found) -> dict[str, object]:
    tally = found.tally
    n_scored = tally.statuses[200]
    return {
        "requests sent": tally.sent,
        "hung up": tally.hung_up,
        "answered": tally.statuses.total(),
        **{f"  with status {status}": n for status, n in sorted(tally.statuses.items())},
        "seconds until the last answer": round(found.spent_s, 1),
        "scored a second": round(n_scored / found.spent_s, 1),
        "share from the result cache": round(tally.hits / n_scored, 3) if n_scored else None,
        **{f"scored, p{p} ms": _percentile(tally.scored_s, p) for p in (50, 95, 99)},
        **{f"refused, p{p} ms": _percentile(tally.refused_s, p) for p in (50, 95)},
        "unconnected": dict(tally.unconnected),
        "unanswered": dict(tally.unanswered),
        "5xx other than 503": found.faults,
        "in flight afterwards": found.left,
        "memory after the warm-up, MB": round(found.memory_before / 1e6, 1),
        "memory after the run, MB": round(found.memory_after / 1e6, 1),
        "growth": f"{found.growth:+.1%}",
        "errors logged": len(found.complaints),
        "failed": found.failed(),
    }


def _percentile(seconds: list[float], percent: int) -> float | None:
    return round(float(np.percentile(seconds, percent)) * 1000, 1) if seconds else None


def main() -> None:
    """Run and print; exit with 1 where a must fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--warm-up", type=float, help="seconds; as long as the run unless given")
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--json", action="store_true", help="print one JSON object, and nothing else")
    given = parser.parse_args()
    warm_up_s = given.seconds if given.warm_up is None else given.warm_up
    found = soak(given.clients, warm_up_s, given.seconds)
    figures = figures_of(found)
    if given.json:
        print(json.dumps(figures))
    else:
        table = Table("figure", "value", title=f"{given.clients} clients for {given.seconds:g} s")
        for name, value in figures.items():
            table.add_row(name, str(value))
        Console().print(table)
    for line in found.complaints[-5:]:
        print(line, file=sys.stderr)
    if found.failed():
        raise SystemExit(1)


if __name__ == "__main__":
    main()
