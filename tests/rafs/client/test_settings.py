"""Where a client finds the service."""

import pytest

from rafs.client import Client
from rafs.client.settings import ClientOptions, read_settings
from rafs.errors import ConfigError
from tests.rafs.client.both_clients import Ask
from tests.rafs.engines.scripted_server import in_turn, reply_json, serve


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAFS_URL", raising=False)
    monkeypatch.delenv("RAFS_API_KEY", raising=False)


def test_an_argument_wins_over_the_environment_and_that_over_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [read_settings(None, None, {}).base_url]
    monkeypatch.setenv("RAFS_URL", "https://rafs.example/v1/")
    found += [read_settings(None, None, {}).base_url, read_settings("http://here:1", None, {}).base_url]
    assert found == ["http://127.0.0.1:8000", "https://rafs.example", "http://here:1"]


def test_the_key_of_the_environment_is_sent(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_API_KEY", "rafs_k1")
    with serve(in_turn(reply_json({"models": []}))) as server:
        assert ask(server.url, "models") == []
        ask(server.url, "models", options={"api_key": "rafs_k2"})
    assert [request.authorization for request in server.requests] == ["Bearer rafs_k1", "Bearer rafs_k2"]


def test_the_key_is_not_shown() -> None:
    assert "rafs_k1" not in repr(read_settings(None, "rafs_k1", {}))
    with pytest.raises(ConfigError) as caught:
        Client(api_key="rafs_k1\n")
    assert "rafs_k1" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["localhost:8000", "ftp://h", "http://", "http://user:secret@h", "http://h:99999", "http://\x00"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="base_url") as caught:
        Client(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"attempts": 0}, {"timeout_s": float("nan")}, {"max_connections": 0}, {"first_pause_s": -1.0}],
    ids=["attempts", "time-out", "connections", "pause"],
)
def test_a_number_out_of_range_is_refused(options: ClientOptions) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        Client(**options)
