from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.responses import Response
from fastapi.testclient import TestClient

from rafs.record import ProvenanceOut
from rafs.request import ScoreRequest
from rafs.wire import MemberOut, ScoreResponse
from service.auth import OPEN, Principal
from service.database.engine import Database
from service.result_cache import ResultCache, is_complete
from service.settings import Settings
from tests.service.keyed import bearer, keyed_client, make_key, stores_of
from tests.service.stand_in import GOOD, StandIn, body, make_cut_consensus, make_response

HOUR_S = 3_600
PLAIN = ScoreRequest.model_validate(GOOD)


def request(control: str = "") -> Request:
    headers = [(b"cache-control", control.encode())] if control else []
    return Request({"type": "http", "method": "POST", "path": "/v1/score", "headers": headers, "query_string": b""})


class Counted:
    """A scorer of one response that counts."""

    def __init__(self, response: ScoreResponse | None = None) -> None:
        self.n_scored = 0
        self.response = response or complete()

    async def __call__(self) -> ScoreResponse:
        self.n_scored += 1
        return self.response


def complete() -> ScoreResponse:
    return make_response("What is 2 + 2?", "2 + 2 = 4")


def settings(**changes: object) -> Settings:
    return Settings.model_validate({"result_cache_s": HOUR_S} | changes)


def cache_of(database: Database, now: list[float] | None = None, **changes: Any) -> ResultCache:
    clock = now or [1_000.0]
    return ResultCache(database, settings(**changes), StandIn().would_use, clock=lambda: clock[0])


def status(response: Response) -> str:
    return response.headers["cache-status"]


async def ask(
    cache: ResultCache, score: Counted, parsed: ScoreRequest = PLAIN, who: Principal = OPEN, control: str = ""
) -> str:
    return status(await cache.answer(request(control), parsed, who, score))


async def test_the_same_request_is_answered_without_scoring(database: Database) -> None:
    now, score = [1_000.0], Counted()
    cache = cache_of(database, now)
    first = await cache.answer(request(), PLAIN, OPEN, score)
    now[0] += 60
    again = await cache.answer(request(), PLAIN, OPEN, score)
    assert (status(first), status(again)) == ("rafs; fwd=miss; stored", "rafs; hit; ttl=3540")
    assert again.headers["age"] == "60"
    assert (again.body, score.n_scored) == (first.body, 1)


async def test_another_process_on_the_database_has_the_answer(database: Database) -> None:
    score = Counted()
    first = cache_of(database)
    await ask(first, score)
    await first.settle()
    await ask(cache_of(database), score)
    assert score.n_scored == 1


async def test_a_stopped_service_has_stored_what_it_said_it_had(database_url: str) -> None:
    for expected in ("stored", "hit"):
        with keyed_client(database_url) as client:
            reply = client.post("/v1/score", content=body(), headers=bearer(make_key(client)))
        assert expected in reply.headers["cache-status"]


async def test_one_answer_that_is_stored_twice_in_a_moment_is_one_row(database: Database) -> None:
    cache, score = cache_of(database), Counted()
    for _ in range(2):
        assert "stored" in await ask(cache, score, control="no-cache")
    await cache.settle()
    assert "hit" in await ask(cache_of(database), score)


async def test_no_tenant_sees_the_answer_of_another(database: Database) -> None:
    cache, score = cache_of(database), Counted()
    statuses = [await ask(cache, score, who=replace(OPEN, tenant=name)) for name in ("a", "b", "", "a")]
    assert [each.split("; ")[1] for each in statuses] == ["fwd=miss", "fwd=miss", "fwd=miss", "hit"]


OTHER_REQUESTS: dict[str, dict[str, object]] = {
    "problem": {"problem": "What is 2 + 3?"},
    "trace": {"trace": "2 + 2 = 5"},
    "answer": {"answer": "4"},
    "writer": {"generator": {"model": "gpt-4o"}},
    "samples": {"samples": ["2 + 2 = 4"]},
    "rules": {"rules": [{"rule": "words", "at_most": 5}]},
    "preset": {"preset": "gate"},
    "seed": {"seed": 1},
    "include": {"include": ["interventions"]},
}


