"""Keys and values of the trunks that were lately run, so that only what is new in a trace runs again."""

from typing import TYPE_CHECKING

from cachetools import LRUCache

from rafs.engines.packed import n_shared
from rafs.engines.strategies import head_of

if TYPE_CHECKING:
    from transformers import DynamicCache

KNOWN_BYTES = 256 * 2**20
"""About 5000 tokens of a 135 M model in fp32: a dozen traces."""
MAX_ENTRIES = 64
"""A look-up compares with every entry, about 20 microseconds each."""
TOKEN_BYTES = 40
"""What Python takes for a token id in a tuple, rounded up."""


class KnownTrunks:
    """Trunks bounded in bytes, the least recently used out first; nothing crosses from one tenant to another.

    Used by one thread. What goes on from a known trunk equals a fresh run to rounding (1e-5 of a logit in fp32), not
    to the bit: sums are ordered by the shape of a pass.
    """

    def __init__(self, max_bytes: int) -> None:
        """Keep nothing when `max_bytes` is 0."""
        self._floor = -(-max_bytes // MAX_ENTRIES)
        self._entries: LRUCache[tuple[str, tuple[int, ...]], DynamicCache] = LRUCache(max_bytes, self._weight)

    @property
    def n_bytes(self) -> int:
        """Bytes held, a small entry counted as 1 / MAX_ENTRIES of the bound."""
        return int(self._entries.currsize)

    def head(self, tenant: str, trunk: tuple[int, ...]) -> "DynamicCache | None":
        """Return a cache of its own with as many first tokens of the trunk as this tenant's entries know."""
        shared = {key: n_shared(key[1], trunk) for key in self._entries if key[0] == tenant}
        best = max(shared, key=shared.__getitem__, default=None)
        return head_of(self._entries[best], shared[best]) if best is not None and shared[best] else None

    def keep(self, tenant: str, trunk: tuple[int, ...], cache: "DynamicCache") -> None:
        """Keep a trunk in the place of its beginnings, unless one that goes on from it is kept already.

        Args:
            tenant: On whose behalf it was run.
            trunk: Its ids.
            cache: Begins with these ids; may be changed afterwards.
        """
        mine = [ids for owner, ids in self._entries if owner == tenant]
        if not self._entries.maxsize or any(ids[: len(trunk)] == trunk for ids in mine):
            return
        for ids in mine:
            if ids == trunk[: len(ids)]:
                self._entries.pop((tenant, ids))
        kept = head_of(cache, len(trunk))
        if self._weight(kept) <= self._entries.maxsize:
            self._entries[tenant, trunk] = kept

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()

    def _weight(self, cache: "DynamicCache") -> int:
        tensors = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
        held = sum(tensor.nbytes for tensor in tensors if tensor is not None)
        return int(max(held + TOKEN_BYTES * cache.get_seq_length(), self._floor))
