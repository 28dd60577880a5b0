import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.engines.exactness import (
    MAX_LOGIT_DIFFERENCE,
    PACKED_MAX_TOKENS,
    check_tokens,
    checked_tokens,
    plan_packing,
    plan_prefill,
)
from rafs.engines.packed import Branch, Packed
from rafs.engines.row_cache import Prefill, prefill
from rafs.engines.strategies import KEEPS_TRUNK, Strategy, head_of, last_logits
from rafs.errors import BackendError, ConfigError
from tests.rafs.engines.test_packed import random_prompts
from tests.rafs.engines.tiny_models import (
    tiny_bloom,
    tiny_chunked_llama4,
    tiny_eager_gemma2,
    tiny_hybrid,
    tiny_lfm2,
    tiny_llama,
    tiny_local_gpt_neo,
    tiny_mamba,
    tiny_mixed_gemma3,
    tiny_recurrent_gemma,
    tiny_rwkv,
    tiny_sliding_mistral,
)

WINDOW = 16
"""Far shorter than the prompts of these tests."""
ARCHITECTURES: dict[str, tuple[Callable[[], Any], Strategy, Prefill]] = {
    "llama": (lambda: tiny_llama(num_key_value_heads=4), Strategy.PACKED, Prefill.SHARED),
    "grouped-query llama": (tiny_llama, Strategy.PACKED, Prefill.SHARED),
    "sliding mistral": (lambda: tiny_sliding_mistral(WINDOW), Strategy.PACKED, Prefill.SHARED),
    "mixed gemma3": (lambda: tiny_mixed_gemma3(WINDOW), Strategy.PACKED, Prefill.SHARED),
    "chunked llama4": (lambda: tiny_chunked_llama4(WINDOW), Strategy.PACKED, Prefill.SHARED),
    "eager mixed gemma2": (lambda: tiny_eager_gemma2(WINDOW), Strategy.PACKED, Prefill.SHARED),
    "local gpt-neo": (lambda: tiny_local_gpt_neo(WINDOW), Strategy.STREAM_AND_CROP, Prefill.PADDED),
    "bloom": (tiny_bloom, Strategy.STREAM_AND_CROP, Prefill.PADDED),
    "convolution hybrid": (tiny_lfm2, Strategy.STREAM_AND_CROP, Prefill.PADDED),
    "recurrent hybrid": (tiny_hybrid, Strategy.DEEPCOPY, Prefill.PADDED),
    "state space": (tiny_mamba, Strategy.NAIVE, Prefill.ALONE),
}
every_architecture = pytest.mark.parametrize("name", ARCHITECTURES)
PROMPTS = random_prompts(60, [21, 34, 60], 7)


@cache
def model_of(name: str) -> Any:
    return ARCHITECTURES[name][0]()


def difference(model: Any, packed: Packed, strategy: Strategy) -> float:
    naive = last_logits(model, packed, Strategy.NAIVE).logits
    return float((last_logits(model, packed, strategy).logits - naive).abs().max())


@every_architecture
def test_the_load_time_check_finds_the_best_exact_strategy(name: str) -> None:
    assert plan_packing(model_of(name), name).exact[0] is ARCHITECTURES[name][1]


@every_architecture
def test_the_load_time_check_finds_the_best_exact_prefill(name: str) -> None:
    packing = plan_packing(model_of(name), name)
    assert plan_prefill(model_of(name), name, packing, 512) is ARCHITECTURES[name][2]


@every_architecture
def test_a_text_drawn_alone_has_the_logits_of_its_prompt(name: str) -> None:
    import torch

    model, drawn = model_of(name), (3, 5, 7, 9)
    with torch.inference_mode():
        row = prefill(model, [[PROMPTS.trunk]], Prefill.ALONE)
        found: list[torch.Tensor] = []
        for token in drawn:
            row.advance(model, [token])
            found.append(row.logits)
    texts = tuple(Branch(leaves_at=60, ids=drawn[: n + 1]) for n in range(len(drawn)))
    naive = last_logits(model, replace(PROMPTS, branches=texts), Strategy.NAIVE).logits
    assert float((torch.cat(found) - naive).abs().max()) < MAX_LOGIT_DIFFERENCE


@pytest.mark.parametrize("window", [120, 200])
def test_a_window_by_any_name_is_shorter_than_the_prompts_of_the_check(window: int) -> None:
    assert plan_packing(tiny_local_gpt_neo(window), "gpt-neo").exact[0] is Strategy.STREAM_AND_CROP


