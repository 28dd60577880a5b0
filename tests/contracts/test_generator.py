"""Every `Generator` keeps the contract: as many texts as asked, in order, cut ones flagged, seeds repeatable."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from rafs.contracts import Generator
from rafs.engines.scripted import SampleKey, Script, ScriptedGenerator
from rafs.engines.server_generator import ServerGenerator
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, Request, reply_json, serve
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer

PROBLEM = "Tom has 3 apples and buys 4 more."
PREFIXES = ["Tom has 3 apples.\n", "Tom has 3 apples.\n3 + 4 = 8\n", "So"]


def answer_chat(request: Request) -> Reply:
    """Answer `n` texts that depend on messages and seed alone, as vLLM does; some are cut."""
    body = request.body
    first = body.get("seed", 0)
    seeds = range(first, first + body.get("n", 1))
    choices = [
        {
            "message": {"content": hashlib.sha256(f"{body['messages']}{seed}".encode()).hexdigest()},
            "finish_reason": "length" if seed % 3 == 0 else "stop",
        }
        for seed in seeds
    ]
    n_prompt = 10 if body.get("continue_final_message") else 15
    return reply_json({"choices": choices, "usage": {"prompt_tokens": n_prompt, "total_tokens": n_prompt}})


def answer_one(request: Request) -> Reply:
    """Answer as a server that ignores `n`."""
    return answer_chat(replace(request, body={**request.body, "n": 1}))


@pytest.fixture(scope="module")
def local() -> Iterator[Generator]:
    generator = TransformersGenerator(tiny_llama(), tiny_tokenizer(), TINY, max_new_tokens=6, temperature=1.0)
    yield generator
    generator.close()


SERVERS = {"server": answer_chat, "server that ignores n": answer_one}


@pytest.fixture(params=["transformers", "scripted", *SERVERS])
async def generator(request: pytest.FixtureRequest, local: Generator) -> AsyncIterator[Generator]:
    match request.param:
        case "transformers":
            yield local
        case "scripted":
            continued = await local.continue_trace(PROBLEM, PREFIXES, 2, 1, Meter())
            samples = {
                SampleKey(problem=PROBLEM, prefix=prefix, n=2, seed=1): tuple(texts)
                for prefix, texts in zip(PREFIXES, continued, strict=True)
            }
            for first, n, seed in ((0, 3, 1), (0, 3, 2), (0, 2, 1), (2, 1, 1)):
                key = SampleKey(problem=PROBLEM, prefix=None, n=n, seed=seed, first=first)
                samples[key] = tuple(await local.sample(PROBLEM, n, seed, Meter(), first=first))
            yield ScriptedGenerator(Script(samples=samples), local.identity)
        case kind:
            with serve(SERVERS[kind]) as server:
                connection = server.connection()
                yield ServerGenerator(connection, TINY)
                await connection.close()


async def test_there_are_n_samples(generator: Generator) -> None:
    assert len(await generator.sample(PROBLEM, 3, 1, Meter())) == 3


async def test_there_are_n_continuations_of_every_prefix(generator: Generator) -> None:
    drawn = await generator.continue_trace(PROBLEM, PREFIXES, 2, 1, Meter())
    assert [len(texts) for texts in drawn] == [2, 2, 2]


async def test_the_same_seed_draws_the_same(generator: Generator) -> None:
    assert list(await generator.sample(PROBLEM, 3, 1, Meter())) == list(await generator.sample(PROBLEM, 3, 1, Meter()))


async def test_another_seed_draws_something_else(generator: Generator) -> None:
    assert list(await generator.sample(PROBLEM, 3, 1, Meter())) != list(await generator.sample(PROBLEM, 3, 2, Meter()))


async def test_samples_drawn_in_rounds_are_those_drawn_at_once(generator: Generator) -> None:
    at_once = await generator.sample(PROBLEM, 3, 1, Meter())
    rounds = [
        *await generator.sample(PROBLEM, 2, 1, Meter()),
        *await generator.sample(PROBLEM, 1, 1, Meter(), first=2),
    ]
    assert [sample.text for sample in rounds] == [sample.text for sample in at_once]


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
