"""A verifier that dies, hangs or answers rubbish costs its own verdicts alone, and the next one takes its place."""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.calibration import DEFAULT_CALIBRATION
from rafs.errors import BackendError, ConfigError, OverloadedError
from rafs.reading import read_text
from rafs.types import Abstained, BlindTrace, Judged, MemberVerdicts, ModelIdentity, StepVerdicts, Verdict, Why
from rafs.usage import Meter
from verifiers.ensemble import VerifierEnsemble

TRACE = read_text("One and two?", ["1 + 2 = 3, say.", "So it is three.", "Three it is."], None).blind()
N = len(TRACE.steps)
GOOD = Judged(p_correct=0.9)
Behaviour = Callable[[Sequence[int]], Any]


class Scripted:
    """A verifier that does whatever its script says, and counts how often it was asked."""

    def __init__(self, name: str, behaviour: Behaviour, family: str | None = None) -> None:
        self.name = name
        self.identity = ModelIdentity(id=name, family=family or name, revision="1") if ":" in name else None
        self.behaviour = behaviour
        self.calls = 0

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        self.calls += 1
        answer = self.behaviour(ask)
        return await answer if inspect.iscoroutine(answer) else answer  # type: ignore[no-any-return]


def good(ask: Sequence[int]) -> Sequence[Verdict]:
    return [GOOD] * len(ask)


def raising(error: BaseException) -> Behaviour:
    def fail(ask: Sequence[int]) -> Sequence[Verdict]:
        raise error

    return fail


def saying(answers: object) -> Behaviour:
    return lambda ask: answers


async def hang(ask: Sequence[int]) -> Sequence[Verdict]:
    await asyncio.sleep(3600)
    return good(ask)


async def hang_on(ask: Sequence[int]) -> Sequence[Verdict]:
    """Does not heed that it is cancelled, the first time."""
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(3600)
    return await hang(ask)


async def cancelled(ask: Sequence[int]) -> Sequence[Verdict]:
    """As when its engine is shut down under it."""
    raise asyncio.CancelledError


def endless(ask: Sequence[int]) -> Iterator[Verdict]:
    while True:
        yield GOOD


def breaking_off(ask: Sequence[int]) -> Iterator[Verdict]:
    yield GOOD
    raise ValueError("half way")


def with_one(verdict: object) -> Behaviour:
    return lambda ask: [*good(ask)[1:], verdict]


HOSTILE = [
    pytest.param(raising(BackendError("gone")), Why.BACKEND_DOWN, id="server is down"),
    pytest.param(raising(BackendError("late", timed_out=True)), Why.TIMEOUT, id="server timed out"),
    pytest.param(raising(MemoryError()), Why.OUT_OF_MEMORY, id="out of memory"),
    pytest.param(raising(RuntimeError("the trace says: secret")), Why.CRASHED, id="any other error"),
    pytest.param(raising(ConfigError("weights are missing")), Why.CRASHED, id="an error of another layer"),
    pytest.param(raising(RecursionError()), Why.CRASHED, id="too deep"),
    pytest.param(raising(StopAsyncIteration()), Why.CRASHED, id="an exception with a meaning of its own"),
    pytest.param(cancelled, Why.CRASHED, id="cancels itself"),
    pytest.param(hang, Why.TIMEOUT, id="hangs"),
    pytest.param(hang_on, Why.TIMEOUT, id="hangs and cannot be cancelled"),
    pytest.param(saying([]), Why.INVALID, id="no verdicts"),
    pytest.param(saying([GOOD] * (N - 1)), Why.INVALID, id="one too few"),
    pytest.param(saying([GOOD] * (N + 1)), Why.INVALID, id="one too many"),
    pytest.param(endless, Why.INVALID, id="verdicts without end"),
    pytest.param(breaking_off, Why.CRASHED, id="breaks off"),
    pytest.param(saying(None), Why.CRASHED, id="nothing at all"),
    pytest.param(with_one(None), Why.INVALID, id="no verdict for one step"),
    pytest.param(with_one(0.9), Why.INVALID, id="a bare number"),
    pytest.param(with_one(Judged(p_correct=float("nan"))), Why.INVALID, id="not a number"),
    pytest.param(with_one(Judged(p_correct=1.0000001)), Why.INVALID, id="above 1"),
    pytest.param(with_one(Judged(p_correct=-0.1)), Why.INVALID, id="below 0"),
    pytest.param(with_one(Judged(p_correct=float("inf"))), Why.INVALID, id="infinite"),
    pytest.param(with_one(Judged(p_correct="0.9")), Why.CRASHED, id="a text"),  # type: ignore[arg-type]
    pytest.param(with_one(Judged(p_correct=0.0, refuted=True)), Why.INVALID, id="a model that claims a proof"),
]


