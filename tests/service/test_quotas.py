import asyncio
from itertools import count

import pytest

from service.database.counters import CounterStorage
from service.database.engine import Database, open_database
from service.errors import Problem
from service.quotas import Quota, Quotas
from tests.service.keyed import bearer, keyed_client, make_key
from tests.service.stand_in import JSON, StandIn, body

DAY_S = 86_400
FIVE = Quota(traces_per_day=5)


async def refusal(quotas: Quotas, counted_for: str, quota: Quota, n_traces: int) -> Problem:
    with pytest.raises(Problem) as caught:
        await quotas.count_traces(counted_for, quota, n_traces)
    return caught.value


async def test_traces_beyond_the_days_are_refused_until_the_day_is_over(database: Database) -> None:
    now = 1_000.0
    quotas = Quotas(database, clock=lambda: now)
    await quotas.count_traces("k", FIVE, 5)
    now += 3_600
    problem = await refusal(quotas, "k", FIVE, 1)
    assert (problem.status, problem.headers["Retry-After"]) == (429, str(DAY_S - 3_600))
    now = 1_000.0 + DAY_S
    await quotas.count_traces("k", FIVE, 1)


async def test_a_refused_batch_uses_nothing_up(database: Database) -> None:
    quotas = Quotas(database)
    await quotas.count_traces("k", FIVE, 3)
    problem = await refusal(quotas, "k", FIVE, 3)
    assert "5 traces scored a day, 2 are left, this asks for 3" in problem.detail
    await quotas.count_traces("k", FIVE, 2)


async def test_keys_are_counted_apart(database: Database) -> None:
    quotas = Quotas(database)
    await quotas.count_traces("k", FIVE, 5)
    await quotas.count_traces("other", FIVE, 5)


async def test_a_restart_and_another_process_know_the_count(database_url: str) -> None:
    for expected in (True, False):
        database = open_database(database_url)
        quotas = Quotas(database)
        if expected:
            await quotas.count_traces("k", FIVE, 5)
        else:
            await refusal(quotas, "k", FIVE, 1)
        await database.close()


async def test_of_requests_that_come_together_only_the_quota_is_let_through(database: Database) -> None:
    quotas = Quotas(database)
    outcomes = await asyncio.gather(*(quotas.count_traces("k", FIVE, 1) for _ in range(20)), return_exceptions=True)
    assert outcomes.count(None) == 5


async def test_without_a_quota_nothing_is_asked_or_counted(database: Database) -> None:
    quotas = Quotas(database)
    await quotas.count_traces("k", Quota(), 10**9)
    assert await quotas.count_request("k", Quota()) == {}
    assert await CounterStorage(database).reset() == 0


async def test_windows_that_have_ended_are_pruned(database: Database) -> None:
    now = 0.0
    quotas = Quotas(database, clock=lambda: now)
    await quotas.count_traces("old", FIVE, 1)
    now = DAY_S / 2
    await quotas.count_traces("new", FIVE, 1)
    now = DAY_S + 1.0
    assert [await quotas.prune(), await quotas.prune()] == [1, 0]


async def test_counters_keep_the_contract_of_their_library(database: Database) -> None:
    ticks = count(100)
    storage = CounterStorage(database, clock=lambda: 50.0)
    assert [await storage.incr("k", 10), await storage.incr("k", 10, 4), await storage.get("k")] == [1, 5, 5]
    assert [await storage.get_expiry("k"), await storage.get_expiry("none"), await storage.check()] == [
        60.0,
        50.0,
        True,
    ]
    await storage.clear("k")
    assert [await storage.get("k"), await storage.reset(), next(ticks)] == [0, 0, 100]


def test_requests_beyond_the_rate_are_told_when_to_come_back(database_url: str) -> None:
    with keyed_client(database_url) as client:
        headers = bearer(make_key(client, requests_per_minute=2))
        replies = [client.post("/v1/score", content=body(), headers=headers) for _ in range(3)]
        other = client.post("/v1/score", content=body(), headers=bearer(make_key(client)))
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert [reply.headers["ratelimit-policy"] for reply in replies] == ['"requests";q=2;w=60'] * 3
    assert [reply.headers["ratelimit"].split(";")[1] for reply in replies] == ["r=1", "r=0", "r=0"]
    assert 1 <= int(replies[2].headers["retry-after"]) <= 60
    assert replies[2].json()["type"] == "/problems/quota-exceeded"
    assert (other.status_code, "ratelimit" in other.headers) == (200, False)


def test_the_days_traces_are_those_that_were_scored(database_url: str) -> None:
    scorer = StandIn()
    with keyed_client(database_url, scorer) as client:
        headers = bearer(make_key(client, traces_per_day=2))
        sent = [b"no JSON", body(), body(), body(problem="b"), body(problem="c")]
        statuses = [client.post("/v1/score", content=each, headers=headers).status_code for each in sent]
    assert statuses == [400, 200, 200, 200, 429]
    assert len(scorer.seen) == 2


def test_a_key_has_the_services_limit_or_its_own_or_none(database_url: str) -> None:
    with keyed_client(database_url, requests_per_minute=3) as client:
        policies = []
        for limit in (None, 7, 0):
            headers = bearer(make_key(client, requests_per_minute=limit))
            reply = client.post("/v1/score", content=body(), headers=headers)
            policies.append(reply.headers.get("ratelimit-policy"))
    assert policies == ['"requests";q=3;w=60', '"requests";q=7;w=60', None]


def test_requests_without_a_key_share_the_services_limit(database_url: str) -> None:
    with keyed_client(database_url, auth="auto", requests_per_minute=2) as client:
        statuses = [client.post("/v1/score", content=body(), headers=JSON).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
