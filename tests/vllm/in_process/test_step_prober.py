"""The prober on vLLM in this process keeps the contract, and says what transformers says of the same weights."""

import pytest

from rafs.contracts import PromptPart, StepProber
from rafs.engines.prompt_tokens import load_tokenizer
from rafs.engines.transformers_lm import TransformersProber
from rafs.engines.vllm_engine import CPU_BLOCK_TOKENS, VllmEngine
from rafs.engines.vllm_local import VllmProber
from rafs.types import Abstained, Why
from rafs.usage import Caller, Meter
from tests.contracts import test_step_prober as contract
from tests.contracts.test_step_prober import HEAD, STEPS, TAIL, masses
from tests.rafs.engines.tiny_models import TINY
from tests.vllm.weights import judge_folder

pytestmark = pytest.mark.asyncio(loop_scope="session")
globals().update({name: value for name, value in vars(contract).items() if name.startswith("test_")})


@pytest.fixture
def prober(engine: VllmEngine) -> StepProber:
    return VllmProber(engine, load_tokenizer(judge_folder()), TINY, chat=True)


async def test_it_says_what_transformers_says(prober: StepProber) -> None:
    local = TransformersProber.load(judge_folder(), TINY, chat=True)
    try:
        expected = masses(await local.probe(HEAD, STEPS, TAIL, range(4), Meter()))
    finally:
        local.close()
    found = masses(await prober.probe(HEAD, STEPS, TAIL, range(4), Meter()))
    assert [(mass.yes, mass.no) for mass in found] == [pytest.approx((m.yes, m.no), rel=1e-3) for m in expected]


async def test_a_prompt_past_the_window_is_too_long_and_the_others_are_answered(prober: StepProber) -> None:
    steps = [STEPS[0], [PromptPart(text="six " * 2048)]]
    first, second = await prober.probe(HEAD, steps, TAIL, [0, 1], Meter())
    assert not isinstance(first, Abstained)
    assert isinstance(second, Abstained)
    assert second.why is Why.TOO_LONG


async def test_every_token_runs_once_but_those_past_a_whole_block(prober: StepProber) -> None:
    tokenizer = load_tokenizer(judge_folder())
    head = [PromptPart(text="Every token of this text is new. " * 9)]
    meter = Meter(caller=Caller(tenant="counting"))
    await prober.probe(head, STEPS, TAIL, range(4), meter)
    frame = tokenizer.chat_frame()
    assert frame is not None
    trunks = [[frame.before, *head, *(part for step in STEPS[:n] for part in step)] for n in range(5)]
    ends, question = [len(tokenizer.join(trunk)) for trunk in trunks], len(tokenizer.join([*TAIL, frame.after]))
    rest, n_new = sum(end % CPU_BLOCK_TOKENS for end in ends[1:-1]), 4
    assert meter.stages["verify"].tokens == ends[-1] + 4 * question + rest + n_new


async def test_prefixes_are_shared_within_a_tenant_alone(prober: StepProber) -> None:
    head = [PromptPart(text="twelve boxes " * 40)]
    costs: list[int] = []
    for tenant in ("one", "one", "other"):
        meter = Meter(caller=Caller(tenant=tenant))
        await prober.probe(head, STEPS, TAIL, [3], meter)
        costs.append(meter.stages["verify"].tokens)
    first, again, other = costs
    assert again < first == other
