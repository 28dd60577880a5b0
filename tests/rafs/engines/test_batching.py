import asyncio
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.batching import UNMEASURED_RETRY_AFTER_S, MicroBatcher, cut_batches
from rafs.errors import BackendError, OverloadedError
from tests.rafs.engines.doubler import DEADLINE_S, SCORE, Doubler, held


async def test_a_panic_fails_its_own_batch_and_the_next_is_served() -> None:
    class Panic(BaseException):
        """As Rust libraries raise them."""

    def run(items: Sequence[int]) -> Sequence[int]:
        if 13 in items:
            raise Panic("index out of bounds")
        return items

    batcher = MicroBatcher(run, name="rust", batch_tokens=1, queue_tokens=10)
    async with asyncio.timeout(DEADLINE_S):
        with pytest.raises(BackendError, match="out of bounds"):
            await batcher.run([(13, 1)], SCORE)
        assert await batcher.run([(2, 1)], SCORE) == [2]
    batcher.close()


async def test_results_come_back_in_order(batcher: MicroBatcher[int, int]) -> None:
    assert await batcher.run([(item, 10) for item in range(50, 70)], SCORE) == [2 * item for item in range(50, 70)]


async def test_what_queued_up_runs_as_one_batch(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    first = await held(batcher, doubler, 10)
    others = [asyncio.create_task(batcher.run([(item, 10)], SCORE)) for item in (2, 3, 4)]
    await asyncio.sleep(0)
    doubler.may_go_on.set()
    await asyncio.gather(first, *others)
    assert doubler.batches == [[1], [2, 3, 4]]


async def test_a_batch_is_bounded_by_its_padded_size(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    first = await held(batcher, doubler, 10)
    others = asyncio.create_task(batcher.run([(2, 10), (3, 40), (4, 40), (5, 40)], SCORE))
    await asyncio.sleep(0)
    doubler.may_go_on.set()
    await asyncio.gather(first, others)
    assert doubler.batches == [[1], [2, 3], [4, 5]]


async def test_an_item_larger_than_a_batch_runs_alone(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    assert await batcher.run([(7, 250)], SCORE) == [14]


async def test_a_full_queue_is_refused_at_once(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    first = await held(batcher, doubler, 250)
    with pytest.raises(OverloadedError) as refused:
        await batcher.run([(2, 60)], SCORE)
    assert refused.value.retry_after_s == UNMEASURED_RETRY_AFTER_S
    assert len(doubler.batches) == 1
    doubler.may_go_on.set()
    await first


async def test_retry_after_follows_the_measured_rate(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    await batcher.run([(0, 50)], SCORE)
    doubler.started.clear()
    first = await held(batcher, doubler, 250)
    with pytest.raises(OverloadedError) as refused:
        await batcher.run([(2, 60)], SCORE)
    assert 0 < refused.value.retry_after_s != UNMEASURED_RETRY_AFTER_S
    doubler.may_go_on.set()
    await first


async def test_a_request_larger_than_the_queue_is_served_when_nothing_waits(
    batcher: MicroBatcher[int, int],
) -> None:
    assert await batcher.run([(item, 100) for item in (2, 3, 4, 5)], SCORE) == [4, 6, 8, 10]


async def test_room_comes_back_after_a_batch(batcher: MicroBatcher[int, int]) -> None:
    for _ in range(5):
        assert await batcher.run([(2, 250)], SCORE) == [4]


async def test_an_item_whose_caller_left_is_never_run(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    first = await held(batcher, doubler, 10)
    leaving = asyncio.create_task(batcher.run([(99, 10)], SCORE))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    staying = asyncio.create_task(batcher.run([(3, 10)], SCORE))
    await asyncio.sleep(0)
    doubler.may_go_on.set()
    await asyncio.gather(first, staying)
    assert 99 not in [item for batch in doubler.batches for item in batch]


async def test_a_caller_that_left_gives_its_room_back(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    first = await held(batcher, doubler, 10)
    leaving = asyncio.create_task(batcher.run([(99, 280)], SCORE))
    await asyncio.sleep(0)
    leaving.cancel()
    doubler.may_go_on.set()
    await first
    await asyncio.gather(leaving, return_exceptions=True)
    assert await batcher.run([(4, 280)], SCORE) == [8]


async def test_a_caller_that_left_gives_its_room_back_at_once(
    batcher: MicroBatcher[int, int], doubler: Doubler
) -> None:
    first = await held(batcher, doubler, 10)
    leaving = asyncio.create_task(batcher.run([(99, 280)], SCORE))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving])
    next_one = asyncio.create_task(batcher.run([(4, 280)], SCORE))
    await asyncio.sleep(0)
    doubler.may_go_on.set()
    assert list(await asyncio.gather(first, next_one)) == [[2], [8]]


async def test_a_failed_batch_fails_its_callers_as_a_backend_error(batcher: MicroBatcher[int, int]) -> None:
    with pytest.raises(BackendError, match="doubler: thirteen"):
        await batcher.run([(13, 10)], SCORE)


async def test_the_thread_survives_a_failed_batch(batcher: MicroBatcher[int, int]) -> None:
    with pytest.raises(BackendError):
        await batcher.run([(13, 10)], SCORE)
    assert await batcher.run([(4, 10)], SCORE) == [8]


async def test_missing_results_are_a_backend_error() -> None:
    batcher = MicroBatcher[int, int](lambda items: [], name="mute", batch_tokens=10, queue_tokens=10)
    with pytest.raises(BackendError, match="1 items gave 0 results"):
        await batcher.run([(1, 1)], SCORE)
    batcher.close()


async def test_a_closed_batcher_refuses(batcher: MicroBatcher[int, int]) -> None:
    batcher.close()
    with pytest.raises(BackendError, match="shut down"):
        await batcher.run([(1, 1)], SCORE)


async def test_closing_fails_what_still_waits(batcher: MicroBatcher[int, int], doubler: Doubler) -> None:
    first = await held(batcher, doubler, 10)
    waiting = asyncio.create_task(batcher.run([(2, 10)], SCORE))
    await asyncio.sleep(0)
    closing = asyncio.create_task(asyncio.to_thread(batcher.close))
    with pytest.raises(BackendError, match="shut down"):
        await waiting
    doubler.may_go_on.set()
    await closing
    assert await first == [2]


async def test_closing_ends_a_long_batch_where_it_next_gives_way() -> None:
    slices: list[int] = []
    started, may_go_on = threading.Event(), threading.Event()

    def work(items: Sequence[int]) -> list[int]:
        for part in range(3):
            slices.append(part)
            started.set()
            may_go_on.wait(DEADLINE_S)
            slicing.give_way()
        return list(items)

    slicing = MicroBatcher[int, int](work, name="slices", batch_tokens=1, queue_tokens=300)
    long = asyncio.create_task(slicing.run([(1, 10)], SCORE))
    await asyncio.to_thread(started.wait, DEADLINE_S)
    waiting = asyncio.create_task(slicing.run([(2, 10)], SCORE))
    await asyncio.sleep(0)
    closing = asyncio.create_task(asyncio.to_thread(slicing.close))
    with pytest.raises(BackendError, match="shut down while the call was waiting"):
        await waiting
    may_go_on.set()
    await closing
    with pytest.raises(BackendError, match="shut down while the call was running"):
        await long
    assert slices == [0]


async def test_a_failed_batch_takes_the_rest_of_its_call_along() -> None:
    batches: list[int] = []
    may_go_on = threading.Event()

    def work(items: Sequence[int]) -> list[int]:
        batches.extend(items)
        if items == [13]:
            raise ValueError("thirteen")
        may_go_on.wait(DEADLINE_S)
        return list(items)

    batcher = MicroBatcher(work, name="work", batch_tokens=1, queue_tokens=300)
    with pytest.raises(BackendError):
        await batcher.run([(13, 10), *((item, 10) for item in range(20, 30))], SCORE)
    may_go_on.set()
    await batcher.run([(4, 10)], SCORE)
    batcher.close()
    assert batches in ([13, 4], [13, 20, 4])


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([3, 1, 3, 2], [[1, 3, 0], [2]], id="shortest first, equal ones in order"),
        pytest.param([5, 5], [[0], [1]], id="two that do not fit together"),
        pytest.param([50, 2], [[1], [0]], id="larger than a batch"),
    ],
)
def test_a_call_is_cut_by_padded_size(sizes: list[int], batches: list[list[int]]) -> None:
    assert cut_batches(sizes, 9) == batches


@given(st.lists(st.integers(1, 60), max_size=40))
def test_every_input_is_in_one_batch_and_only_a_large_one_passes_the_bound(sizes: list[int]) -> None:
    batches = cut_batches(sizes, 100)
    assert sorted(at for batch in batches for at in batch) == list(range(len(sizes)))
    assert all(len(batch) == 1 or max(sizes[at] for at in batch) * len(batch) <= 100 for batch in batches)
