"""Drawing many continuations together: one shared prefill, then batched decoding with a random stream per row."""

import random
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rafs.engines.packed import Branch, Packed, Strategy, branch_ends, packed_inputs, with_cache

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache, PreTrainedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One continuation to draw."""

    prompt: tuple[int, ...]
    seed: int
    max_new_tokens: int
    """At least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeJob:
    """Rows that are decoded together."""

    rows: tuple[Row, ...]
    temperature: float
    """0 is greedy."""
    abandoned: threading.Event = field(default_factory=threading.Event)
    """Set when the caller has left; decoding then ends at the next token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What was drawn."""

    rows: tuple[tuple[int, ...], ...]
    """New tokens of each row, without the end token."""
    ended: tuple[bool, ...]
    """Whether each row ended by itself; False where a length limit cut it."""
    tokens: int
    """Tokens that went through the model, prefill and decoding."""


@dataclass(slots=True)
class _State:
    """The rows still being decoded: their cache, the mask over it, and the logits of the next token."""

    cache: "DynamicCache"
    mask: "torch.Tensor"
    """(rows, length); 0 on the padding at the left."""
    logits: "torch.Tensor"
    """(rows, V)"""
    tokens: int


def pack_prompts(prompts: Sequence[tuple[int, ...]]) -> Packed:
    """Return the prompts as branches of the longest one, so that what they share is run once.

    Each prompt leaves the trunk where it first differs from it, and at the latest before its own last token.
    """
    trunk = max(prompts, key=len)[:-1]
    shared = [_n_shared(trunk, prompt[:-1]) for prompt in prompts]
    branches = [Branch(leaves_at=n, ids=prompt[n:]) for n, prompt in zip(shared, prompts, strict=True)]
    return Packed(trunk=trunk, branches=tuple(branches))


def _n_shared(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many tokens the two begin with in common."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))


def decode(model: "PreTrainedModel", job: DecodeJob, strategy: Strategy, end_ids: frozenset[int]) -> Decoded:
    """Draw every row of the job.

    Args:
        model: Causal language model in evaluation mode.
        job: The rows; each has its own random stream, so a row's draw does not depend on the others' (its logits
            do in the last digits: sums are ordered by batch).
        strategy: PACKED where that is exact for this model; anything else pads the prompts at the left.
        end_ids: Tokens that end a text.
    """
    import torch

    drawn: list[list[int]] = [[] for _ in job.rows]
    ended = [False] * len(job.rows)
    streams = [random.Random(row.seed) for row in job.rows]
    with torch.inference_mode():
        prefill = _prefill_packed if strategy is Strategy.PACKED else _prefill_padded
        state = prefill(model, [row.prompt for row in job.rows])
        active = list(range(len(job.rows)))
        while active and not job.abandoned.is_set():
            chosen = _draw(state.logits, job.temperature, [streams[row] for row in active])
            keep: list[int] = []
            for place, (row, token) in enumerate(zip(active, chosen, strict=True)):
                if token in end_ids:
                    ended[row] = True
                    continue
                drawn[row].append(token)
                if len(drawn[row]) < job.rows[row].max_new_tokens:
                    keep.append(place)
            active = [active[place] for place in keep]
            if active:
                lengths = [len(job.rows[row].prompt) + len(drawn[row]) - 1 for row in active]
                _advance(model, state, keep, [drawn[row][-1] for row in active], lengths)
    return Decoded(rows=tuple(map(tuple, drawn)), ended=tuple(ended), tokens=state.tokens)


def _advance(
    model: "PreTrainedModel", state: _State, keep: Sequence[int], tokens: Sequence[int], positions: Sequence[int]
) -> None:
    """Drop the rows that are done and run one token of each other row."""
    import torch

    if len(keep) < len(state.mask):
        kept = torch.tensor(list(keep))
        state.cache.batch_select_indices(kept)
        state.mask = state.mask[kept]
    state.mask = torch.cat([state.mask, state.mask.new_ones((len(keep), 1))], dim=1)
    output = model(
        input_ids=torch.tensor(list(tokens))[:, None],
        attention_mask=state.mask,
        position_ids=torch.tensor(list(positions))[:, None],
        **with_cache(model, state.cache),
    )
    state.logits = output.logits[:, -1]
    state.tokens += len(tokens)


def _draw(logits: "torch.Tensor", temperature: float, streams: Sequence[random.Random]) -> list[int]:
    """Draw one token per row: the first whose cumulative probability passes the row's uniform number."""
    import torch

    if temperature == 0:
        greedy: list[int] = logits.argmax(dim=-1).tolist()
        return greedy
    mass = (logits.double() / temperature).softmax(dim=-1).cumsum(dim=-1)  # (rows, V)
    uniform = torch.tensor([[stream.random()] for stream in streams], dtype=mass.dtype)
    places = torch.searchsorted(mass, uniform * mass[:, -1:], right=True)[:, 0]
    drawn: list[int] = places.clamp(max=mass.shape[-1] - 1).tolist()
    return drawn


def _prefill_packed(model: "PreTrainedModel", prompts: Sequence[tuple[int, ...]]) -> _State:
    """Run the distinct prompts as one packed pass, and hand each row its own part of the cache."""
    import torch
    from transformers import DynamicCache

    distinct = list(dict.fromkeys(prompts))
    packed = pack_prompts(distinct)
    ends = [len(packed.trunk) + end for end in branch_ends(packed.branches)]
    shared = DynamicCache()
    last = torch.tensor([end - 1 for end in ends])
    output = model(**packed_inputs(packed), logits_to_keep=last, **with_cache(model, shared))
    paths = [
        [*range(branch.leaves_at), *range(end - len(branch.ids), end)]
        for branch, end in zip(packed.branches, ends, strict=True)
    ]
    place = [distinct.index(prompt) for prompt in prompts]
    index, mask = _pad_left([paths[each] for each in place])  # (rows, L)
    cache = DynamicCache()
    for layer, (keys, values) in enumerate(_keys_and_values(shared)):
        # (1, heads, N, d) -> (rows, heads, L, d)
        cache.update(keys[0][:, index].transpose(0, 1), values[0][:, index].transpose(0, 1), layer)
    return _State(cache=cache, mask=mask, logits=output.logits[0][place], tokens=packed.n_tokens)


def _prefill_padded(model: "PreTrainedModel", prompts: Sequence[tuple[int, ...]]) -> _State:
    from transformers import DynamicCache

    ids, mask = _pad_left([list(prompt) for prompt in prompts])
    cache = DynamicCache(config=model.config)
    positions = (mask.cumsum(dim=-1) - 1).clamp(min=0)
    output = model(
        input_ids=ids, attention_mask=mask, position_ids=positions, logits_to_keep=1, **with_cache(model, cache)
    )
    return _State(cache=cache, mask=mask, logits=output.logits[:, -1], tokens=sum(map(len, prompts)))


def _keys_and_values(cache: "DynamicCache") -> "Iterator[tuple[torch.Tensor, torch.Tensor]]":
    for layer in cache.layers:
        assert layer.keys is not None and layer.values is not None, "the pass above filled every layer"
        yield layer.keys, layer.values


def _pad_left(rows: Sequence[Sequence[int]]) -> "tuple[torch.Tensor, torch.Tensor]":
    """Return the rows padded with 0 at the left, and the mask that hides the padding."""
    import torch

    longest = max(map(len, rows))
    padded = [[0] * (longest - len(row)) + list(row) for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return torch.tensor(padded), torch.tensor(mask)
