import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.concurrency import START, AdaptiveLimit
from rafs.errors import OverloadedError
from rafs.usage import Priority

OUTCOMES = st.lists(st.sampled_from(["succeeded", "overloaded", "failed"]), max_size=80)


async def run_one(limit: AdaptiveLimit, outcome: str) -> None:
    async with limit.slot(Priority.SCORE) as slot:
        slot.succeeded = outcome == "succeeded"
        slot.overloaded = outcome == "overloaded"


async def limits_after(most: int, outcomes: Sequence[str]) -> list[int]:
    limit = AdaptiveLimit(most)
    seen = [limit.limit]
    for outcome in outcomes:
        await run_one(limit, outcome)
        seen.append(limit.limit)
    return seen


@given(st.integers(1, 20), OUTCOMES)
def test_the_limit_stays_within_its_bounds(most: int, outcomes: list[str]) -> None:
    assert all(1 <= limit <= most for limit in asyncio.run(limits_after(most, outcomes)))


@given(st.integers(1, 20), OUTCOMES)
def test_the_limit_doubles_until_it_was_halved_and_then_grows_by_one(most: int, outcomes: list[str]) -> None:
    halved = False
    for (before, after), outcome in zip(pairwise(asyncio.run(limits_after(most, outcomes))), outcomes, strict=True):
        grown = before + 1 if halved else min(most, 2 * before)
        allowed = {"succeeded": {before, grown}, "overloaded": {max(1, before // 2)}, "failed": {before}}
        assert after in allowed[outcome]
        halved = halved or outcome == "overloaded"


async def test_the_limit_doubles_with_every_round_of_successes_until_the_first_overload() -> None:
    seen = await limits_after(64, ["succeeded"] * 60)
    assert [seen[at] for at in (0, 3, 4, 11, 12, 27, 28, 59, 60)] == [4, 4, 8, 8, 16, 16, 32, 32, 64]


async def test_after_an_overload_a_round_of_successes_raises_the_limit_by_one() -> None:
    seen = await limits_after(64, ["succeeded"] * START + ["overloaded"] + ["succeeded"] * (START + START + 1))
    assert (seen[START + 1], seen[2 * START + 1], seen[-1]) == (START, START + 1, START + 2)


async def test_one_burst_of_overloads_halves_once() -> None:
    limit = AdaptiveLimit(64)
    entered = asyncio.Event()

    async def refused() -> None:
        async with limit.slot(Priority.SCORE) as slot:
            await entered.wait()
            slot.overloaded = True

    tasks = [asyncio.create_task(refused()) for _ in range(START)]
    await asyncio.sleep(0)
    entered.set()
    await asyncio.gather(*tasks)
    assert limit.limit == START // 2


@given(st.integers(1, 6), st.integers(0, 30), OUTCOMES)
def test_no_more_run_at_once_than_the_limit_allows(most: int, n: int, outcomes: list[str]) -> None:
    async def crowd() -> int:
        limit, running, peak = AdaptiveLimit(most), 0, 0

        async def one(outcome: str) -> None:
            nonlocal running, peak
            async with limit.slot(Priority.SCORE) as slot:
                running += 1
                peak = max(peak, running)
                await asyncio.sleep(0)
                slot.succeeded, slot.overloaded = outcome == "succeeded", outcome == "overloaded"
                running -= 1

        await asyncio.gather(*(one(outcome) for outcome in [*outcomes, *["succeeded"] * n]))
        return peak

    assert asyncio.run(crowd()) <= most


async def test_the_most_urgent_goes_first_and_equals_in_order() -> None:
    limit, order = AdaptiveLimit(1), list[str]()

    async def one(name: str, priority: Priority) -> None:
        async with limit.slot(priority):
            order.append(name)
            await asyncio.sleep(0)

    waiting = [("held", Priority.BATCH), ("log", Priority.BATCH), ("score", Priority.SCORE), ("gate", Priority.GATE)]
    await asyncio.gather(*(one(*each) for each in [*waiting, ("late gate", Priority.GATE)]))
    assert order == ["held", "gate", "late gate", "score", "log"]


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_a_caller_that_leaves_takes_no_slot_with_it(leaves: list[bool]) -> None:
    async def crowd() -> None:
        limit = AdaptiveLimit(1)
        async with limit.slot(Priority.SCORE):
            tasks = [asyncio.create_task(run_one(limit, "succeeded")) for _ in leaves]
            await asyncio.sleep(0)
            for task, leave in zip(tasks, leaves, strict=True):
                if leave:
                    task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(run_one(limit, "succeeded"), 5)

    asyncio.run(crowd())


async def test_a_caller_that_leaves_as_its_turn_comes_hands_it_on() -> None:
    limit = AdaptiveLimit(1)
    async with limit.slot(Priority.SCORE):
        first, second = (asyncio.create_task(run_one(limit, "succeeded")) for _ in range(2))
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait_for(second, 5)
    assert first.cancelled() or first.cancelling()


async def test_too_many_waiting_are_refused_at_once() -> None:
    limit = AdaptiveLimit(1, max_waiting=1)
    async with limit.slot(Priority.SCORE):
        waiting = asyncio.create_task(run_one(limit, "succeeded"))
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError, match="at most 1"):
            await run_one(limit, "succeeded")
    await waiting


async def test_a_caller_that_leaves_frees_its_place_in_the_queue() -> None:
    limit = AdaptiveLimit(1, max_waiting=1)
    async with limit.slot(Priority.SCORE):
        leaving = asyncio.create_task(run_one(limit, "succeeded"))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait([leaving])
        waiting = asyncio.create_task(run_one(limit, "succeeded"))
        await asyncio.sleep(0)
    await waiting
