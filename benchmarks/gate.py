"""What a decision of the gate costs: tokens, which are exact, and wall time of `POST /v1/gate` on this machine.

    python benchmarks/gate.py [--repeats N]    leave a core idle

Every trace is another one, so that nothing is answered from memory. The first requests, which load what is loaded once,
are not counted. The exit status is 1 where a refuted trace put a token through a model.
"""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from service.app import create_app
from service.observability import configure_logging
from service.settings import load_settings
from service.wiring import build_scorer

REPEATS = 200
JUDGED_REPEATS = 20
WARM_UP = 5
N_STEPS = 8
GENERATOR = {"model": "gpt-4o"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one kind of trace."""

    what: str
    goal_ms: float
    milliseconds: Sequence[float]
    """Wall time of each request."""
    cpu_milliseconds: Sequence[float]
    """Of all threads of this process; a busy machine makes it little longer."""
    tokens: Sequence[int]

    def percentile(self, share: float) -> float:
        """Return the time that this share of the requests kept below."""
        return float(np.percentile(self.milliseconds, 100 * share))


def make_trace(seed: int, *, n_steps: int, wrong_at: int | None = None) -> dict[str, Any]:
    """Return a request whose steps add one number to the next; one of them may be off by one."""
    total, lines = seed, []
    for n in range(1, n_steps + 1):
        added = seed % 7 + n
        result = total + added + (n == wrong_at)
        lines.append(f"On day {n} she gets {added} more, which makes {total} + {added} = {result} nuts.")
        total = result
    problem = f"Ana has {seed} nuts and gets some more on each of {n_steps} days. How many has she?"
    return {"problem": problem, "trace": "\n".join([*lines, f"The answer is {total}."]), "generator": GENERATOR}


@asynccontextmanager
async def gate() -> AsyncIterator[httpx.AsyncClient]:
    """Run the application, with its own models, and yield a client."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(database=f"sqlite:///{Path(folder) / 'rafs.db'}")
        app = create_app(build_scorer(settings), settings)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://rafs", timeout=600) as client,
        ):
            yield client


async def measure(client: httpx.AsyncClient, what: str, goal_ms: float, bodies: Iterable[dict[str, Any]]) -> Cost:
    """Send one request after the other."""
    wall: list[float] = []
    cpu: list[float] = []
    tokens: list[int] = []
    for body in bodies:
        started, spent = perf_counter(), process_time()
        reply = await client.post("/v1/gate", json=body)
        wall.append((perf_counter() - started) * 1000)
        cpu.append((process_time() - spent) * 1000)
        tokens.append(reply.raise_for_status().json()["tokens"])
    wall, cpu, tokens = wall[WARM_UP:], cpu[WARM_UP:], tokens[WARM_UP:]
    return Cost(what=what, goal_ms=goal_ms, milliseconds=wall, cpu_milliseconds=cpu, tokens=tokens)


async def measure_all(repeats: int, judged_repeats: int) -> list[Cost]:
    """Measure refuted and judged traces."""
    refuted, judged = range(100, 100 + repeats + WARM_UP), range(100, 100 + judged_repeats + WARM_UP)
    short = (make_trace(seed, n_steps=2, wrong_at=1) for seed in refuted)
    long = (make_trace(seed, n_steps=N_STEPS, wrong_at=N_STEPS // 2) for seed in refuted)
    sound = (make_trace(seed, n_steps=N_STEPS) for seed in judged)
    async with gate() as client:
        return [
            await measure(client, "refuted, 2 steps", 20, short),
            await measure(client, f"refuted, {N_STEPS} steps", 20, long),
            await measure(client, f"judged by the embedded verifier, {N_STEPS} steps", 1000, sound),
        ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--judged-repeats", type=int, default=JUDGED_REPEATS)
    given = parser.parse_args()
    configure_logging("error")
    costs = asyncio.run(measure_all(given.repeats, given.judged_repeats))
    table = Table("trace", "requests", "tokens, most", "CPU p50", "p50", "p95", "asked of p95")
    for cost in costs:
        times = [f"{median(cost.cpu_milliseconds):.1f} ms"]
        times += [f"{cost.percentile(share):.1f} ms" for share in (0.5, 0.95)]
        table.add_row(cost.what, str(len(cost.tokens)), str(max(cost.tokens)), *times, f"< {cost.goal_ms:g} ms")
    Console().print(table)
    if any(max(cost.tokens) for cost in costs[:2]):
        raise SystemExit("a refuted trace put tokens through a model")


if __name__ == "__main__":
    main()
