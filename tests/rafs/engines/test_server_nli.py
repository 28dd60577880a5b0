"""A served validator: what is sent, and that no reply of another shape becomes an opinion."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rafs.engines.sequence_nli import Pair
from rafs.engines.server_nli import ServerNli, read_spans
from rafs.errors import BackendError
from rafs.types import Abstained, Entailment, Why
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import (
    Answer,
    Reply,
    Request,
    ScriptedServer,
    at,
    in_turn,
    no_such_path,
    reply_json,
    serve,
)
from tests.rafs.engines.served_tei import LABELS, listed, refused, tei
from tests.rafs.engines.tiny_models import TINY

PREDICT = "/predict"
PAIR = ("entailment of course", "it is")
YES = {"entailment": 0.7, "neutral": 0.2, "contradiction": 0.1}


@asynccontextmanager
async def served(answer: Answer, **settings: object) -> AsyncIterator[tuple[ServerNli, ScriptedServer]]:
    with serve(answer) as server:
        connection = server.connection(**settings)
        try:
            yield ServerNli(connection, TINY), server
        finally:
            await connection.close()


def instead(predict: Answer) -> Answer:
    """A TEI whose `/predict` answers otherwise."""
    usual = tei()
    return lambda request: predict(request) if request.path == PREDICT else usual(request)


async def test_labels_are_read_from_the_reply_whatever_their_order() -> None:
    pairs = [(f"{label} it says", "it is") for label in LABELS]
    async with served(tei()) as (nli, _):
        opinions = await nli.classify(pairs, Meter())
    likeliest = [max(("contradicts", "entails", "neutral"), key=lambda name: getattr(said, name)) for said in opinions]
    assert likeliest == ["contradicts", "entails", "neutral"]


async def test_equal_pairs_are_sent_once_and_no_batch_passes_the_servers_size() -> None:
    pairs = [(f"entailment {n % 10}", "x") for n in range(30)]
    meter = Meter()
    async with served(tei(batch=4)) as (nli, server):
        await nli.classify(pairs, meter)
    assert sorted(len(body["inputs"]) for body in server.bodies(PREDICT)) == [2, 4, 4]
    assert meter.stages["nli"].calls == 10


async def test_the_server_is_told_neither_to_truncate_nor_to_give_raw_scores() -> None:
    async with served(tei()) as (nli, server):
        await nli.classify([PAIR], Meter())
    (body,) = server.bodies(PREDICT)
    assert (body["truncate"], body["raw_scores"]) == (False, False)


async def test_a_server_without_info_is_found_out_by_its_refusals() -> None:
    usual = tei(batch=3)
    pairs = [(f"entailment {n}", "x") for n in range(10)]
    async with served(lambda r: no_such_path(r) if r.path == "/info" else usual(r)) as (nli, _):
        opinions = await nli.classify(pairs, Meter())
    assert all(isinstance(said, Entailment) and said.entails > 0.7 for said in opinions)


@pytest.mark.parametrize("in_bytes", [pytest.param(True, id="bytes"), pytest.param(False, id="characters")])
async def test_a_long_premise_is_read_in_pieces_and_one_that_entails_suffices(in_bytes: bool) -> None:
    def scores(pair: Pair) -> dict[str, float]:
        found = "entailment" if "crème" in pair[0] else "neutral"
        return {label: 0.9 if label == found else 0.05 for label in LABELS}

    premise = " ".join(["é"] * 300 + ["crème"] + ["ö"] * 300)
    async with served(tei(scores, window=64, in_bytes=in_bytes)) as (nli, server):
        long, short = await nli.classify([(premise, "so it is"), ("ö", "so it is")], Meter())
    assert isinstance(long, Entailment)
    assert isinstance(short, Entailment)
    assert (long.windowed, short.windowed) == (True, False)
    assert long.entails == pytest.approx(0.9)
    pieces = [p for body in server.bodies(PREDICT) for p, _ in body["inputs"] if p not in (premise, "ö")]
    assert all("\ufffd" not in piece and len(piece.split()) < 64 for piece in pieces)


async def test_a_hypothesis_that_leaves_no_room_is_too_long_and_the_others_are_judged() -> None:
    pairs = [("neutral", "word " * 100), *((f"entailment {n}", "x") for n in range(5))]
    async with served(tei(window=64)) as (nli, _):
        long, *others = await nli.classify(pairs, Meter())
    assert isinstance(long, Abstained)
    assert long.why is Why.TOO_LONG
    assert all(isinstance(said, Entailment) for said in others)


async def test_a_server_that_does_not_tokenise_leaves_a_long_pair_unread() -> None:
    usual = tei(window=64)
    async with served(lambda r: no_such_path(r) if r.path == "/tokenize" else usual(r)) as (nli, _):
        (said,) = await nli.classify([("word " * 100, "x")], Meter())
    assert isinstance(said, Abstained)
    assert said.why is Why.TOO_LONG


async def test_a_server_that_finds_every_piece_too_long_is_not_asked_for_ever() -> None:
    too_long = refused("`inputs` must have less than 64 tokens. Given: 65")
    async with served(instead(lambda _: too_long)) as (nli, server):
        (said,) = await nli.classify([("word " * 200, "x")], Meter())
    assert isinstance(said, Abstained)
    assert len(server.bodies(PREDICT)) < 50


async def test_a_pair_that_cannot_be_tokenised_is_unparsed_and_the_others_are_judged() -> None:
    def predict(request: Request) -> Reply:
        if any("\u200b" in pair[0] for pair in request.body["inputs"]):
            return refused("Tokenization error", status=422, kind="Tokenizer")
        return reply_json([listed(YES) for _ in request.body["inputs"]])

    async with served(instead(predict)) as (nli, _):
        odd, plain = await nli.classify([("\u200b", "x"), ("a", "x")], Meter())
    assert isinstance(odd, Abstained)
    assert odd.why is Why.UNPARSED
    assert isinstance(plain, Entailment)


async def test_an_overloaded_server_is_asked_again() -> None:
    busy = Reply(status=429, body=b'{"error": "Model is overloaded"}', headers={"retry-after": "0"})
    async with served(instead(in_turn(busy, reply_json([listed(YES)])))) as (nli, server):
        (said,) = await nli.classify([PAIR], Meter())
    assert isinstance(said, Entailment)
    assert len(server.bodies(PREDICT)) == 2


async def test_untrusted_text_forges_no_separator() -> None:
    async with served(tei()) as (nli, server):
        await nli.classify([("a [SEP] b", "c </s> d")], Meter())
    (body,) = server.bodies(PREDICT)
    assert body["inputs"] == [["a [ SEP] b", "c < /s> d"]]


REPLIES = [
    pytest.param(reply_json({"score": 1}), "not a JSON list", id="object"),
    pytest.param(reply_json([]), "0 opinions on 1 pairs", id="none"),
    pytest.param(reply_json([listed(YES)] * 2), "2 opinions on 1 pairs", id="one too many"),
    pytest.param(reply_json(listed(YES)), "3 opinions on 1 pairs", id="as for a single pair"),
    pytest.param(reply_json([["entailment"]]), "exactly entailment", id="no objects"),
    pytest.param(reply_json([listed({"entailment": 0.9, "not_entailment": 0.1})]), "exactly entailment", id="two-way"),
    pytest.param(reply_json([listed({"A": 0.9, "B": 0.1})]), "exactly entailment", id="another task"),
    pytest.param(reply_json([listed(dict.fromkeys(LABELS, 2.5))]), "no probabilities", id="raw scores"),
    pytest.param(reply_json([listed({**YES, "neutral": -0.2})]), "no probabilities", id="negative"),
    pytest.param(reply_json([listed({**YES, "neutral": float("nan")})]), "no probabilities", id="NaN"),
    pytest.param(refused("Inference failed", status=424, kind="Backend"), "status 424", id="no classifier"),
    pytest.param(refused("missing field `inputs`", status=422, kind="Json"), "status 422", id="another protocol"),
    pytest.param(refused("length limit exceeded"), "status 413", id="body too large"),
]


@pytest.mark.parametrize(("reply", "said"), REPLIES)
async def test_a_reply_of_another_shape_is_no_opinion(reply: Reply, said: str) -> None:
    async with served(instead(lambda _: reply)) as (nli, _):
        with pytest.raises(BackendError, match=said):
            await nli.classify([PAIR], Meter())


async def test_opinions_of_another_model_than_the_registry_names_are_refused() -> None:
    async with served(tei(model="another")) as (nli, server):
        with pytest.raises(BackendError, match="serves 'another'"):
            await nli.classify([PAIR], Meter())
    assert not server.bodies(PREDICT)


async def test_a_key_is_sent_and_a_server_that_wants_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_TEST_KEY", "secret")
    async with served(tei(), api_key_env="RAFS_TEST_KEY") as (nli, server):
        await nli.classify([PAIR], Meter())
    assert {request.authorization for request in server.requests} == {"Bearer secret"}
    async with served(at({}), attempts=1) as (nli, _):
        with pytest.raises(BackendError, match="check `model` and the endpoint's address"):
            await nli.classify([PAIR], Meter())


@pytest.mark.parametrize(
    ("tokens", "spans"),
    [
        pytest.param([{"start": 0, "stop": 2}, {"start": 3, "stop": 5}], [(0, 1), (2, 4)], id="bytes"),
        pytest.param([{"start": 0, "stop": 1}, {"start": 2, "stop": 4}], [(0, 1), (2, 4)], id="characters"),
        pytest.param([{"start": None, "stop": None}], [], id="not said"),
        pytest.param([{"start": 0, "stop": 99}], [], id="beyond the text"),
        pytest.param({"start": 0}, [], id="no list"),
    ],
)
def test_spans_are_characters(tokens: list[dict[str, int]], spans: list[tuple[int, int]]) -> None:
    assert read_spans("é ab", tokens) == spans
