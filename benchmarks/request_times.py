"""What a client waits for a small request: remembered, scored and stored, with an idempotency key, replayed.

    python benchmarks/request_times.py [--requests N]    half a minute; leave the other core idle

`rafs serve` runs in a process of its own with its checkers and no models, on a new SQLite database, and with its result
cache; one client on this machine asks, one request after the other, over one connection. Wall time in milliseconds.
"""

import argparse
import time
from collections.abc import Callable
from itertools import count
from statistics import median, quantiles

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.service_overhead import N_STEPS, make_trace
from benchmarks.soak import running

REQUESTS = 300


def time_requests(client: httpx.Client, ask: Callable[[], tuple[int, dict[str, str]]], n: int) -> list[float]:
    """Return the milliseconds of n requests, each of the trace and with the headers that `ask` gives.

    Raises:
        HTTPStatusError: One was not answered with a score.
    """
    spent = []
    for _ in range(n):
        seed, headers = ask()
        problem, trace = make_trace(seed)
        started = time.perf_counter()
        client.post("/v1/score", json={"problem": problem, "trace": trace}, headers=headers).raise_for_status()
        spent.append(1000 * (time.perf_counter() - started))
    return spent


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each kind, at least 20")
    n = max(20, parser.parse_args().requests)
    seeds = count(1)
    kinds: dict[str, Callable[[], tuple[int, dict[str, str]]]] = {
        "scored and stored": lambda: (next(seeds), {}),
        "remembered": lambda: (1, {}),
        "with an idempotency key, first": lambda: (seed := next(seeds), {"idempotency-key": f"request-{seed}"}),
        "with an idempotency key, replayed": lambda: (1, {"idempotency-key": "request-1"}),
    }
    table = Table(f"request, {N_STEPS} steps", "least", "median", "95th percentile", caption="ms of a client's clock")
    with running() as service, httpx.Client(base_url=service.address, timeout=60) as client:
        for kind, ask in track(kinds.items(), "asking"):
            time_requests(client, ask, 20)
            spent = time_requests(client, ask, n)
            table.add_row(kind, *(f"{one:.2f}" for one in (min(spent), median(spent), quantiles(spent, n=20)[-1])))
    Console().print(table)


if __name__ == "__main__":
    main()
