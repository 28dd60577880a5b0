"""A running service, and both ways to ask it."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from service.app import create_app
from service.settings import Settings
from tests.rafs.client.both_clients import Ask, ask_awaited, ask_blocking
from tests.rafs.engines.scripted_server import Reply
from tests.service.stand_in import StandIn
from tests.service.test_server import port_of, serving


@pytest.fixture(params=[ask_blocking, ask_awaited], ids=["blocking", "awaited"])
def ask(request: pytest.FixtureRequest) -> Ask:
    chosen: Ask = request.param
    return chosen


@pytest.fixture
def scorer() -> StandIn:
    return StandIn()


@pytest.fixture
def url(scorer: StandIn) -> Iterator[str]:
    """The address of the real application on a scorer without models."""
    with serving(create_app(scorer, Settings())) as server:
        yield f"http://127.0.0.1:{port_of(server)}"


@pytest.fixture
def never() -> Iterator[Callable[[], Reply]]:
    """What makes a reply that does not come before the test has ended."""
    over = threading.Event()
    yield lambda: Reply(wait=over)
    over.set()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that refuses, since nobody listens on it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
