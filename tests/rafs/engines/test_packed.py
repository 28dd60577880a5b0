import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.engines.packed import SLICE_TOKENS, Branch, Packed, Pass, n_shared, one_pass, pass_inputs, sliced_passes
from tests.rafs.engines.tiny_models import tiny_llama, tiny_mixed_gemma3, tiny_sliding_mistral


def random_prompts(n_trunk: int, leaves_at: list[int], n_branch: int) -> Packed:
    """Return branches of `n_branch` random tokens, all different."""
    draw = random.Random(5)
    trunk = tuple(draw.randrange(400) for _ in range(n_trunk))
    branches = [Branch(leaves_at=end, ids=tuple(draw.randrange(400) for _ in range(n_branch))) for end in leaves_at]
    return Packed(trunk=trunk, branches=tuple(branches))


def visible(model: Any, packed: Packed, each: Pass, kind: str = "") -> list[list[int]]:
    """Return the columns that each new token sees."""
    mask = pass_inputs(model, packed.trunk, each)["attention_mask"]
    return [row.nonzero()[:, 0].tolist() for row in ((mask[kind] if kind else mask)[0, 0] == 0)]


def test_a_branch_sees_the_trunk_up_to_where_it_leaves_and_itself() -> None:
    packed = random_prompts(3, [1, 3], 2)
    expected = [[0], [0, 1], [0, 1, 2], [0, 3], [0, 3, 4], [0, 1, 2, 5], [0, 1, 2, 5, 6]]
    assert visible(tiny_llama(), packed, one_pass(packed, 0)[0]) == expected


def test_what_the_cache_holds_is_seen_and_not_run_again() -> None:
    packed = random_prompts(3, [1, 3], 2)
    known = one_pass(packed, 2)[0]
    assert visible(tiny_llama(), packed, known) == visible(tiny_llama(), packed, one_pass(packed, 0)[0])[2:]


def test_positions_of_a_branch_go_on_where_it_left() -> None:
    packed = random_prompts(3, [1, 3], 2)
    positions = pass_inputs(tiny_llama(), packed.trunk, one_pass(packed, 0)[0])["position_ids"]
    assert positions.tolist() == [[0, 1, 2, 1, 2, 3, 4]]


def test_a_window_counts_positions_not_columns() -> None:
    packed = random_prompts(4, [1, 4], 2)
    seen = visible(tiny_sliding_mistral(window=2), packed, one_pass(packed, 0)[0])
    assert seen == [[0], [0, 1], [1, 2], [2, 3], [0, 4], [4, 5], [3, 6], [6, 7]]


def test_layers_of_two_kinds_get_two_masks() -> None:
    packed = random_prompts(3, [3], 1)
    model = tiny_mixed_gemma3(window=2)
    assert visible(model, packed, one_pass(packed, 0)[0], "full_attention")[-1] == [0, 1, 2, 3]
    assert visible(model, packed, one_pass(packed, 0)[0], "sliding_attention")[-1] == [2, 3]


@settings(max_examples=50)
@given(st.integers(1, 60), st.integers(0, 60), st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 25))
def test_sliced_passes_run_every_unknown_token_once_and_none_is_larger_than_a_slice(
    n_trunk: int, n_known: int, sizes: list[int], slice_tokens: int
) -> None:
    branches = tuple(Branch(leaves_at=n_trunk, ids=(1,) * size) for size in sizes)
    packed = Packed(trunk=(1,) * n_trunk, branches=branches)
    passes = sliced_passes(packed, min(n_known, n_trunk), slice_tokens)
    assert [at for each in passes for at in range(each.start, each.stop)] == list(range(min(n_known, n_trunk), n_trunk))
    assert tuple(branch for each in passes for branch in each.branches) == branches
    new = [each.stop - each.start + sum(len(branch.ids) for branch in each.branches) for each in passes]
    assert all(n <= max(slice_tokens, *sizes) for n in new)


def test_a_slice_takes_as_many_branches_as_fit() -> None:
    packed = random_prompts(30, [10, 20, 30], SLICE_TOKENS // 2)
    assert [len(each.branches) for each in sliced_passes(packed, 30)] == [2, 1]


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        pytest.param((1, 2, 3), (1, 2, 4), 2, id="different end"),
        pytest.param((1, 2), (1, 2, 4), 2, id="beginning"),
        pytest.param((9,), (1,), 0, id="nothing"),
        pytest.param((), (1,), 0, id="empty"),
    ],
)
def test_shared_tokens_are_those_both_begin_with(left: tuple[int, ...], right: tuple[int, ...], shared: int) -> None:
    assert n_shared(left, right) == shared
