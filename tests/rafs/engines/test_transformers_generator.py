import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.contracts import PromptPart
from rafs.engines.decoding import FAST_ROWS, DecodeJob, Decoding, Row, decode
from rafs.engines.prompt_tokens import PartTokenizer
from rafs.engines.row_cache import Prefill, cache_token_bytes, cut_rows, pack_prompts, prefill
from rafs.engines.solve_prompt import solve_parts
from rafs.engines.transformers_generator import BATCH_ROWS, TransformersGenerator, row_seed
from rafs.errors import BackendError
from rafs.types import Sampled
from rafs.usage import Meter
from tests.rafs.engines.tiny_models import (
    TINY,
    tiny_bloom,
    tiny_hybrid,
    tiny_llama,
    tiny_mamba,
    tiny_mixed_gemma3,
    tiny_sliding_mistral,
    tiny_tokenizer,
)
from tests.rafs.engines.tiny_prms import sentencepiece_tokenizer

PROBLEM = "Tom has 3 apples and buys 4 more."
PREFIXES = ["Tom has 3 apples.\n", "Tom has 3 apples.\n3 + 4 = 8\n", "So"]
N_NEW = 12


@pytest.fixture(scope="module")
def llama() -> Any:
    return tiny_llama()


@pytest.fixture(scope="module")
def greedy(llama: Any) -> Iterator[TransformersGenerator]:
    generator = TransformersGenerator(llama, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW)
    yield generator
    generator.close()


@pytest.fixture(scope="module")
def sampling(llama: Any) -> Iterator[TransformersGenerator]:
    """As good as greedy, but its samples count each; it does not meet the end token."""
    generator = TransformersGenerator(llama, tiny_tokenizer(), TINY, temperature=0.01, max_new_tokens=N_NEW)
    yield generator
    generator.close()


def prompt_ids(prefix: str = "") -> tuple[int, ...]:
    tokenizer = tiny_tokenizer()
    parts = solve_parts(PROBLEM, tokenizer.chat_frame(), tokenizer.plain_frame())
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


@pytest.mark.parametrize(("asked", "drawn"), [(2, 2), (N_NEW + 5, N_NEW)], ids=["fewer", "no more than its own"])
async def test_a_caller_may_ask_for_fewer_tokens(sampling: TransformersGenerator, asked: int, drawn: int) -> None:
    [[said]] = await sampling.continue_trace(PROBLEM, PREFIXES[:1], 1, 1, Meter(), asked)
    assert (said.n_tokens, said.truncated) == (drawn, True)


async def test_prefill_costs_one_trunk_plus_what_each_prefix_adds(greedy: TransformersGenerator) -> None:
    meter = Meter()
    drawn = await greedy.continue_trace(PROBLEM, PREFIXES, 2, 1, meter)
    packed = pack_prompts([prompt_ids(prefix) for prefix in PREFIXES])
    assert all(sample.truncated for texts in drawn for sample in texts)
    assert meter.stages["counterfactual"].tokens == packed.n_tokens + 6 * (N_NEW - 1)
    assert packed.n_tokens < sum(len(prompt_ids(prefix)) for prefix in PREFIXES) - len(prompt_ids())


async def test_samples_share_one_prefill(sampling: TransformersGenerator) -> None:
    meter = Meter()
    await sampling.sample(PROBLEM, 4, 1, meter)
    assert meter.stages["sample"].tokens == len(prompt_ids()) + 4 * (N_NEW - 1)


async def test_more_rows_than_a_batch_are_all_drawn(sampling: TransformersGenerator) -> None:
    assert len(await sampling.sample(PROBLEM, BATCH_ROWS + 3, 1, Meter())) == BATCH_ROWS + 3


async def test_rows_whose_cache_would_pass_the_bound_are_decoded_in_smaller_batches(llama: Any) -> None:
    a_token = cache_token_bytes(llama, 4)
    n_tokens = len(prompt_ids()) + N_NEW
    seen: list[int] = []
    generator = TransformersGenerator(
        llama, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW, cache_bytes=5 * n_tokens * a_token
    )
    hook = llama.register_forward_pre_hook(lambda _, __, given: seen.append(len(given["input_ids"])), with_kwargs=True)
    (drawn,) = await generator.continue_trace(PROBLEM, [""], 8, 1, Meter())
    hook.remove()
    generator.close()
    assert len(drawn) == 8
    assert max(seen) == 5


