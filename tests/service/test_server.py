"""A real server on a real socket: what only shows there."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from rafs.errors import ConfigError
from service.app import create_app
from service.server import check_port
from service.settings import Settings
from tests.service.stand_in import StandIn

BODY = json.dumps({"problem": "p", "trace": "2 + 2 = 4"}).encode()
HEAD = b"POST /v1/score HTTP/1.1\r\nhost: rafs\r\ncontent-type: application/json\r\n"
PATIENCE_S = 10.0


@contextmanager
def running(scorer: StandIn, **changes: object) -> Iterator[int]:
    """Serve in a thread and yield the port."""
    with serving(create_app(scorer, Settings.model_validate(changes))) as server:
        yield port_of(server)


@contextmanager
def serving(app: FastAPI, shutdown_s: int = 10) -> Iterator[uvicorn.Server]:
    """Serve in a thread."""
    server = uvicorn.Server(
        uvicorn.Config(
            app, host="127.0.0.1", port=0, log_config=None, access_log=False, timeout_graceful_shutdown=shutdown_s
        )
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_for(lambda: server.started)
        yield server
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


def port_of(server: uvicorn.Server) -> int:
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)


def is_scored(port: int) -> bool:
    reply = httpx.post(f"http://127.0.0.1:{port}/v1/score", content=BODY, timeout=PATIENCE_S)
    return reply.status_code == 200


def read_all(connection: socket.socket) -> bytes:
    connection.settimeout(PATIENCE_S)
    received = b""
    while block := connection.recv(65536):
        received += block
    return received


def test_a_client_that_leaves_ends_the_scoring_of_its_trace() -> None:
    scorer = StandIn(delay_s=PATIENCE_S)
    with running(scorer, max_in_flight=1) as port:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY)
            wait_for(lambda: len(scorer.seen) == 1)
        wait_for(lambda: scorer.cancelled == 1)
        scorer.delay_s = 0
        assert is_scored(port)


def test_a_body_that_is_broken_off_frees_its_place() -> None:
    scorer = StandIn()
    with running(scorer, max_in_flight=1) as port:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(HEAD + b"content-length: 100000\r\n\r\n" + b'{"problem"')
        wait_for(lambda: is_scored(port))
    assert len(scorer.seen) == 1


def test_a_body_that_does_not_come_is_given_up() -> None:
    with running(StandIn(), body_timeout_s=0.2) as port:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(HEAD + b"content-length: 100000\r\n\r\n" + b'{"problem"')
            reply = read_all(connection)
        assert reply.startswith(b"HTTP/1.1 408 ")
        assert b"/problems/too-slow" in reply
        assert is_scored(port)


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "with its length"])
def test_a_body_that_is_too_large_gets_its_answer_and_no_reset(chunked: bool) -> None:
    content: object = (b"x" * 65536 for _ in range(100)) if chunked else b"x" * 6_553_600
    with running(StandIn(), max_body_bytes=100_000) as port:
        reply = httpx.post(f"http://127.0.0.1:{port}/v1/score", content=content, timeout=PATIENCE_S)  # type: ignore[arg-type]
        assert reply.status_code == 413
        assert is_scored(port)


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        HEAD + b"content-length: -1\r\n\r\n",
        b"\0" * 100 + b"\r\n\r\n",
    ],
    ids=["TLS", "unknown version", "negative length", "null bytes"],
)
def test_what_is_no_http_leaves_the_server_running(raw: bytes) -> None:
    with running(StandIn()) as port:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            assert b"HTTP/1.1 200" not in read_all(connection)
        assert is_scored(port)


def test_a_port_in_use_is_a_matter_of_configuration() -> None:
    command = [sys.executable, "-m", "service", "--port"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run([*command, port], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        f"rafs: cannot serve on 127.0.0.1:{port}: address already in use; choose another with --port or --host"
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_free_port_is_free_after_it_was_tried(host: str) -> None:
    for _ in range(2):
        check_port(Settings(host=host, port=0))


def test_a_host_that_is_none_of_this_machine_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^cannot serve on 192\.0\.2\.1:8000: .*--host"):
        check_port(Settings(host="192.0.2.1"))


@pytest.mark.parametrize("forced", [False, True], ids=["patience is over", "a second signal"])
def test_a_request_that_is_cut_off_by_the_end_of_the_service_is_told_so(
    forced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    scorer = StandIn(delay_s=PATIENCE_S)
    with (
        serving(create_app(scorer, Settings()), shutdown_s=1) as server,
        socket.create_connection(("127.0.0.1", port_of(server))) as connection,
    ):
        connection.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY)
        wait_for(lambda: len(scorer.seen) == 1)
        server.should_exit, server.force_exit = True, forced
        reply = read_all(connection)
    assert reply.startswith(b"HTTP/1.1 503 ")
    assert b"/problems/stopping" in reply
    assert (scorer.cancelled, scorer.closed) == (1, True)
    assert [record.exc_info for record in caplog.records if record.exc_info] == []
    assert "Traceback" not in caplog.text
