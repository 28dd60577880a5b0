"""A service that asks for keys, and keys for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from fastapi.testclient import TestClient

from service.app import create_app
from service.keys.scope import Scope
from service.keys.store import NewKey
from service.settings import Settings
from service.stores import Stores
from tests.service.stand_in import StandIn


@contextmanager
def keyed_client(url: str | None = None, scorer: StandIn | None = None, **changes: Any) -> Iterator[TestClient]:
    """Run a service that answers nobody without a key, on a database or on the test's own file."""
    settings = Settings.model_validate({"auth": "required"} | ({} if url is None else {"database": url}) | changes)
    with TestClient(create_app(scorer or StandIn(), settings), raise_server_exceptions=False) as client:
        yield client


def stores_of(client: TestClient) -> Stores:
    stores: Stores = client.app.state.stores  # type: ignore[attr-defined]
    return stores


def make_key(
    client: TestClient,
    *scopes: Scope,
    tenant: str = "default",
    expires_at: datetime | None = None,
    requests_per_minute: int | None = None,
    traces_per_day: int | None = None,
) -> str:
    """Make a key in the database of the service; for scoring unless scopes are given."""
    new = NewKey(
        name="test",
        tenant=tenant,
        scopes=frozenset(scopes or (Scope.SCORE,)),
        expires_at=expires_at,
        requests_per_minute=requests_per_minute,
        traces_per_day=traces_per_day,
    )
    assert client.portal is not None
    _, text = client.portal.call(stores_of(client).keys.create, new)
    return text


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}", "content-type": "application/json"}