@pytest.mark.parametrize("changes", OTHER_REQUESTS.values(), ids=OTHER_REQUESTS.keys())
async def test_whatever_changes_the_answer_is_another_request(database: Database, changes: dict[str, object]) -> None:
    cache, score = cache_of(database), Counted()
    await ask(cache, score)
    assert await ask(cache, score, ScoreRequest.model_validate(GOOD | changes)) == "rafs; fwd=miss; stored"


SAME_REQUESTS: dict[str, dict[str, object]] = {
    "deadline": {"deadline_s": 5.0},
    "budget": {"token_budget": 5},
    "the default preset by name": {"preset": "standard"},
}


@pytest.mark.parametrize("changes", SAME_REQUESTS.values(), ids=SAME_REQUESTS.keys())
async def test_what_does_not_change_a_complete_answer_is_the_same(
    database: Database, changes: dict[str, object]
) -> None:
    cache, score = cache_of(database), Counted()
    await ask(cache, score)
    assert "hit" in await ask(cache, score, ScoreRequest.model_validate(GOOD | changes))


async def test_whatever_of_the_service_changes_the_answer_is_another_key(database: Database, tmp_path: Path) -> None:
    citations = tmp_path / "ids.txt"
    citations.write_text("a\n")
    services: list[dict[str, Any]] = [
        {},
        {"edit_secret": "hush"},
        {"preset": "deep"},
        {"citations": citations},
        {"citations": citations, "citation_style": "doi"},
    ]
    statuses = [await ask(cache_of(database, **service), Counted()) for service in services]
    citations.write_text("b\n")
    statuses.append(await ask(cache_of(database, citations=citations), Counted()))
    assert statuses == ["rafs; fwd=miss; stored"] * 6


@pytest.mark.parametrize("field", ["rafs_version", "config_hash", "calibration"])
async def test_another_version_registry_or_calibration_is_another_key(database: Database, field: str) -> None:
    await ask(cache_of(database), Counted())

    def would_use(preset: str, seed: int) -> ProvenanceOut:
        return StandIn().would_use(preset, seed).model_copy(update={field: "other"})

    cache = ResultCache(database, settings(), would_use, clock=lambda: 1_000.0)
    assert await ask(cache, Counted()) == "rafs; fwd=miss; stored"


@pytest.mark.parametrize(
    ("include", "control"), [(["record"], ""), ([], "no-store"), ([], "max-age=0, No-Store")], ids=str
)
async def test_what_must_not_be_kept_goes_past_the_memory(database: Database, include: list[str], control: str) -> None:
    cache, score = cache_of(database), Counted()
    parsed = ScoreRequest.model_validate(GOOD | {"include": include})
    statuses = [await ask(cache, score, parsed, control=control) for _ in range(2)]
    assert (statuses, score.n_scored) == (["rafs; fwd=bypass"] * 2, 2)


async def test_an_answer_can_be_asked_for_anew_and_replaces_the_old_one(database: Database) -> None:
    cache = cache_of(database)
    await ask(cache, Counted())
    newer = Counted(complete().model_copy(update={"id": "newer"}))
    assert await ask(cache, newer, control="no-cache") == "rafs; fwd=miss; stored"
    assert b'"id":"newer"' in bytes((await cache.answer(request(), PLAIN, OPEN, Counted())).body)


def member(why: str) -> MemberOut:
    return MemberOut(member="judge", family=None, asked=2, judged=1, silent={why: 1})


def cut(**changes: object) -> ScoreResponse:
    response = complete()
    return response.model_copy(update={"interventions": response.interventions.model_copy(update=changes)})


def unmeasured(reason: str) -> ScoreResponse:
    response = complete()
    parts = [part.model_copy(update={"unmeasured": reason}) for part in response.components]
    return response.model_copy(update={"components": parts})


