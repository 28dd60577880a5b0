"""Answers that wait for a reviewer, in both kinds of database."""

from pathlib import Path

import pytest
from sqlalchemy import func, literal_column, select

from rafs.gate_wire import GateDecision
from service.database.engine import Database, open_database
from service.database.tables import HELD_ANSWERS
from service.gate import held
from service.gate.held import HeldStore

DECISION = GateDecision(
    id="d1",
    passes=False,
    decided_by="rafs",
    fail="fail_closed",
    failure=None,
    status="Review",
    reasons=["refuted_step"],
    milliseconds=1.5,
)
CHOICES = [{"index": 0, "message": {"role": "assistant", "content": "70 nuts, \N{CHESTNUT} and\0that"}}]


async def keep(store: HeldStore, tenant: str = "t", problem: str = "How many?") -> str:
    return await store.keep(tenant, "gpt-4o", problem, CHOICES, DECISION)


async def test_what_was_kept_is_found_as_it_was(database: Database) -> None:
    store = HeldStore(database, clock=lambda: 1_700_000_000.5)
    found = await store.find("t", await keep(store))
    assert found is not None
    assert (found.answer, found.decision, found.held_at) == (CHOICES, DECISION, 1_700_000_000_500)


async def test_a_problem_with_a_null_byte_is_kept(database: Database) -> None:
    store = HeldStore(database)
    found = await store.find("t", await keep(store, problem="a\0b"))
    assert found is not None and found.problem == "a\N{REPLACEMENT CHARACTER}b"


async def test_a_tenant_neither_sees_nor_removes_what_is_anothers(database: Database) -> None:
    store = HeldStore(database)
    held_id = await keep(store, "mine")
    assert await store.find("yours", held_id) is None
    assert (await store.list_newest("yours")).held == []
    assert not await store.remove("yours", held_id)
    assert await store.find("mine", held_id) is not None


async def test_the_list_begins_with_the_newest(database: Database) -> None:
    times = iter([1.0, 3.0, 2.0])
    store = HeldStore(database, clock=lambda: next(times))
    ids = [await keep(store) for _ in range(3)]
    assert [row.id for row in (await store.list_newest("t")).held] == [ids[1], ids[2], ids[0]]


async def test_what_is_too_old_goes(database: Database) -> None:
    times = iter([0.0, held.KEPT_S + 1.0])
    store = HeldStore(database, clock=lambda: next(times))
    old, new = await keep(store), await keep(store)
    assert (await store.find("t", old), (await store.find("t", new)) is not None) == (None, True)


async def test_beyond_the_limit_the_oldest_go(database: Database) -> None:
    times = iter([1.0, 2.0, 3.0])
    store = HeldStore(database, clock=lambda: next(times), most=2)
    ids = [await keep(store) for _ in range(3)]
    assert [row.id for row in (await store.list_newest("t")).held] == [ids[2], ids[1]]


async def test_beyond_so_many_bytes_the_oldest_go(database: Database) -> None:
    times = iter([1.0, 2.0, 3.0])
    store = HeldStore(database, clock=lambda: next(times), most_bytes=5_000)
    ids = [await keep(store, problem="x" * 2_000) for _ in range(3)]
    assert [row.id for row in (await store.list_newest("t")).held] == [ids[2], ids[1]]


async def test_a_tenant_that_holds_much_takes_no_room_of_anothers(database: Database) -> None:
    store = HeldStore(database, most_bytes=5_000)
    held_id = await keep(store, "mine", problem="x" * 2_000)
    for _ in range(3):
        await keep(store, "yours", problem="x" * 2_000)
    assert await store.find("mine", held_id) is not None


async def test_how_much_a_tenant_holds_is_counted_without_reading_it(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'rafs.db'}")
    rows = HELD_ANSWERS.c
    counting = select(func.count(), func.sum(rows.n_bytes)).where(rows.tenant == literal_column("'t'"))
    async with database.connect() as connection:
        plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {counting}")).all()
    await database.close()
    assert "COVERING INDEX" in str(plan)


async def test_one_answer_beyond_all_bytes_is_held_alone(database: Database) -> None:
    times = iter([1.0, 2.0])
    store = HeldStore(database, clock=lambda: next(times), most_bytes=100)
    _, new = await keep(store), await keep(store)
    assert [row.id for row in (await store.list_newest("t")).held] == [new]


@pytest.mark.parametrize("held_id", ["", "x" * 5_000, "a\0b", "0" * 36])
async def test_an_id_that_was_never_given_is_not_found(held_id: str, database: Database) -> None:
    assert await HeldStore(database).find("t", held_id) is None


async def test_what_is_too_old_is_pruned_of_every_tenant_and_nothing_else(database: Database) -> None:
    now = 0.0
    store = HeldStore(database, clock=lambda: now)
    old = [await keep(store, tenant) for tenant in "ab"]
    now = held.KEPT_S / 2
    young = await keep(store, "a")
    now = held.KEPT_S + 1.0
    assert [await store.prune(), await store.prune()] == [2, 0]
    assert [await store.find(tenant, one) for tenant, one in zip("ab", old, strict=True)] == [None, None]
    assert await store.find("a", young) is not None
