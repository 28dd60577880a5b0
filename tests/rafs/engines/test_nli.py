import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.embeddings import SentenceEmbedder
from rafs.engines.nli import EmbeddingNli, Signs, entailment_from_signs
from rafs.engines.scripted import Script, ScriptedEmbedder
from rafs.engines.sequence_nli import SequenceClassifierNli, read_label_order
from rafs.errors import ConfigError
from rafs.types import Abstained, Entailment, ModelIdentity, Why
from rafs.usage import Meter
from tests.rafs.engines.real_models import real_model_folder
from tests.rafs.engines.tiny_models import TINY, tiny_classifier, tiny_tokenizer

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


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        pytest.param(["contradiction", "entailment", "neutral"], (1, 2, 0), id="cross-encoder order"),
        pytest.param(["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], (0, 1, 2), id="MNLI order, upper case"),
    ],
)
def test_label_order_is_read_from_the_configuration(labels: list[str], columns: tuple[int, int, int]) -> None:
    assert read_label_order(dict(enumerate(labels)), "m") == columns


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(["LABEL_0", "LABEL_1", "LABEL_2"], id="unnamed"),
        pytest.param(["entailment", "not_entailment"], id="two-way"),
        pytest.param(["entailment", "entailment", "neutral"], id="one missing"),
        pytest.param(["entailment", "neutral", "contradiction", "other"], id="a fourth"),
    ],
)
def test_unrecognisable_labels_are_refused(labels: list[str]) -> None:
    with pytest.raises(ConfigError, match="entailment"):
        read_label_order(dict(enumerate(labels)), "m")


PAIRS = [("a 3 b", "a"), ("Tom has 3 apples and buys 4 more.", "Tom has 7 apples."), ("x", "y"), ("red", "blue box")]


async def test_batching_does_not_change_a_classifiers_opinions() -> None:
    labels = ["neutral", "contradiction", "entailment"]
    nli = SequenceClassifierNli(tiny_classifier(labels), tiny_tokenizer().tokenizer, TINY)
    together = await nli.classify(PAIRS, Meter())
    alone = [(await nli.classify([pair], Meter()))[0] for pair in PAIRS]
    nli.close()
    for one, other in zip(together, alone, strict=True):
        assert isinstance(one, Entailment)
        assert isinstance(other, Entailment)
        assert one.entails == pytest.approx(other.entails, abs=1e-5)


async def test_other_callers_in_the_queue_change_no_bit_of_a_classifiers_opinion() -> None:
    nli = SequenceClassifierNli(
        tiny_classifier(["neutral", "contradiction", "entailment"]), tiny_tokenizer().tokenizer, TINY
    )
    others = [[("red box " * (2 * j + i), f"box {i}") for j in range(1, 5)] for i in range(3)]
    alone = await nli.classify(PAIRS, Meter())
    crowd = await asyncio.gather(*(nli.classify(each, Meter()) for each in [*others, PAIRS, *others, PAIRS]))
    nli.close()
    assert crowd[3] == crowd[7] == alone


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


async def test_label_order_decides_which_column_is_entailment() -> None:
    opinions: list[Entailment | Abstained] = []
    for labels in (["entailment", "neutral", "contradiction"], ["contradiction", "neutral", "entailment"]):
        nli = SequenceClassifierNli(tiny_classifier(labels), tiny_tokenizer().tokenizer, TINY)
        opinions += await nli.classify(PAIRS[:1], Meter())
        nli.close()
    first, second = opinions
    assert isinstance(first, Entailment)
    assert isinstance(second, Entailment)
    assert math.isclose(first.entails, second.contradicts, abs_tol=1e-6)
    assert not math.isclose(first.entails, first.contradicts, abs_tol=1e-3)


async def test_a_pair_beyond_the_window_is_too_long_and_costs_nothing() -> None:
    nli = SequenceClassifierNli(
        tiny_classifier(["entailment", "neutral", "contradiction"]), tiny_tokenizer().tokenizer, TINY
    )
    meter = Meter()
    long, short = await nli.classify([("word " * 200, "x"), ("x", "y")], meter)
    nli.close()
    assert isinstance(long, Abstained)
    assert long.why is Why.TOO_LONG
    assert isinstance(short, Entailment)
    assert meter.stages["nli"].calls == 1
