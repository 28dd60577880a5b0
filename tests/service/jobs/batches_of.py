"""A service with a scorer that does as its traces say, and ways to make batches of it and wait for them."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from fastapi.testclient import TestClient

from rafs.errors import BackendError, InputError
from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.app import create_app
from service.jobs.jobs import Jobs
from service.progress import Tell
from service.settings import Settings
from service.terms import DEFAULT_TERMS, Terms
from tests.service.stand_in import StandIn

PATH = "/v1/batches"
PATIENCE_S = 60.0
DOWN, WRONG, HELD, BROKEN = "the model is down", "this cannot be scored", "wait for a word", "a fault of ours"


class Obedient(StandIn):
    """Fails, or waits for `word`, where a trace says so."""

    def __init__(self) -> None:
        super().__init__()
        self.word = asyncio.Event()

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        response = await super().score(request, terms, tell)
        match request.trace:
            case text if text == DOWN:
                raise BackendError("the judge is down")
            case text if text == WRONG:
                raise InputError("no", field="trace", got="nothing", allowed="something")
            case text if text == BROKEN:
                raise ZeroDivisionError
            case text if text == HELD:
                await self.word.wait()
        return response


@contextmanager
def running(scorer: StandIn | None = None, **changes: Any) -> Iterator[TestClient]:
    """Run a service; a model that fails is asked once."""
    settings = Settings.model_validate({"batch_attempts": 1} | changes)
    with TestClient(create_app(scorer or Obedient(), settings), raise_server_exceptions=False) as client:
        yield client


def asks(*traces: str, **fields: object) -> dict[str, Any]:
    """Return the body of a batch."""
    requests = [{"problem": "p", "trace": trace, "custom_id": f"c{n}"} for n, trace in enumerate(traces)]
    return {"requests": requests, **fields}


def make(client: TestClient, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    made = client.post(PATH, json=body, headers=headers)
    assert made.status_code == 201, made.text
    status: dict[str, Any] = made.json()
    return status


def status_of(client: TestClient, batch: str, **headers: str) -> dict[str, Any]:
    status: dict[str, Any] = client.get(f"{PATH}/{batch}", headers=headers).json()
    return status


def wait_until(client: TestClient, batch: str, *states: str) -> dict[str, Any]:
    """Ask until the batch is in one of these states, or over."""
    ends_at = monotonic() + PATIENCE_S
    while (status := status_of(client, batch))["status"] not in {"completed", "failed", "cancelled", *states}:
        assert monotonic() < ends_at, f"the batch still waits: {status}"
    return status


def lines_of(client: TestClient, batch: str, what: str = "results", query: str = "") -> list[dict[str, Any]]:
    reply = client.get(f"{PATH}/{batch}/{what}{query}")
    assert reply.status_code == 200, reply.text
    return [_line(line) for line in reply.text.splitlines()]


def _line(text: str) -> dict[str, Any]:

    line: dict[str, Any] = json.loads(text)
    return line


def jobs_of(client: TestClient) -> Jobs:
    jobs: Jobs = client.app.state.jobs  # type: ignore[attr-defined]
    return jobs