def test_the_cache_of_a_token_is_as_large_as_it_is_counted(llama: Any) -> None:
    for model in (llama, tiny_mixed_gemma3(16)):
        rows = prefill(model, [[(1, 2, 3)]], Prefill.SHARED)
        held = sum(layer.keys.nbytes + layer.values.nbytes for layer in rows.cache.layers)
        assert held == 3 * cache_token_bytes(model, 4)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 50)), max_size=20))
def test_rows_are_cut_in_order_and_only_a_large_one_passes_a_bound(sizes: list[tuple[int, int]]) -> None:
    batches = [sizes[cut] for cut in cut_rows(sizes, 6, 100)]
    assert [size for batch in batches for size in batch] == sizes
    for batch in batches:
        n_rows, longest = sum(rows for rows, _ in batch), max(tokens for _, tokens in batch)
        assert len(batch) == 1 or (n_rows <= 6 and n_rows * longest <= 100)


async def test_texts_longer_than_the_check_could_tell_are_drawn_row_by_row() -> None:
    model = tiny_sliding_mistral(700, max_position_embeddings=1024)
    generator = TransformersGenerator(model, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW)
    seen: list[int] = []
    problem = "x " * 400
    model.register_forward_pre_hook(lambda _, __, given: seen.append(len(given["input_ids"])), with_kwargs=True)
    (drawn,) = await generator.continue_trace(problem, [""], 2, 1, Meter())
    await generator.continue_trace("x", [""], 2, 1, Meter())
    generator.close()
    assert (set(seen[: 2 * N_NEW]), set(seen[-N_NEW + 1 :])) == ({1}, {FAST_ROWS})
    tokenizer = tiny_tokenizer()
    ids = tokenizer.join(solve_parts(problem, tokenizer.chat_frame(), tokenizer.plain_frame()))
    assert len(ids) > 700
    assert drawn[0].text == tokenizer.text(greedy_by_transformers(model, ids))


def texts(samples: Sequence[Sampled]) -> list[str]:
    return [sample.text for sample in samples]


async def test_a_sample_does_not_depend_on_how_many_are_drawn(llama: Any) -> None:
    generator = TransformersGenerator(llama, tiny_tokenizer(), TINY, temperature=1.0, max_new_tokens=5)
    few = await generator.sample(PROBLEM, 2, 3, Meter())
    rest = await generator.sample(PROBLEM, 3, 3, Meter(), first=2)
    many = await generator.sample(PROBLEM, 5, 3, Meter())
    generator.close()
    assert texts([*few, *rest]) == texts(many)


async def test_the_log_probability_of_a_sample_is_that_of_its_tokens_at_temperature_1(llama: Any) -> None:
    import torch

    generator = TransformersGenerator(llama, tiny_tokenizer(), TINY, temperature=0.3, top_p=0.9, max_new_tokens=N_NEW)
    (sample,) = await generator.sample(PROBLEM, 1, 1, Meter())
    generator.close()
    (drawn,) = decode(
        llama,
        [DecodeJob(rows=(Row(prompt=prompt_ids(), seed=row_seed(1, 0, 0), max_new_tokens=N_NEW),))],
        Decoding(temperature=0.3, top_p=0.9, end_ids=frozenset({0}), prefill=Prefill.ALONE),
    )
    new = [*drawn.rows[0], *([0] if drawn.ended[0] else [])]
    with torch.inference_mode():
        logits = llama(torch.tensor([[*prompt_ids(), *new]])).logits[0, len(prompt_ids()) - 1 : -1]
    expected = logits.log_softmax(-1).gather(1, torch.tensor(new)[:, None]).sum()
    assert sample.n_tokens == len(new)
    assert sample.logprob == pytest.approx(float(expected), abs=1e-3)


async def test_greedy_decoding_has_one_sample(greedy: TransformersGenerator) -> None:
    assert [len(await greedy.sample(PROBLEM, 3, 1, Meter(), first=first)) for first in (0, 1)] == [1, 0]


async def test_a_stop_ends_a_sample_and_is_no_part_of_it(llama: Any, greedy: TransformersGenerator) -> None:
    (whole,) = await greedy.sample(PROBLEM, 1, 1, Meter())
    stop = whole.text[3:6]
    generator = TransformersGenerator(
        llama, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW, stop=["never there", stop]
    )
    meter = Meter()
    (cut,) = await generator.sample(PROBLEM, 1, 1, meter)
    generator.close()
    assert (cut.text, cut.truncated) == (whole.text[: whole.text.index(stop)], False)
    assert meter.stages["sample"].tokens < len(prompt_ids()) + N_NEW - 1