def test_going_on_from_a_kept_trunk_is_checked_even_where_it_gives_no_numbers() -> None:
    import torch

    def spoil(_: object, __: object, given: dict[str, Any], output: Any) -> None:
        if int(given.get("position_ids", torch.zeros(1, 1))[0, 0]):
            output.logits.fill_(torch.nan)

    model = tiny_llama()
    model.register_forward_hook(spoil, with_kwargs=True)
    assert Strategy.PACKED not in plan_packing(model, "spoilt").exact


@pytest.mark.parametrize("make", [tiny_recurrent_gemma, tiny_rwkv])
def test_a_model_whose_state_is_not_in_its_cache_is_asked_prompt_by_prompt_and_draws_nothing(
    make: Callable[[], Any],
) -> None:
    packing = plan_packing(make(), "stateful")
    assert packing.exact == (Strategy.NAIVE,)
    with pytest.raises(ConfigError, match="no way of drawing"):
        plan_prefill(make(), "stateful", packing, 512)


@every_architecture
@settings(max_examples=5)
@given(leaves_at=st.lists(st.integers(0, 60), min_size=1, max_size=5), n_branch=st.integers(1, 12))
def test_the_chosen_strategies_give_the_logits_of_separate_prompts(
    name: str, leaves_at: list[int], n_branch: int
) -> None:
    packed = random_prompts(60, leaves_at, n_branch)
    for strategy in plan_packing(model_of(name), name).exact[:-1]:
        assert difference(model_of(name), packed, strategy) < MAX_LOGIT_DIFFERENCE


@every_architecture
def test_what_an_earlier_question_says_reaches_no_later_verdict(name: str) -> None:
    strategy = ARCHITECTURES[name][1]
    first, *later = PROMPTS.branches
    other = replace(first, ids=tuple(reversed(first.ids)))
    asked = last_logits(model_of(name), PROMPTS, strategy).logits
    asked_otherwise = last_logits(model_of(name), replace(PROMPTS, branches=(other, *later)), strategy).logits
    assert float((asked[0] - asked_otherwise[0]).abs().max()) > 0.01
    assert float((asked[1:] - asked_otherwise[1:]).abs().max()) < MAX_LOGIT_DIFFERENCE


@pytest.mark.parametrize("name", ["recurrent hybrid", "convolution hybrid", "bloom"])
def test_a_cache_that_is_neither_copied_nor_cropped_would_carry_the_question_on(name: str) -> None:
    import torch
    from transformers import DynamicCache

    model = model_of(name)
    used, kept = DynamicCache(config=model.config), DynamicCache(config=model.config)
    with torch.inference_mode():
        for cached in (used, kept):
            model(torch.tensor([PROMPTS.trunk]), cache=cached, use_cache=True)
        question = torch.tensor([PROMPTS.branches[0].ids])
        model(question, cache=used, use_cache=True)
        model(question, cache=copy.deepcopy(kept), use_cache=True)
        last = torch.tensor([PROMPTS.branches[2].ids])
        polluted, clean = (model(last, cache=cached, use_cache=True).logits[0, -1] for cached in (used, kept))
    expected = last_logits(model, PROMPTS, Strategy.NAIVE).logits[2]
    assert float((polluted - expected).abs().max()) > 0.01
    assert float((clean - expected).abs().max()) < MAX_LOGIT_DIFFERENCE


def test_a_recurrent_state_cannot_be_cropped() -> None:
    assert difference(tiny_hybrid(), PROMPTS, Strategy.STREAM_AND_CROP) > 0.01


@pytest.mark.parametrize("strategy", KEEPS_TRUNK)
@settings(max_examples=15)
@given(n_known=st.integers(1, 60))
@pytest.mark.parametrize("name", ["grouped-query llama", "sliding mistral", "mixed gemma3"])
def test_going_on_from_a_kept_trunk_gives_the_logits_of_separate_prompts(
    name: str, strategy: Strategy, n_known: int
) -> None:
    model = model_of(name)
    kept = last_logits(model, PROMPTS, strategy).trunk_cache
    assert kept is not None
    result = last_logits(model, PROMPTS, strategy, known=head_of(kept, n_known), slice_tokens=15)
    naive = last_logits(model, PROMPTS, Strategy.NAIVE).logits
    assert float((result.logits - naive).abs().max()) < MAX_LOGIT_DIFFERENCE
    assert result.tokens == 60 - n_known + 3 * 7


