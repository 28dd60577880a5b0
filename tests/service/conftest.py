from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.database.engine import Database, open_database
from service.settings import Settings
from tests.service.databases import new_postgres_database, running_postgres
from tests.service.stand_in import StandIn


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(StandIn(), Settings()), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with running_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database, of each kind once."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'rafs.db'}"
    else:
        with new_postgres_database(request.getfixturevalue("postgres_server")) as url:
            yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = open_database(database_url)
    try:
        yield database
    finally:
        await database.close()
