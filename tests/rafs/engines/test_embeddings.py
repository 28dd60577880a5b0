import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rafs.engines.embeddings import SentenceEmbedder
from rafs.errors import BackendError
from rafs.types import ModelIdentity
from rafs.usage import Meter
from tests.rafs.engines.real_models import real_model_folder

MINILM = ModelIdentity(id="all-minilm-l6-v2", family="minilm", revision="0.1.0")


@pytest.fixture(scope="module")
def embedder() -> Iterator[SentenceEmbedder]:
    embedder = SentenceEmbedder.load(real_model_folder("all-minilm-l6-v2"), MINILM)
    yield embedder
    embedder.close()


async def test_equal_texts_are_embedded_once(embedder: SentenceEmbedder) -> None:
    meter = Meter()
    await embedder.embed(["six pens"] * 5 + ["two cups"], meter)
    assert meter.stages["embed"].calls == 2
    assert meter.stages["embed"].tokens == 8  # two words, and a mark at either end, twice


async def test_batching_does_not_change_a_row(embedder: SentenceEmbedder) -> None:
    texts = ["x = 7", "The train covers 240 km in 3 hours. " * 8, "six pens"]
    together = await embedder.embed(texts, Meter())
    alone = np.vstack([await embedder.embed([text], Meter()) for text in texts])
    assert together == pytest.approx(alone, abs=1e-5)


async def test_other_callers_in_the_queue_change_no_bit_of_a_row(embedder: SentenceEmbedder) -> None:
    texts = ["x = 7", "She bakes 40 rolls and sells 32 of them before noon.", "six pens", "So 8 rolls are left over."]
    others = [[f"Shelf {i} holds {'very ' * (3 * j)}old books." for j in range(5)] for i in range(4)]
    alone = await embedder.embed(texts, Meter())
    crowd = await asyncio.gather(*(embedder.embed(each, Meter()) for each in [*others[:2], texts, *others[2:], texts]))
    assert (crowd[2] == alone).all()
    assert (crowd[5] == alone).all()


async def test_a_paraphrase_is_nearer_than_another_topic(embedder: SentenceEmbedder) -> None:
    rows = await embedder.embed(
        ["The baker sold rolls.", "Rolls were sold by the baker.", "The bridge is old."], Meter()
    )
    assert float(rows[0] @ rows[1]) > float(rows[0] @ rows[2]) + 0.3


def test_a_missing_folder_is_a_backend_error(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="no model folder"):
        SentenceEmbedder.load(tmp_path / "nothing", MINILM)
