"""What workers write, in both kinds of database: once, whole, and only while the batch runs."""

import pytest

from rafs.request import ScoreRequest
from service.batch.outcome import Failed, Finished, Kind, Scored, to_record
from service.database.engine import Database
from service.errors import Problem
from service.jobs.ledger import Ledger
from service.jobs.reading import ResultReader
from service.jobs.store import ABANDONED_S, BatchStore, NewBatch, NewRow
from service.jobs.upload import ask
from tests.service.stand_in import make_response

WAITS_ON = "https://example.com/hook"


class Clock:
    """A time that stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now_s


def stores(database: Database, clock: Clock | None = None, **bounds: int) -> tuple[BatchStore, Ledger]:
    chosen = clock or Clock()
    limits = {"kept_s": 100, "max_unfinished": 10} | bounds
    return BatchStore(database, clock=chosen, **limits), Ledger(database, chosen)


def new(tenant: str = "t", webhook: str | None = None) -> NewBatch:
    secret = None if webhook is None else "whsec_" + "A" * 32
    return NewBatch(
        tenant=tenant, preset="gate", is_full=False, metadata={}, webhook_url=webhook, webhook_secret=secret
    )


def row(number: int, trace: str | None) -> NewRow:
    """Return a row that asks for a trace, or, without one, makes no request."""
    if trace is None:
        return NewRow(number=number, custom_id=None, asks=Failed(kind=Kind.INPUT, message="no trace"))
    request = ScoreRequest.model_validate({"problem": "p", "trace": trace})
    return NewRow(number=number, custom_id=f"c{number}", asks=ask(request, None))


async def make(store: BatchStore, *traces: str | None, webhook: str | None = None) -> str:
    batch = await store.create(new(webhook=webhook))
    await store.append(batch, [row(number, trace) for number, trace in enumerate(traces, 1)])
    await store.seal(batch)
    return batch


def scored(number: int, score: float = 42.5) -> Finished:
    return Finished(number=number, ms=1.0, result=Scored(record=to_record(make_response(score=score))))


async def counts(store: BatchStore, batch: str) -> tuple[int, int, int]:
    found = await store.find("t", batch)
    assert found is not None
    return found.n_scored, found.n_failed, found.tokens


async def scores(database: Database, batch: str) -> list[bytes]:
    lines = [line async for line in ResultReader(database).read(batch, 0, 100, errors=False)]
    return b"".join(lines).splitlines()


async def test_what_asks_the_same_waits_once(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", "b", "a", None)
    assert [item.number for item in await ledger.waiting_after(batch, 0, 9)] == [1, 2]


async def test_what_asks_the_same_as_a_row_long_before_waits_once(database: Database) -> None:
    store, ledger = stores(database)
    batch = await store.create(new())
    await store.append(batch, [row(1, "a")])
    await store.append(batch, [row(2, "a"), row(3, "b")])
    await store.seal(batch)
    assert [item.number for item in await ledger.waiting_after(batch, 0, 9)] == [1, 3]


async def test_a_result_counts_for_every_row_that_asks_it_and_costs_once(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", "b", "a", None)
    await ledger.open(batch)
    await ledger.settle(batch, [scored(1)])
    assert await counts(store, batch) == (2, 1, 512)


async def test_a_result_that_is_there_is_never_changed(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a")
    await ledger.open(batch)
    await ledger.settle(batch, [scored(1, 10.0)])
    before = await scores(database, batch)
    failed = Finished(number=1, ms=1.0, result=Failed(kind=Kind.BACKEND, message="down"))
    for again in ([scored(1, 90.0)], [failed]):
        assert await ledger.settle(batch, again)
    assert (await scores(database, batch), await counts(store, batch)) == (before, (1, 0, 512))


async def test_what_is_done_when_a_batch_is_cancelled_is_not_written(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a")
    await ledger.open(batch)
    await store.cancel("t", batch)
    assert not await ledger.settle(batch, [scored(1)])
    assert (await ledger.open(batch), await scores(database, batch)) == (None, [])


async def test_another_tenant_cancels_nothing(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a")
    await store.cancel("other", batch)
    assert await ledger.open(batch) is not None


async def test_a_batch_whose_rows_still_come_is_seen_by_nobody(database: Database) -> None:
    store, ledger = stores(database)
    batch = await store.create(new())
    await store.append(batch, [row(1, "a")])
    assert (await store.find("t", batch), await store.list("t", None, 9)) == (None, [])
    assert (await ledger.open(batch), await ledger.find_unfinished()) == (None, [])


async def test_a_tenant_has_a_bounded_number_under_way(database: Database) -> None:
    store, ledger = stores(database, max_unfinished=1)
    batch = await make(store, "a")
    with pytest.raises(Problem) as refused:
        await store.create(new())
    assert refused.value.status == 429
    await store.create(new("other"))
    await ledger.finish(batch)
    await store.create(new())


async def test_old_batches_go_with_all_they_have_but_not_while_they_run(database: Database) -> None:
    clock = Clock()
    store, ledger = stores(database, clock)
    over, runs = await make(store, "a"), await make(store, "b")
    for batch in (over, runs):
        await ledger.open(batch)
    await ledger.settle(over, [scored(1)])
    await ledger.finish(over)
    assert await store.find_old() == []
    clock.now_s += 101
    assert await store.find_old() == [over]
    await store.remove(over)
    assert (await store.find("t", over), await scores(database, over)) == (None, [])
    assert len(await ledger.waiting_after(runs, 0, 9)) == 1


async def test_an_upload_that_never_came_to_its_end_goes(database: Database) -> None:
    clock = Clock()
    store, _ = stores(database, clock)
    batch = await store.create(new())
    clock.now_s += ABANDONED_S
    assert await store.find_old() == [batch]


async def test_the_end_is_told_once_it_has_come_and_the_secret_goes_with_it(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", webhook=WAITS_ON)
    assert await ledger.find_untold() == []
    await ledger.finish(batch)
    assert await ledger.find_untold() == [batch]
    await ledger.note_delivery(batch, 1, "pending", "status 500")
    kept = await ledger.read(batch)
    await ledger.note_delivery(batch, 2, "delivered", None)
    told = await ledger.read(batch)
    assert kept is not None and kept.webhook_secret
    assert told is not None and (told.webhook_secret, told.webhook_attempts) == (None, 2)
    assert await ledger.find_untold() == []


async def test_a_worker_is_alive_as_long_as_it_is_heard_of(database: Database) -> None:
    clock = Clock()
    _, ledger = stores(database, clock)
    await ledger.beat("one")
    clock.now_s += 20
    await ledger.beat("two")
    assert await ledger.find_alive(30) == {"one", "two"}
    assert await ledger.find_alive(10) == {"two"}
    await ledger.leave("two", silent_s=10)
    assert await ledger.find_alive(1000) == set()
