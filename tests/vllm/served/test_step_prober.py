"""The prober on a real vLLM server keeps the contract, says what the same weights say here, and shares prefixes."""

import random
from collections.abc import AsyncIterator, Callable

import pytest

from rafs.contracts import PromptPart, StepProber
from rafs.engines.prompt_tokens import load_tokenizer
from rafs.engines.server_prober import ServerProber
from rafs.engines.transformers_lm import TransformersProber
from rafs.types import Abstained, Why
from rafs.usage import Caller, Meter
from tests.contracts import test_step_prober as contract
from tests.contracts.test_step_prober import HEAD, STEPS, TAIL, masses
from tests.rafs.engines.tiny_models import TINY
from tests.vllm.served.conftest import Servers
from tests.vllm.servers import BLOCK_TOKENS, WINDOW
from tests.vllm.weights import judge_folder

globals().update({name: value for name, value in vars(contract).items() if name.startswith("test_")})


@pytest.fixture(params=["own_tokenizer", "servers_tokenizer"])
async def prober(request: pytest.FixtureRequest, servers: Servers) -> AsyncIterator[StepProber]:
    connection = servers.judge.connection()
    tokenizer = load_tokenizer(judge_folder()) if request.param == "own_tokenizer" else None
    yield ServerProber(connection, TINY, tokenizer=tokenizer, chat=True)  # without which this model says neither
    await connection.close()


async def test_it_says_what_the_same_weights_say_in_this_process(prober: StepProber) -> None:
    local = TransformersProber.load(judge_folder(), TINY, chat=True)
    try:
        here = masses(await local.probe(HEAD, STEPS, TAIL, range(4), Meter()))
        there = masses(await prober.probe(HEAD, STEPS, TAIL, range(4), Meter()))
    finally:
        local.close()
    assert [(mass.yes, mass.no) for mass in there] == [pytest.approx((mass.yes, mass.no), rel=1e-3) for mass in here]


async def test_a_prompt_past_the_servers_window_is_too_long(prober: StepProber) -> None:
    (opinion,) = await prober.probe([PromptPart(text="six " * WINDOW)], STEPS[:1], TAIL, [0], Meter())
    assert isinstance(opinion, Abstained)
    assert opinion.why is Why.TOO_LONG


@pytest.mark.parametrize("n_steps", [8, 16])
async def test_probes_run_every_token_once_but_those_past_a_whole_block(
    prober: StepProber, n_steps: int, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    tokenizer = load_tokenizer(judge_folder())
    rng = random.Random(0)
    words = "apples boxes pencils seven twelve then buys sells keeps each".split()
    head = [PromptPart(text=" ".join(rng.choices(words, k=80)))]
    steps = [[PromptPart(text="\n" + " ".join(rng.choices(words, k=40)))] for _ in range(n_steps)]
    meter = Meter(caller=Caller(tenant=request.node.name))  # of its own: nothing is known to the server
    await prober.probe(head, steps, TAIL, range(n_steps), meter)

    frame = tokenizer.chat_frame()
    assert frame is not None
    ends, question = [len(tokenizer.join([frame.before, *head]))], len(tokenizer.join([*TAIL, frame.after]))
    for step in steps:
        ends.append(ends[-1] + len(tokenizer.join(step)))
    ideal = ends[-1] + n_steps * question
    rest = sum(end % BLOCK_TOKENS for end in ends[1:-1])
    ran = meter.stages["verify"].tokens - n_steps  # less the one new token of each
    smaller = ideal + sum(end % 16 for end in ends[1:-1])
    record_property(
        "summary", f"vLLM, {n_steps} steps: {ran / ideal:.2f} x ideal; {smaller / ideal:.2f} in blocks of 16"
    )
    assert ran == ideal + rest


async def test_prefixes_are_shared_within_a_tenant_alone(prober: StepProber, request: pytest.FixtureRequest) -> None:
    head = [PromptPart(text=f"{request.node.name}: " + "twelve boxes " * 40)]
    costs: list[int] = []
    for tenant in ("one", "one", "other"):
        meter = Meter(caller=Caller(tenant=tenant))
        await prober.probe(head, STEPS, TAIL, [3], meter)
        costs.append(meter.stages["verify"].tokens)
    first, again, other = costs
    assert again < first == other
