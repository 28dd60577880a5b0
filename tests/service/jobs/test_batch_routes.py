"""Batches over HTTP: what is asked, what comes back, and who sees it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.batch.parts import COLUMNS
from tests.service.jobs.batches_of import (
    BROKEN,
    DOWN,
    PATH,
    WRONG,
    asks,
    lines_of,
    make,
    running,
    status_of,
    wait_until,
)

PLAIN = b'{"problem": "p", "trace": "1 + 1 = 2", "custom_id": "a"}\n'
JSONL = {"content-type": "application/jsonl"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with running(database=f"sqlite:///{tmp_path_factory.mktemp('jobs') / 'rafs.db'}") as client:
        yield client


@pytest.fixture(scope="module")
def finished(client: TestClient) -> str:
    """A batch that is over: two scores, a duplicate, and one row of each kind of failure."""
    batch: str = make(client, asks("1 + 1 = 2", DOWN, "2 + 2 = 4", "1 + 1 = 2", WRONG, BROKEN))["id"]
    wait_until(client, batch)
    return batch


def upload(client: TestClient, content: bytes, query: str = "", **headers: str) -> Any:
    return client.post(PATH + query, content=content, headers=JSONL | headers)


def test_a_batch_is_there_at_once_and_waits(client: TestClient) -> None:
    made = client.post(PATH, json=asks("1 + 1 = 2", "1 + 1 = 2", metadata={"run": "7"}))
    status = made.json()
    assert (made.status_code, made.headers["location"]) == (201, f"{PATH}/{status['id']}")
    assert (status["status"], status["metadata"], status["progress"]) == ("queued", {"run": "7"}, 0.0)
    assert status["counts"] == {"total": 2, "distinct": 1, "left_out": 0, "scored": 0, "failed": 0, "waiting": 2}


def test_its_end_counts_every_row_once(client: TestClient, finished: str) -> None:
    status = status_of(client, finished)
    assert (status["status"], status["progress"], status["seconds_left"]) == ("completed", 1.0, None)
    assert status["counts"] == {"total": 6, "distinct": 5, "left_out": 0, "scored": 3, "failed": 3, "waiting": 0}
    assert status["created_at"] <= status["started_at"] <= status["finished_at"] < status["expires_at"]


def test_results_have_the_names_of_the_batch_command(client: TestClient, finished: str) -> None:
    rows = lines_of(client, finished)
    assert [set(row) for row in rows] == [COLUMNS.keys() - {"place", "response"}] * 3
    assert [(row["row"], row["id"], row["duplicate_of"]) for row in rows] == [
        (1, "c0", None),
        (3, "c2", None),
        (4, "c3", 1),
    ]


def test_a_duplicate_costs_nothing(client: TestClient, finished: str) -> None:
    first, _, again = lines_of(client, finished)
    assert (first["tokens"], again["tokens"], again["ms"]) == (512, 0, 0.0)
    assert first["request_hash"] == again["request_hash"]


def test_errors_are_apart_and_say_whether_trying_again_may_help(client: TestClient, finished: str) -> None:
    rows = lines_of(client, finished, "errors")
    assert [(row["row"], row["problem"], row["retryable"]) for row in rows] == [
        (2, "backend", True),
        (5, "input", False),
        (6, "internal", True),
    ]


def test_pages_lead_to_each_other(client: TestClient, finished: str) -> None:
    first = client.get(f"{PATH}/{finished}/results?limit=2")
    second = client.get(first.links["next"]["url"])
    assert [len(first.text.splitlines()), len(second.text.splitlines())] == [2, 1]
    assert "link" not in second.headers


def test_a_full_batch_keeps_whole_responses(client: TestClient) -> None:
    batch = make(client, asks("1 + 1 = 2", full=True))["id"]
    wait_until(client, batch)
    assert '"suspect_step"' in lines_of(client, batch)[0]["response"]


def test_the_list_begins_with_the_newest_and_goes_on(client: TestClient) -> None:
    ids = [make(client, asks(str(n)))["id"] for n in range(3)]
    first = client.get(f"{PATH}?limit=2").json()
    second = client.get(f"{PATH}?limit=2&before={first['next']}").json()
    assert [one["id"] for one in first["batches"] + second["batches"]][:3] == ids[::-1]


def test_lines_are_taken_in_the_shapes_of_the_batch_command(client: TestClient) -> None:
    chat = b'{"id": "b", "messages": [{"role": "user", "content": "p"}], "response": "2 + 2 = 4"}\n'
    for content in (PLAIN, chat):
        batch = upload(client, content).json()["id"]
        assert wait_until(client, batch)["counts"]["scored"] == 1


def test_a_line_that_makes_no_request_is_an_error_of_its_own(client: TestClient) -> None:
    batch = upload(client, PLAIN + b"no json\n\n" + b'{"problem": "p", "custom_id": "x"}\n').json()["id"]
    assert wait_until(client, batch)["counts"]["failed"] == 2
    assert [(row["row"], row["id"]) for row in lines_of(client, batch, "errors")] == [(2, None), (3, "x")]


@pytest.mark.parametrize(
    ("content", "query", "status"),
    [
        pytest.param(b"", "", 422, id="nothing"),
        pytest.param(b"\n\n", "", 422, id="empty lines"),
        pytest.param(b'{"a": 1}\n', "", 422, id="no known shape"),
        pytest.param(PLAIN, "?seed=x", 422, id="seed that is none"),
        pytest.param(PLAIN, "?colour=red", 422, id="unknown choice"),
        pytest.param(PLAIN, "?webhook_url=http://example.com", 422, id="unencrypted webhook"),
    ],
)
def test_an_upload_that_cannot_be_used_leaves_nothing(
    client: TestClient, content: bytes, query: str, status: int
) -> None:
    before = client.get(PATH).json()
    assert upload(client, content, query).status_code == status
    assert client.get(PATH).json()["batches"][0]["id"] == before["batches"][0]["id"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"requests": []}, "requests", id="no requests"),
        pytest.param({"requests": [{"problem": "p"}]}, "requests.0.trace", id="request without a trace"),
        pytest.param(asks("1", extra=1), "extra", id="unknown key"),
        pytest.param(asks("1", webhook={"url": "https://10.0.0.1/"}), "webhook.url", id="internal webhook"),
        pytest.param(asks("1", webhook={"url": "https://a.b/", "secret": "x"}), "webhook.secret", id="weak secret"),
        pytest.param(asks("1", metadata={"a": 1}), "metadata.a", id="metadata that is no text"),
    ],
)
def test_a_wrong_batch_is_refused_with_the_field(client: TestClient, body: dict[str, Any], field: str) -> None:
    reply = client.post(PATH, json=body)
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, field)


@pytest.mark.parametrize("query", ["?limit=0", "?limit=10001", "?after=-1", "?limit=x", "?colour=red"])
def test_a_wrong_page_is_a_problem(client: TestClient, finished: str, query: str) -> None:
    reply = client.get(f"{PATH}/{finished}/results{query}")
    assert (reply.status_code, reply.headers["content-type"]) == (422, "application/problem+json")


@pytest.mark.parametrize("batch", ["batch_" + "0" * 32, "x", "%00"])
@pytest.mark.parametrize("path", ["", "/results", "/errors"])
def test_what_was_never_made_is_not_found(client: TestClient, batch: str, path: str) -> None:
    assert client.get(f"{PATH}/{batch}{path}").status_code == 404


def test_the_same_key_has_the_same_batch(client: TestClient) -> None:
    first, again = (make(client, asks("1"), **{"idempotency-key": "once"})["id"] for _ in range(2))
    one, two = (upload(client, PLAIN, **{"idempotency-key": "twice"}).json()["id"] for _ in range(2))
    assert (first, one) == (again, two)


def test_another_upload_of_the_same_length_needs_another_key(client: TestClient) -> None:
    key = {"idempotency-key": "same-length"}
    assert upload(client, PLAIN, **key).status_code == 201
    other = upload(client, PLAIN.replace(b"1 + 1 = 2", b"1 + 2 = 3"), **key)
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-key-reused")


def test_an_upload_under_a_used_key_but_with_other_options_needs_another_key(client: TestClient) -> None:
    key = {"idempotency-key": "other-options"}
    assert upload(client, PLAIN, **key).status_code == 201
    assert upload(client, PLAIN, "?full=true", **key).status_code == 422


def test_a_secret_is_shown_once_and_only_to_who_made_the_batch(client: TestClient, tmp_path: Path) -> None:
    status = make(client, asks("1", webhook={"url": "https://192.0.2.1.example.com/hook"}))
    assert status["webhook"]["secret"].startswith("whsec_")
    assert status_of(client, status["id"])["webhook"]["secret"] is None
