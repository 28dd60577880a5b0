import asyncio

import pytest

from rafs.errors import BackendError, InputError
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import ItemRecord
from rafs.evaluation.run import score_traces
from rafs.result import ScoreResult
from tests.rafs.evaluation.made import record, trace

TRACES = [trace(f"t{n}") for n in range(5)]


async def refuse(one: LabelledTrace) -> ScoreResult:
    raise InputError("too many steps", field="trace", got="500", allowed="400")


async def test_what_cannot_be_scored_is_kept_with_its_reason_in_the_order_of_the_traces() -> None:
    kept: list[ItemRecord] = []
    records = await score_traces(TRACES, {}, refuse, kept.append, concurrency=2)
    assert [one.id for one in records] == [one.id for one in TRACES]
    assert {one.error for one in kept} == {"too many steps"} and len(kept) == 5


async def test_what_is_finished_is_not_scored_again() -> None:
    kept: list[ItemRecord] = []
    finished = {"t1": record("t1"), "of another run": record("of another run")}
    records = await score_traces(TRACES, finished, refuse, kept.append, concurrency=2)
    assert [one.id for one in kept] == ["t0", "t2", "t3", "t4"]
    assert records[1] == record("t1")


async def test_a_model_that_fails_ends_the_run_and_leaves_what_is_kept() -> None:
    kept: list[ItemRecord] = []

    async def fail_at_the_third(one: LabelledTrace) -> ScoreResult:
        if one.id == "t2":
            raise BackendError("the server is down")
        return await refuse(one)

    with pytest.raises(BackendError, match="the server is down"):
        await score_traces(TRACES, {}, fail_at_the_third, kept.append, concurrency=1)
    assert [one.id for one in kept] == ["t0", "t1"]


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_as_many_traces_as_allowed_are_scored_at_a_time(concurrency: int) -> None:
    running = most = 0

    async def count(one: LabelledTrace) -> ScoreResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return await refuse(one)

    await score_traces(TRACES, {}, count, lambda _: None, concurrency=concurrency)
    assert most == concurrency
