"""Every `StepProber` keeps the contract: one opinion per asked step, in order, blind to what comes later."""

import hashlib
import math
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest

from rafs.contracts import PromptPart, StepProber
from rafs.engines.remembered_probes import RememberingProber
from rafs.engines.scripted import Script, ScriptedProber, probe_key
from rafs.engines.server_prober import ServerProber
from rafs.engines.transformers_lm import TransformersProber
from rafs.types import LabelMass
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, Request, at, reply_json, serve
from tests.rafs.engines.served_engines import COMPLETIONS, TOKENIZE, tokenized
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer

HEAD = [PromptPart(text="Problem: ", trusted=True), PromptPart(text="Tom has 3 apples and buys 4 more.")]
STEPS = [[PromptPart(text=f"\nStep {n}: 3 + {n} = {3 + n}.")] for n in range(1, 5)]
TAIL = [PromptPart(text="\nIs the last step correct? Answer Yes or No.", trusted=True)]


def answer_probe(request: Request) -> Reply:
    """Answer by a hash of the prompt, as a model would: the same for the same, else something else."""
    p_yes = 0.1 + 0.8 * hashlib.sha256(str(request.body["prompt"]).encode()).digest()[0] / 255
    top = {" Yes": math.log(0.9 * p_yes), " No": math.log(0.9 * (1 - p_yes)), "\n": math.log(0.05)}
    return reply_json({"choices": [{"logprobs": {"top_logprobs": [top]}}], "usage": {"total_tokens": 50}})


@pytest.fixture(scope="module")
def local() -> Iterator[StepProber]:
    prober = TransformersProber(tiny_llama(initializer_range=0.1), tiny_tokenizer(), TINY)
    yield prober
    prober.close()


SERVERS = {"server": at({TOKENIZE: tokenized, COMPLETIONS: answer_probe}), "server without tokenizer": answer_probe}


@pytest.fixture(params=["transformers", "remembering", "scripted", *SERVERS])
async def prober(request: pytest.FixtureRequest, local: StepProber) -> AsyncIterator[StepProber]:
    match request.param:
        case "transformers":
            yield local
        case "remembering":
            yield RememberingProber(local)
        case "scripted":
            said = await local.probe(HEAD, STEPS, TAIL, range(len(STEPS)), Meter())
            keys = [probe_key(HEAD, STEPS, TAIL, t) for t in range(len(STEPS))]
            yield ScriptedProber(Script(probes=dict(zip(keys, said, strict=True))), local.identity)
        case kind:
            with serve(SERVERS[kind]) as server:
                connection = server.connection()
                yield ServerProber(connection, TINY)
                await connection.close()


def masses(opinions: Sequence[object]) -> list[LabelMass]:
    found = [opinion for opinion in opinions if isinstance(opinion, LabelMass)]
    assert len(found) == len(opinions)
    return found


async def test_there_is_one_opinion_per_asked_step(prober: StepProber) -> None:
    assert len(await prober.probe(HEAD, STEPS, TAIL, [0, 2, 3], Meter())) == 3


async def test_nothing_asked_is_nothing_answered(prober: StepProber) -> None:
    assert list(await prober.probe(HEAD, STEPS, TAIL, [], Meter())) == []


async def test_mass_is_a_probability(prober: StepProber) -> None:
    for mass in masses(await prober.probe(HEAD, STEPS, TAIL, range(4), Meter())):
        assert mass.yes >= 0
        assert mass.no >= 0
        assert mass.yes + mass.no <= 1 + 1e-6


async def test_opinions_come_in_the_order_asked(prober: StepProber) -> None:
    forward = masses(await prober.probe(HEAD, STEPS, TAIL, [0, 1, 3], Meter()))
    backward = masses(await prober.probe(HEAD, STEPS, TAIL, [3, 1, 0], Meter()))
    assert [mass.yes for mass in backward] == pytest.approx([mass.yes for mass in reversed(forward)], abs=1e-6)


async def test_later_steps_change_nothing(prober: StepProber) -> None:
    alone = masses(await prober.probe(HEAD, STEPS[:2], TAIL, [0, 1], Meter()))
    among = masses(await prober.probe(HEAD, STEPS, TAIL, [0, 1], Meter()))
    assert [mass.yes for mass in alone] == pytest.approx([mass.yes for mass in among], abs=1e-6)


async def test_different_steps_get_different_opinions(prober: StepProber) -> None:
    assert len({mass.yes for mass in masses(await prober.probe(HEAD, STEPS, TAIL, range(4), Meter()))}) == 4


async def test_a_step_asked_twice_is_answered_twice(prober: StepProber) -> None:
    first, second = masses(await prober.probe(HEAD, STEPS, TAIL, [1, 1], Meter()))
    assert first.yes == pytest.approx(second.yes, abs=1e-6)


async def test_it_says_which_model_it_is(prober: StepProber) -> None:
    assert prober.identity == TINY


async def test_it_says_what_else_decides_a_verdict_and_says_the_same_again(prober: StepProber) -> None:
    assert prober.fingerprint == prober.fingerprint != ""
