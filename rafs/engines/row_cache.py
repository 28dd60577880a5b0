"""The rows of a batch being decoded: what their prompts share is run once, then each has its own part of the cache."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rafs.engines.growing_cache import growing_cache
from rafs.engines.packed import Branch, Packed, Pass, branch_ends, n_shared, run_passes, sliced_passes, with_cache

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache, PreTrainedModel
    from transformers.cache_utils import Cache


HEAD_SIZES = ("head_dim", "global_head_dim", "qk_head_dim", "v_head_dim")
"""By the names that configurations have for them; layers, keys and values may differ, and the largest counts."""


class Prefill(StrEnum):
    """How prompts come into the cache, best first."""

    SHARED = "shared"
    """What the prompts of a job share is run once; jobs are joined afterwards."""
    PADDED = "padded"
    """Different prompts side by side, padded at the left; equal ones once."""
    ALONE = "alone"
    """Row by row, nothing shared or batched; masks and positions are left to the model."""


@dataclass(slots=True)
class Rows:
    """The rows still being decoded."""

    cache: "Cache"
    mask: "torch.Tensor"
    """(rows, length); 0 on the padding at the left."""
    logits: "torch.Tensor"
    """(rows, V), of the next token."""
    is_alone: bool = False
    """Whether it is one row, whose mask the model does not need: recurrent ones take a mask of the new token alone."""

    def select(self, places: Sequence[int]) -> None:
        """Keep, repeat or reorder rows."""
        import torch

        if list(places) == list(range(len(self.mask))):
            return
        kept = torch.tensor(list(places), device=self.mask.device)
        self.cache.reorder_cache(kept)
        self.mask, self.logits = self.mask[kept], self.logits[kept]

    def advance(self, model: "PreTrainedModel", tokens: Sequence[int]) -> None:
        """Run one token of each row."""
        import torch

        self.mask = torch.cat([self.mask, self.mask.new_ones((len(tokens), 1))], dim=1)
        output = model(
            input_ids=torch.tensor(list(tokens), device=self.mask.device)[:, None],
            **_places(model, self.mask, self.mask.sum(dim=-1, keepdim=True) - 1, self.is_alone),
            **with_cache(model, self.cache),
        )
        self.logits = output.logits[:, -1]


def cache_token_bytes(model: "PreTrainedModel", n_bytes: int) -> int:
    """Return the bytes of keys and values of a token, at most: 2 x layers x key heads x head size x bytes of a number.

    A model without attention heads, whose states do not grow, is counted as one whose heads are as wide as it is.

    Args:
        model: Any causal language model.
        n_bytes: Of one number.
    """
    config = model.config.get_text_config()
    n_heads = getattr(config, "num_attention_heads", None) or 1
    n_kept = getattr(config, "num_key_value_heads", None) or n_heads
    named = [getattr(config, name, None) or 0 for name in HEAD_SIZES]
    size = max(named) or config.hidden_size // n_heads
    return int(2 * config.num_hidden_layers * n_kept * size * n_bytes)


def cut_rows(sizes: Sequence[tuple[int, int]], max_rows: int, max_tokens: int) -> list[slice]:
    """Cut rows, or groups of rows that stay together, into batches whose cache is bounded, in order.

    Args:
        sizes: Rows of each, and tokens of the longest of them with what may be drawn.
        max_rows: Bound of the rows of a batch.
        max_tokens: Bound of its rows x its longest one, as a padded cache has them; what is larger is alone.
    """
    cuts, n_rows, longest = [0], 0, 0
    for at, (rows, tokens) in enumerate(sizes):
        n_rows, longest = n_rows + rows, max(longest, tokens)
        if at > cuts[-1] and (n_rows > max_rows or n_rows * longest > max_tokens):
            cuts.append(at)
            n_rows, longest = rows, tokens
    return [slice(start, end) for start, end in zip(cuts, [*cuts[1:], len(sizes)], strict=True) if end > start]


def pack_prompts(prompts: Sequence[tuple[int, ...]]) -> Packed:
    """Return the prompts as branches of the longest one, so that what they share is run once.

    Each prompt leaves the trunk where it first differs from it, and at the latest before its own last token.
    """
    trunk = max(prompts, key=len)[:-1]
    shared = [n_shared(trunk, prompt[:-1]) for prompt in prompts]
    branches = [Branch(leaves_at=n, ids=prompt[n:]) for n, prompt in zip(shared, prompts, strict=True)]
    return Packed(trunk=trunk[: max(shared)], branches=tuple(branches))


def prefill_tokens(prompts: Sequence[tuple[int, ...]], how: Prefill) -> int:
    """Return the tokens that go through the model for the prompts of one job."""
    if how is Prefill.ALONE:
        return sum(map(len, prompts))
    distinct = list(dict.fromkeys(prompts))
    return pack_prompts(distinct).n_tokens if how is Prefill.SHARED else sum(map(len, distinct))


def prefill(
    model: "PreTrainedModel",
    jobs: Sequence[Sequence[tuple[int, ...]]],
    how: Prefill,
    give_way: Callable[[], None] = lambda: None,
) -> Rows:
    """Run the prompts of every job and return one row for each, in order.

    Args:
        model: Causal language model in evaluation mode.
        jobs: Prompts of at least one token; only those of one job share what they begin with.
        how: ALONE takes a single prompt.
        give_way: Called before each pass of SHARED; the others are one pass.
    """
    if how is Prefill.SHARED:
        return _join([_shared(model, prompts, give_way) for prompts in jobs])
    return _padded(model, [prompt for prompts in jobs for prompt in prompts], how is Prefill.ALONE)


def _shared(model: "PreTrainedModel", prompts: Sequence[tuple[int, ...]], give_way: Callable[[], None]) -> Rows:
    from transformers import DynamicCache

    distinct = list(dict.fromkeys(prompts))
    packed, cache = replace(pack_prompts(distinct), give_way=give_way), DynamicCache()
    rows = _join(
        [_part(each, cache, logits) for each, logits in run_passes(model, packed, cache, sliced_passes(packed, 0))]
    )
    rows.select([distinct.index(prompt) for prompt in prompts])
    return rows


def _part(each: Pass, shared: "DynamicCache", logits: "torch.Tensor") -> Rows:
    """Hand each branch of a pass its own copy of what it sees in the cache."""
    ends = [each.stop + end for end in branch_ends(each.branches)]
    paths = [
        [*range(branch.leaves_at), *range(end - len(branch.ids), end)]
        for branch, end in zip(each.branches, ends, strict=True)
    ]
    index, mask = _pad_left(paths, logits.device)  # (rows, L)
    cache = growing_cache()
    for place, layer in enumerate(shared.layers):
        assert layer.keys is not None and layer.values is not None, "the pass has filled every layer"
        # (1, heads, N, d) -> (rows, heads, L, d)
        keys, values = (held[0][:, index].transpose(0, 1) for held in (layer.keys, layer.values))
        cache.update(keys, values, place)
    return Rows(cache=cache, mask=mask, logits=logits)


def _join(parts: Sequence[Rows]) -> Rows:
    """Put rows of several parts side by side, padded at the left."""
    import torch
    from torch.nn.functional import pad

    if len(parts) == 1:
        return parts[0]
    longest = max(part.mask.shape[1] for part in parts)
    missing = [longest - part.mask.shape[1] for part in parts]
    cache = growing_cache()
    for place in range(len(parts[0].cache.layers)):
        keys, values = (
            torch.cat(
                [
                    pad(getattr(part.cache.layers[place], name), (0, 0, n, 0))
                    for part, n in zip(parts, missing, strict=True)
                ]
            )  # (rows, heads, L, d)
            for name in ("keys", "values")
        )
        cache.update(keys, values, place)
    mask = torch.cat([pad(part.mask, (n, 0)) for part, n in zip(parts, missing, strict=True)])
    return Rows(cache=cache, mask=mask, logits=torch.cat([part.logits for part in parts]))


def _padded(model: "PreTrainedModel", prompts: Sequence[tuple[int, ...]], is_alone: bool) -> Rows:
    from transformers import DynamicCache

    distinct = list(dict.fromkeys(prompts))
    ids, mask = _pad_left(distinct, model.device)
    cache = DynamicCache(config=model.config)
    output = model(
        input_ids=ids,
        logits_to_keep=1,
        **_places(model, mask, (mask.cumsum(dim=-1) - 1).clamp(min=0), is_alone),
        **with_cache(model, cache),
    )
    rows = Rows(cache=cache, mask=mask, logits=output.logits[:, -1], is_alone=is_alone)
    rows.select([distinct.index(prompt) for prompt in prompts])
    return rows


def _places(
    model: "PreTrainedModel", mask: "torch.Tensor", positions: "torch.Tensor", is_alone: bool
) -> dict[str, Any]:
    """Return the forward arguments for mask and positions; models that count by other means take no positions."""
    if is_alone:
        return {}
    takes = "position_ids" in inspect.signature(model.forward).parameters
    return {"attention_mask": mask, **({"position_ids": positions} if takes else {})}


def _pad_left(rows: Sequence[Sequence[int]], device: "torch.device") -> "tuple[torch.Tensor, torch.Tensor]":
    """Return the rows padded with 0 at the left, and the mask that hides the padding."""
    import torch

    longest = max(map(len, rows))
    padded = [[0] * (longest - len(row)) + list(row) for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return torch.tensor(padded, device=device), torch.tensor(mask, device=device)
