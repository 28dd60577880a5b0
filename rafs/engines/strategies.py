"""The ways the prompts of one trace may go through a model, from one masked pass down to a pass for each prompt."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rafs.engines.packed import SLICE_TOKENS, Packed, one_pass, run_passes, sliced_passes, with_cache

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache, PreTrainedModel


class Strategy(StrEnum):
    """How prompts go through the model, best first."""

    PACKED = "packed"
    """Trunk and branches in one masked pass."""
    TWO_PASS = "two_pass"
    """Trunk with a cache, then the branches in masked passes: cheaper attention when the trunk is long."""
    STREAM_AND_CROP = "stream_and_crop"
    """Trunk with the model's own cache and masks; each branch runs where it leaves, and is cut off the cache again."""
    DEEPCOPY = "deepcopy"
    """As STREAM_AND_CROP, each branch on a copy of the cache: for recurrent states, which cannot be cut."""
    NAIVE = "naive"
    """One pass per prompt; always right, whatever the architecture."""


KEEPS_TRUNK = (Strategy.PACKED, Strategy.TWO_PASS)
"""Strategies whose cache of the trunk can be kept, cut at any token, and gone on from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLogits:
    """Next-token logits after every prompt, and what they cost."""

    logits: "torch.Tensor"
    """Shape (n_branches, vocabulary), fp32."""
    tokens: int
    passes: int
    trunk_cache: "DynamicCache | None"
    """Keys and values of the trunk, where the strategy keeps them."""


def last_logits(
    model: "PreTrainedModel",
    packed: Packed,
    strategy: Strategy,
    *,
    known: "DynamicCache | None" = None,
    slice_tokens: int = SLICE_TOKENS,
) -> PromptLogits:
    """Return the next-token logits after every prompt.

    Args:
        model: Causal language model in evaluation mode.
        packed: The prompts.
        strategy: How they go through the model.
        known: Cache of the trunk's first tokens, as `head_of` gives it; it is used up. Only with `KEEPS_TRUNK`.
        slice_tokens: Bound of new tokens in one pass of all but PACKED and NAIVE.

    Raises:
        BackendError: The prompts were abandoned between two passes.
    """
    import torch

    with torch.inference_mode():
        match strategy:
            case Strategy.PACKED | Strategy.TWO_PASS:
                return _masked(model, packed, strategy, known, slice_tokens)
            case Strategy.STREAM_AND_CROP | Strategy.DEEPCOPY:
                return _streamed(model, packed, strategy, slice_tokens)
            case Strategy.NAIVE:
                return _naive(model, packed)


def head_of(cache: "DynamicCache", n: int) -> "DynamicCache":
    """Return a cache of its own that holds the first n tokens of `cache`."""
    import torch
    from transformers import DynamicCache

    head = DynamicCache()
    with torch.inference_mode():
        for place, layer in enumerate(cache.layers):
            assert layer.keys is not None and layer.values is not None, "a pass has filled every layer"
            head.update(layer.keys[..., :n, :], layer.values[..., :n, :], place)
    return head


def _masked(
    model: "PreTrainedModel", packed: Packed, strategy: Strategy, known: "DynamicCache | None", slice_tokens: int
) -> PromptLogits:
    import torch
    from transformers import DynamicCache

    cache = DynamicCache() if known is None else known
    n_known = cache.get_seq_length()
    one = strategy is Strategy.PACKED
    passes = one_pass(packed, n_known) if one else sliced_passes(packed, n_known, slice_tokens)
    rows = [logits for _, logits in run_passes(model, packed, cache, passes)]
    return PromptLogits(
        logits=torch.cat(rows).float(), tokens=packed.n_tokens - n_known, passes=len(passes), trunk_cache=cache
    )


def _streamed(model: "PreTrainedModel", packed: Packed, strategy: Strategy, slice_tokens: int) -> PromptLogits:
    """Run the trunk up to where each branch leaves, then the branch."""
    import torch
    from transformers import DynamicCache

    cache, crops = DynamicCache(config=model.config), strategy is Strategy.STREAM_AND_CROP
    if crops:
        cache.activate_past_recording()

    def run(ids: tuple[int, ...], cache: "DynamicCache") -> "torch.Tensor":
        packed.pause()
        given = torch.tensor([ids], device=model.device)
        logits: torch.Tensor = model(input_ids=given, logits_to_keep=1, **with_cache(model, cache)).logits
        return logits[0, -1]

    rows: dict[int, torch.Tensor] = {}
    at = passes = 0
    for place in sorted(range(len(packed.branches)), key=lambda place: packed.branches[place].leaves_at):
        branch = packed.branches[place]
        for ids in _slices(packed.trunk[at : branch.leaves_at], slice_tokens):
            run(ids, cache)
            passes += 1
            if crops:
                cache.crop(0)  # layers with a window drop what they no longer need only when they are cropped
        at = branch.leaves_at
        if crops and at:
            rows[place] = run(branch.ids, cache)
            cache.crop(-len(branch.ids))
        else:
            rows[place] = run(branch.ids, copy.deepcopy(cache))
    logits = torch.stack([rows[place] for place in range(len(rows))]).float()
    tokens = at + sum(len(branch.ids) for branch in packed.branches)
    return PromptLogits(logits=logits, tokens=tokens, passes=passes + len(rows), trunk_cache=None)


def _slices(ids: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


def _naive(model: "PreTrainedModel", packed: Packed) -> PromptLogits:
    import torch

    rows: list[torch.Tensor] = []
    for ids in packed.prompts():
        packed.pause()
        given = torch.tensor([ids], device=model.device)
        rows.append(model(input_ids=given, use_cache=False, logits_to_keep=1).logits[0, -1])
    tokens = sum(map(len, packed.prompts()))
    return PromptLogits(logits=torch.stack(rows).float(), tokens=tokens, passes=len(rows), trunk_cache=None)
