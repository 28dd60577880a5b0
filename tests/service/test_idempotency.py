import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import func, select

from rafs.errors import BackendError, InputError
from service.auth import OPEN, Principal
from service.database.engine import Database
from service.database.tables import IDEMPOTENCY
from service.errors import Problem
from service.idempotency import LEASE_S, MAX_STORED_BYTES, Idempotency
from tests.service.keyed import bearer, keyed_client, make_key
from tests.service.stand_in import StandIn, body

DAY_S = 86_400
Work = Callable[[], Awaitable[Response]]


def request(*keys: str, path: str = "/v1/score") -> Request:
    headers = [(b"idempotency-key", key.encode("latin-1")) for key in keys]
    return Request({"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""})


def saying(text: str, status: int = 200) -> Work:
    async def work() -> Response:
        return Response(text, status_code=status, media_type="text/plain")

    return work


async def never() -> Response:
    raise AssertionError("this must not be worked on")


def tenant(name: str) -> Principal:
    return replace(OPEN, tenant=name)


async def count_rows(database: Database) -> int:
    async with database.connect() as connection:
        return (await connection.execute(select(func.count()).select_from(IDEMPOTENCY))).scalar_one()


@pytest.fixture
def idempotency(database: Database) -> Idempotency:
    return Idempotency(database, DAY_S)


async def test_the_same_request_gets_the_stored_answer(idempotency: Idempotency) -> None:
    first = await idempotency.answer(request("k"), OPEN, b"body", saying("one", 201))
    again = await idempotency.answer(request("k"), OPEN, b"body", never)
    assert (again.status_code, again.body, again.media_type) == (201, b"one", "text/plain")
    assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")


async def test_another_body_under_the_same_key_is_refused(idempotency: Idempotency) -> None:
    await idempotency.answer(request("k"), OPEN, b"body", saying("one"))
    with pytest.raises(Problem) as caught:
        await idempotency.answer(request("k"), OPEN, b"other", never)
    assert (caught.value.status, caught.value.slug) == (422, "idempotency-key-reused")


async def test_while_the_first_is_worked_on_the_next_is_told_to_come_back(idempotency: Idempotency) -> None:
    started, finish = asyncio.Event(), asyncio.Event()

    async def work() -> Response:
        started.set()
        await finish.wait()
        return Response("one")

    first = asyncio.ensure_future(idempotency.answer(request("k"), OPEN, b"body", work))
    await started.wait()
    with pytest.raises(Problem) as caught:
        await idempotency.answer(request("k"), OPEN, b"body", never)
    finish.set()
    assert (await first).body == b"one"
    assert (caught.value.status, caught.value.headers["Retry-After"]) == (409, "1")
    assert (await idempotency.answer(request("k"), OPEN, b"body", never)).body == b"one"


async def test_of_many_at_once_exactly_one_is_worked_on(idempotency: Idempotency) -> None:
    worked = 0

    async def work() -> Response:
        nonlocal worked
        worked += 1
        return Response("one")

    sent = (idempotency.answer(request("k"), OPEN, b"body", work) for _ in range(20))
    outcomes = await asyncio.gather(*sent, return_exceptions=True)
    refused = [each.status for each in outcomes if isinstance(each, Problem)]
    assert worked == 1
    assert set(refused) <= {409}
    assert all(each.body == b"one" for each in outcomes if isinstance(each, Response))


@pytest.mark.parametrize(
    ("other", "path"), [(tenant("b"), "/v1/score"), (tenant("a"), "/v1/gate")], ids=["tenant", "path"]
)
async def test_tenants_and_paths_have_their_own_keys(idempotency: Idempotency, other: Principal, path: str) -> None:
    await idempotency.answer(request("k"), tenant("a"), b"body", saying("one"))
    answer = await idempotency.answer(request("k", path=path), other, b"other body", saying("two"))
    assert answer.body == b"two"


async def failing() -> Response:
    raise BackendError("down")


async def streamed() -> Response:
    return StreamingResponse(iter([b"x"]))


UNSTORED = {
    "a refusal": saying("no", 422),
    "a failure": saying("no", 503),
    "too long": saying("x" * (MAX_STORED_BYTES + 1)),
    "a stream": streamed,
}


@pytest.mark.parametrize("work", UNSTORED.values(), ids=UNSTORED.keys())
async def test_what_is_no_answer_to_keep_leaves_the_key_free(idempotency: Idempotency, work: Work) -> None:
    await idempotency.answer(request("k"), OPEN, b"body", work)
    assert (await idempotency.answer(request("k"), OPEN, b"other", saying("two"))).body == b"two"


async def test_work_that_fails_leaves_the_key_free(idempotency: Idempotency) -> None:
    with pytest.raises(BackendError, match="down"):
        await idempotency.answer(request("k"), OPEN, b"body", failing)
    assert (await idempotency.answer(request("k"), OPEN, b"body", saying("two"))).body == b"two"


async def test_work_that_is_cancelled_leaves_the_key_free(idempotency: Idempotency) -> None:
    started = asyncio.Event()

    async def work() -> Response:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    task = asyncio.ensure_future(idempotency.answer(request("k"), OPEN, b"body", work))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await idempotency.answer(request("k"), OPEN, b"body", saying("two"))).body == b"two"


async def test_the_key_of_a_process_that_died_is_free_after_its_lease(database: Database) -> None:
    now = 1_000.0
    died, next_one = (Idempotency(database, DAY_S, clock=lambda: now) for _ in range(2))
    started, finish = asyncio.Event(), asyncio.Event()

    async def work() -> Response:
        started.set()
        await finish.wait()
        return Response("too late")

    first = asyncio.ensure_future(died.answer(request("k"), OPEN, b"body", work))
    await started.wait()
    now += LEASE_S
    assert (await next_one.answer(request("k"), OPEN, b"body", saying("two"))).body == b"two"
    finish.set()
    await first
    assert (await next_one.answer(request("k"), OPEN, b"body", never)).body == b"two"


async def test_an_answer_is_kept_for_its_time(database: Database) -> None:
    now = 1_000.0
    idempotency = Idempotency(database, DAY_S, clock=lambda: now)
    await idempotency.answer(request("k"), OPEN, b"body", saying("one"))
    now += DAY_S - 1
    assert (await idempotency.answer(request("k"), OPEN, b"body", never)).body == b"one"
    now += 1
    assert (await idempotency.answer(request("k"), OPEN, b"other", saying("two"))).body == b"two"


async def test_what_is_over_is_pruned(database: Database) -> None:
    now = 1_000.0
    idempotency = Idempotency(database, DAY_S, clock=lambda: now)
    await idempotency.answer(request("old"), OPEN, b"", saying("one"))
    now += DAY_S
    await idempotency.answer(request("new"), OPEN, b"", saying("one"))
    assert [await idempotency.prune(), await idempotency.prune(), await count_rows(database)] == [1, 0, 1]


async def test_of_a_tenant_with_too_many_keys_the_oldest_are_pruned(database: Database) -> None:
    now = 1_000.0
    idempotency = Idempotency(database, DAY_S, max_rows_of_tenant=3, clock=lambda: now)
    for name, n_keys in (("a", 5), ("b", 2)):
        for key in range(n_keys):
            now += 1
            await idempotency.answer(request(str(key)), tenant(name), b"", saying(str(key)))
    assert await idempotency.prune() == 2
    kept = [await idempotency.answer(request(str(key)), tenant("a"), b"", saying("new")) for key in range(5)]
    assert [answer.body for answer in kept] == [b"new", b"new", b"2", b"3", b"4"]


async def test_keys_and_bodies_are_kept_as_digests(database: Database) -> None:
    await Idempotency(database, DAY_S).answer(request("secret-key"), OPEN, b"secret body", saying("one"))
    async with database.connect() as connection:
        row = (await connection.execute(select(IDEMPOTENCY))).one()
    assert "secret" not in repr(row)


HOSTILE = {
    "empty": [""],
    "too long": ["k" * 256],
    "a space": ["a b"],
    "no ASCII": ["schlüssel"],
    "a control character": ["a\x1bb"],
    "twice": ["a", "b"],
}


@pytest.mark.parametrize("keys", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_hostile_key_is_refused(database: Database, keys: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        await Idempotency(database, DAY_S).answer(request(*keys), OPEN, b"body", never)
    assert caught.value.field == "header idempotency-key"
    assert caught.value.got.isprintable()


async def test_text_of_sql_is_a_key_like_any_other(idempotency: Idempotency, database: Database) -> None:
    key = "';DELETE/**/FROM/**/idempotency;--"
    await idempotency.answer(request("k"), OPEN, b"body", saying("one"))
    await idempotency.answer(request(key), tenant("' OR '1'='1"), b"body", saying("two"))
    assert await count_rows(database) == 2
    assert (await idempotency.answer(request(key), tenant("' OR '1'='1"), b"body", never)).body == b"two"


async def test_without_its_table_nothing_is_promised_and_nothing_done(database: Database) -> None:
    async with database.begin() as connection:
        await connection.exec_driver_sql("DROP TABLE idempotency")
    with pytest.raises(BackendError, match="the database failed"):
        await Idempotency(database, DAY_S).answer(request("k"), OPEN, b"body", never)
    assert (await Idempotency(database, DAY_S).answer(request(), OPEN, b"body", saying("one"))).body == b"one"


def test_a_trace_that_is_sent_again_is_scored_and_charged_once(database_url: str) -> None:
    scorer = StandIn()
    with keyed_client(database_url, scorer, result_cache_s=0) as client:
        headers = bearer(make_key(client, traces_per_day=1)) | {"idempotency-key": "k"}
        first, again = (client.post("/v1/score", content=body(), headers=headers) for _ in range(2))
        other = client.post("/v1/score", content=body(seed=1), headers=headers)
    assert (first.status_code, again.status_code, other.status_code) == (200, 200, 422)
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert len(scorer.seen) == 1


def test_two_tenants_with_one_key_get_their_own_answers(database_url: str) -> None:
    scorer = StandIn()
    with keyed_client(database_url, scorer) as client:
        for name in ("a", "b"):
            headers = bearer(make_key(client, tenant=name)) | {"idempotency-key": "k"}
            reply = client.post("/v1/score", content=body(), headers=headers)
            assert (reply.status_code, "idempotency-replayed" in reply.headers) == (200, False)
    assert [terms.tenant for terms in scorer.terms] == ["a", "b"]


async def test_the_same_body_under_another_order_is_another_request(idempotency: Idempotency) -> None:
    await idempotency.answer(request("k"), OPEN, b"body", saying("shown"))
    tighter = request("k")
    tighter.scope["headers"].append((b"rafs-policy", b"abstain"))
    with pytest.raises(Problem) as caught:
        await idempotency.answer(tighter, OPEN, b"body", never)
    assert (caught.value.status, caught.value.slug) == (422, "idempotency-key-reused")
