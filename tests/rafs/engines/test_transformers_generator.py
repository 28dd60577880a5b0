import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from rafs.contracts import PromptPart
from rafs.engines.decoding import DecodeJob, Row, decode, pack_prompts
from rafs.engines.packed import Strategy
from rafs.engines.solve_prompt import solve_parts
from rafs.engines.transformers_generator import BATCH_ROWS, TransformersGenerator, row_seed
from rafs.types import Sampled
from rafs.usage import Meter
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_mamba, tiny_tokenizer

PROBLEM = "Tom has 3 apples and buys 4 more."
PREFIXES = ["Tom has 3 apples.\n", "Tom has 3 apples.\n3 + 4 = 8\n", "So"]
N_NEW = 12
NO_END = frozenset[int]()


@pytest.fixture(scope="module")
def llama() -> Any:
    return tiny_llama()


@pytest.fixture(scope="module")
def greedy(llama: Any) -> Iterator[TransformersGenerator]:
    generator = TransformersGenerator(llama, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW)
    yield generator
    generator.close()


def prompt_ids(prefix: str = "") -> tuple[int, ...]:
    tokenizer = tiny_tokenizer()
    parts = solve_parts(PROBLEM, tokenizer.chat_frame())
    return (*tokenizer.join(parts), *tokenizer.ids(PromptPart(text=prefix)))


def greedy_by_transformers(model: Any, ids: Sequence[int]) -> list[int]:
    """Return what transformers' own generate draws for one prompt alone, up to the end token."""
    import torch

    prompt = torch.tensor([list(ids)])
    drawn = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=N_NEW)
    new: list[int] = drawn[0, len(ids) :].tolist()
    return new[: new.index(0)] if 0 in new else new


async def test_continuations_are_those_of_transformers_own_generate(llama: Any, greedy: TransformersGenerator) -> None:
    drawn = await greedy.continue_trace(PROBLEM, PREFIXES, 1, 1, Meter())
    expected = [tiny_tokenizer().text(greedy_by_transformers(llama, prompt_ids(prefix))) for prefix in PREFIXES]
    assert [texts[0].text for texts in drawn] == expected


def job(prompts: Sequence[tuple[int, ...]], temperature: float = 0.0) -> DecodeJob:
    rows = [Row(prompt=prompt, seed=place, max_new_tokens=N_NEW) for place, prompt in enumerate(prompts)]
    return DecodeJob(rows=tuple(rows), temperature=temperature)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_sharing_the_prefill_does_not_change_what_is_drawn(llama: Any, temperature: float) -> None:
    prompts = [prompt_ids(prefix) for prefix in [*PREFIXES, PREFIXES[0]]]
    shared = decode(llama, job(prompts, temperature), Strategy.PACKED, NO_END)
    padded = decode(llama, job(prompts, temperature), Strategy.NAIVE, NO_END)
    assert shared.rows == padded.rows
    assert shared.tokens < padded.tokens


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_row_is_drawn_as_if_alone(llama: Any, temperature: float) -> None:
    prompts = [prompt_ids(prefix) for prefix in PREFIXES]
    together = decode(llama, job(prompts, temperature), Strategy.PACKED, NO_END)
    for place, row in enumerate(job(prompts, temperature).rows):
        alone = DecodeJob(rows=(row,), temperature=temperature)
        assert decode(llama, alone, Strategy.PACKED, NO_END).rows[0] == together.rows[place]


def test_a_row_ends_at_the_end_token_and_the_others_go_on(llama: Any) -> None:
    prompts = [prompt_ids(prefix) for prefix in PREFIXES]
    free = decode(llama, job(prompts), Strategy.PACKED, NO_END)
    end = free.rows[0][2]
    ended = decode(llama, job(prompts), Strategy.PACKED, frozenset([end]))
    expected = [row[: row.index(end)] if end in row else row for row in free.rows]
    assert list(ended.rows) == expected
    assert list(ended.ended) == [end in row for row in free.rows]


async def test_prefill_costs_one_trunk_plus_what_each_prefix_adds(greedy: TransformersGenerator) -> None:
    meter = Meter()
    drawn = await greedy.continue_trace(PROBLEM, PREFIXES, 2, 1, meter)
    packed = pack_prompts([prompt_ids(prefix) for prefix in PREFIXES])
    assert all(sample.truncated for texts in drawn for sample in texts)
    assert meter.stages["counterfactual"].tokens == packed.n_tokens + 6 * (N_NEW - 1)
    assert packed.n_tokens < sum(len(prompt_ids(prefix)) for prefix in PREFIXES) - len(prompt_ids())


async def test_samples_share_one_prefill(greedy: TransformersGenerator) -> None:
    meter = Meter()
    await greedy.sample(PROBLEM, 4, 1, meter)
    assert meter.stages["sample"].tokens == len(prompt_ids()) + 4 * (N_NEW - 1)


def test_packed_prompts_are_the_prompts() -> None:
    prompts = [(1, 2, 3, 4), (1, 2, 9), (1, 2, 3, 4), (1,), (7, 8)]
    assert pack_prompts(prompts).prompts() == prompts


async def test_more_rows_than_a_batch_are_all_drawn(greedy: TransformersGenerator) -> None:
    assert len(await greedy.sample(PROBLEM, BATCH_ROWS + 3, 1, Meter())) == BATCH_ROWS + 3


async def test_a_sample_does_not_depend_on_how_many_are_drawn(llama: Any) -> None:
    generator = TransformersGenerator(llama, tiny_tokenizer(), TINY, temperature=1.0, max_new_tokens=5)
    few = await generator.sample(PROBLEM, 2, 3, Meter())
    many = await generator.sample(PROBLEM, 5, 3, Meter())
    generator.close()
    assert list(few) == list(many)[:2]


def test_seeds_of_rows_are_all_different() -> None:
    assert len({row_seed(s, p, i) for s in range(5) for p in range(5) for i in range(5)}) == 125


async def test_a_problem_that_fills_the_window_gives_empty_cut_samples(greedy: TransformersGenerator) -> None:
    meter = Meter()
    assert await greedy.sample("word " * 600, 2, 1, meter) == [Sampled(text="", truncated=True)] * 2
    assert meter.stages["sample"].tokens == 0


async def test_a_caller_that_leaves_ends_the_decoding() -> None:
    endless = tiny_llama(max_position_embeddings=8192)
    endless.lm_head.weight.data[0] = 0  # the end token is never the likeliest, so 8000 tokens would take seconds
    generator = TransformersGenerator(endless, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=8000)
    long = asyncio.create_task(generator.sample(PROBLEM, 4, 1, Meter()))
    await asyncio.sleep(0.2)
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long
    async with asyncio.timeout(1):
        await asyncio.to_thread(generator.close)


async def test_a_state_space_model_generates_by_padded_prompts() -> None:
    model = tiny_mamba()
    generator = TransformersGenerator(model, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW)
    (sample,) = await generator.sample(PROBLEM, 1, 1, Meter())
    generator.close()
    assert sample.text == tiny_tokenizer().text(greedy_by_transformers(model, prompt_ids()))
