"""A cache of keys and values that grows without being copied."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers.cache_utils import Cache, DynamicLayer

ROOM = 32
"""Tokens of room kept behind those held: they are copied once in so many tokens instead of at every one."""


def growing_cache() -> "Cache":
    """Return an empty cache for a model whose layers all see every token before them."""
    from transformers.cache_utils import Cache

    return Cache(layer_class_to_replicate=_growing_layer())


@cache
def _growing_layer() -> "type[DynamicLayer]":
    from transformers.cache_utils import DynamicLayer

    class GrowingLayer(DynamicLayer):  # type: ignore[misc]
        """Holds keys and values, (rows, heads, length, d) each, as the front part of a larger tensor."""

        room: "tuple[torch.Tensor, torch.Tensor] | None" = None

        def update(
            self, key_states: "torch.Tensor", value_states: "torch.Tensor", *args: Any, **kwargs: Any
        ) -> "tuple[torch.Tensor, torch.Tensor]":
            """Append keys and values, and return all of them."""
            held = self.get_seq_length()
            if held == 0:
                return super().update(key_states, value_states, *args, **kwargs)  # type: ignore[no-any-return]
            end = held + key_states.shape[-2]
            if self.room is None or end > self.room[0].shape[-2]:
                keys, values = (_with_room(getattr(self, name), end + ROOM) for name in ("keys", "values"))
                self.room = (keys, values)
            keys, values = self.room
            keys[..., held:end, :], values[..., held:end, :] = key_states, value_states
            self.keys, self.values = keys[..., :end, :], values[..., :end, :]
            return self.keys, self.values

        def reorder_cache(self, beam_idx: "torch.Tensor") -> None:
            """Keep, repeat or reorder rows."""
            super().reorder_cache(beam_idx)
            self.room = None

    return GrowingLayer


def _with_room(held: "torch.Tensor", length: int) -> "torch.Tensor":
    rows, heads, n, size = held.shape
    room = held.new_empty((rows, heads, length, size))
    room[..., :n, :] = held
    return room
