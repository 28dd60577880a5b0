"""A real service and its embedded verifier under load, beside the verifier alone.

    python -m benchmarks.load [--seconds 20]    minutes; leave both cores idle

`rafs serve` runs in a process of its own, the verifier with one thread; this process is its clients. Every trace is
another one, of eight steps. In one run:
    saturated    traces a second of as many clients as keep it busy, over those of the verifier's own passes in this
                 process, before and after: the service adds no more than a tenth
    overload     twice as many requests as it can answer, sent at equal distances, with a queue of a few seconds: the
                 answers a second over those of `saturated`, how fast the others are refused, and the memory
    backlog      the slowest twentieth of gate decisions alone, and while a batch of logs is scored: at most one slice
                 of 512 tokens more
    disconnect   processor time that the service spends after the client of a long trace has hung up: at most one slice
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.gate import make_trace
from benchmarks.goals import Goal, at_least, at_most
from benchmarks.served import Service
from benchmarks.soak import MODELS, resident_bytes
from rafs.engines.packed import SLICE_TOKENS
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.usage import Meter
from service.settings import load_settings
from service.stock import Stock

PRESET = "standard"
N_STEPS, N_LONG = 8, 100
"""Steps of a trace, and of one that is several slices long."""
N_RAW = 40
N_CLIENTS = 8
N_GATES = 30
N_BACKLOG = 300
N_HUNG_UP = 8
HANG_UP_S, SETTLED_S = 0.3, 5.0
QUEUE_TOKENS = 2_048
TIMEOUT_S = 300.0
SEEDS = count(1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """The verifier's own passes."""

    trace_s: float
    token_s: float

    @property
    def slice_s(self) -> float:
        """What one slice takes."""
        return SLICE_TOKENS * self.token_s


async def raw_passes() -> Raw:
    """Let the verifier judge traces that are all there from the start."""
    settings = load_settings()
    registry, secret = load_registry(settings.models_file), settings.edit_secret.get_secret_value().encode()
    stock = Stock(registry, settings.cache_dir, 1, settings.pull_command, secret)
    bodies = [make_trace(next(SEEDS), n_steps=N_STEPS) for _ in range(N_RAW)]
    traces = [read_text(body["problem"], body["trace"], None).blind() for body in bodies]
    async with stock.closing:
        (verifier,) = stock.prms(PRESET)
        await verifier.verify(traces[0], range(len(traces[0].steps)), Meter())
        meter, started = Meter(), perf_counter()
        await asyncio.gather(*(verifier.verify(trace, range(len(trace.steps)), meter) for trace in traces[1:]))
        spent_s = perf_counter() - started
    tokens = sum(stage.tokens for stage in meter.stages.values())
    return Raw(trace_s=spent_s / (N_RAW - 1), token_s=spent_s / tokens)


async def saturated(client: httpx.AsyncClient, seconds: float) -> float:
    """Return the answers a second of clients that ask again at once."""
    ends_at, answered = perf_counter() + seconds, 0

    async def ask() -> None:
        nonlocal answered
        while perf_counter() < ends_at:
            (await score(client)).raise_for_status()
            answered += perf_counter() < ends_at

    await asyncio.gather(*(ask() for _ in range(N_CLIENTS)))
    return answered / seconds


async def overload(client: httpx.AsyncClient, rate: float, seconds: float) -> tuple[float, list[float]]:
    """Send requests at a rate, and return the answers a second and the milliseconds of each refusal."""
    answered: list[float] = []
    refused_ms: list[float] = []

    async def ask() -> None:
        started = perf_counter()
        reply = await score(client)
        if reply.status_code == 200:
            answered.append(perf_counter())
        else:
            assert reply.status_code == 429, reply.text
            refused_ms.append((perf_counter() - started) * 1000)

    asking = []
    starts = perf_counter()
    for place in range(round(rate * seconds)):
        await asyncio.sleep(max(0.0, starts + place / rate - perf_counter()))
        asking.append(asyncio.create_task(ask()))
    await asyncio.gather(*asking)
    return len(answered) / (max(answered) - starts), refused_ms


async def gate_p95_ms(client: httpx.AsyncClient) -> float:
    """Ask the gate about one trace after the other."""
    spent: list[float] = []
    for _ in range(N_GATES):
        started = perf_counter()
        (await client.post("/v1/gate", json=make_trace(next(SEEDS), n_steps=N_STEPS))).raise_for_status()
        spent.append((perf_counter() - started) * 1000)
    return float(np.percentile(spent, 95))


