import pytest

from rafs.engines.server_connection import RejectedError
from rafs.errors import ConfigError
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, in_turn, serve
from tests.rafs.engines.test_vllm_server import chatted, engines


async def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "s3cret")
    async with engines(in_turn(chatted("a")), api_key_env="TEST_MODEL_KEY") as made:
        await made.generator.sample("p", 1, 1, Meter())
    assert made.server.requests[0].authorization == "Bearer s3cret"


async def test_the_key_stands_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "s3cret")
    async with engines(in_turn(Reply(status=401)), api_key_env="TEST_MODEL_KEY") as made:
        with pytest.raises(RejectedError) as refused:
            await made.generator.sample("p", 1, 1, Meter())
    assert "TEST_MODEL_KEY" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_key_that_is_not_set_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_MODEL_KEY", raising=False)
    with serve(in_turn(Reply())) as server, pytest.raises(ConfigError, match="TEST_MODEL_KEY"):
        server.connection(api_key_env="TEST_MODEL_KEY")
