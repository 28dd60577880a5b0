import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import perf_counter

import pytest

from rafs.engines import server_connection
from rafs.engines.concurrency import START
from rafs.engines.server_connection import RejectedError, ServerConnection, ServerSettings
from rafs.engines.server_generator import ServerGenerator
from rafs.errors import BackendError, ConfigError
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, Request, in_turn, serve
from tests.rafs.engines.served_engines import HEAD, STEPS, TAIL, Engines, chatted, engines, probed
from tests.rafs.engines.tiny_models import TINY


async def draw(made: Engines) -> str:
    (sample,) = await made.generator.sample("p", 1, 1, Meter())
    return sample.text


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_fault_is_retried(status: int) -> None:
    fault = Reply(status=status, headers={"retry-after": "0.01"})
    async with engines(in_turn(fault, fault, chatted("a"))) as made:
        assert await draw(made) == "a"
    assert len(made.server.requests) == 3


async def test_retry_after_in_seconds_is_honoured() -> None:
    async with engines(in_turn(Reply(status=429, headers={"retry-after": "0.3"}), chatted("a"))) as made:
        started = perf_counter()
        await draw(made)
    assert perf_counter() - started >= 0.3


async def test_retry_after_as_a_date_is_honoured() -> None:
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
    busy = Reply(status=503, headers={"retry-after": format_datetime(at, usegmt=True)})
    async with engines(in_turn(busy, chatted("a"))) as made:
        await draw(made)
    assert datetime.now(UTC) > at - timedelta(seconds=0.1)  # clocks differ in resolution


@pytest.mark.parametrize(
    "header", ["soon", "nan", "-5", "Mon, 01 Jan 2001 00:00:00 GMT", f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT", ""]
)
async def test_a_retry_after_that_says_nothing_delays_nothing(header: str) -> None:
    async with engines(in_turn(Reply(status=503, headers={"retry-after": header}), chatted("a")), deadline_s=5) as made:
        assert await draw(made) == "a"


async def test_a_lasting_fault_ends_after_the_last_attempt() -> None:
    fault = Reply(status=503, body=b"queue full", headers={"retry-after": "0"})
    async with engines(in_turn(fault), attempts=3) as made:
        with pytest.raises(BackendError, match=r"failed 3 times.*503.*queue full"):
            await draw(made)
    assert len(made.server.requests) == 3


async def test_waiting_ends_at_the_deadline() -> None:
    async with engines(in_turn(Reply(wait=threading.Event())), deadline_s=0.2) as made:
        with pytest.raises(BackendError) as failed:
            await draw(made)
    assert failed.value.timed_out


async def test_a_request_that_the_deadline_cuts_off_is_an_overload() -> None:
    release = threading.Event()
    replies = in_turn(Reply(wait=threading.Event()), replace(chatted("a"), wait=release))
    async with engines(replies, deadline_s=1.0) as made:
        with pytest.raises(BackendError):
            await draw(made)
        calls = asyncio.gather(*(draw(made) for _ in range(START)))
        await asyncio.sleep(0.3)  # all that the limit lets go have arrived
        n_at_once = len(made.server.requests) - 1
        release.set()
        await calls
    assert n_at_once == START // 2


async def test_retries_stay_within_the_deadline() -> None:
    fault = Reply(status=503, headers={"retry-after": "10"})
    async with engines(in_turn(fault), deadline_s=0.2) as made:
        with pytest.raises(BackendError) as failed:
            await draw(made)
    assert failed.value.timed_out


async def test_waiting_for_a_slot_counts_towards_the_deadline() -> None:
    async with engines(in_turn(Reply(wait=threading.Event())), deadline_s=0.3, max_concurrent=1) as made:
        failed = await asyncio.gather(*(draw(made) for _ in range(12)), return_exceptions=True)
    assert all(isinstance(error, BackendError) and error.timed_out for error in failed)
    assert len(made.server.requests) < 6  # one, and those whose own deadline is a moment later than its


async def test_a_refused_request_is_not_repeated() -> None:
    async with engines(in_turn(Reply(status=404))) as made:
        with pytest.raises(RejectedError, match=r"models\.yaml"):
            await draw(made)
    assert len(made.server.requests) == 1


async def test_a_redirect_is_not_followed() -> None:
    async with engines(in_turn(Reply(status=307, headers={"location": "http://192.0.2.1/"}))) as made:
        with pytest.raises(RejectedError, match="307"):
            await draw(made)


async def test_an_unreachable_server_is_a_backend_error() -> None:
    with serve(in_turn(Reply())) as server:
        connection = server.connection(attempts=1)
    with pytest.raises(BackendError, match="no connection"):
        await ServerGenerator(connection, TINY).sample("p", 1, 1, Meter())
    await connection.close()


async def test_a_reply_without_end_is_not_read_to_its_end() -> None:
    huge = Reply(body=b" " * (server_connection.MAX_REPLY_BYTES + 1))
    async with engines(in_turn(huge)) as made:
        with pytest.raises(BackendError, match="more than"):
            await draw(made)


async def test_requests_at_once_are_bounded() -> None:
    at_once, most, lock = 0, 0, threading.Lock()

    def answer(request: Request) -> Reply:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        threading.Event().wait(0.02)
        with lock:
            at_once -= 1
        return probed()

    async with engines(answer, max_concurrent=2) as made:
        await made.prober.probe(HEAD, STEPS * 3, TAIL, range(9), Meter())
    assert most == 2


async def test_a_server_that_is_overloaded_is_sent_fewer_requests_at_once() -> None:
    at_once, seen, lock = 0, list[int](), threading.Lock()

    def answer(request: Request) -> Reply:
        nonlocal at_once
        with lock:
            at_once += 1
            seen.append(at_once)
            full = at_once > 2
        threading.Event().wait(0.02)
        with lock:
            at_once -= 1
        return Reply(status=429, headers={"retry-after": "0"}) if full else chatted("a")

    async with engines(answer, attempts=20) as made:
        assert await asyncio.gather(*(draw(made) for _ in range(24))) == ["a"] * 24
    # It probes upwards again and again; without halving, every round would be as full as the first.
    assert seen.count(4) < len(seen) / 4


async def test_a_caller_that_leaves_closes_its_request() -> None:
    async with engines(in_turn(Reply(wait=threading.Event()))) as made:
        task = asyncio.create_task(draw(made))
        while not made.server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(made.server.left.wait, 4)


@pytest.mark.parametrize("address", ["http://host:port", "http://[::1", "http://a:1:2/v1"])
def test_an_address_that_is_none_is_a_matter_of_configuration(address: str) -> None:
    with pytest.raises(ConfigError, match="is no address"):
        ServerConnection(ServerSettings(base_url=address, model="m"))


@pytest.mark.parametrize("proxy", ["socks4://127.0.0.1:9", "ftp://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_a_matter_of_configuration(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ConfigError, match="proxy of the environment"):
        ServerConnection(ServerSettings(base_url="http://127.0.0.1:1", model="m"))
