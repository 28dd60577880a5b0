"""Many prompts that share a trunk, and the one masked pass that runs each of their tokens once.

A branch leaves the trunk after `leaves_at` tokens. A pass runs over trunk + branches: positions of a branch go on where
it left, and a mask lets it see that much of the trunk, and itself. For T steps of s tokens after P, and T probes of q,
that is P + T(s + q) tokens instead of T(P + q) + sT(T + 1)/2.
"""

import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rafs.errors import BackendError

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache, PretrainedConfig, PreTrainedModel
    from transformers.cache_utils import Cache

SLICE_TOKENS = 512
"""Bound of new tokens in one pass of several: a caller that left is noticed between passes, about every 2 seconds."""


def _go_on() -> None:
    """Give way to nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A continuation of the trunk's first `leaves_at` tokens."""

    leaves_at: int
    ids: tuple[int, ...]
    """At least one token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A trunk and its branches; prompt i is `trunk[: branches[i].leaves_at] + branches[i].ids`."""

    trunk: tuple[int, ...]
    branches: tuple[Branch, ...]
    abandoned: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set when nobody waits any more; the passes that are left are not run."""
    give_way: Callable[[], None] = field(default=_go_on, compare=False)
    """Called between two passes, to let more urgent work run first."""

    @property
    def n_tokens(self) -> int:
        """Tokens of trunk and branches, each once."""
        return len(self.trunk) + n_branch_tokens(self.branches)

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt."""
        return max(branch.leaves_at + len(branch.ids) for branch in self.branches)

    def prompts(self) -> list[tuple[int, ...]]:
        """Return every prompt by itself."""
        return [self.trunk[: branch.leaves_at] + branch.ids for branch in self.branches]

    def pause(self) -> None:
        """Stand between two passes: let urgent work run, and raise BackendError when nobody waits any more."""
        self.give_way()
        if self.abandoned.is_set():
            raise BackendError("nobody waits for these prompts any more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One forward pass: `trunk[start:stop]`, then these branches; the cache holds `trunk[:start]`."""

    start: int
    stop: int
    branches: tuple[Branch, ...]
    """None of them leaves after `stop`."""


def n_branch_tokens(branches: Sequence[Branch]) -> int:
    """Return the tokens of all these branches together."""
    return sum(len(branch.ids) for branch in branches)


def n_shared(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many tokens the two begin with in common."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))


def one_pass(packed: Packed, n_known: int) -> list[Pass]:
    """Return the single pass over all that is not known of the trunk, and every branch."""
    return [Pass(start=n_known, stop=len(packed.trunk), branches=packed.branches)]


def sliced_passes(packed: Packed, n_known: int, slice_tokens: int = SLICE_TOKENS) -> list[Pass]:
    """Return the trunk in slices, then the branches in groups, each of at most `slice_tokens` new tokens.

    A branch that is longer is a group of its own.
    """
    end = len(packed.trunk)
    passes = [
        Pass(start=start, stop=min(start + slice_tokens, end), branches=())
        for start in range(n_known, end, slice_tokens)
    ]
    groups: list[list[Branch]] = [[]]
    for branch in packed.branches:
        if groups[-1] and n_branch_tokens(groups[-1]) + len(branch.ids) > slice_tokens:
            groups.append([])
        groups[-1].append(branch)
    return [*passes, *(Pass(start=end, stop=end, branches=tuple(group)) for group in groups)]


def run_passes(
    model: "PreTrainedModel", packed: Packed, cache: "DynamicCache", passes: Sequence[Pass]
) -> "Iterator[tuple[Pass, torch.Tensor]]":
    """Run the passes, and give those that have branches with the logits after each branch, (n_branches, V).

    Meanwhile the cache still holds the keys of `trunk[:stop]` and then of those branches; in the end, of the trunk.

    Args:
        model: Causal language model in evaluation mode.
        packed: The prompts.
        cache: Of full length in every layer (`DynamicCache()`), whatever the layer's window; it holds `trunk[:start]`
            of the first pass.
        passes: In order; each starts where the one before stopped.

    Raises:
        BackendError: The prompts were abandoned between two passes.
    """
    for each in passes:
        packed.pause()
        logits = model(**pass_inputs(model, packed.trunk, each), **with_cache(model, cache)).logits[0]
        if each.branches:
            yield each, logits
            cache.crop(-n_branch_tokens(each.branches))


def branch_ends(branches: Sequence[Branch]) -> list[int]:
    """Return where each branch ends when branches are laid out one after the other."""
    return list(accumulate(len(branch.ids) for branch in branches))


def pass_inputs(model: "PreTrainedModel", trunk: Sequence[int], each: Pass) -> dict[str, Any]:
    """Return the forward arguments of one pass of Q new tokens over K = stop + branch tokens, cached ones included."""
    import torch

    start, stop, device = each.start, each.stop, model.device
    columns = stop + n_branch_tokens(each.branches)
    positions, limits, firsts = list(range(stop)), list(range(1, stop + 1)), [columns] * stop
    for branch in each.branches:
        firsts += [len(positions)] * len(branch.ids)
        limits += [branch.leaves_at] * len(branch.ids)
        positions += range(branch.leaves_at, branch.leaves_at + len(branch.ids))
    at = torch.tensor(positions, device=device)  # (K,)
    column = torch.arange(columns, device=device)  # (K,)
    limit, first = (torch.tensor(ends[start:], device=device)[:, None] for ends in (limits, firsts))  # (Q, 1)
    seen = (column < limit) | ((column >= first) & (column <= column[start:, None]))  # (Q, K)
    ids = [*trunk[start:stop], *(index for branch in each.branches for index in branch.ids)]
    last = [stop - start + end - 1 for end in branch_ends(each.branches)]
    return {
        "input_ids": torch.tensor([ids], device=device),  # (1, Q)
        "position_ids": at[None, start:],  # (1, Q)
        "attention_mask": _layer_masks(model, seen, at),
        "logits_to_keep": torch.tensor(last or [len(ids) - 1], device=device),
    }


def with_cache(model: "PreTrainedModel", cache: "Cache") -> dict[str, Any]:
    """Return the forward arguments that pass a cache, by the name this version of transformers gives it."""
    name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    return {name: cache, "use_cache": True}


def layer_kinds(config: "PretrainedConfig") -> set[str]:
    """Return the kinds of layers of a (text) model, by the names transformers gives them."""
    if getattr(config, "layer_types", None):
        return set(config.layer_types)
    windows = {"sliding_attention": "sliding_window", "chunked_attention": "attention_chunk_size"}
    return {kind for kind, name in windows.items() if getattr(config, name, None)} or {"full_attention"}


def _layer_masks(model: "PreTrainedModel", seen: "torch.Tensor", positions: "torch.Tensor") -> Any:
    """Return the additive mask (1, 1, Q, K) of every layer: one, or one for each kind where layers differ.

    Numbers, not booleans: eager attention adds a boolean mask as 0 and 1 and is silently wrong.
    """
    import torch

    config = model.config.get_text_config()
    queries, keys = positions[-len(seen) :, None], positions[None]  # (Q, 1), (1, K)

    def additive(kind: str) -> torch.Tensor:
        visible = seen
        if kind == "sliding_attention":
            visible = seen & (keys > queries - config.sliding_window)
        elif kind == "chunked_attention":
            visible = seen & (keys // config.attention_chunk_size == queries // config.attention_chunk_size)
        mask = torch.zeros(seen.shape, dtype=model.dtype, device=seen.device)
        return mask.masked_fill_(~visible, torch.finfo(model.dtype).min)[None, None]

    masks = {kind: additive(kind) for kind in layer_kinds(config)}
    return masks if len(masks) > 1 else next(iter(masks.values()))
