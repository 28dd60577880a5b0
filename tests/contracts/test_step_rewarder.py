"""Every `StepRewarder` keeps the contract: one verdict per asked step, in order, blind to what comes later."""

import asyncio
import hashlib
import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest

from rafs.contracts import StepRewarder
from rafs.engines.remembered_rewards import RememberingRewarder
from rafs.engines.server_rewarder import ServerRewarder
from rafs.types import Abstained, Judged, Verdict, Why
from rafs.usage import Caller, Meter
from tests.rafs.engines.scripted_server import Reply, Request, reply_json, serve
from tests.rafs.engines.tiny_models import TINY
from tests.rafs.engines.tiny_prms import FAMILIES, QWEN, SHEPHERD, layout, load_tiny, save_tiny

PROBLEM = "Tom has 3 apples and buys 4 more. How many has he?"
STEPS = ["Tom has 3 apples.", "He buys 4 more, so 3 + 4 = 7.", "Half of 12 is 6.", "No box is red"]


def p_of(text: str) -> float:
    """A score by a hash of what was read, as a model would give: the same for the same, else something else."""
    return 0.1 + 0.8 * hashlib.sha256(text.encode()).digest()[0] / 255


def answer(request: Request) -> Reply:
    if request.path == "/pooling":
        text = str(request.body["messages"][-1]["content"])
        ends = [end for end in range(1, len(text) + 1) if text[:end].endswith("<extra_0>")]
        rows = [[1 - p_of(text[:end]), p_of(text[:end])] for end in ends]
        return reply_json({"data": [{"data": rows}], "usage": {"total_tokens": 50}})
    p = p_of(str(request.body["prompt"]))
    top = {" +": math.log(0.9 * p), " -": math.log(0.9 * (1 - p)), "\n": math.log(0.05)}
    return reply_json({"choices": [{"logprobs": {"top_logprobs": [top]}}], "usage": {"total_tokens": 50}})


@pytest.fixture(scope="module", params=[*FAMILIES, "remembering", "served head", "served token pair"])
def rewarder(request: pytest.FixtureRequest) -> Iterator[StepRewarder]:
    if request.param in (*FAMILIES, "remembering"):
        folder = Path(mkdtemp())
        family = QWEN if request.param == "remembering" else request.param
        save_tiny(family, folder)
        local = load_tiny(family, folder)
        yield RememberingRewarder(local) if request.param == "remembering" else local
        local.close()
        shutil.rmtree(folder)
    else:
        with serve(answer) as server:
            connection = server.connection()
            yield ServerRewarder(connection, TINY, layout(QWEN if request.param == "served head" else SHEPHERD))
            asyncio.run(connection.close())


def scores(verdicts: Sequence[Verdict]) -> list[float]:
    found = [verdict.p_correct for verdict in verdicts if isinstance(verdict, Judged)]
    assert len(found) == len(verdicts)
    return found


async def test_there_is_one_score_per_asked_step(rewarder: StepRewarder) -> None:
    assert len(scores(await rewarder.reward(PROBLEM, STEPS, [0, 2, 3], Meter()))) == 3


async def test_nothing_asked_is_nothing_answered(rewarder: StepRewarder) -> None:
    assert list(await rewarder.reward(PROBLEM, STEPS, [], Meter())) == []


async def test_a_score_is_a_probability(rewarder: StepRewarder) -> None:
    assert all(0 <= score <= 1 for score in scores(await rewarder.reward(PROBLEM, STEPS, range(4), Meter())))


async def test_scores_come_in_the_order_asked(rewarder: StepRewarder) -> None:
    forward = scores(await rewarder.reward(PROBLEM, STEPS, [0, 1, 3], Meter()))
    backward = scores(await rewarder.reward(PROBLEM, STEPS, [3, 1, 0], Meter()))
    assert backward == pytest.approx(forward[::-1], abs=1e-6)


async def test_later_steps_change_nothing(rewarder: StepRewarder) -> None:
    alone = scores(await rewarder.reward(PROBLEM, STEPS[:2], [0, 1], Meter()))
    among = scores(await rewarder.reward(PROBLEM, [*STEPS[:2], "It is 9.", "So 8."], range(4), Meter()))
    assert alone == pytest.approx(among[:2], abs=1e-6)


async def test_earlier_steps_are_read(rewarder: StepRewarder) -> None:
    after_one = scores(await rewarder.reward(PROBLEM, STEPS[:2], [1], Meter()))
    after_another = scores(await rewarder.reward(PROBLEM, [STEPS[2], STEPS[1]], [1], Meter()))
    assert abs(after_one[0] - after_another[0]) > 1e-6


async def test_different_steps_get_different_scores(rewarder: StepRewarder) -> None:
    assert len(set(scores(await rewarder.reward(PROBLEM, STEPS, range(4), Meter())))) == 4


async def test_a_step_asked_twice_is_answered_twice(rewarder: StepRewarder) -> None:
    first, second = scores(await rewarder.reward(PROBLEM, STEPS, [1, 1], Meter()))
    assert first == second


async def test_a_blank_step_is_not_applicable(rewarder: StepRewarder) -> None:
    before, blank, after = await rewarder.reward(PROBLEM, [STEPS[0], "\n", STEPS[1]], range(3), Meter())
    assert isinstance(blank, Abstained)
    assert blank.why is Why.NOT_APPLICABLE
    together = scores(await rewarder.reward(PROBLEM, STEPS[:2], [0, 1], Meter()))
    assert scores([before, after]) == pytest.approx(together, abs=1e-6)


async def test_cost_is_counted(rewarder: StepRewarder) -> None:
    meter = Meter(caller=Caller(tenant="of whom nothing is known"))
    await rewarder.reward(PROBLEM, STEPS, range(4), meter)
    assert meter.stages["verify"].calls >= 1
    assert meter.stages["verify"].tokens >= 50


async def test_it_says_which_model_it_is(rewarder: StepRewarder) -> None:
    assert rewarder.identity == TINY


async def test_it_says_what_else_decides_a_verdict_and_says_the_same_again(rewarder: StepRewarder) -> None:
    assert rewarder.fingerprint == rewarder.fingerprint != ""
