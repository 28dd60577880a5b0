import asyncio
import gc
import hashlib
from collections.abc import Iterator, Sequence

import pytest

from rafs.contracts import PromptPart
from rafs.engines.remembered_probes import RememberingProber, is_lasting
from rafs.engines.shared_work import SharedWork
from rafs.engines.transformers_lm import TransformersProber
from rafs.errors import BackendError, OverloadedError, RafsError
from rafs.types import Abstained, LabelMass, ModelIdentity, Why
from rafs.usage import Caller, Meter, Priority, StageUsage
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer
from tests.test_flow import request, scorer
from verifiers.judge import JudgeVerifier

HEAD = [PromptPart(text="Problem: ", trusted=True), PromptPart(text="Tom has 3 apples and buys 4 more.")]
STEPS = [[PromptPart(text=f"\nStep {n}: 3 + {n} = {3 + n}.")] for n in range(1, 5)]
TAIL = [PromptPart(text="\nIs the last step correct? Answer Yes or No.", trusted=True)]
TOKENS_A_QUESTION = 10
ALL = range(len(STEPS))


class SlowProber:
    """Answers by a hash of the prompt when it may go on, and remembers what it was asked."""

    def __init__(self, identity: ModelIdentity = TINY, fingerprint: str = "slow") -> None:
        self.identity = identity
        self.fingerprint = fingerprint
        self.asked: list[list[int]] = []
        self.n_cancelled = 0
        self.says: RafsError | Abstained | None = None
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        self.asked.append(list(ask))
        try:
            await self.may_go_on.wait()
        except asyncio.CancelledError:
            self.n_cancelled += 1
            raise
        if isinstance(self.says, RafsError):
            raise self.says
        meter.add("verify", calls=1, tokens=len(ask) * TOKENS_A_QUESTION)
        if self.says is not None:
            return [self.says] * len(ask)
        yes = (hashlib.sha256(repr([head, steps[: t + 1], tail]).encode()).digest()[0] / 256 for t in ask)
        return [LabelMass(yes=each, no=1 - each) for each in yes]


@pytest.fixture
def slow() -> SlowProber:
    return SlowProber()


@pytest.fixture
def remembering(slow: SlowProber) -> RememberingProber:
    return RememberingProber(slow)


async def ask_all(prober: RememberingProber, n_steps: int = 4, caller: Caller | None = None) -> StageUsage:
    """Ask about the first steps, and return what it cost."""
    meter = Meter(caller=caller or Caller())
    await prober.probe(HEAD, STEPS[:n_steps], TAIL, range(n_steps), meter)
    return meter.stages["verify"]


async def begun(prober: RememberingProber, caller: Caller | None = None) -> "asyncio.Task[StageUsage]":
    """Start one call and return when it has got as far as it goes."""
    task = asyncio.create_task(ask_all(prober, caller=caller))
    for _ in range(3):
        await asyncio.sleep(0)
    return task


@pytest.fixture(scope="module")
def local() -> Iterator[TransformersProber]:
    prober = TransformersProber(tiny_llama(initializer_range=0.1), tiny_tokenizer(), TINY)
    yield prober
    prober.close()


async def test_fifty_identical_requests_cost_the_tokens_of_one(local: TransformersProber) -> None:
    alone = Meter(caller=Caller(tenant="another"))  # the engine itself shares nothing with it either
    await local.probe(HEAD, STEPS, TAIL, ALL, alone)
    together = RememberingProber(local)
    meters = [Meter() for _ in range(50)]
    await asyncio.gather(*(together.probe(HEAD, STEPS, TAIL, ALL, meter) for meter in meters))
    assert sum(meter.stages["verify"].tokens for meter in meters) == alone.stages["verify"].tokens
    assert sum(meter.stages["verify"].reused for meter in meters) == 49 * len(STEPS)


async def test_a_remembered_mass_is_that_of_a_fresh_question(local: TransformersProber) -> None:
    remembering = RememberingProber(local)
    await remembering.probe(HEAD, STEPS[:2], TAIL, [0, 1], Meter())
    kept = await remembering.probe(HEAD, STEPS, TAIL, ALL, Meter())
    fresh = await local.probe(HEAD, STEPS, TAIL, ALL, Meter(caller=Caller(tenant="yet another")))
    for one, other in zip(kept, fresh, strict=True):
        assert isinstance(one, LabelMass)
        assert isinstance(other, LabelMass)
        assert (one.yes, one.no) == pytest.approx((other.yes, other.no), rel=1e-4)


