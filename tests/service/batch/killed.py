"""A batch of tiny parts whose scorer notes every item that it scores: run in a process of its own, to be killed."""

import asyncio
import sys
from pathlib import Path

from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.batch.engine import LocalEngine
from service.terms import DEFAULT_TERMS, Terms
from tests.service.batch.logs import Batch, Scripted, order_for, plan_for


class Noting(Scripted):
    """Writes down what it scores, after it is scored."""

    def __init__(self, notes: Path) -> None:
        super().__init__()
        self._notes = notes.open("a", encoding="utf-8")

    async def score(self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS) -> ScoreResponse:
        response = await super().score(request, terms)
        self._notes.write(request.problem + "\n")
        self._notes.flush()
        print("scored", flush=True)
        return response


def main(log: Path, out: Path, notes: Path) -> None:
    batch = Batch(order_for(log, out), part_rows=7)
    asyncio.run(batch.score(LocalEngine(Noting(notes), plan_for(concurrency=3))))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
