"""A sequence classifier as validator: labels by name, batches that change nothing, long premises in pieces."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rafs.engines.batching import cut_batches
from rafs.engines.sequence_nli import BATCH_TOKENS, SequenceClassifierNli, pair_window, read_label_order
from rafs.errors import ConfigError
from rafs.types import Abstained, Entailment, Why
from rafs.usage import Meter
from tests.rafs.engines.tiny_models import TINY, tiny_classifier, tiny_tokenizer

LABELS = ["contradiction", "entailment", "neutral"]


@contextmanager
def classifier(labels: Sequence[str] = LABELS) -> Iterator[SequenceClassifierNli]:
    nli = SequenceClassifierNli(tiny_classifier(labels), tiny_tokenizer().tokenizer, TINY)
    try:
        yield nli
    finally:
        nli.close()


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


WINDOW = 64
"""Of the tiny classifier."""
FIRST, LAST = "Tom has 3 apples.", "Each box holds 12 pencils."
LONG = " ".join([FIRST, *["Half of them are red."] * 12, LAST])


async def test_a_long_premise_is_read_in_pieces_and_says_so() -> None:
    meter = Meter()
    with classifier() as nli:
        long, short = await nli.classify([(LONG, "a box"), (FIRST, "a box")], meter)
    assert isinstance(long, Entailment)
    assert isinstance(short, Entailment)
    assert (long.windowed, short.windowed) == (True, False)
    assert long.entails + long.neutral + long.contradicts == pytest.approx(1)
    assert meter.stages["nli"].calls > 2, "the pieces, and the short one"


async def test_a_hypothesis_that_leaves_no_room_is_too_long_and_costs_nothing() -> None:
    meter = Meter()
    with classifier() as nli:
        long, short = await nli.classify([("x", "word " * 200), ("x", "y")], meter)
    assert isinstance(long, Abstained)
    assert long.why is Why.TOO_LONG
    assert isinstance(short, Entailment)
    assert meter.stages["nli"].calls == 1


class CountingTokenizer:
    """A tokenizer that counts the characters it is given."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.n_chars = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tokenizer, name)

    def __call__(self, *texts: list[str], **options: Any) -> Any:
        self.n_chars += sum(len(text) for rows in texts for text in rows)
        return self.tokenizer(*texts, **options)


async def test_a_claim_beyond_the_window_is_tokenised_once_however_many_it_is_compared_with() -> None:
    counting = CountingTokenizer(tiny_tokenizer().tokenizer)
    nli = SequenceClassifierNli(tiny_classifier(LABELS), counting, TINY)
    long = "word " * 1000
    opinions = await nli.classify([(f"{n} boxes", long) for n in range(20)], Meter())
    nli.close()
    assert {type(opinion) for opinion in opinions} == {Abstained}
    assert counting.n_chars < 2 * len(long)


async def test_untrusted_text_forges_no_control_token() -> None:
    with classifier() as nli:
        forged, broken, other = await nli.classify(
            [(f"a {end} b", "c") for end in ("<|end|>", "< |end|>", "")], Meter()
        )
    assert forged == broken != other


async def test_padding_of_a_problems_claims_stays_below_8_percent() -> None:
    sizes = [14 + (7 * n) % 107 for n in range(600)]
    batches = cut_batches(sizes, BATCH_TOKENS)
    padded = sum(max(sizes[at] for at in batch) * len(batch) for batch in batches)
    assert padded / sum(sizes) <= 1.08
    assert all(max(sizes[at] for at in batch) * len(batch) <= BATCH_TOKENS for batch in batches)


def test_a_model_in_half_precision_gives_about_the_same_opinions(tmp_path: Path) -> None:
    tiny_classifier(LABELS).save_pretrained(tmp_path)
    tiny_tokenizer().tokenizer.save_pretrained(tmp_path)
    found = []
    for dtype in ("float32", "bfloat16"):
        nli = SequenceClassifierNli.load(tmp_path, TINY, dtype=dtype)
        found.append(asyncio.run(nli.classify(PAIRS, Meter())))
        nli.close()
    for full, half in zip(*found, strict=True):
        assert isinstance(full, Entailment)
        assert isinstance(half, Entailment)
        assert half.entails == pytest.approx(full.entails, abs=0.1)
        assert half != full


def tiny_roberta(positions: int) -> Any:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    config = RobertaConfig(
        vocab_size=401,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=positions,
        pad_token_id=1,
        num_labels=3,
        id2label=dict(enumerate(LABELS)),
    )
    return RobertaForSequenceClassification(config).eval()


def test_positions_that_a_padding_index_takes_are_not_in_the_window() -> None:
    assert pair_window(tiny_roberta(42)) == 40
    assert pair_window(tiny_roberta(514)) == 512
    assert pair_window(tiny_classifier(LABELS)) == WINDOW


async def test_a_pair_as_long_as_the_window_is_run() -> None:
    nli = SequenceClassifierNli(tiny_roberta(42), tiny_tokenizer().tokenizer, TINY)
    opinions = await nli.classify([("x " * n, "y") for n in range(1, 40)], Meter())
    nli.close()
    assert all(isinstance(opinion, Entailment) for opinion in opinions)
