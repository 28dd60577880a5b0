"""A service in a process of its own, as an operator starts it, on a scorer without weights: `python -m` this."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.progress import Tell
from service.routes import ScoringService
from service.server import serve
from service.settings import load_settings
from service.terms import DEFAULT_TERMS, Terms
from tests.service.stand_in import StandIn
from tests.test_flow import SMOL, LengthJudge
from tests.test_flow import scorer as flow

PATIENCE_S = 300.0
ROOT = Path(__file__).parents[3]


@dataclass
class Served:
    """A running service, and what it has logged."""

    process: "subprocess.Popen[str]"
    lines: "Queue[str]" = field(default_factory=Queue)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return the next log record whose event begins like this."""
        while True:
            record: dict[str, Any] = json.loads(self.lines.get(timeout=PATIENCE_S))
            if record["event"].startswith(event):
                return record

    def release(self) -> None:
        """Let the scores of a `held` service end."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def returncode(self) -> int:
        return self.process.wait(PATIENCE_S)


@contextmanager
def served(kind: str, delay_s: float = 0.0, **variables: str) -> Iterator[Served]:
    """Start a `stand-in`, a `held` one or the `flow`, whose every score takes `delay_s`; wait until it can score."""
    command = [sys.executable, "-m", "tests.service.runtime.served", kind, str(delay_s)]
    folder = TemporaryDirectory()
    environment = os.environ | {"RAFS_PORT": "0", "RAFS_DATABASE": f"sqlite:///{folder.name}/rafs.db"} | variables
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stderr=pipe, text=True)
    running = Served(process)
    reading = threading.Thread(target=_read, args=(running,))
    reading.start()
    try:
        address = running.wait_for("Uvicorn running on")["event"]
        running.port = int(address.split("127.0.0.1:")[1].split()[0])
        while httpx.get(running.url + "/readyz", timeout=PATIENCE_S).status_code != 200:
            pass
        yield running
    finally:
        process.kill()
        process.wait()
        reading.join()
        assert process.stdin is not None
        process.stdin.close()
        folder.cleanup()


def _read(running: Served) -> None:
    assert running.process.stderr is not None
    with running.process.stderr as lines:
        for line in lines:
            running.lines.put(line)


class HeldScorer(StandIn):
    """Its scores end when a line comes in."""

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        await asyncio.to_thread(RELEASED.wait)
        return await super().score(request, terms, tell)


RELEASED = threading.Event()


def _wait_for_line() -> None:
    sys.stdin.readline()
    RELEASED.set()


def build(kind: str, delay_s: float) -> ScoringService:
    match kind:
        case "held":
            threading.Thread(target=_wait_for_line, daemon=True).start()
            return HeldScorer()
        case "flow":
            return flow(LengthJudge(SMOL, delay_s=delay_s))
        case _:
            return StandIn(delay_s=delay_s)


if __name__ == "__main__":
    serve(build(sys.argv[1], float(sys.argv[2])), load_settings())
