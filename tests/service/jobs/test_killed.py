"""Services that are killed in the middle of a batch, and what is left of it."""

import random
import socket
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.service.jobs.batches_of import PATH
from tests.service.runtime.served import PATIENCE_S, Served, served

N_ROWS = 300
N_KILLS = 10
OWN = {"ms": 0.0}
"""What differs between two runs: how long a row took."""
pytestmark = pytest.mark.slow


def free_port() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return str(held.getsockname()[1])


def requests(n: int) -> list[dict[str, Any]]:
    """Return requests of which every tenth asks what another asked, and every seventh states something false."""
    asked = [index - 5 if index % 10 == 9 else index for index in range(n)]
    return [
        {"problem": f"What is {k} + {k}?", "trace": f"{k} + {k} = {2 * k + (k % 7 == 0)}. So it is {2 * k}."}
        for k in asked
    ]


def make(running: Served, n: int = N_ROWS) -> str:
    made = httpx.post(running.url + PATH, json={"requests": requests(n)}, timeout=PATIENCE_S)
    assert made.status_code == 201, made.text
    batch: str = made.json()["id"]
    return batch


def status(running: Served, batch: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{running.url}{PATH}/{batch}", timeout=PATIENCE_S).json()
    return found


def wait_for(running: Served, batch: str, enough: Callable[[dict[str, Any]], bool]) -> None:
    ends_at = time.monotonic() + PATIENCE_S
    while not enough(found := status(running, batch)):
        assert time.monotonic() < ends_at, found
        time.sleep(0.05)  # asking without a pause takes the time that the batch needs


def wait_for_more(running: Served, batch: str, n: int) -> None:
    """Wait until so many more rows are done than now, or all."""
    enough = status(running, batch)["counts"]["scored"] + n
    wait_for(running, batch, lambda found: is_over(found) or found["counts"]["scored"] >= enough)


def is_over(found: dict[str, Any]) -> bool:
    return found["status"] not in ("queued", "running")


def rows(running: Served, batch: str) -> dict[int, dict[str, Any]]:
    reply = httpx.get(f"{running.url}{PATH}/{batch}/results?limit=10000", timeout=PATIENCE_S)
    lines = [httpx.Response(200, content=line).json() | OWN for line in reply.text.splitlines()]
    found = {line["row"]: line for line in lines}
    assert len(found) == len(lines)  # none twice
    return found


def test_a_batch_outlives_kills_of_its_service(database_url: str) -> None:
    chance = random.Random(5)
    variables = {"RAFS_DATABASE": database_url, "RAFS_PORT": free_port()}
    batch, seen = "", dict[int, dict[str, Any]]()
    for _ in range(N_KILLS):
        with served("flow", 0.02, **variables) as running:
            batch = batch or make(running)
            wait_for_more(running, batch, chance.randrange(30))
            seen |= rows(running, batch)
            running.process.kill()
    with served("flow", 0.0, **variables) as running:
        wait_for(running, batch, is_over)
        unbroken = make(running)
        wait_for(running, unbroken, is_over)
        killed, whole, end = rows(running, batch), rows(running, unbroken), status(running, batch)
    assert (end["status"], end["counts"]["scored"], len(killed)) == ("completed", N_ROWS, N_ROWS)
    assert [row for row in whole if killed.get(row) != whole[row]] == []
    assert [row for row in seen if killed.get(row) != seen[row]] == []  # what was told once is told always


def test_a_service_that_stops_in_order_goes_on_where_it_was(database_url: str) -> None:
    variables = {"RAFS_DATABASE": database_url, "RAFS_PORT": "0"}
    with served("flow", 0.05, **variables) as running:
        batch = make(running, 60)
        wait_for(running, batch, lambda found: found["counts"]["scored"] > 0)
        running.stop()
        running.wait_for("stopped")
    with served("flow", 0.0, **variables) as running:  # under another name, since its port is another
        n_before = status(running, batch)["counts"]["scored"]
        wait_for(running, batch, is_over)
        found = status(running, batch)["counts"]
    assert 0 < n_before < 60
    assert (found["scored"], found["waiting"]) == (60, 0)


def test_two_services_share_the_batches_of_one_database(database_url: str) -> None:
    variables = {
        "RAFS_DATABASE": database_url,
        "RAFS_PORT": "0",
        "RAFS_BATCHES_AT_ONCE": "1",
        "RAFS_BATCH_CONCURRENCY": "1",
    }
    with served("flow", 0.1, **variables) as one, served("flow", 0.1, **variables) as other:
        batches = [make(one, 120) for _ in range(2)]
        for batch in batches:
            wait_for(other, batch, lambda found: found["counts"]["scored"] > 0)
        under_way = [status(one, batch)["status"] for batch in batches]
        for batch in batches:
            wait_for(one, batch, is_over)
        counts = [status(one, batch)["counts"]["scored"] for batch in batches]
    assert under_way == ["running", "running"]  # at once, though each works on one at a time
    assert counts == [120, 120]
