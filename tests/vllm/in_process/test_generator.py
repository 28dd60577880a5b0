"""The generator on vLLM in this process keeps the contract; who leaves frees its place."""

import asyncio
from typing import Any

import pytest

from rafs.contracts import Generator
from rafs.engines.prompt_tokens import load_tokenizer
from rafs.engines.vllm_engine import VllmEngine
from rafs.engines.vllm_local import VllmGenerator
from rafs.usage import Meter
from tests.contracts import test_generator as contract
from tests.contracts.test_generator import PROBLEM
from tests.rafs.engines.tiny_models import TINY
from tests.vllm.weights import judge_folder

pytestmark = pytest.mark.asyncio(loop_scope="session")
globals().update({name: value for name, value in vars(contract).items() if name.startswith("test_")})


@pytest.fixture
def generator(engine: VllmEngine) -> Generator:
    return VllmGenerator(engine, load_tokenizer(judge_folder()), TINY, temperature=1.0, max_new_tokens=16)


async def test_a_sample_is_the_same_however_many_are_drawn(generator: Generator) -> None:
    (alone,) = await generator.sample(PROBLEM, 1, 5, Meter())
    assert (await generator.sample(PROBLEM, 3, 5, Meter()))[0].text == alone.text


async def test_seeded_prompts_that_together_fill_more_than_one_step_are_all_drawn(engine: VllmEngine) -> None:
    brief = VllmGenerator(engine, load_tokenizer(judge_folder()), TINY, temperature=1.0, max_new_tokens=4)
    problems = [f"Shop {n}. " + PROBLEM * 60 for n in range(14)]
    drawn = await asyncio.gather(*(brief.sample(problem, 1, 5, Meter()) for problem in problems))
    assert [len(samples) for samples in drawn] == [1] * len(problems)


async def test_a_caller_who_leaves_stops_the_computing(engine: VllmEngine) -> None:
    endless = VllmGenerator(engine, load_tokenizer(judge_folder()), TINY, temperature=0.0, max_new_tokens=1500)
    drawing = asyncio.create_task(endless.sample(PROBLEM, 1, 1, Meter()))
    async with asyncio.timeout(30):
        while engine.waiting == 0:
            await asyncio.sleep(0.01)
        drawing.cancel()
        await asyncio.wait([drawing])
        while engine.waiting > 0:
            await asyncio.sleep(0.01)
    assert drawing.cancelled()


async def test_a_sample_has_the_log_probability_of_its_tokens(generator: Generator) -> None:
    (sample,) = await generator.sample(PROBLEM, 1, 5, Meter())
    assert sample.logprob is not None and sample.n_tokens is not None
    assert sample.logprob < 0 < sample.n_tokens <= 16


async def test_a_stop_ends_a_sample_and_is_no_part_of_it(engine: VllmEngine) -> None:
    settings: dict[str, Any] = {"temperature": 0.0, "max_new_tokens": 16}
    tokenizer = load_tokenizer(judge_folder())
    (whole,) = await VllmGenerator(engine, tokenizer, TINY, **settings).sample(PROBLEM, 1, 1, Meter())
    stop = whole.text[5:8]
    (cut,) = await VllmGenerator(engine, tokenizer, TINY, **settings, stop=[stop]).sample(PROBLEM, 1, 1, Meter())
    assert (cut.text, cut.truncated) == (whole.text[: whole.text.index(stop)], False)