async def verify(*members: Scripted, n_judges: int = 1, seconds: float = 0.3) -> StepVerdicts:
    ensemble = VerifierEnsemble(
        [member for member in members if member.identity is None],
        [member for member in members if member.identity is not None],
        DEFAULT_CALIBRATION,
        0.02,
        n_judges=n_judges,
    )
    checked = await ensemble.check(TRACE, (), Meter())
    deadline = asyncio.get_running_loop().time() + seconds
    return await ensemble.verify(TRACE, checked, (), deadline, Meter())


def row_of(verdicts: StepVerdicts, member: str) -> MemberVerdicts:
    return next(row for row in verdicts.members if row.member == member)


def reasons(row: MemberVerdicts) -> set[Why | None]:
    return {verdict.why if isinstance(verdict, Abstained) else None for verdict in row.verdicts}


@pytest.mark.parametrize(("behaviour", "why"), HOSTILE)
async def test_a_hostile_judge_is_silent_on_every_step_with_its_reason_and_the_others_count(
    behaviour: Behaviour, why: Why
) -> None:
    verdicts = await verify(Scripted("checker", good), Scripted("judge:bad", behaviour), Scripted("prm:good", good))
    assert reasons(row_of(verdicts, "judge:bad")) == {why}
    assert verdicts.decided_by == (("checker", "prm:good"),) * N


@pytest.mark.parametrize(("behaviour", "why"), HOSTILE)
async def test_the_next_judge_takes_the_place_of_a_hostile_one(behaviour: Behaviour, why: Why) -> None:
    verdicts = await verify(Scripted("judge:bad", behaviour), Scripted("judge:next", good))
    assert reasons(row_of(verdicts, "judge:bad")) == {why}
    assert verdicts.heard_models == ("judge:next",)


@pytest.mark.parametrize("behaviour", [saying([]), raising(ValueError()), with_one(Judged(p_correct=2.0))])
async def test_a_broken_checker_costs_its_own_verdicts(behaviour: Behaviour) -> None:
    verdicts = await verify(Scripted("checker", behaviour), Scripted("judge:good", good))
    assert verdicts.decided_by == (("judge:good",),) * N


async def test_an_error_that_quotes_the_trace_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    await verify(Scripted("judge:bad", raising(RuntimeError("the trace says: secret"))))
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


TAME = st.sampled_from([param.values[0] for param in HOSTILE if param.values[0] not in (hang, hang_on)])


@given(st.lists(st.tuples(TAME | st.just(good), st.sampled_from("abc")), min_size=1, max_size=6), st.integers(1, 3))
async def test_whatever_the_judges_do_the_panel_is_as_large_as_it_can_be(
    judges: list[tuple[Behaviour, str]], n_judges: int
) -> None:
    members = [Scripted(f"judge:{n}", behaviour, family) for n, (behaviour, family) in enumerate(judges)]
    verdicts = await verify(*members, n_judges=n_judges, seconds=60)
    sound = {family for behaviour, family in judges if behaviour is good}
    assert len(verdicts.heard_models) == min(n_judges, len(sound))
    assert all(member.calls <= 1 for member in members)
    assert {row.member for row in verdicts.members} == {member.name for member in members}


async def test_judges_that_are_not_needed_are_not_asked() -> None:
    spare = Scripted("judge:c", good)
    await verify(Scripted("judge:a", good), Scripted("judge:b", good), spare, n_judges=2)
    assert spare.calls == 0


async def test_a_replacement_is_of_another_family_than_the_judges_that_sit() -> None:
    kin, other = Scripted("judge:kin", good, "b"), Scripted("judge:other", good, "c")
    members = [Scripted("judge:a", raising(BackendError("gone"))), Scripted("judge:b", good, "b"), kin, other]
    verdicts = await verify(*members, n_judges=2)
    assert verdicts.heard_models == ("judge:b", "judge:other")
    assert kin.calls == 0


FULL = raising(OverloadedError("full", retry_after_s=7))


async def test_a_judge_with_a_full_queue_is_replaced_by_a_free_one() -> None:
    verdicts = await verify(Scripted("judge:full", FULL), Scripted("judge:free", good))
    assert reasons(row_of(verdicts, "judge:full")) == {Why.OVERLOADED}
    assert verdicts.heard_models == ("judge:free",)


@pytest.mark.parametrize("other", [FULL, raising(BackendError("gone"))], ids=["full too", "down"])
async def test_where_no_judge_is_free_the_request_is_refused_until_later(other: Behaviour) -> None:
    with pytest.raises(OverloadedError) as refused:
        await verify(Scripted("judge:full", FULL), Scripted("judge:other", other))
    assert refused.value.retry_after_s == 7


async def test_a_request_that_is_cancelled_cancels_the_judges() -> None:
    ended = asyncio.Event()

    async def wait(ask: Sequence[int]) -> Sequence[Verdict]:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return []

    waiting = Scripted("judge:a", wait)
    task = asyncio.create_task(verify(waiting, seconds=60))
    while not waiting.calls:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), 5)
