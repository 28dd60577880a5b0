"""Every `Embedder` keeps the contract: unit rows, in order."""

from collections.abc import Iterator

import numpy as np
import pytest

from rafs.contracts import Embedder
from rafs.engines.embeddings import SentenceEmbedder
from rafs.engines.remembered_vectors import RememberingEmbedder
from rafs.engines.scripted import Script, ScriptedEmbedder
from rafs.types import ModelIdentity
from rafs.usage import Meter
from tests.rafs.engines.real_models import real_model_folder

TEXTS = ["Tom has 3 apples.", "The train covers 240 km in 3 hours, which is 80 km in each of them.", "x = 7"]
MINILM = ModelIdentity(id="all-minilm-l6-v2", family="minilm", revision="0.1.0")


@pytest.fixture(scope="module")
def local() -> Iterator[SentenceEmbedder]:
    embedder = SentenceEmbedder.load(real_model_folder("all-minilm-l6-v2"), MINILM)
    yield embedder
    embedder.close()


@pytest.fixture(params=["sentence_transformers", "scripted", "remembering"])
async def embedder(request: pytest.FixtureRequest, local: SentenceEmbedder) -> Embedder:
    if request.param == "sentence_transformers":
        return local
    if request.param == "remembering":
        return RememberingEmbedder(local)
    rows = await local.embed(TEXTS, Meter())
    vectors = {text: tuple(row.tolist()) for text, row in zip(TEXTS, rows, strict=True)}
    return ScriptedEmbedder(Script(vectors=vectors), local.identity)


async def test_there_is_one_unit_row_per_text(embedder: Embedder) -> None:
    rows = await embedder.embed(TEXTS, Meter())
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), abs=1e-5)


async def test_rows_follow_the_order_of_the_texts(embedder: Embedder) -> None:
    forward = await embedder.embed(TEXTS, Meter())
    backward = await embedder.embed(TEXTS[::-1], Meter())
    assert backward[::-1] == pytest.approx(forward, abs=1e-5)


async def test_equal_texts_have_equal_rows(embedder: Embedder) -> None:
    rows = await embedder.embed([TEXTS[0], TEXTS[1], TEXTS[0]], Meter())
    assert (rows[0] == rows[2]).all()


async def test_different_texts_have_different_rows(embedder: Embedder) -> None:
    rows = await embedder.embed(TEXTS, Meter())
    assert float(rows[0] @ rows[1]) < 0.9


async def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert len(await embedder.embed([], Meter())) == 0


async def test_it_says_which_model_it_is(embedder: Embedder) -> None:
    assert embedder.identity == MINILM
