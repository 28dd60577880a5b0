"""An embedder that embeds a text only once."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rafs.contracts import Embedder
from rafs.engines.shared_work import SharedWork
from rafs.types import ModelIdentity
from rafs.usage import Meter

STAGE = "embed"
MAX_VECTORS = 8192
"""Those of some 200 requests with samples; 12 MB at 384 numbers each."""

Vector = NDArray[np.float32]


class RememberingEmbedder:
    """An `Embedder` in front of another: equal texts of one tenant are embedded once, at the same time or later.

    So choosing the pairs of claims for a validator costs nothing where that validator stands on the same embedder.
    """

    def __init__(self, embedder: Embedder, memory: SharedWork[Vector] | None = None) -> None:
        """Stand in front of an embedder.

        Args:
            embedder: Asked for what is not known.
            memory: Where what is known is kept; by default one of its own.
        """
        self._embedder = embedder
        self._memory = SharedWork[Vector](lambda _: True, max_entries=MAX_VECTORS) if memory is None else memory

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._embedder.identity

    async def embed(self, texts: Sequence[str], meter: Meter) -> Vector:
        """See `Embedder.embed`."""
        if not texts:
            return await self._embedder.embed(texts, meter)
        scope = repr((self.identity.id, self.identity.revision, meter.caller.tenant))
        keys = [hashlib.sha256(f"{scope}{text}".encode(errors="surrogatepass")).digest() for text in texts]

        async def work(positions: Sequence[int]) -> Sequence[Vector]:
            return list(await self._embedder.embed([texts[at] for at in positions], meter))

        rows, n_reused = await self._memory.find(keys, meter.caller.priority, work)
        if n_reused:
            meter.add(STAGE, reused=n_reused)
        return np.stack(rows)  # (n_texts, d)
