import asyncio
import hashlib
from collections.abc import Sequence

import pytest

from rafs.engines.remembered_rewards import RememberingRewarder, is_lasting
from rafs.engines.shared_work import SharedWork
from rafs.types import Abstained, Judged, ModelIdentity, Verdict, Why
from rafs.usage import Caller, Meter, StageUsage
from tests.rafs.engines.tiny_models import TINY

PROBLEM = "Tom has 3 apples and buys 4 more."
STEPS = ["He has 3.", "3 + 4 = 7", "So 7.", "The answer is 7."]
TOKENS_A_STEP = 10


class Reader:
    """Scores by a hash of what it read when it may go on, and remembers what it was asked."""

    def __init__(self, identity: ModelIdentity = TINY, fingerprint: str = "reader") -> None:
        self.identity = identity
        self.fingerprint = fingerprint
        self.asked: list[list[int]] = []
        self.says: Abstained | None = None
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        self.asked.append(list(ask))
        await self.may_go_on.wait()
        meter.add("verify", calls=1, tokens=len(ask) * TOKENS_A_STEP)
        read = [repr((problem, list(steps[: t + 1]))).encode() for t in ask]
        return [self.says or Judged(p_correct=hashlib.sha256(text).digest()[0] / 255) for text in read]


@pytest.fixture
def reader() -> Reader:
    return Reader()


async def score(
    rewarder: RememberingRewarder, steps: Sequence[str] = STEPS, problem: str = PROBLEM, tenant: str = ""
) -> StageUsage:
    """Ask about all steps, and return what it cost."""
    meter = Meter(caller=Caller(tenant=tenant))
    await rewarder.reward(problem, steps, range(len(steps)), meter)
    return meter.stages["verify"]


async def test_a_trace_with_one_step_appended_asks_for_that_step_alone(reader: Reader) -> None:
    remembering = RememberingRewarder(reader)
    await score(remembering, STEPS[:3])
    assert await score(remembering) == StageUsage(calls=1, tokens=TOKENS_A_STEP, reused=3)
    assert reader.asked == [[0, 1, 2], [3]]


async def test_remembered_scores_are_those_of_the_reader(reader: Reader) -> None:
    remembering = RememberingRewarder(reader)
    await score(remembering, STEPS[:2])
    kept = await remembering.reward(PROBLEM, STEPS, range(4), Meter())
    assert list(kept) == list(await reader.reward(PROBLEM, STEPS, range(4), Meter()))


async def test_identical_requests_at_once_cost_one_reading(reader: Reader) -> None:
    remembering = RememberingRewarder(reader)
    reader.may_go_on.clear()
    tasks = [asyncio.create_task(score(remembering)) for _ in range(20)]
    for _ in range(3):
        await asyncio.sleep(0)
    reader.may_go_on.set()
    costs = await asyncio.gather(*tasks)
    assert sum(cost.tokens for cost in costs) == len(STEPS) * TOKENS_A_STEP
    assert reader.asked == [[0, 1, 2, 3]]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"problem": "Tom has 3 pears."}, id="problem"),
        pytest.param({"steps": ["He has 4.", *STEPS[1:]]}, id="first step"),
        pytest.param({"tenant": "another"}, id="tenant"),
    ],
)
async def test_what_a_verdict_depends_on_is_asked_anew(reader: Reader, other: dict[str, str]) -> None:
    remembering = RememberingRewarder(reader)
    await score(remembering)
    assert (await score(remembering, **other)).reused == 0


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Reader(fingerprint="bfloat16"), id="fingerprint"),
        pytest.param(Reader(ModelIdentity(id="tiny", family="tiny", revision="2")), id="revision"),
    ],
)
async def test_models_that_differ_share_nothing(reader: Reader, other: Reader) -> None:
    memory = SharedWork(is_lasting)
    for each in (reader, other):
        await score(RememberingRewarder(each, memory))
    assert [len(each.asked) for each in (reader, other)] == [1, 1]


@pytest.mark.parametrize(
    ("why", "n_calls"), [(Why.TOO_LONG, 1), (Why.NOT_APPLICABLE, 1), (Why.UNPARSED, 2), (Why.TIMEOUT, 2)]
)
async def test_an_abstention_is_kept_only_where_the_steps_before_it_caused_it(
    reader: Reader, why: Why, n_calls: int
) -> None:
    reader.says = Abstained(why=why)
    remembering = RememberingRewarder(reader)
    for _ in range(2):
        await score(remembering)
    assert len(reader.asked) == n_calls