async def test_a_warm_hit_costs_no_token(remembering: RememberingProber) -> None:
    await ask_all(remembering)
    assert await ask_all(remembering) == StageUsage(reused=4)


async def test_an_appended_step_asks_for_that_step_alone(remembering: RememberingProber, slow: SlowProber) -> None:
    await ask_all(remembering, 3)
    assert await ask_all(remembering, 4) == StageUsage(calls=1, tokens=TOKENS_A_QUESTION, reused=3)
    assert slow.asked == [[0, 1, 2], [3]]


async def test_a_changed_step_asks_from_there_on(remembering: RememberingProber, slow: SlowProber) -> None:
    await ask_all(remembering)
    changed = [*STEPS[:2], [PromptPart(text="\nStep 3: 3 + 3 = 7.")], *STEPS[3:]]
    await remembering.probe(HEAD, changed, TAIL, ALL, Meter())
    assert slow.asked[1:] == [[2, 3]]


async def test_a_step_asked_twice_runs_once(remembering: RememberingProber, slow: SlowProber) -> None:
    first, second = await remembering.probe(HEAD, STEPS, TAIL, [1, 1], Meter())
    assert (slow.asked, first) == ([[1]], second)


async def test_a_call_under_way_is_joined_for_what_it_asks(remembering: RememberingProber, slow: SlowProber) -> None:
    slow.may_go_on.clear()
    one = asyncio.create_task(ask_all(remembering, 3))
    await asyncio.sleep(0)
    other = await begun(remembering)
    slow.may_go_on.set()
    assert [(await each).tokens for each in (one, other)] == [3 * TOKENS_A_QUESTION, TOKENS_A_QUESTION]


async def test_tenants_share_nothing(remembering: RememberingProber) -> None:
    costs = [(await ask_all(remembering, caller=Caller(tenant=name))).tokens for name in ("a", "b", "a")]
    assert costs == [4 * TOKENS_A_QUESTION, 4 * TOKENS_A_QUESTION, 0]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(SlowProber(fingerprint="bfloat16"), id="fingerprint"),
        pytest.param(SlowProber(ModelIdentity(id="tiny", family="tiny", revision="2")), id="revision"),
        pytest.param(SlowProber(ModelIdentity(id="small", family="tiny", revision="random")), id="model"),
    ],
)
async def test_models_that_differ_share_nothing(slow: SlowProber, other: SlowProber) -> None:
    memory = SharedWork(is_lasting)
    for prober in (slow, other):
        await ask_all(RememberingProber(prober, memory))
    assert [len(each.asked) for each in (slow, other)] == [1, 1]


async def test_the_first_caller_may_leave_the_others(remembering: RememberingProber, slow: SlowProber) -> None:
    slow.may_go_on.clear()
    tasks = [await begun(remembering) for _ in range(3)]
    tasks[0].cancel()
    await asyncio.sleep(0)
    slow.may_go_on.set()
    assert [(await task).reused for task in tasks[1:]] == [4, 4]
    assert (slow.n_cancelled, len(slow.asked)) == (0, 1)


async def test_when_all_have_left_the_engine_is_told(remembering: RememberingProber, slow: SlowProber) -> None:
    slow.may_go_on.clear()
    tasks = [await begun(remembering) for _ in range(3)]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)
    assert slow.n_cancelled == 1


async def test_who_comes_while_a_call_is_being_cancelled_begins_a_new_one(
    remembering: RememberingProber, slow: SlowProber
) -> None:
    slow.may_go_on.clear()
    leaving = await begun(remembering)
    leaving.cancel()
    staying = asyncio.create_task(ask_all(remembering))
    await asyncio.gather(leaving, return_exceptions=True)
    slow.may_go_on.set()
    assert (await staying).tokens == 4 * TOKENS_A_QUESTION


