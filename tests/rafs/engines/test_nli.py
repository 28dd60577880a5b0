import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.embeddings import SentenceEmbedder
from rafs.engines.nli import EmbeddingNli, Signs, entailment_from_signs
from rafs.engines.scripted import Script, ScriptedEmbedder
from rafs.types import Entailment, ModelIdentity
from rafs.usage import Meter
from tests.rafs.engines.real_models import real_model_folder

signs = st.builds(
    Signs, cosine=st.floats(-1, 1), flipped=st.booleans(), has_new_number=st.booleans(), same_text=st.booleans()
)


@given(signs)
def test_opinions_sum_to_one(each: Signs) -> None:
    opinion = entailment_from_signs(each)
    assert opinion.entails + opinion.neutral + opinion.contradicts == pytest.approx(1)
    assert min(opinion.entails, opinion.neutral, opinion.contradicts) >= 0


@given(st.floats(-1, 1), st.booleans())
def test_a_number_that_the_premise_lacks_is_never_entailed(cosine: float, flipped: bool) -> None:
    assert entailment_from_signs(Signs(cosine=cosine, flipped=flipped, has_new_number=True)).entails == 0


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_closer_words_entail_more(one: float, other: float) -> None:
    low, high = sorted((one, other))
    opinions = [entailment_from_signs(Signs(cosine=x, flipped=False, has_new_number=False)) for x in (low, high)]
    assert opinions[0].entails <= opinions[1].entails


@given(st.floats(-1, 1))
def test_a_flip_moves_from_entailment_to_contradiction(cosine: float) -> None:
    plain = entailment_from_signs(Signs(cosine=cosine, flipped=False, has_new_number=False))
    flipped = entailment_from_signs(Signs(cosine=cosine, flipped=True, has_new_number=False))
    assert flipped.entails < plain.entails
    assert flipped.contradicts > plain.contradicts


async def test_the_same_text_entails_itself() -> None:
    nli = EmbeddingNli(ScriptedEmbedder(Script(vectors={"X is 7.": (1.0,), "x  is 7.": (1.0,)})))
    (opinion,) = await nli.classify([("X is 7.", "x  is 7.")], Meter())
    assert opinion == Entailment(entails=1.0, neutral=0.0, contradicts=0.0)


def test_it_is_kin_to_whatever_its_embedder_is_kin_to() -> None:
    base = ModelIdentity(id="e", family="minilm", revision="1", kin=("bert",))
    identity = EmbeddingNli(ScriptedEmbedder(Script(), base)).identity
    assert identity.families == base.families
    assert identity.id != base.id


REAL_PAIRS = [
    pytest.param("The baker sold 32 rolls.", "32 rolls were sold by the baker.", "entails", id="paraphrase"),
    pytest.param("The baker sold 32 rolls.", "The baker sold 23 rolls.", "contradicts", id="other number"),
    pytest.param("The pool is open.", "The pool is not open.", "contradicts", id="negation"),
    pytest.param("The baker sold 32 rolls.", "The bridge was built of stone.", "neutral", id="other topic"),
]


@pytest.fixture(scope="module")
def real() -> EmbeddingNli:
    identity = ModelIdentity(id="all-minilm-l6-v2", family="minilm", revision="0.1.0")
    return EmbeddingNli(SentenceEmbedder.load(real_model_folder("all-minilm-l6-v2"), identity))


@pytest.mark.parametrize(("premise", "hypothesis", "expected"), REAL_PAIRS)
async def test_the_shipped_validator_tells_clear_cases(
    real: EmbeddingNli, premise: str, hypothesis: str, expected: str
) -> None:
    (opinion,) = await real.classify([(premise, hypothesis)], Meter())
    assert isinstance(opinion, Entailment)
    assert max(("entails", "neutral", "contradicts"), key=lambda name: getattr(opinion, name)) == expected


async def test_each_text_is_embedded_once(real: EmbeddingNli) -> None:
    meter = Meter()
    await real.classify([("A is 1.", "B is 2."), ("B is 2.", "A is 1."), ("A is 1.", "A is 1.")], meter)
    assert meter.stages["embed"].calls == 2
    assert meter.stages["nli"].calls == 3


async def test_many_pairs_do_not_hold_up_the_event_loop() -> None:
    texts = [f"In {i} days the {i + 1} pupils read not one of the {2 * i} old books before noon." for i in range(200)]
    nli = EmbeddingNli(ScriptedEmbedder(Script(vectors=dict.fromkeys(texts, (1.0, 0.0)))))
    judging = asyncio.create_task(nli.classify([(one, other) for one in texts for other in texts], Meter()))
    turns = 0
    while not judging.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert len(judging.result()) == len(texts) ** 2
    assert turns > 5, "on the loop there would be one or two"
