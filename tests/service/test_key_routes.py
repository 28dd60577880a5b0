from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from service.keys.scope import Scope
from tests.service.keyed import bearer, keyed_client, make_key
from tests.service.stand_in import JSON, body


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    with keyed_client(database_url) as client:
        yield client


@pytest.fixture
def admin(client: TestClient) -> dict[str, str]:
    return bearer(make_key(client, Scope.ADMIN))


def test_a_key_made_over_http_works_and_is_shown_once(client: TestClient, admin: dict[str, str]) -> None:
    made = client.post("/v1/keys", json={"name": "app", "tenant": "acme", "traces_per_day": 5}, headers=admin)
    key = made.json()["key"]
    assert made.status_code == 201
    assert client.post("/v1/score", content=body(), headers=bearer(key)).status_code == 200
    listed = client.get("/v1/keys", headers=admin)
    assert made.json()["details"] in listed.json()["keys"]
    assert key[18:] not in listed.text


def test_a_revoked_key_is_refused_at_once_by_the_process_that_revoked_it(
    client: TestClient, admin: dict[str, str]
) -> None:
    made = client.post("/v1/keys", json={"name": "app"}, headers=admin).json()
    headers = bearer(made["key"])
    assert client.post("/v1/score", content=body(), headers=headers).status_code == 200
    revoked = client.delete(f"/v1/keys/{made['details']['id']}", headers=admin)
    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    assert client.post("/v1/score", content=body(), headers=headers).status_code == 401


@pytest.mark.parametrize("key_id", ["0123456789ab", "no", "%00", "' OR 1=1", "x" * 3000])
def test_a_key_that_does_not_exist_cannot_be_revoked(client: TestClient, admin: dict[str, str], key_id: str) -> None:
    reply = client.delete(f"/v1/keys/{key_id}", headers=admin)
    assert (reply.status_code, reply.json()["type"]) == (404, "/problems/no-such-key")


WRONG = {
    "no name": ({}, "name"),
    "blank name": ({"name": "  "}, "name"),
    "control character": ({"name": "a\x1bb"}, "name"),
    "null byte": ({"name": "a", "tenant": "a\0b"}, "tenant"),
    "unknown scope": ({"name": "a", "scopes": ["root"]}, "scopes.0"),
    "no scope": ({"name": "a", "scopes": []}, "scopes"),
    "past": ({"name": "a", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    "behind the calendar": ({"name": "a", "expires_at": "9999-12-31T23:59:59-14:00"}, "expires_at"),
    "no zone": ({"name": "a", "expires_at": "2090-01-01T00:00:00"}, "expires_at"),
    "negative": ({"name": "a", "traces_per_day": -1}, "traces_per_day"),
    "huge": ({"name": "a", "traces_per_day": 10**30}, "traces_per_day"),
    "unknown field": ({"name": "a", "digest": "x"}, "digest"),
}


@pytest.mark.parametrize(("wanted", "field"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_with_a_wish_is_named(wanted: dict[str, object], field: str) -> None:
    with keyed_client() as client:
        reply = client.post("/v1/keys", json=wanted, headers=bearer(make_key(client, Scope.ADMIN)))
    assert (reply.status_code, [fault["field"] for fault in reply.json()["errors"]]) == (422, [field])


def test_keys_are_an_admins(client: TestClient) -> None:
    headers = bearer(make_key(client, Scope.SCORE, Scope.BATCH))
    asked = [
        client.post("/v1/keys", json={"name": "a"}, headers=headers),
        client.get("/v1/keys", headers=headers),
        client.delete("/v1/keys/0123456789ab", headers=headers),
    ]
    assert [reply.status_code for reply in asked] == [403, 403, 403]


def test_an_open_service_gives_no_keys_away(database_url: str) -> None:
    with keyed_client(database_url, auth="auto") as client:
        asked = [
            client.post("/v1/keys", content=b'{"name": "a"}', headers=JSON),
            client.get("/v1/keys"),
            client.delete("/v1/keys/0123456789ab"),
        ]
        admin = client.get("/v1/keys", headers=bearer(make_key(client, Scope.ADMIN)))
    assert [reply.status_code for reply in asked] == [401, 401, 401]
    assert admin.status_code == 200
