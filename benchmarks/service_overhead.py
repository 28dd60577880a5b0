"""What RAFS itself costs around the model: processor time a judged trace, and the time of a warm hit.

    python benchmarks/service_overhead.py [--repeats N]

Figures of one process with one thread, on the embedded judge, for a trace of T = 8 steps:
    queue    processor time of judging by an engine that answers at once: prompt, keys, memory, queue, threads
    face     processor time of an HTTP request to a scorer that answers at once, less that of the same client at a
             bare application: parsing, checks, rendering
    engine   processor time of the engine less that of the model's forward passes, which hooks on the model itself
             measure: tokens, masks, reading the logits; the median of the repeats, each of another trace
    flow     processor time of replaying a request: reading, claims, graph and decision, without any model
    warm hit wall time of judging a trace again, and the tokens it costs
The service's own share is queue + face; flow is the checking itself. Where nothing else is said, a figure is the least
of blocks of ten.
"""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter, process_time, thread_time
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from rafs.contracts import PromptPart, StepProber
from rafs.engines.batching import MicroBatcher
from rafs.engines.loading import load_model
from rafs.engines.prompt_tokens import load_tokenizer
from rafs.engines.remembered_probes import RememberingProber
from rafs.engines.transformers_lm import TransformersProber
from rafs.engines.weights import locate
from rafs.reading import read_text
from rafs.record import ProvenanceOut
from rafs.registry import load_registry
from rafs.request import ScoreRequest
from rafs.types import Abstained, BlindTrace, LabelMass, ModelIdentity
from rafs.usage import Meter
from rafs.wire import ModelStatus, ScoreResponse
from service.app import create_app
from service.observability import configure_logging
from service.scorer import replay
from service.settings import Settings, load_settings
from service.wiring import build_replay, build_scorer
from verifiers.judge import JudgeVerifier

JUDGE = ModelIdentity(id="judge", family="-", revision="-")
N_STEPS = 8
REPEATS = 9
BLOCKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Milliseconds of one core; `warm_wall_ms` of a clock."""

    queue_ms: float
    face_ms: float
    engine_ms: float
    forward_ms: float
    flow_ms: float
    warm_wall_ms: float
    warm_tokens: int

    @property
    def service_ms(self) -> float:
        """What the service adds to the engine's call."""
        return self.queue_ms + self.face_ms

    @property
    def share(self) -> float:
        """What service and engine add to the model's passes, as a share of them."""
        return (self.service_ms + self.engine_ms) / self.forward_ms


class EngineAtOnce:
    """A `StepProber` with a queue and a thread, and no model."""

    identity = JUDGE
    fingerprint = "at once"

    def __init__(self) -> None:
        self.batcher = MicroBatcher[int, list[LabelMass]](self._run, name="at once", batch_tokens=1, queue_tokens=1000)

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        (masses,) = await self.batcher.run([(len(ask), 1)], meter.caller)
        return masses

    def _run(self, jobs: Sequence[int]) -> list[list[LabelMass]]:
        return [[LabelMass(yes=0.5, no=0.5)] * n for n in jobs]


class ScorerAtOnce:
    """A `ScoringService` that has its response ready."""

    def __init__(self, response: ScoreResponse) -> None:
        self._response = response

    async def score(self, request: ScoreRequest) -> ScoreResponse:
        return self._response

    async def warm(self, preset: str | None = None) -> None:
        pass

    def not_ready(self) -> list[str]:
        return []

    def models(self) -> list[ModelStatus]:
        return []

    def would_use(self, preset: str, seed: int) -> ProvenanceOut:
        return self._response.provenance

    async def close(self) -> None:
        pass


def make_trace(seed: int) -> tuple[str, str]:
    """Return a problem and a trace of N_STEPS lines, other numbers for another seed."""
    lines = [
        f"On day {n} the shop sells {n + seed} crates of {n + 2} jars, which are {(n + seed) * (n + 2)} jars in all."
        for n in range(1, N_STEPS + 1)
    ]
    return f"A shop opens with {seed + 900} jars and sells some every day. How many are left?", "\n".join(lines)


def blind(seed: int) -> BlindTrace:
    """Return a trace as a judge sees it."""
    return read_text(*make_trace(seed), None).blind()


@contextmanager
def counted_forward(model: Any) -> Iterator[list[float]]:
    """Collect the processor seconds of every forward pass of `model` made on the calling thread."""
    passes: list[float] = []
    before = model.register_forward_pre_hook(lambda *_: passes.append(-thread_time()))
    after = model.register_forward_hook(lambda *_: passes.append(passes.pop() + thread_time()))
    try:
        yield passes
    finally:
        before.remove()
        after.remove()