INCOMPLETE = {
    "past its deadline": complete().model_copy(update={"reasons": ["deadline"]}),
    "a judge that is down": complete().model_copy(update={"members": [member("backend_down")]}),
    "a judge that was too slow": complete().model_copy(update={"members": [member("timeout")]}),
    "late interventions": cut(late=True),
    "continuations left out": cut(not_run=1),
    "a generator that is down": unmeasured("generator_down (3 tries)"),
    "a generator that ended on the way": complete().model_copy(update={"consensus": make_cut_consensus()}),
}


@pytest.mark.parametrize("response", INCOMPLETE.values(), ids=INCOMPLETE.keys())
async def test_an_answer_that_a_later_try_could_complete_is_not_kept(
    database: Database, response: ScoreResponse
) -> None:
    cache, score = cache_of(database), Counted(response)
    assert [await ask(cache, score) for _ in range(2)] == ["rafs; fwd=miss"] * 2


def test_a_judge_that_had_nothing_to_say_is_complete() -> None:
    assert is_complete(complete().model_copy(update={"members": [member("not_applicable"), member("same_family")]}))


async def test_an_answer_is_kept_for_its_time(database: Database) -> None:
    now, score = [1_000.0], Counted()
    cache = cache_of(database, now)
    await ask(cache, score)
    now[0] += HOUR_S
    assert [await ask(cache, score), score.n_scored] == ["rafs; fwd=miss; stored", 2]


async def test_beyond_the_bound_the_oldest_go(database: Database) -> None:
    now, score = [1_000.0], Counted()
    cache = cache_of(database, now, result_cache_rows=3)
    for seed in range(5):
        now[0] += 1
        await ask(cache, score, PLAIN.model_copy(update={"seed": seed}))
    assert [await cache.prune(), await cache.prune()] == [2, 0]
    other = cache_of(database, now)
    found = [await ask(other, score, PLAIN.model_copy(update={"seed": seed})) for seed in (4, 3, 2, 1, 0)]
    assert ["hit" in each for each in found] == [True, True, True, False, False]


async def test_what_is_over_is_pruned(database: Database) -> None:
    now = [1_000.0]
    cache = cache_of(database, now)
    await ask(cache, Counted())
    now[0] += HOUR_S
    assert [await cache.prune(), await cache.prune()] == [1, 0]


async def test_a_database_that_fails_costs_only_the_memory(database: Database) -> None:
    async with database.begin() as connection:
        await connection.exec_driver_sql("DROP TABLE results")
    score = Counted()
    cache = cache_of(database)
    assert [await ask(cache, score), score.n_scored] == ["rafs; fwd=miss; stored", 1]
    await cache.settle()
    assert "hit" in await ask(cache, score)


async def test_no_memory_is_kept_where_it_is_switched_off(database: Database) -> None:
    cache = cache_of(database, result_cache_s=0)
    assert [await ask(cache, Counted()) for _ in range(2)] == ["rafs; fwd=bypass"] * 2


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    with keyed_client(database_url) as client:
        yield client


def test_over_http_a_hit_is_the_same_json_and_no_other_tenants(client: TestClient) -> None:
    mine, other = bearer(make_key(client, tenant="a")), bearer(make_key(client, tenant="b"))
    replies = [client.post("/v1/score", content=body(), headers=headers) for headers in (mine, mine, other)]
    assert [reply.headers["cache-status"].split("; ")[1].split("=")[0] for reply in replies] == ["fwd", "hit", "fwd"]
    assert replies[0].content == replies[1].content
    assert {reply.headers["content-type"] for reply in replies} == {"application/json"}


def test_upkeep_runs_beside_the_service(database_url: str) -> None:
    with keyed_client(database_url, result_cache_rows=1) as client:
        headers = bearer(make_key(client))
        for seed in range(3):
            client.post("/v1/score", content=body(seed=seed), headers=headers)
    with keyed_client(database_url, result_cache_rows=1) as client:
        assert client.portal is not None
        assert client.portal.call(stores_of(client).cache.prune) in (0, 2)
        again = client.post("/v1/score", content=body(seed=0), headers=bearer(make_key(client)))
    assert "fwd=miss" in again.headers["cache-status"]
