"""A text is embedded once, for one tenant."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rafs.engines.remembered_vectors import RememberingEmbedder
from rafs.types import ModelIdentity
from rafs.usage import Caller, Meter


class CountingEmbedder:
    """An embedder that notes what it is asked."""

    identity = ModelIdentity(id="counting", family="vectors", revision="1")

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], meter: Meter) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[float(len(text)), 1.0] for text in texts], dtype=np.float32)


async def test_only_new_texts_reach_the_embedder() -> None:
    inner = CountingEmbedder()
    embedder = RememberingEmbedder(inner)
    await embedder.embed(["a", "bb", "a"], Meter())
    rows = await embedder.embed(["bb", "ccc"], Meter())
    assert inner.asked == ["a", "bb", "ccc"]
    assert rows[:, 0].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("tenant", "n_reused"), [pytest.param("one", 1, id="the same tenant"), pytest.param("two", 0, id="another tenant")]
)
async def test_a_tenant_reuses_its_own_vectors_alone(tenant: str, n_reused: int) -> None:
    embedder, meter = RememberingEmbedder(CountingEmbedder()), Meter(caller=Caller(tenant=tenant))
    await embedder.embed(["a"], Meter(caller=Caller(tenant="one")))
    await embedder.embed(["a"], meter)
    assert sum(stage.reused for stage in meter.stages.values()) == n_reused