async def test_a_small_top_p_leaves_the_likeliest_token_alone(llama: Any, greedy: TransformersGenerator) -> None:
    generator = TransformersGenerator(llama, tiny_tokenizer(), TINY, temperature=1.0, top_p=1e-6, max_new_tokens=N_NEW)
    drawn = await generator.sample(PROBLEM, 3, 1, Meter())
    generator.close()
    assert set(texts(drawn)) == set(texts(await greedy.sample(PROBLEM, 1, 1, Meter())))


def test_seeds_of_rows_are_all_different() -> None:
    assert len({row_seed(s, p, i) for s in range(5) for p in range(5) for i in range(5)}) == 125


async def test_a_problem_that_fills_the_window_gives_empty_cut_samples(sampling: TransformersGenerator) -> None:
    meter = Meter()
    assert await sampling.sample("word " * 600, 2, 1, meter) == [Sampled(text="", truncated=True)] * 2
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


@pytest.mark.parametrize(
    ("make", "prefill"),
    [
        pytest.param(lambda: tiny_sliding_mistral(16), Prefill.SHARED, id="sliding mistral"),
        pytest.param(lambda: tiny_mixed_gemma3(16), Prefill.SHARED, id="mixed gemma3"),
        pytest.param(tiny_bloom, Prefill.PADDED, id="bloom"),
        pytest.param(tiny_hybrid, Prefill.PADDED, id="recurrent hybrid"),
        pytest.param(tiny_mamba, Prefill.ALONE, id="state space"),
    ],
)
async def test_every_architecture_draws_what_its_own_generate_draws(make: Callable[[], Any], prefill: Prefill) -> None:
    model = make()
    generator = TransformersGenerator(model, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW)
    drawn = await generator.continue_trace(PROBLEM, PREFIXES, 2, 1, Meter())
    generator.close()
    assert generator.prefill is prefill
    expected = [tiny_tokenizer().text(greedy_by_transformers(model, prompt_ids(prefix))) for prefix in PREFIXES]
    assert list(map(texts, drawn)) == [[text] * 2 for text in expected]


async def test_a_problem_without_a_chat_starts_as_the_tokenizer_starts_a_text() -> None:
    seen: list[int] = []
    model, tokenizer = tiny_llama(vocab_size=500), PartTokenizer(sentencepiece_tokenizer())
    generator = TransformersGenerator(model, tokenizer, TINY, max_new_tokens=1)
    model.register_forward_pre_hook(lambda _, __, given: seen.append(int(given["input_ids"][0, 0])), with_kwargs=True)
    await generator.sample(PROBLEM, 1, 1, Meter())
    generator.close()
    assert seen[0] == tokenizer.tokenizer.bos_token_id


async def test_requests_that_wait_together_are_decoded_together() -> None:
    model = tiny_llama()
    generator = TransformersGenerator(model, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=60)
    seen: list[int] = []
    problems = [f"{n} apples" for n in range(5)]
    model.register_forward_pre_hook(lambda _, __, given: seen.append(len(given["input_ids"])), with_kwargs=True)
    alone = [texts(await generator.sample(problem, 1, 1, Meter())) for problem in problems]
    assert set(seen) == {1}
    together = await asyncio.gather(*(generator.sample(problem, 1, 1, Meter()) for problem in problems))
    generator.close()
    assert max(seen) > 1  # the first may have begun before the others came
    assert list(map(texts, together)) == alone


async def test_a_batch_out_of_memory_fails_alone_and_the_next_is_served() -> None:
    import torch

    model = tiny_llama()
    generator = TransformersGenerator(model, tiny_tokenizer(), TINY, temperature=0.0, max_new_tokens=N_NEW)

    def allocate(_: object, __: object, given: dict[str, Any]) -> None:
        if given["input_ids"].shape[1] > 200:
            torch.empty(2**60)  # more than any machine has: what torch raises here is its own out-of-memory error

    model.register_forward_pre_hook(allocate, with_kwargs=True)
    with pytest.raises(BackendError, match="memory"):
        await generator.sample("x " * 150, 1, 1, Meter())
    assert len(await generator.sample(PROBLEM, 1, 1, Meter())) == 1
    generator.close()
