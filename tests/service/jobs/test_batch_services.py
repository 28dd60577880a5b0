"""Batches of services with their own settings, scorers and keys; each has the process for itself."""

from typing import Any

from fastapi.testclient import TestClient

from rafs.usage import Priority
from service.auth import Scope
from tests.service.jobs.batches_of import (
    HELD,
    PATH,
    Obedient,
    asks,
    lines_of,
    make,
    running,
    status_of,
    wait_until,
)
from tests.service.keyed import bearer, keyed_client, make_key

PLAIN = b'{"problem": "p", "trace": "1 + 1 = 2", "custom_id": "a"}\n'
JSONL = {"content-type": "application/jsonl"}


def upload(client: TestClient, content: bytes, query: str = "", **headers: str) -> Any:
    return client.post(PATH + query, content=content, headers=JSONL | headers)


def test_choices_of_the_batch_hold_where_a_request_makes_none() -> None:
    scorer = Obedient()
    with running(scorer) as client:
        body = asks("1 + 1 = 2", "2 + 2 = 4", preset="gate", seed=7)
        body["requests"][1] |= {"preset": "deep", "seed": 0}
        wait_until(client, make(client, body)["id"])
    assert sorted((one.preset, one.seed) for one in scorer.seen) == [("deep", 0), ("gate", 7)]


def test_batches_stand_behind_all_other_work() -> None:
    scorer = Obedient()
    with running(scorer) as client:
        wait_until(client, make(client, asks("1 + 1 = 2"))["id"])
    assert [terms.priority for terms in scorer.terms] == [Priority.BATCH]


def test_a_cancelled_batch_keeps_what_it_has_and_gets_nothing_more() -> None:
    with running(Obedient(), batch_concurrency=1) as client:
        batch = make(client, asks("1 + 1 = 2", HELD, "2 + 2 = 4"))["id"]
        while status_of(client, batch)["counts"]["scored"] < 1:
            pass
        cancelled = client.post(f"{PATH}/{batch}/cancel").json()
        again = client.post(f"{PATH}/{batch}/cancel").json()
        rows = lines_of(client, batch)
    assert (cancelled["status"], cancelled["counts"]["waiting"], again["status"]) == ("cancelled", 2, "cancelled")
    assert [row["row"] for row in rows] == [1]


def test_an_upload_takes_its_choices_from_the_query() -> None:
    scorer = Obedient()
    with running(scorer) as client:
        wait_until(client, upload(client, PLAIN, "?preset=gate&seed=3&generator=gpt-4o").json()["id"])
    (seen,) = scorer.seen
    assert (seen.preset, seen.seed, seen.generator and seen.generator.model) == ("gate", 3, "gpt-4o")


def test_more_rows_than_allowed_are_refused_and_forgotten() -> None:
    with running(batch_max_rows=2) as client:
        assert upload(client, PLAIN * 3).status_code == 413
        assert client.get(PATH).json()["batches"] == []


def test_more_bytes_than_allowed_are_refused_and_forgotten() -> None:
    with running(batch_max_bytes=100) as client:
        assert upload(client, PLAIN * 3).status_code == 413
        assert client.get(PATH).json()["batches"] == []


def test_more_batches_than_allowed_are_refused_until_one_is_over() -> None:
    with running(Obedient(), batch_max_unfinished=1) as client:
        batch = make(client, asks(HELD))["id"]
        refused = client.post(PATH, json=asks("1"))
        client.post(f"{PATH}/{batch}/cancel")
        assert (refused.status_code, refused.json()["type"]) == (429, "/problems/too-many-batches")
        assert client.post(PATH, json=asks("1")).status_code == 201


def test_another_tenant_sees_nothing() -> None:
    with keyed_client(batch_attempts=1) as client:
        mine, yours = (bearer(make_key(client, Scope.BATCH, tenant=tenant)) for tenant in ("mine", "yours"))
        batch = client.post(PATH, json=asks("1"), headers=mine).json()["id"]
        paths = [("GET", ""), ("GET", "/results"), ("GET", "/errors"), ("POST", "/cancel")]
        seen = [client.request(method, f"{PATH}/{batch}{path}", headers=yours).status_code for method, path in paths]
        listed = client.get(PATH, headers=yours).json()["batches"]
        own = client.get(f"{PATH}/{batch}", headers=mine)
    assert (seen, listed, own.status_code) == ([404] * 4, [], 200)


def test_a_key_without_the_scope_is_refused() -> None:
    with keyed_client() as client:
        assert client.post(PATH, json=asks("1"), headers=bearer(make_key(client))).status_code == 403


def test_traces_of_a_batch_count_for_the_quota() -> None:
    with keyed_client() as client:
        headers = bearer(make_key(client, Scope.BATCH, traces_per_day=2))
        replies = [client.post(PATH, json=asks(*traces), headers=headers) for traces in (["1", "2", "3"], ["1", "2"])]
        assert [reply.status_code for reply in replies] == [429, 201]
        assert len(client.get(PATH, headers=headers).json()["batches"]) == 1
