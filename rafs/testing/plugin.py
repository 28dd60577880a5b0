"""A fixture for pytest; `pytest_plugins = ["rafs.testing.plugin"]` in a conftest.py turns it on."""

from collections.abc import Iterator

import pytest

from rafs.client import Client


@pytest.fixture(scope="session")
def rafs_client() -> Iterator[Client]:
    """Return a client of the service that RAFS_URL names, open for the whole session."""
    with Client() as client:
        yield client
