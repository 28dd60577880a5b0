"""Logs, models without models, and scorers for the tests of batches."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.batch.begin import Begun, Order, begin
from service.batch.engine import Engine, LocalEngine, Plan
from service.batch.feed import Feed
from service.batch.index import BatchIndex
from service.batch.libraries import parquet
from service.batch.mapping import Choice
from service.batch.outcome import Item
from service.batch.parts import Parts, written_parts
from service.batch.run import Run
from service.batch.totals import Totals, count_totals, write_errors
from service.batch.watch import Watch
from service.settings import Settings
from service.terms import DEFAULT_TERMS, Terms
from tests.service.stand_in import PROVENANCE, make_response

Row = Mapping[str, Any]
MODELS = Path(__file__).parent.parent.parent.parent / "models.yaml"
STABLE = ("row", "place", "id", "duplicate_of", "status", "outcome", "score", "suspect_step", "reasons", "coverage")
"""Columns that two runs over the same log must agree in, with `request_hash`: all but times."""


def row_of(number: int, **changes: object) -> dict[str, object]:
    """Return a plain row, different for every number."""
    wrong = number % 5 == 0
    total = number * 7 + wrong
    problem = f"A box holds {number} eggs. How many eggs are in 7 boxes?"
    trace = f"7 boxes hold {number} * 7 = {total} eggs. The answer is {total}."
    return {"id": f"r{number}", "problem": problem, "trace": trace} | changes


def write_log(path: Path, rows: Iterable[object]) -> Path:
    """Write rows as lines; texts are written as they are."""
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def write_models(folder: Path) -> Path:
    """Write a models file whose presets ask no model: checkers alone."""
    content = yaml.safe_load(MODELS.read_text("utf-8"))
    for preset in content["presets"].values():
        preset["models"] = {}
    path = folder / "checkers.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    return path


class Scripted:
    """Answers at once, with a score by the problem's length; raises where it is told to."""

    def __init__(self, fail: Callable[[ScoreRequest], Exception | None] = lambda request: None) -> None:
        self._fail = fail
        self.seen: list[str] = []
        self.terms: list[Terms] = []
        self.warmed = False
        self.closed = False

    async def warm(self, preset: str | None = None) -> None:
        self.warmed = True

    async def score(self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS) -> ScoreResponse:
        self.seen.append(request.problem)
        self.terms.append(terms)
        if (error := self._fail(request)) is not None:
            raise error
        return make_response(request.problem, score=float(len(request.problem)))

    async def close(self) -> None:
        self.closed = True


class Listed:
    """A queue of items that are known beforehand."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = list(items)

    def take(self, n: int) -> Sequence[Item]:
        taken, self._items = self._items[:n], self._items[n:]
        return taken


def order_for(log: Path, out: Path, **changes: Any) -> Order:
    """Return the order of a plain batch."""
    fields: dict[str, Any] = {
        "path": log,
        "out": out,
        "format": "auto",
        "paths": {},
        "requests": None,
        "choice": Choice(preset="gate"),
        "full": False,
        "provenance": PROVENANCE,
    }
    return Order(**(fields | changes))


def plan_for(**changes: Any) -> Plan:
    fields: dict[str, Any] = {"settings": Settings(), "preset": "gate"}
    return Plan(**(fields | changes))


class Batch:
    """One run over a batch in this process, whose index stays open until it is closed."""

    def __init__(self, order: Order, *, limit: int | None = None, part_rows: int = 10, retry: bool = False) -> None:
        self.order = order
        self.said: list[str] = []
        self.index = BatchIndex(order.out)
        self.begun: Begun = begin(order, self.index, self.said.append)
        self.parts = Parts(self.index, order.out, self.begun.names, full=order.full, rows=part_rows)
        self.n_revived = self.index.revive(part_rows) if retry else 0
        self.feed = Feed(self.index, self.begun.mapper, self.begun.read, limit)

    async def score(self, engine: Engine | None = None) -> Totals:
        """Score all, write the errors, and close the index."""
        try:
            with Watch(self.begun.n_rows, 0) as watch:
                run = Run(self.index, self.feed, self.parts, watch)
                await run.score(engine or LocalEngine(Scripted(), plan_for()))
            write_errors(self.index, self.order.out, self.begun.names)
            return count_totals(self.index, self.feed.cursor)
        finally:
            self.index.close()


def results_of(out: Path, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return the rows of all parts."""
    rows: list[dict[str, Any]] = []
    for part in written_parts(out):
        rows += parquet().read_table(part).to_pylist()
    return [{name: row[name] for name in columns} for row in rows] if columns else rows


def errors_of(out: Path) -> list[dict[str, Any]]:
    """Return the lines of errors.jsonl."""
    return [json.loads(line) for line in (out / "errors.jsonl").read_text("utf-8").splitlines()]


class Poisoned(Scripted):
    """Ends its process where the problem has 13 eggs in it."""

    async def score(self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS) -> ScoreResponse:
        if " 13 eggs" in request.problem:
            os._exit(9)
        return await super().score(request, terms)


def build_scripted(settings: Settings) -> Scripted:
    return Scripted()


def build_poisoned(settings: Settings) -> Poisoned:
    return Poisoned()
