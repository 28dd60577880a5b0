"""Who is served first, and who waits for whom, where many wait for one model."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.contracts import PromptPart
from rafs.engines.batching import SLICE_TOKENS, MicroBatcher
from rafs.engines.loading import load_model
from rafs.engines.prm_heads import load_head
from rafs.engines.prm_layouts import HeadSpec
from rafs.engines.prompt_tokens import load_tokenizer
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.engines.transformers_lm import TransformersProber
from rafs.engines.transformers_prm import TransformersRewarder
from rafs.errors import OverloadedError
from rafs.usage import Caller, Meter, Priority
from tests.rafs.engines.doubler import DEADLINE_S, Doubler, held
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer
from tests.rafs.engines.tiny_prms import SKYWORK, layout, save_tiny

GATE, SCORE, BATCH = (Caller(priority=priority) for priority in Priority)


@pytest.mark.parametrize("backlog", [SCORE, BATCH], ids=["ahead of scores", "ahead of batch work"])
async def test_a_gate_request_jumps_the_queue(
    batcher: MicroBatcher[int, int], doubler: Doubler, backlog: Caller
) -> None:
    first = await held(batcher, doubler, 1)
    waiting = asyncio.create_task(batcher.run([(item, 1) for item in range(100, 200)], backlog))
    await asyncio.sleep(0)
    urgent = asyncio.create_task(batcher.run([(2, 1)], GATE))
    await asyncio.sleep(0)
    doubler.may_go_on.set()
    await asyncio.gather(first, waiting, urgent)
    assert doubler.batches[:2] == [[1], [2]]


async def test_batch_work_runs_in_slices() -> None:
    doubler = Doubler()
    batcher = MicroBatcher[int, int](doubler, name="doubler", batch_tokens=10_000, queue_tokens=20_000)
    first = await held(batcher, doubler, 1)
    calls = [batcher.run([(item, 100) for item in range(20, 40)], caller) for caller in (SCORE, BATCH)]
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0)
    doubler.may_go_on.set()
    await asyncio.gather(first, *tasks)
    batcher.close()
    assert [len(batch) for batch in doubler.batches] == [1, 20, *[SLICE_TOKENS // 100] * 4]


async def test_a_long_batch_gives_way_between_its_slices_to_what_is_more_urgent() -> None:
    done: list[str] = []
    at_first_slice, may_go_on = threading.Event(), threading.Event()

    def work(items: Sequence[str]) -> list[str]:
        for part in range(3 if items == ["long"] else 1):
            done.append(f"{items[0]} {part}")
            if items == ["long"]:
                at_first_slice.set()
                may_go_on.wait(DEADLINE_S)
                slicing.give_way()
        return list(items)

    slicing = MicroBatcher[str, str](work, name="slices", batch_tokens=1, queue_tokens=300)
    long = asyncio.create_task(slicing.run([("long", 100)], BATCH))
    await asyncio.to_thread(at_first_slice.wait, DEADLINE_S)
    others = [asyncio.create_task(slicing.run([(name, 1)], by)) for name, by in (("batch", BATCH), ("gate", GATE))]
    await asyncio.sleep(0)
    may_go_on.set()
    await asyncio.gather(long, *others)
    slicing.close()
    assert done == ["long 0", "gate 0", "long 1", "long 2", "batch 0"]


class Turnstile:
    """Holds a model back in its first pass, and remembers the tokens of every pass."""

    def __init__(self, model: Any) -> None:
        self.passes: list[int] = []
        self.may_go_on = threading.Event()
        self._at_first_pass = threading.Event()
        model.register_forward_pre_hook(self._hold, with_kwargs=True)

    def _hold(self, _: object, __: object, given: dict[str, Any]) -> None:
        self.passes.append(given["input_ids"].shape[1])
        self._at_first_pass.set()
        self.may_go_on.wait(DEADLINE_S)

    async def reached(self) -> None:
        await asyncio.to_thread(self._at_first_pass.wait, DEADLINE_S)


async def ask(prober: TransformersProber, text: str, caller: Caller) -> object:
    return await prober.probe([], [[PromptPart(text=text)]], [PromptPart(text="b")], [0], Meter(caller=caller))


@pytest.fixture
def slow() -> Iterator[tuple[TransformersProber, Turnstile]]:
    model = tiny_llama(max_position_embeddings=2048)
    prober = TransformersProber(model, tiny_tokenizer(), TINY, job_tokens=2048)
    yield prober, Turnstile(model)
    prober.close()


LONG = "a " * 600


async def test_a_gate_request_runs_between_two_slices_of_a_long_trace(
    slow: tuple[TransformersProber, Turnstile],
) -> None:
    prober, turnstile = slow
    long = asyncio.create_task(ask(prober, LONG, BATCH))
    await turnstile.reached()
    urgent = asyncio.create_task(ask(prober, "a", GATE))
    await asyncio.sleep(0)
    turnstile.may_go_on.set()
    await asyncio.gather(long, urgent)
    assert turnstile.passes[:2] == [SLICE_TOKENS, 2]


async def test_a_trace_whose_caller_has_left_runs_no_further_slice(
    slow: tuple[TransformersProber, Turnstile],
) -> None:
    prober, turnstile = slow
    leaving = asyncio.create_task(ask(prober, LONG, BATCH))
    await turnstile.reached()
    leaving.cancel()
    await asyncio.wait([leaving])
    turnstile.may_go_on.set()
    await ask(prober, "a", BATCH)
    assert turnstile.passes == [SLICE_TOKENS, 2]


async def test_a_gate_trace_is_scored_between_two_slices_of_a_long_one(tmp_path: Path) -> None:
    save_tiny(SKYWORK, tmp_path, window=2048)
    spec = layout(SKYWORK)
    assert isinstance(spec.score, HeadSpec)
    model = load_model(tmp_path, "AutoModel")
    rewarder = TransformersRewarder(model, load_tokenizer(tmp_path), TINY, spec, load_head(tmp_path, spec.score, 32))
    turnstile = Turnstile(model)
    long = asyncio.create_task(rewarder.reward("a", [LONG], [0], Meter(caller=BATCH)))
    await turnstile.reached()
    urgent = asyncio.create_task(rewarder.reward("a", ["b"], [0], Meter(caller=GATE)))
    await asyncio.sleep(0)
    turnstile.may_go_on.set()
    await asyncio.gather(long, urgent)
    rewarder.close()
    assert turnstile.passes[0] == SLICE_TOKENS
    assert turnstile.passes[1] < 10
    assert len(turnstile.passes) >= 3


async def test_a_gate_sample_is_drawn_before_the_next_pass_of_a_batch_sample() -> None:
    model = tiny_llama()
    generator = TransformersGenerator(model, tiny_tokenizer(), TINY, max_new_tokens=8)
    turnstile = Turnstile(model)
    long = asyncio.create_task(generator.sample("a", 1, 1, Meter(caller=BATCH)))
    await turnstile.reached()
    urgent = asyncio.create_task(generator.sample("b", 1, 1, Meter(caller=GATE)))
    await asyncio.sleep(0)
    turnstile.may_go_on.set()
    await asyncio.gather(long, urgent)
    generator.close()
    assert turnstile.passes[0] == turnstile.passes[1] > 1
    assert set(turnstile.passes[2:]) == {1}


async def test_a_backlog_of_batch_work_refuses_no_gate_request(
    batcher: MicroBatcher[int, int], doubler: Doubler
) -> None:
    first = await held(batcher, doubler, 1)
    waiting = asyncio.create_task(batcher.run([(2, 299)], BATCH))
    await asyncio.sleep(0)
    urgent = asyncio.create_task(batcher.run([(3, 299)], GATE))
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError, match="599 tokens are queued"):
        await batcher.run([(4, 1)], BATCH)
    doubler.may_go_on.set()
    await asyncio.gather(first, waiting, urgent)
    assert doubler.batches == [[1], [3], [2]]


CALLS = st.lists(st.tuples(st.sampled_from(Priority), st.integers(1, 60), st.booleans()), max_size=25)


@settings(max_examples=60)
@given(CALLS)
def test_whoever_stays_is_served_by_priority_then_by_arrival(calls: list[tuple[Priority, int, bool]]) -> None:
    doubler = Doubler()
    batcher = MicroBatcher[int, int](doubler, name="doubler", batch_tokens=100, queue_tokens=2_000)

    async def serve() -> list[object]:
        first = await held(batcher, doubler, 1)
        tasks = [
            asyncio.create_task(batcher.run([(100 + at, tokens)], Caller(priority=priority)))
            for at, (priority, tokens, _) in enumerate(calls)
        ]
        await asyncio.sleep(0)
        for task, (_, _, leaves) in zip(tasks, calls, strict=True):
            if leaves:
                task.cancel()
        await asyncio.sleep(0)
        doubler.may_go_on.set()
        await first
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    results = asyncio.run(serve())
    batcher.close()
    staying = [at for at, (_, _, leaves) in enumerate(calls) if not leaves]
    assert [results[at] for at in staying] == [[2 * (100 + at)] for at in staying]
    in_order = sorted(staying, key=lambda at: calls[at][0])
    batches = doubler.batches[1:]
    assert [item - 100 for batch in batches for item in batch] == in_order
    for batch in batches:
        priorities, sizes, _ = zip(*(calls[item - 100] for item in batch), strict=True)
        assert len(set(priorities)) == 1
        assert max(sizes) * len(sizes) <= 100