async def test_a_gate_request_does_not_wait_for_a_call_of_batch_work(
    remembering: RememberingProber, slow: SlowProber
) -> None:
    slow.may_go_on.clear()
    tasks = [await begun(remembering, Caller(priority=each)) for each in (Priority.BATCH, Priority.GATE)]
    assert len(slow.asked) == 2
    joined = await begun(remembering, Caller(priority=Priority.SCORE))
    assert len(slow.asked) == 2
    slow.may_go_on.set()
    await asyncio.gather(*tasks, joined)


@pytest.mark.parametrize(
    "error",
    [BackendError("the model died"), OverloadedError("the queue is full", retry_after_s=1.0)],
    ids=["backend", "overloaded"],
)
async def test_an_error_reaches_all_who_wait_and_is_forgotten(
    remembering: RememberingProber, slow: SlowProber, error: RafsError
) -> None:
    slow.may_go_on.clear()
    slow.says = error
    tasks = [await begun(remembering) for _ in range(3)]
    slow.may_go_on.set()
    assert await asyncio.gather(*tasks, return_exceptions=True) == [error] * 3
    slow.says = None
    assert (await ask_all(remembering)).tokens == 4 * TOKENS_A_QUESTION


@pytest.mark.parametrize(
    ("why", "n_calls"),
    [(Why.TOO_LONG, 1), (Why.NO_LABELS, 1), (Why.TIMEOUT, 2), (Why.BACKEND_DOWN, 2), (Why.UNPARSED, 2)],
)
async def test_an_abstention_is_kept_only_where_the_prompt_caused_it(
    remembering: RememberingProber, slow: SlowProber, why: Why, n_calls: int
) -> None:
    slow.says = Abstained(why=why)
    for _ in range(2):
        await remembering.probe(HEAD, STEPS, TAIL, ALL, Meter())
    assert len(slow.asked) == n_calls


async def test_memory_is_bounded_and_gives_up_the_least_recently_used(slow: SlowProber) -> None:
    memory = SharedWork(is_lasting, max_entries=3)
    remembering = RememberingProber(slow, memory)
    for t in (0, 1, 2, 0, 3, 0, 1):
        await remembering.probe(HEAD, STEPS, TAIL, [t], Meter())
    assert slow.asked == [[0], [1], [2], [3], [1]]
    assert len(memory) == 3


async def test_what_is_old_is_asked_again(slow: SlowProber) -> None:
    remembering = RememberingProber(slow, SharedWork(is_lasting, max_age_s=0))
    await ask_all(remembering)
    assert (await ask_all(remembering)).reused == 0


async def test_a_call_that_ends_leaves_no_trace_of_itself(slow: SlowProber) -> None:
    memory = SharedWork(is_lasting, max_entries=1)
    remembering = RememberingProber(slow, memory)
    await ask_all(remembering)
    before = asyncio.all_tasks()
    await ask_all(remembering)
    assert asyncio.all_tasks() == before


async def test_a_call_cancelled_from_within_is_a_failure_and_not_the_callers_own_end() -> None:
    async def give_up(_: Sequence[int]) -> Sequence[int]:
        raise asyncio.CancelledError

    with pytest.raises(BackendError, match="from within"):
        await SharedWork[int](bool).find([b"key"], Priority.SCORE, give_up)


async def test_a_call_that_fails_as_its_last_caller_leaves_is_logged_nowhere() -> None:
    logged: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context["message"]))
    may_fail = asyncio.Event()

    async def fail(_: Sequence[int]) -> Sequence[int]:
        await may_fail.wait()
        raise BackendError("gone")

    leaving = asyncio.create_task(SharedWork[int](bool).find([b"key"], Priority.SCORE, fail))
    await asyncio.sleep(0.01)
    may_fail.set()
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving])
    del leaving  # what holds the failure, and keeps it from being logged
    gc.collect()
    assert logged == []


async def test_a_response_says_how_many_verdicts_were_reused(remembering: RememberingProber) -> None:
    scoring = scorer(JudgeVerifier(remembering))
    costs = [
        {stage.stage: (stage.tokens > 0, stage.reused) for stage in (await scoring.score(request())).usage}["verify"]
        for _ in range(2)
    ]
    assert costs == [(True, 0), (False, 2)]
