"""A server process is killed in the middle of a request, and comes back."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest

from rafs.engines.server_connection import ServerConnection, ServerSettings
from rafs.engines.server_prober import ServerProber
from rafs.errors import BackendError
from rafs.types import LabelMass
from rafs.usage import Meter
from tests.rafs.engines.killable_server import KillableServer
from tests.rafs.engines.scripted_server import Reply, Request, in_turn, no_such_path, reply_json, serve
from tests.rafs.engines.served_engines import COMPLETIONS, HEAD, STEPS, TAIL, TOKENIZE, engines, probed, strict, vllm
from tests.rafs.engines.tiny_models import TINY


class Killed:
    """A prober whose server was killed while it was asked, and the call that was under way."""

    def __init__(self, server: KillableServer, prober: ServerProber, call: "asyncio.Task[object]") -> None:
        self.server = server
        self.prober = prober
        self.call = call

    def restart(self, stack: ExitStack) -> None:
        stack.callback(KillableServer("answer", self.server.port).kill)


@pytest.fixture
async def killed(request: pytest.FixtureRequest) -> AsyncIterator[Killed]:
    server = KillableServer("hold")
    settings = ServerSettings(
        base_url=f"http://127.0.0.1:{server.port}", model="m", attempts=getattr(request, "param", 1), deadline_s=30
    )
    connection = ServerConnection(settings)
    prober = ServerProber(connection, TINY)
    call = asyncio.create_task(prober.probe(HEAD, STEPS, TAIL, [0, 1], Meter()))
    await asyncio.to_thread(server.wait_until_asked)
    server.kill()
    yield Killed(server, prober, call)
    await connection.close()


async def test_a_server_killed_under_a_request_is_a_backend_error(killed: Killed) -> None:
    with pytest.raises(BackendError, match="no connection"):
        await killed.call


async def test_a_server_that_is_back_is_asked_as_before(killed: Killed) -> None:
    await asyncio.wait([killed.call])
    assert isinstance(killed.call.exception(), BackendError)
    with ExitStack() as stack:
        killed.restart(stack)
        opinions = await killed.prober.probe(HEAD, STEPS, TAIL, [0, 1], Meter())
    assert all(isinstance(opinion, LabelMass) for opinion in opinions)


@pytest.mark.parametrize("killed", [6], indirect=True, ids=["six attempts"])
async def test_a_server_that_is_back_in_time_answers_the_same_call(killed: Killed) -> None:
    with ExitStack() as stack:
        killed.restart(stack)
        opinions = await killed.call
    assert isinstance(opinions, list)
    assert all(isinstance(opinion, LabelMass) for opinion in opinions)


async def test_what_a_server_can_do_is_found_out_anew_when_it_is_back() -> None:
    with serve(strict(in_turn(probed()), "cache_salt", "priority")) as old:
        connection = old.connection(attempts=1)
        prober = ServerProber(connection, TINY)
        before = prober.fingerprint
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    with pytest.raises(BackendError):
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    with serve(vllm(), int(old.url.rpartition(":")[2])) as new:
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
        await connection.close()
    assert {"priority", "logprob_token_ids"} <= set(new.bodies(COMPLETIONS)[0])
    assert prober.fingerprint != before


async def test_a_gateway_without_its_server_teaches_nothing_about_it() -> None:
    behind = threading.Event()
    answer = vllm()
    async with engines(lambda request: answer(request) if behind.is_set() else no_such_path(request)) as made:
        with pytest.raises(BackendError):
            await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
        behind.set()
        await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(made.server.bodies(COMPLETIONS)[-1]["prompt"], list)


async def test_token_ids_of_the_old_server_are_not_sent_to_the_new_one() -> None:
    def other_ids(request: Request) -> Reply:
        n = len(request.body["prompt"])
        return reply_json({"tokens": [n], "token_strs": ["x"], "max_model_len": 512})

    with serve(vllm()) as old:
        connection = old.connection(attempts=4)  # a kept connection may find out late that its server is gone
        prober = ServerProber(connection, TINY)
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    with pytest.raises(BackendError):
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    with serve(vllm(**{TOKENIZE: other_ids}), int(old.url.rpartition(":")[2])) as new:
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
        await connection.close()
    assert new.bodies(COMPLETIONS)[0]["prompt"] == [len(part.text) for part in (*HEAD, *STEPS[0], *TAIL)]
