"""Who is let in, over HTTP, on both databases."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.auth import WHERE_FROM, needs_key
from service.database.engine import Database
from service.keys.scope import Scope
from service.keys.secret import draw_key
from service.settings import Settings
from tests.service.keyed import bearer, keyed_client, make_key, stores_of
from tests.service.stand_in import JSON, StandIn, body


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    with keyed_client(database_url) as client:
        yield client


@pytest.fixture
def file_client() -> Iterator[TestClient]:
    """For what the kind of the database cannot matter to."""
    with keyed_client() as client:
        yield client


def score(client: TestClient, key: str) -> Any:
    return client.post("/v1/score", content=body(), headers=bearer(key))


def test_a_key_with_the_scope_is_let_in(client: TestClient) -> None:
    assert score(client, make_key(client)).status_code == 200


def test_nobody_is_let_in_without_a_key_and_is_told_how(client: TestClient) -> None:
    reply = client.post("/v1/score", content=body(), headers=JSON)
    assert (reply.status_code, reply.json()["type"]) == (401, "/problems/unauthenticated")
    assert reply.headers["www-authenticate"] == 'Bearer realm="rafs"'
    assert "authorization: Bearer rafs_..." in reply.json()["detail"]
    assert "make one with `rafs keys create`" in reply.json()["detail"]


def test_a_missing_scope_is_named(client: TestClient) -> None:
    reply = score(client, make_key(client, Scope.BATCH, Scope.ADMIN))
    assert (reply.status_code, reply.json()["type"]) == (403, "/problems/scope-missing")
    assert reply.json()["detail"] == "this needs a key with the scope 'score'; this key has admin, batch"
    assert 'error="insufficient_scope", scope="score"' in reply.headers["www-authenticate"]


def test_a_key_that_has_ended_is_told_when(client: TestClient) -> None:
    reply = score(client, make_key(client, expires_at=datetime(2020, 1, 2, 3, 4, tzinfo=UTC)))
    assert (reply.status_code, reply.json()["detail"]) == (401, f"this key ended at 2020-01-02T03:04:00Z; {WHERE_FROM}")
    assert 'error="invalid_token"' in reply.headers["www-authenticate"]


def test_a_revoked_key_is_told_so(client: TestClient) -> None:
    key = make_key(client)
    assert client.portal is not None
    client.portal.call(stores_of(client).keys.revoke, key[5:17])
    reply = score(client, key)
    assert (reply.status_code, reply.json()["detail"]) == (401, f"this key was revoked; {WHERE_FROM}")


HOSTILE = {
    "unknown": b"Bearer " + draw_key()[1].encode(),
    "no UTF-8": b"Bearer rafs_\xff\xfe\xc3\x28",
    "UTF-8": "Bearer rafs_0123456789ab_ключ".encode(),
    "huge": b"Bearer rafs_" + b"a" * 50_000,
    "SQL": b"Bearer rafs_' OR '1'='1",
    "empty": b"",
    "only a scheme": b"Bearer",
    "another scheme": b"Basic cmFmczpyYWZz",
    "another service's": b"Bearer sk-proj-0123456789",
    "a tab": b"Bearer\trafs_0123456789ab_" + b"a" * 43,
    "two in one": b"Bearer rafs_a, Bearer rafs_b",
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_header_is_refused_and_repeated_nowhere(
    file_client: TestClient, sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    headers = {b"authorization": sent, b"content-type": b"application/json"}
    reply = file_client.post("/v1/score", content=body(), headers=headers)
    assert (reply.status_code, reply.json()["type"]) == (401, "/problems/unauthenticated")
    secret = sent[7:].decode("latin-1")
    shown = reply.text + str(reply.headers) + "".join(capfd.readouterr())
    assert len(secret) < 8 or secret not in shown


def test_two_headers_are_none(client: TestClient) -> None:
    key = make_key(client)
    headers = [("authorization", f"Bearer {key}"), ("authorization", "Bearer other"), *JSON.items()]
    assert client.post("/v1/score", content=body(), headers=headers).status_code == 401


@pytest.mark.parametrize("form", ["bearer {}", "BEARER {}", "Bearer   {}", "Bearer {} "])
def test_a_key_may_be_written_as_the_standard_allows(file_client: TestClient, form: str) -> None:
    headers = {"authorization": form.format(make_key(file_client)), **JSON}
    assert file_client.post("/v1/score", content=body(), headers=headers).status_code == 200


def test_no_key_is_needed_to_ask_for_health(client: TestClient) -> None:
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_a_database_that_is_gone_lets_checked_keys_in_and_nobody_else(client: TestClient, database: Database) -> None:
    key, other = make_key(client), make_key(client)
    assert score(client, key).status_code == 200
    drop_keys(client)
    assert score(client, key).status_code == 200
    reply = score(client, other)
    assert (reply.status_code, reply.json()["type"]) == (503, "/problems/backend-failed")
    assert "api_keys" not in reply.text


def drop_keys(client: TestClient) -> None:
    async def drop() -> None:
        async with stores_of(client).database.begin() as connection:
            await connection.exec_driver_sql("DROP TABLE api_keys")

    assert client.portal is not None
    client.portal.call(drop)


def test_no_key_is_ever_logged(client: TestClient, capfd: pytest.CaptureFixture[str]) -> None:
    admin = make_key(client, Scope.ADMIN)
    made = client.post("/v1/keys", json={"name": "x"}, headers=bearer(admin)).json()["key"]
    for key in (admin, made):
        score(client, key)
        client.get("/v1/keys", headers=bearer(key))
    logged = "".join(capfd.readouterr())
    assert '"path": "/v1/keys"' in logged or "path=/v1/keys" in logged or "/v1/keys" in logged
    assert all(key[18:] not in logged for key in (admin, made))


def test_an_open_service_ignores_the_key_of_another(database_url: str) -> None:
    with keyed_client(database_url, auth="auto") as client:
        headers = {"authorization": "Bearer sk-proj-0123456789", **JSON}
        assert client.post("/v1/score", content=body(), headers=headers).status_code == 200
        assert client.post("/v1/score", content=body(), headers=JSON).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"sec-fetch-site": "cross-site"}, 403, id="another site"),
        pytest.param({"host": "rebound.example.com:8000"}, 403, id="another site's name for the loopback"),
        pytest.param({"sec-fetch-site": "same-origin"}, 200, id="its own page"),
        pytest.param({"host": "127.0.0.1:8000"}, 200, id="an address"),
        pytest.param({"host": "[::1]:8000"}, 200, id="an address of IPv6"),
    ],
)
def test_an_open_service_answers_no_page_of_another_site(headers: dict[str, str], status: int) -> None:
    with keyed_client(auth="auto") as client:
        assert client.post("/v1/score", content=body(), headers=JSON | headers).status_code == status


def test_an_open_service_holds_a_key_of_its_own_to_its_scopes(database_url: str) -> None:
    with keyed_client(database_url, auth="auto") as client:
        assert score(client, make_key(client, Scope.BATCH)).status_code == 403
        assert score(client, draw_key()[1]).status_code == 401


def test_the_tenant_of_a_key_reaches_the_scorer(database_url: str) -> None:
    scorer = StandIn()
    with keyed_client(database_url, scorer) as client:
        score(client, make_key(client, tenant="acme"))
    assert [terms.tenant for terms in scorer.terms] == ["acme"]


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({}, False),
        ({"auth": "required"}, True),
        ({"host": "0.0.0.0"}, True),
        ({"host": "0.0.0.0", "allow_remote": True}, False),
        ({"host": "0.0.0.0", "allow_remote": True, "auth": "required"}, True),
    ],
    ids=str,
)
def test_a_key_is_needed_wherever_others_reach_the_service(settings: dict[str, object], needed: bool) -> None:
    assert needs_key(Settings.model_validate(settings)) is needed
