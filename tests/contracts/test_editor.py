"""Every `Editor` keeps the contract: k proposals for each sentence, in order, each one line or the reason for none."""

import hashlib
from collections.abc import AsyncIterator, Iterator

import pytest

from rafs.contracts import Editor
from rafs.engines.model_editor import ModelEditor
from rafs.engines.scripted import Script, ScriptedEditor
from rafs.engines.server_generator import ServerGenerator
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.types import Abstained, Why
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, Request, reply_json, serve
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer

SENTENCES = ["Therefore the red train is faster.", "So the set is finite.", "Hence it never stops."]
K = 3


def answer_chat(request: Request) -> Reply:
    """Answer texts that depend on messages and seed; one of three is cut before its line ends."""
    body = request.body
    seeds = range(body.get("seed", 0), body.get("seed", 0) + body.get("n", 1))
    words = [hashlib.sha256(f"{body['messages']}{seed}".encode()).hexdigest() for seed in seeds]
    choices = [
        {"message": {"content": f"So {word}."}, "finish_reason": "length" if seed % 3 == 0 else "stop"}
        for seed, word in zip(seeds, words, strict=True)
    ]
    return reply_json({"choices": choices, "usage": {"total_tokens": 9}})


@pytest.fixture(scope="module")
def local() -> Iterator[Editor]:
    model = TransformersGenerator(tiny_llama(), tiny_tokenizer(), TINY, max_new_tokens=6, temperature=1.0)
    yield ModelEditor(model)
    model.close()


@pytest.fixture(params=["transformers", "server", "scripted"])
async def editor(request: pytest.FixtureRequest, local: Editor) -> AsyncIterator[Editor]:
    match request.param:
        case "transformers":
            yield local
        case "scripted":
            said = [(seed, await local.propose(SENTENCES, K, seed, Meter())) for seed in (1, 2)]
            proposals = {
                (sentence, seed): tuple(texts)
                for seed, drawn in said
                for sentence, texts in zip(SENTENCES, drawn, strict=True)
            }
            yield ScriptedEditor(Script(proposals=proposals), local.identity)
        case _:
            with serve(answer_chat) as server:
                connection = server.connection()
                yield ModelEditor(ServerGenerator(connection, TINY))
                await connection.close()


async def test_there_are_k_proposals_for_every_sentence(editor: Editor) -> None:
    assert [len(texts) for texts in await editor.propose(SENTENCES, K, 1, Meter())] == [K] * len(SENTENCES)


async def test_no_sentences_give_no_proposals(editor: Editor) -> None:
    assert list(await editor.propose([], K, 1, Meter())) == []


async def test_a_proposal_is_one_line_or_says_why_there_is_none(editor: Editor) -> None:
    for text in (text for texts in await editor.propose(SENTENCES, K, 1, Meter()) for text in texts):
        if isinstance(text, Abstained):
            assert text.why is Why.UNPARSED
        else:
            assert text.strip() == text != ""
            assert len(text.splitlines()) == 1


async def test_a_reply_that_was_cut_is_no_proposal(editor: Editor) -> None:
    drawn = await editor.propose(SENTENCES, K, 1, Meter())
    assert any(isinstance(text, Abstained) for texts in drawn for text in texts)


async def test_the_same_seed_proposes_the_same(editor: Editor) -> None:
    first, again = [await editor.propose(SENTENCES, K, 1, Meter()) for _ in range(2)]
    assert list(map(list, first)) == list(map(list, again))


async def test_it_says_which_model_it_is(editor: Editor) -> None:
    assert editor.identity == TINY
