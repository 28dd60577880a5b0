"""Every `Generator` keeps the contract: as many texts as asked, in order, cut ones flagged, seeds repeatable."""

import asyncio
import hashlib
from collections.abc import Iterator

import pytest

from rafs.contracts import Generator
from rafs.engines.scripted import SampleKey, Script, ScriptedGenerator
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.engines.vllm_server import ServerGenerator
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, Request, reply_json, serve
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer

PROBLEM = "Tom has 3 apples and buys 4 more."
PREFIXES = ["Tom has 3 apples.\n", "Tom has 3 apples.\n3 + 4 = 8\n", "So"]


def answer_chat(request: Request) -> Reply:
    """Answer `n` texts that depend on messages, seed and place alone; every third one is cut."""
    body = request.body
    texts = [
        hashlib.sha256(f"{body['messages']}{body['seed'] + place}".encode()).hexdigest() for place in range(body["n"])
    ]
    choices = [
        {"message": {"content": text}, "finish_reason": "length" if place % 3 == 2 else "stop"}
        for place, text in enumerate(texts)
    ]
    return reply_json({"choices": choices, "usage": {"total_tokens": 10}})


@pytest.fixture(scope="module")
def local() -> Iterator[Generator]:
    generator = TransformersGenerator(tiny_llama(), tiny_tokenizer(), TINY, max_new_tokens=6, temperature=1.0)
    yield generator
    generator.close()


@pytest.fixture
def server_generator() -> Iterator[ServerGenerator]:
    with serve(answer_chat) as server:
        connection = server.connection()
        yield ServerGenerator(connection, TINY)
        asyncio.run(connection.close())


@pytest.fixture(params=["transformers", "server", "scripted"])
async def generator(request: pytest.FixtureRequest, local: Generator) -> Generator:
    match request.param:
        case "transformers":
            return local
        case "server":
            with_server = request.getfixturevalue("server_generator")
            assert isinstance(with_server, ServerGenerator)
            return with_server
        case _:
            drawn = [(None, 3, seed, await local.sample(PROBLEM, 3, seed, Meter())) for seed in (1, 2)]
            continued = await local.continue_trace(PROBLEM, PREFIXES, 2, 1, Meter())
            said = [*drawn, *((prefix, 2, 1, texts) for prefix, texts in zip(PREFIXES, continued, strict=True))]
            samples = {
                SampleKey(problem=PROBLEM, prefix=prefix, n=n, seed=seed): tuple(texts)
                for prefix, n, seed, texts in said
            }
            return ScriptedGenerator(Script(samples=samples), local.identity)


async def test_there_are_n_samples(generator: Generator) -> None:
    assert len(await generator.sample(PROBLEM, 3, 1, Meter())) == 3


async def test_there_are_n_continuations_of_every_prefix(generator: Generator) -> None:
    drawn = await generator.continue_trace(PROBLEM, PREFIXES, 2, 1, Meter())
    assert [len(texts) for texts in drawn] == [2, 2, 2]


async def test_the_same_seed_draws_the_same(generator: Generator) -> None:
    assert list(await generator.sample(PROBLEM, 3, 1, Meter())) == list(await generator.sample(PROBLEM, 3, 1, Meter()))


async def test_another_seed_draws_something_else(generator: Generator) -> None:
    assert list(await generator.sample(PROBLEM, 3, 1, Meter())) != list(await generator.sample(PROBLEM, 3, 2, Meter()))


async def test_samples_of_one_request_differ(generator: Generator) -> None:
    assert len({sample.text for sample in await generator.sample(PROBLEM, 3, 1, Meter())}) == 3


async def test_continuations_do_not_repeat_their_prefix(generator: Generator) -> None:
    drawn = await generator.continue_trace(PROBLEM, PREFIXES, 2, 1, Meter())
    assert not any(
        text.text.startswith(prefix) for prefix, texts in zip(PREFIXES, drawn, strict=True) for text in texts
    )


async def test_a_text_at_its_length_limit_is_flagged(generator: Generator) -> None:
    assert any(sample.truncated for sample in await generator.sample(PROBLEM, 3, 1, Meter()))


async def test_it_says_which_model_it_is(generator: Generator) -> None:
    assert generator.identity == TINY