def test_a_head_of_a_cache_is_a_copy_of_its_own() -> None:
    kept = last_logits(model_of("llama"), PROMPTS, Strategy.PACKED).trunk_cache
    assert kept is not None
    head = head_of(kept, 10)
    assert [layer.keys.untyped_storage().nbytes() for layer in head.layers] == [10 * 4 * 8 * 4] * 2


@pytest.mark.parametrize("strategy", list(Strategy)[:-1])
def test_tokens_are_trunk_plus_branches(strategy: Strategy) -> None:
    assert last_logits(model_of("llama"), PROMPTS, strategy).tokens == 60 + 3 * 7


def test_naive_tokens_are_those_of_every_prompt() -> None:
    assert last_logits(model_of("llama"), PROMPTS, Strategy.NAIVE).tokens == 21 + 34 + 60 + 3 * 7


@pytest.mark.parametrize(
    ("strategy", "passes"),
    [
        pytest.param(Strategy.PACKED, 1, id="packed"),
        pytest.param(Strategy.TWO_PASS, 3 + 2, id="two pass"),
        pytest.param(Strategy.STREAM_AND_CROP, 2 + 1 + 2 + 3, id="stream and crop"),
        pytest.param(Strategy.DEEPCOPY, 2 + 1 + 2 + 3, id="deepcopy"),
        pytest.param(Strategy.NAIVE, 3, id="naive"),
    ],
)
def test_a_long_trunk_goes_through_in_slices(strategy: Strategy, passes: int) -> None:
    assert last_logits(model_of("llama"), PROMPTS, strategy, slice_tokens=20).passes == passes


@pytest.mark.parametrize("strategy", Strategy)
def test_prompts_that_nobody_waits_for_are_not_run(strategy: Strategy) -> None:
    packed = replace(PROMPTS)
    packed.abandoned.set()
    with pytest.raises(BackendError, match="nobody waits"):
        last_logits(model_of("llama"), packed, strategy)
    packed.abandoned.clear()


@pytest.mark.parametrize("strategy", list(Strategy)[1:])
def test_urgent_work_may_run_before_every_pass(strategy: Strategy) -> None:
    given: list[None] = []
    packed = replace(PROMPTS, give_way=lambda: given.append(None))
    assert last_logits(model_of("llama"), packed, strategy, slice_tokens=20).passes == len(given)


@pytest.mark.parametrize(
    ("n_tokens", "strategy"),
    [
        pytest.param(PACKED_MAX_TOKENS, Strategy.PACKED, id="short"),
        pytest.param(PACKED_MAX_TOKENS + 1, Strategy.TWO_PASS, id="long"),
    ],
)
def test_long_prompts_take_several_passes(n_tokens: int, strategy: Strategy) -> None:
    assert plan_packing(model_of("llama"), "llama").choose(n_tokens) is strategy


@pytest.mark.parametrize(
    ("window", "max_tokens", "check", "told"),
    [
        pytest.param(512, 8192, 552, 8192, id="passed by the check"),
        pytest.param(4096, 8192, 96, 4096, id="too long for the check"),
        pytest.param(4096, 1024, 96, 1024, id="too long for any prompt"),
    ],
)
def test_the_check_is_bounded_and_tells_of_no_prompt_that_reaches_a_window_it_does_not_pass(
    window: int, max_tokens: int, check: int, told: int
) -> None:
    model = tiny_sliding_mistral(window)
    assert (check_tokens(model, max_tokens), checked_tokens(model, max_tokens)) == (check, told)


def test_a_prompt_longer_than_the_check_could_tell_goes_alone() -> None:
    plan = plan_packing(tiny_sliding_mistral(4096, max_position_embeddings=8192), "mistral", 8192)
    assert [plan.choose(100, longest) for longest in (4096, 4097)] == [Strategy.PACKED, Strategy.NAIVE]


def test_one_kind_of_mask_for_layers_of_two_kinds_would_be_wrong() -> None:
    narrow, wide = tiny_mixed_gemma3(WINDOW), tiny_mixed_gemma3(WINDOW)
    wide.config.sliding_window = 512  # the mask of a model whose layers all see everything
    masked = last_logits(wide, PROMPTS, Strategy.PACKED).logits
    naive = last_logits(narrow, PROMPTS, Strategy.NAIVE).logits
    assert float((masked - naive).abs().max()) > 0.01
