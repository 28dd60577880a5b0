"""Every `Nli` keeps the contract: one opinion per pair, in order, each a probability distribution."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from rafs.contracts import Nli
from rafs.engines.nli import EmbeddingNli
from rafs.engines.remembered_pairs import RememberingNli
from rafs.engines.scripted import Script, ScriptedEmbedder, ScriptedNli
from rafs.engines.sequence_nli import Pair, SequenceClassifierNli
from rafs.engines.server_nli import ServerNli
from rafs.types import Entailment
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import serve
from tests.rafs.engines.served_tei import tei
from tests.rafs.engines.tiny_models import TINY, tiny_classifier, tiny_tokenizer

PAIRS = [
    ("Tom has 3 apples.", "Tom has 3 apples."),
    ("Tom has 3 apples.", "Tom has 4 apples."),
    ("Half of them are red.", "No box is red."),
    ("Tom has 3 apples.", "Tom has 3 apples."),
]
VECTORS: dict[str, tuple[float, ...]] = {
    "Tom has 3 apples.": (1.0, 0.0),
    "Tom has 4 apples.": (0.8, 0.6),
    "Half of them are red.": (0.0, 1.0),
    "No box is red.": (0.6, 0.8),
}


def scores(pair: Pair) -> dict[str, float]:
    entails = len(set(pair[0]) & set(pair[1])) / len(set(pair[0] + pair[1]))
    return {"entailment": entails, "neutral": (1 - entails) / 4, "contradiction": (1 - entails) * 3 / 4}


@pytest.fixture(params=["embedding", "remembering", "sequence_classifier", "served", "scripted"])
async def nli(request: pytest.FixtureRequest) -> AsyncIterator[Nli]:
    embedding = EmbeddingNli(ScriptedEmbedder(Script(vectors=VECTORS), TINY))
    async with AsyncExitStack() as closing:
        match request.param:
            case "embedding":
                yield embedding
            case "remembering":
                yield RememberingNli(embedding)
            case "sequence_classifier":
                labels = ["contradiction", "entailment", "neutral"]
                classifier = SequenceClassifierNli(tiny_classifier(labels), tiny_tokenizer().tokenizer, TINY)
                closing.callback(classifier.close)
                yield classifier
            case "served":
                connection = closing.enter_context(serve(tei(scores, batch=2))).connection()
                closing.push_async_callback(connection.close)
                yield ServerNli(connection, TINY)
            case _:
                pairs = dict(zip(PAIRS, await embedding.classify(PAIRS, Meter()), strict=True))
                yield ScriptedNli(Script(pairs=pairs), embedding.identity)


async def test_there_is_one_opinion_per_pair(nli: Nli) -> None:
    assert len(await nli.classify(PAIRS, Meter())) == len(PAIRS)


async def test_no_pairs_give_no_opinions(nli: Nli) -> None:
    assert list(await nli.classify([], Meter())) == []


async def test_every_opinion_is_a_distribution(nli: Nli) -> None:
    for opinion in await nli.classify(PAIRS, Meter()):
        assert isinstance(opinion, Entailment)
        shares = (opinion.entails, opinion.neutral, opinion.contradicts)
        assert sum(shares) == pytest.approx(1)
        assert min(shares) >= 0


async def test_opinions_follow_the_order_of_the_pairs(nli: Nli) -> None:
    forward = await nli.classify(PAIRS, Meter())
    backward = await nli.classify(PAIRS[::-1], Meter())
    for one, other in zip(forward, reversed(backward), strict=True):
        assert isinstance(one, Entailment)
        assert isinstance(other, Entailment)
        assert one.entails == pytest.approx(other.entails, abs=1e-6)


async def test_equal_pairs_get_equal_opinions(nli: Nli) -> None:
    opinions = await nli.classify(PAIRS, Meter())
    assert opinions[0] == opinions[3]


async def test_it_names_its_family(nli: Nli) -> None:
    assert nli.identity.family == "tiny"
