import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from rafs.errors import BackendError, OverloadedError
from service.app import create_app
from service.intake import Intake
from service.settings import Settings
from service.streaming import build_stream_router
from tests.service.stand_in import JSON, StandIn, body
from tests.service.test_server import BODY, PATIENCE_S, running, wait_for
from tests.test_flow import SAMPLES, scorer

PATH = "/v1/score/stream"
HEAD = f"POST {PATH} HTTP/1.1\r\nhost: rafs\r\ncontent-type: application/json\r\n".encode()


def stream(made: Any, **fields: object) -> Any:
    with TestClient(create_app(made, Settings()), raise_server_exceptions=False) as client:
        return client.post(PATH, content=body(**fields), headers=JSON)


def events(reply: Any) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in reply.text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_what_is_known_comes_first_and_the_result_last() -> None:
    reply = stream(StandIn())
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert [name for name, _ in events(reply)] == ["steps", "bounds", "result"]


def test_the_result_is_the_document_of_the_other_path() -> None:
    with TestClient(create_app(scorer(), Settings())) as client:
        sent = body(samples=SAMPLES)
        told = events(client.post(PATH, content=sent, headers=JSON))
        plain = client.post("/v1/score", content=sent, headers=JSON).json()
    assert [name for name, _ in told].count("verdict") == sum(step["kind"] != "answer" for step in plain["steps"])
    result = told[-1][1]
    for document in (result, plain):
        document.pop("id")
        document.pop("usage")
    assert result == plain


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BackendError("the judge is down"), "/problems/backend-failed"),
        (OverloadedError("full", retry_after_s=1.0), "/problems/overloaded"),
        (ZeroDivisionError("secret"), "/problems/internal"),
    ],
)
def test_a_failure_after_the_beginning_is_the_last_event(error: Exception, kind: str) -> None:
    reply = stream(StandIn(error=error))
    name, document = events(reply)[-1]
    assert (reply.status_code, name, document["type"]) == (200, "problem", kind)
    assert document["instance"] == reply.headers["x-request-id"]
    assert "secret" not in reply.text


@pytest.mark.parametrize(("content", "status"), [(b"{", 400), (b"{}", 422), (b"", 400)])
def test_a_body_that_is_no_request_is_a_status(client: TestClient, content: bytes, status: int) -> None:
    assert client.post(PATH, content=content, headers=JSON).status_code == status


async def test_a_stream_holds_its_place_until_its_end() -> None:
    app = create_app(StandIn(delay_s=0.5), Settings(max_in_flight=1))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://rafs") as client:
        replies = await asyncio.gather(*(client.post(PATH, content=body(), headers=JSON) for _ in range(2)))
        later = await client.post(PATH, content=body(), headers=JSON)
    assert sorted(reply.status_code for reply in replies) == [200, 429]
    assert later.status_code == 200


@pytest.fixture
async def beating() -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.include_router(build_stream_router(StandIn(delay_s=0.3), Intake(Settings()), heartbeat_s=0.05))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://rafs") as client:
        yield client


async def test_a_comment_is_sent_while_nothing_is_new(beating: httpx.AsyncClient) -> None:
    reply = await beating.post(PATH, content=body(), headers=JSON)
    assert ": ping" in reply.text
    assert reply.text.rstrip().splitlines()[-2] == "event: result"


@pytest.fixture
def slow() -> Iterator[tuple[StandIn, int]]:
    scorer = StandIn(delay_s=PATIENCE_S)
    with running(scorer, max_in_flight=1) as port:
        yield scorer, port


@pytest.mark.parametrize("after", [b"", b"event: bounds"], ids=["before the first event", "in the middle"])
def test_a_client_that_leaves_ends_the_work_and_frees_the_place(slow: tuple[StandIn, int], after: bytes) -> None:
    scorer, port = slow
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY)
        wait_for(lambda: len(scorer.seen) == 1)
        received = b""
        while after not in received:
            received += connection.recv(65536)
    wait_for(lambda: scorer.cancelled == 1)
    scorer.delay_s = 0

    def is_told() -> bool:
        reply = httpx.post(f"http://127.0.0.1:{port}{PATH}", content=BODY, timeout=PATIENCE_S)
        return "event: result" in reply.text

    wait_for(is_told)
