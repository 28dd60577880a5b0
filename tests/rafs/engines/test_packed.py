import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.engines.exactness import plan_packing
from rafs.engines.packed import SLICE_TOKENS, Branch, Packed, Strategy, last_logits
from rafs.errors import BackendError
from tests.rafs.engines.tiny_models import tiny_llama, tiny_mamba, tiny_sliding_mistral

MAX_DIFFERENCE = 1e-4


@pytest.fixture(scope="module")
def llama() -> Any:
    return tiny_llama()


def random_prompts(n_trunk: int, leaves_at: list[int], n_branch: int) -> Packed:
    draw = random.Random(5)
    ids = [draw.randrange(400) for _ in range(n_trunk + n_branch)]
    branches = [Branch(leaves_at=end, ids=tuple(ids[n_trunk:])) for end in leaves_at]
    return Packed(trunk=tuple(ids[:n_trunk]), branches=tuple(branches))


def difference(model: Any, packed: Packed, strategy: Strategy) -> float:
    naive = last_logits(model, packed, Strategy.NAIVE).logits
    return float((last_logits(model, packed, strategy).logits - naive).abs().max())


@pytest.mark.parametrize("strategy", [Strategy.PACKED, Strategy.TWO_PASS])
@settings(max_examples=15)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(1, 12))
def test_one_pass_gives_the_logits_of_separate_prompts(
    llama: Any, strategy: Strategy, leaves_at: list[int], n_branch: int
) -> None:
    assert difference(llama, random_prompts(40, leaves_at, n_branch), strategy) < MAX_DIFFERENCE


def test_branches_beyond_one_pass_are_cut_into_several(llama: Any) -> None:
    packed = random_prompts(30, [10, 20, 30], SLICE_TOKENS // 3 + 10)
    result = last_logits(llama, packed, Strategy.TWO_PASS)
    assert result.passes == 3
    assert difference(llama, packed, Strategy.TWO_PASS) < MAX_DIFFERENCE


def test_a_long_trunk_goes_through_in_slices(llama: Any) -> None:
    packed = random_prompts(40, [10, 20, 40], 7)
    result = last_logits(llama, packed, Strategy.TWO_PASS, slice_tokens=15)
    assert (result.passes, result.tokens) == (3 + 2, 40 + 3 * 7)
    naive = last_logits(llama, packed, Strategy.NAIVE)
    assert float((result.logits - naive.logits).abs().max()) < MAX_DIFFERENCE


@pytest.mark.parametrize("strategy", [Strategy.TWO_PASS, Strategy.NAIVE])
def test_prompts_that_nobody_waits_for_are_not_run_to_the_end(llama: Any, strategy: Strategy) -> None:
    packed = random_prompts(40, [10, 20, 40], 7)
    packed.abandoned.set()
    with pytest.raises(BackendError, match="nobody waits"):
        last_logits(llama, packed, strategy)


@pytest.mark.parametrize("strategy", [Strategy.PACKED, Strategy.TWO_PASS])
def test_tokens_are_trunk_plus_branches(llama: Any, strategy: Strategy) -> None:
    packed = random_prompts(40, [10, 20, 40], 7)
    assert last_logits(llama, packed, strategy).tokens == 40 + 3 * 7


def test_naive_tokens_are_those_of_every_prompt(llama: Any) -> None:
    packed = random_prompts(40, [10, 20, 40], 7)
    assert last_logits(llama, packed, Strategy.NAIVE).tokens == 10 + 20 + 40 + 3 * 7


def test_a_short_prompt_is_packed_into_one_pass(llama: Any) -> None:
    assert plan_packing(llama, "tiny").choose(random_prompts(40, [40], 7)) is Strategy.PACKED


def test_a_long_prompt_takes_two_passes(llama: Any) -> None:
    assert plan_packing(llama, "tiny").choose(random_prompts(800, [800], 7)) is Strategy.TWO_PASS


def test_an_architecture_that_ignores_the_mask_falls_back_to_separate_prompts() -> None:
    plan = plan_packing(tiny_mamba(), "mamba")
    assert plan.exact == (Strategy.NAIVE,)


def test_a_prompt_beyond_a_sliding_window_goes_alone() -> None:
    plan = plan_packing(tiny_sliding_mistral(window=32), "mistral")
    assert plan.choose(random_prompts(60, [20, 60], 5)) is Strategy.NAIVE


def test_a_plain_mask_would_be_wrong_beyond_a_sliding_window() -> None:
    model = tiny_sliding_mistral(window=32)
    assert difference(model, random_prompts(60, [20, 60], 5), Strategy.PACKED) > MAX_DIFFERENCE


def test_prompts_inside_a_sliding_window_are_packed_exactly() -> None:
    model = tiny_sliding_mistral(window=32)
    packed = random_prompts(20, [10, 15, 20], 5)
    assert plan_packing(model, "mistral").choose(packed) is Strategy.PACKED
    assert difference(model, packed, Strategy.PACKED) < MAX_DIFFERENCE


def test_packed_tokens_may_pass_the_window_when_no_prompt_does() -> None:
    model = tiny_sliding_mistral(window=32)
    packed = random_prompts(20, [10, 15, 20, 20, 20], 8)
    assert packed.n_tokens > 32
    assert difference(model, packed, Strategy.PACKED) < MAX_DIFFERENCE