async def least(act: Callable[[int], Awaitable[object]], clock: Callable[[], float] = process_time) -> float:
    """Return the milliseconds of one call, the least over blocks of ten; each call is given another number."""
    blocks: list[float] = []
    for block in range(BLOCKS):
        started = clock()
        for call in range(10):
            await act(10 * block + call)
        blocks.append((clock() - started) * 100)
    return min(blocks)


async def measure(repeats: int = REPEATS) -> Overhead:
    """Measure on the embedded judge.

    Raises:
        SystemExit: Its weights are not on this machine.
    """
    settings = load_settings()
    response, body = await _score_once(settings)
    engine_ms, forward_ms, warm_wall_ms, warm_tokens = await _engine(settings, repeats)
    record = response.record
    assert record is not None
    return Overhead(
        queue_ms=await _queue(),
        face_ms=await _face(settings, response, body),
        engine_ms=engine_ms,
        forward_ms=forward_ms,
        flow_ms=await least(lambda _: replay(record, build_replay)),
        warm_wall_ms=warm_wall_ms,
        warm_tokens=warm_tokens,
    )


async def _judge(prober: StepProber, trace: BlindTrace) -> Meter:
    meter = Meter()
    await JudgeVerifier(prober).verify(trace, range(len(trace.steps)), meter)
    return meter


async def _queue() -> float:
    engine = EngineAtOnce()
    prober = RememberingProber(engine)
    traces = [blind(seed) for seed in range(10 * BLOCKS)]
    found = await least(lambda at: _judge(prober, traces[at]))
    engine.batcher.close()
    return found


async def _engine(settings: Settings, repeats: int) -> tuple[float, float, float, int]:
    """Return the engine's own time, the model's, and the wall time and the tokens of a warm hit."""
    source = load_registry(settings.models_file).model("smollm2-135m-instruct").to_source()
    folder = None if source is None else locate(source, settings.cache_dir)
    if folder is None:
        raise SystemExit("the judge is not on this machine: run `rafs models pull`")
    model = load_model(folder, "AutoModelForCausalLM", threads=1)
    local = TransformersProber(model, load_tokenizer(folder), JUDGE)
    traces = [blind(seed) for seed in range(repeats + 1)]
    costs: list[tuple[float, float]] = []
    with counted_forward(model) as passes:
        for trace in traces:
            passes.clear()
            started = process_time()
            await _judge(local, trace)
            costs.append((process_time() - started, sum(passes)))
    prober = RememberingProber(local)
    await _judge(prober, traces[0])
    warm_ms = await least(lambda _: _judge(prober, traces[0]), perf_counter)
    warm_tokens = (await _judge(prober, traces[0])).stages["verify"].tokens
    local.close()
    engine = median(1000 * (whole - forward) for whole, forward in costs[1:])  # the first warms up
    return engine, median(1000 * forward for _, forward in costs[1:]), warm_ms, warm_tokens


async def _score_once(settings: Settings) -> tuple[ScoreResponse, bytes]:
    problem, trace = make_trace(0)
    body = json.dumps({"problem": problem, "trace": trace, "include": ["record"]}).encode()
    scorer = build_scorer(settings)
    try:
        return await scorer.score(ScoreRequest.model_validate_json(body)), body
    finally:
        await scorer.close()


async def _face(settings: Settings, response: ScoreResponse, body: bytes) -> float:
    response = response.model_copy(update={"record": None})
    content = response.model_dump_json().encode()

    async def bare(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def post(client: httpx.AsyncClient, _: int) -> None:
        (await client.post("/v1/score", content=body, headers={"content-type": "application/json"})).raise_for_status()

    spent: list[float] = []
    for app in (create_app(ScorerAtOnce(response), settings.model_copy(update={"result_cache_s": 0})), bare):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://rafs") as client:
            spent.append(await least(partial(post, client)))
    return spent[0] - spent[1]


def main() -> None:
    """Measure and print the goals beside the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    repeats = parser.parse_args().repeats
    configure_logging("warning")
    found = asyncio.run(measure(repeats))
    table = Table("what", "goal", "measured")
    table.add_row("service, CPU: queue + face", "<= 1 ms", f"{found.queue_ms:.2f} + {found.face_ms:.2f} ms")
    table.add_row("engine, CPU around the model", "", f"{found.engine_ms:.2f} ms")
    table.add_row("both, of the model's passes", "<= 3 %", f"{found.share:.2%} of {found.forward_ms:.0f} ms")
    table.add_row("flow without models, CPU", "", f"{found.flow_ms:.2f} ms")
    table.add_row("warm hit, wall", "<= 2 ms", f"{found.warm_wall_ms:.2f} ms")
    table.add_row("warm hit, tokens", "0", str(found.warm_tokens))
    Console().print(table)


if __name__ == "__main__":
    main()