async def under_backlog(client: httpx.AsyncClient, act: Callable[[], Awaitable[float]]) -> float:
    """Return what `act` finds while a batch is scored that outlasts it."""
    rows = [make_trace(next(SEEDS), n_steps=N_STEPS) for _ in range(N_BACKLOG)]
    made = await client.post("/v1/batches", json={"requests": rows, "preset": PRESET})
    path = f"/v1/batches/{made.raise_for_status().json()['id']}"

    async def state() -> dict[str, Any]:
        found: dict[str, Any] = (await client.get(path)).raise_for_status().json()
        return found

    while (await state())["counts"]["scored"] == 0:
        await asyncio.sleep(0.05)
    found = await act()
    assert (await state())["status"] == "running", "the batch ended before the gate was measured: give it more rows"
    await client.post(f"{path}/cancel")
    return found


async def after_hanging_up(client: httpx.AsyncClient, pid: int) -> float:
    """Return the most processor seconds that the service spent after the client of a long trace was gone."""
    spent: list[float] = []
    await asyncio.sleep(SETTLED_S)
    idle_s = await _spent(pid)
    for _ in range(N_HUNG_UP):
        with suppress(httpx.ReadTimeout):
            await client.post("/v1/score", json=_body(N_LONG), timeout=HANG_UP_S)
            raise AssertionError("the trace was judged before its client hung up: make it longer")
        spent.append(await _spent(pid) - idle_s)
    return max(spent)


async def _spent(pid: int) -> float:
    before = processor_s(pid)
    await asyncio.sleep(SETTLED_S)
    return processor_s(pid) - before


def processor_s(pid: int) -> float:
    """Return the processor seconds of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _body(n_steps: int = N_STEPS) -> dict[str, Any]:
    return {**make_trace(next(SEEDS), n_steps=n_steps), "preset": PRESET}


async def score(client: httpx.AsyncClient) -> httpx.Response:
    """Ask for a score of a new trace."""
    return await client.post("/v1/score", json=_body())


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What was found of a service."""

    peak: float
    """Answers a second, as many as it can give."""
    goodput: float
    """Under twice that."""
    refused_ms: Sequence[float]
    memory_growth: float
    gate_idle_ms: float
    gate_backlog_ms: float
    late_s: float


async def measure(service: Service, seconds: float) -> Served:
    """Measure all four on a service that is ready."""
    pid, limits = service.pid, httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=service.address, timeout=TIMEOUT_S, limits=limits) as client:
        await saturated(client, seconds / 4)  # what is loaded once
        peak = await saturated(client, seconds)
        memory = resident_bytes(pid)
        goodput, refused_ms = await overload(client, 2 * peak, seconds)
        return Served(
            peak=peak,
            goodput=goodput,
            refused_ms=refused_ms,
            memory_growth=resident_bytes(pid) / memory - 1,
            gate_idle_ms=await gate_p95_ms(client),
            gate_backlog_ms=await under_backlog(client, lambda: gate_p95_ms(client)),
            late_s=await after_hanging_up(client, pid),
        )


def run(seconds: float) -> Iterator[Goal]:
    """Measure the verifier alone, the service, and the verifier again."""
    raws = [asyncio.run(raw_passes())]
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder), MODELS, RAFS_TORCH_THREADS="1", RAFS_MAX_QUEUED_TOKENS=str(QUEUE_TOKENS))
        try:
            service.start()
            served = asyncio.run(measure(service, seconds))
        finally:
            service.stop()
    raw = min(*raws, asyncio.run(raw_passes()), key=lambda one: one.trace_s)
    slice_ms, refused = raw.slice_s * 1000, served.refused_ms
    slowest = float(np.percentile(refused, 95)) if refused else float("inf")
    yield at_least(
        f"9 saturated: {served.peak:.2f} traces a second, over the verifier alone", 0.9, served.peak * raw.trace_s
    )
    yield at_least("10 twice the load: answers a second over the most", 0.9, served.goodput / served.peak)
    yield at_most(f"10 twice the load: 95 % of {len(refused)} refusals within", 10, slowest, " ms")
    yield at_most("10 twice the load: growth of the memory", 5, 100 * served.memory_growth, " %")
    alone = f"{served.gate_idle_ms:.0f} ms alone"
    yield at_most(f"11 gate p95 ({alone}) under a batch", served.gate_idle_ms + slice_ms, served.gate_backlog_ms, " ms")
    yield at_most("12 processor time after the client left", slice_ms, 1000 * served.late_s, " ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the saturated and of the overloaded service")
    table = Table("goal", "asked", "measured", "")
    for goal in run(parser.parse_args().seconds):
        table.add_row(goal.what, goal.goal, goal.measured, "met" if goal.is_met else "[red]missed[/red]")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
