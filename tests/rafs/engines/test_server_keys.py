import pytest

from rafs.engines.server_connection import RejectedError
from rafs.errors import BackendError, ConfigError
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, in_turn, reply_json, serve
from tests.rafs.engines.served_engines import HEAD, STEPS, TAIL, chatted, engines, probed


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


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(status=401, body=b"you sent 'Bearer s3cret'"), id="refused"),
        pytest.param(Reply(status=400, body=b"x" * 297 + b"s3cret"), id="cut inside the key"),
        pytest.param(Reply(status=503, body=b"busy, s3cret"), id="failing"),
        pytest.param(Reply(body=b"hello s3cret"), id="no JSON"),
        pytest.param(reply_json({"error": "bad key s3cret"}), id="no choices"),
        pytest.param(reply_json({"choices": [{"text": "s3cret"}]}), id="no message"),
        pytest.param(reply_json({"choices": [{"message": {"content": ["s3cret"]}}]}), id="no text"),
    ],
)
async def test_a_server_that_quotes_the_key_does_not_bring_it_into_a_message(
    monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "s3cret")
    async with engines(in_turn(reply), api_key_env="TEST_MODEL_KEY", attempts=1) as made:
        with pytest.raises(BackendError) as failed:
            await made.generator.sample("p", 1, 1, Meter())
    assert "s3c" not in str(failed.value)


async def test_a_key_in_place_of_a_log_probability_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "s3cret")
    async with engines(in_turn(probed({"Yes": "s3cret"})), api_key_env="TEST_MODEL_KEY", attempts=1) as made:
        with pytest.raises(BackendError, match="log-probability") as failed:
            await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert "s3c" not in str(failed.value)


async def test_a_line_break_after_the_key_is_not_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "s3cret\n")
    async with engines(in_turn(chatted("a")), api_key_env="TEST_MODEL_KEY") as made:
        await made.generator.sample("p", 1, 1, Meter())
    assert made.server.requests[0].authorization == "Bearer s3cret"


@pytest.mark.parametrize("key", ["s3cret\ns3cret", "s3crét", "s3 cret"], ids=["two lines", "accent", "space"])
def test_a_key_that_fits_no_header_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", key)
    with serve(in_turn(Reply())) as server, pytest.raises(ConfigError, match="TEST_MODEL_KEY") as refused:
        server.connection(api_key_env="TEST_MODEL_KEY")
    assert "s3" not in str(refused.value)


def test_a_key_that_is_not_set_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_MODEL_KEY", raising=False)
    with serve(in_turn(Reply())) as server, pytest.raises(ConfigError, match="TEST_MODEL_KEY"):
        server.connection(api_key_env="TEST_MODEL_KEY")
