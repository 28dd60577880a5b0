from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.service.stand_in import StandIn


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(StandIn(), Settings()), raise_server_exceptions=False) as client:
        yield client
