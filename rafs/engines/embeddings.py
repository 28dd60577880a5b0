"""Sentence embeddings on a local sentence-transformers folder."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rafs.engines.batching import MicroBatcher, cut_batches
from rafs.engines.loading import DEFAULT_THREADS, set_threads
from rafs.errors import BackendError
from rafs.types import ModelIdentity
from rafs.usage import Meter

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

STAGE = "embed"
BATCH_TOKENS = 512
"""Padded tokens of one batch: large enough to fill the cores, small enough that a caller who left is soon noticed."""
QUEUE_TOKENS = 131_072

Vector = NDArray[np.float32]


class SentenceEmbedder:
    """An `Embedder` on a sentence-transformers model; text beyond the model's window is not read."""

    def __init__(
        self, model: "SentenceTransformer", identity: ModelIdentity, *, queue_tokens: int = QUEUE_TOKENS
    ) -> None:
        """Take over a loaded model.

        Args:
            model: In evaluation mode.
            identity: What the response names.
            queue_tokens: Bound of the tokens waiting for this model.
        """
        self._model = model
        # A fast tokenizer must not be used by two threads at once, and the model's own runs on the inference thread.
        self._counter = copy.deepcopy(model.tokenizer)
        self._identity = identity
        self._batcher: MicroBatcher[tuple[str, ...], Vector] = MicroBatcher(
            self._encode, name=identity.id, batch_tokens=1, queue_tokens=queue_tokens
        )

    @classmethod
    def load(
        cls,
        folder: Path,
        identity: ModelIdentity,
        *,
        threads: int = DEFAULT_THREADS,
        queue_tokens: int = QUEUE_TOKENS,
    ) -> "SentenceEmbedder":
        """Load a local folder.

        Raises:
            BackendError: The folder cannot be loaded.
        """
        set_threads(threads)
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        if not folder.is_dir():  # Else the library would take the name for a hub repository.
            raise BackendError(f"no model folder {str(folder)!r}; run `rafs models pull`")
        try:
            model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise BackendError(f"cannot load an embedder from {str(folder)!r}: {error}") from error
        return cls(model.eval(), identity, queue_tokens=queue_tokens)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def embed(self, texts: Sequence[str], meter: Meter) -> Vector:
        """See `Embedder.embed`. Equal texts are embedded once; a batch holds texts of this call alone."""
        if not texts:
            return np.zeros((0, self._model.get_embedding_dimension() or 0), dtype=np.float32)
        distinct = list(dict.fromkeys(texts))
        sizes = self._n_tokens(distinct)
        batches = cut_batches(sizes, BATCH_TOKENS)
        rows = await self._batcher.run(
            [(tuple(distinct[at] for at in batch), sum(sizes[at] for at in batch)) for batch in batches],
            meter.caller,
        )
        meter.add(STAGE, calls=len(distinct), tokens=sum(sizes))
        order = [distinct[at] for batch in batches for at in batch]
        row_of = dict(zip(order, np.concatenate(rows), strict=True))
        return np.stack([row_of[text] for text in texts])  # (n_texts, d)

    def _n_tokens(self, texts: Sequence[str]) -> list[int]:
        ids = self._counter(list(texts), truncation=True, max_length=self._model.max_seq_length)["input_ids"]
        return [len(row) for row in ids]

    def _encode(self, batches: Sequence[tuple[str, ...]]) -> list[Vector]:
        return [self._rows(batch) for batch in batches]

    def _rows(self, texts: tuple[str, ...]) -> Vector:
        rows = self._model.encode(
            list(texts), batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(rows, dtype=np.float32)  # (n_texts, d)
