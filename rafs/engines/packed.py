"""Many prompts that share a trunk, in one forward pass.

A branch leaves the trunk after `leaves_at` tokens. The pass runs over trunk + branches, each token once: positions of
a branch go on where it left, and a boolean mask lets it see that much of the trunk, and itself. For T steps of s
tokens after P, and T probes of q, that is P + T(s + q) tokens instead of T(P + q) + sT(T + 1)/2.
"""

import inspect
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rafs.errors import BackendError

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache, PreTrainedModel


class Strategy(StrEnum):
    """How the prompts of one trace go through the model, best first."""

    PACKED = "packed"
    """Trunk and branches in one masked pass."""
    TWO_PASS = "two_pass"
    """Trunk with a cache, then the branches in masked passes: cheaper attention when the trunk is long."""
    NAIVE = "naive"
    """One pass per prompt; always right, whatever the architecture."""


PACKED_MAX_TOKENS = 700
"""Above about 700 to 1000 tokens the dense mask of one pass costs more than a second call (measured)."""
SLICE_TOKENS = 512
"""Bound of new tokens in one pass of TWO_PASS: a caller that left is noticed between passes, about every 2 seconds."""


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

    @property
    def n_branch_tokens(self) -> int:
        """Tokens of all branches together."""
        return sum(len(branch.ids) for branch in self.branches)

    @property
    def n_tokens(self) -> int:
        """Tokens of one packed pass."""
        return len(self.trunk) + self.n_branch_tokens

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt."""
        return max((branch.leaves_at + len(branch.ids) for branch in self.branches), default=0)

    def prompts(self) -> list[tuple[int, ...]]:
        """Return every prompt by itself."""
        return [self.trunk[: branch.leaves_at] + branch.ids for branch in self.branches]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLogits:
    """Next-token logits after every prompt, and what they cost."""

    logits: "torch.Tensor"
    """Shape (n_branches, vocabulary), fp32."""
    tokens: int
    passes: int


def branch_ends(branches: Sequence[Branch]) -> list[int]:
    """Return where each branch ends when branches are laid out one after the other."""
    return list(accumulate(len(branch.ids) for branch in branches))


def last_logits(
    model: "PreTrainedModel", packed: Packed, strategy: Strategy, slice_tokens: int = SLICE_TOKENS
) -> PromptLogits:
    """Return the next-token logits after every prompt.

    Args:
        model: Causal language model in evaluation mode.
        packed: The prompts.
        strategy: How they go through the model.
        slice_tokens: Bound of new tokens in one pass of TWO_PASS.

    Raises:
        BackendError: The prompts were abandoned between two passes.
    """
    import torch

    with torch.inference_mode():
        match strategy:
            case Strategy.PACKED:
                logits, tokens, passes = _packed(model, packed), packed.n_tokens, 1
            case Strategy.TWO_PASS:
                logits, passes = _two_pass(model, packed, slice_tokens)
                tokens = packed.n_tokens
            case Strategy.NAIVE:
                logits, tokens, passes = _naive(model, packed), sum(map(len, packed.prompts())), len(packed.branches)
    return PromptLogits(logits=logits.float(), tokens=tokens, passes=passes)


def with_cache(model: "PreTrainedModel", cache: "DynamicCache") -> dict[str, Any]:
    """Return the forward arguments that pass a cache, by the name this version of transformers gives it."""
    name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    return {name: cache, "use_cache": True}


def packed_inputs(packed: Packed) -> "dict[str, torch.Tensor]":
    """Return ids, positions and mask of one pass over trunk and branches, N tokens in all."""
    import torch

    n_trunk = len(packed.trunk)
    mask, positions, ids = _branch_inputs(packed.branches, n_trunk)
    full = torch.zeros((packed.n_tokens, packed.n_tokens), dtype=torch.bool)  # (N, N)
    full[:n_trunk, :n_trunk] = torch.ones((n_trunk, n_trunk), dtype=torch.bool).tril()
    full[n_trunk:] = mask
    return {
        "input_ids": torch.tensor([[*packed.trunk, *ids]]),  # (1, N)
        "position_ids": torch.tensor([[*range(n_trunk), *positions]]),  # (1, N)
        "attention_mask": full[None, None],  # (1, 1, N, N)
    }


def _branch_inputs(branches: Sequence[Branch], n_trunk: int) -> "tuple[torch.Tensor, list[int], list[int]]":
    """Return the mask rows (B, n_trunk + B), positions (B) and ids (B) of B branch tokens."""
    import torch

    ends = branch_ends(branches)
    mask = torch.zeros((ends[-1], n_trunk + ends[-1]), dtype=torch.bool)
    for branch, end in zip(branches, ends, strict=True):
        start, size = end - len(branch.ids), len(branch.ids)
        mask[start:end, : branch.leaves_at] = True
        mask[start:end, n_trunk + start : n_trunk + end] = torch.ones((size, size), dtype=torch.bool).tril()
    positions = [branch.leaves_at + offset for branch in branches for offset in range(len(branch.ids))]
    return mask, positions, [index for branch in branches for index in branch.ids]


def _check_wanted(packed: Packed) -> None:
    if packed.abandoned.is_set():
        raise BackendError("nobody waits for these prompts any more")


def _naive(model: "PreTrainedModel", packed: Packed) -> "torch.Tensor":
    import torch

    rows: list[torch.Tensor] = []
    for ids in packed.prompts():
        _check_wanted(packed)
        rows.append(model(input_ids=torch.tensor([ids]), use_cache=False, logits_to_keep=1).logits[0, -1])
    return torch.stack(rows)  # (n_branches, V)


def _packed(model: "PreTrainedModel", packed: Packed) -> "torch.Tensor":
    import torch

    last = [len(packed.trunk) + end - 1 for end in branch_ends(packed.branches)]
    logits: torch.Tensor = model(**packed_inputs(packed), use_cache=False, logits_to_keep=torch.tensor(last)).logits[0]
    return logits  # (n_branches, V)


def _two_pass(model: "PreTrainedModel", packed: Packed, slice_tokens: int) -> "tuple[torch.Tensor, int]":
    """Return logits (n_branches, V) and the number of passes: the trunk in slices, then the branches in groups."""
    import torch
    from transformers import DynamicCache

    cache = DynamicCache()
    trunk, groups = packed.trunk, _groups(packed.branches, slice_tokens)
    starts = range(0, len(trunk), slice_tokens)
    for start in starts:
        _check_wanted(packed)
        ids = trunk[start : start + slice_tokens]
        model(input_ids=torch.tensor([ids]), logits_to_keep=1, **with_cache(model, cache))
    rows: list[torch.Tensor] = []
    for group in groups:
        _check_wanted(packed)
        mask, positions, branch_ids = _branch_inputs(group, len(trunk))
        output = model(
            input_ids=torch.tensor([branch_ids]),
            position_ids=torch.tensor([positions]),
            attention_mask=mask[None, None],  # (1, 1, B, trunk + B)
            logits_to_keep=torch.tensor([end - 1 for end in branch_ends(group)]),
            **with_cache(model, cache),
        )
        rows.append(output.logits[0])
        cache.crop(-len(branch_ids))
    return torch.cat(rows), len(starts) + len(groups)


def _groups(branches: Sequence[Branch], slice_tokens: int) -> list[list[Branch]]:
    """Cut the branches, in order, into groups of at most `slice_tokens` (a larger branch stays alone)."""
    groups: list[list[Branch]] = [[]]
    size = 0
    for branch in branches:
        if groups[-1] and size + len(branch.ids) > slice_tokens:
            groups.append([])
            size = 0
        groups[-1].append(branch)
        size += len(branch.ids)
    return groups
