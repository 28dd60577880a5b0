"""What a batch costs around the scoring, on a log of 100 000 rows of which 30 % repeat an earlier one.

    python benchmarks/batch.py [--rows N]

A scorer that answers at once stands in for the models, so that the figures are those of reading, telling duplicates
apart, keeping and writing:
    memory   resident, when a tenth of the rows is done, and the most from then on; it must not grow with the log
    dedupe   requests that were scored, and the different ones that there are
    resume   from the start of a process until its first new result, after the one before it was killed half-way
    equal    whether the results of the killed batch are those of the unbroken one
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.batch.begin import Order, begin
from service.batch.engine import LocalEngine, Plan
from service.batch.feed import Feed
from service.batch.index import BatchIndex
from service.batch.libraries import parquet
from service.batch.mapping import Choice
from service.batch.parts import Parts, written_parts
from service.batch.run import Run
from service.batch.totals import count_totals
from service.batch.watch import Watch
from service.settings import Settings, load_settings
from service.terms import DEFAULT_TERMS, Terms
from service.wiring import build_scorer

ROWS = 100_000
REPEATED = 0.3
MODELS = Path(__file__).parent.parent / "models.yaml"
COMPARED = ["row", "id", "duplicate_of", "status", "score", "tokens", "request_hash"]


class LightScorer:
    """Gives one response again and again, with a score that hangs on the request."""

    def __init__(self, response: ScoreResponse) -> None:
        self._response = response
        self.n_scored = 0

    async def warm(self, preset: str | None = None) -> None:
        pass

    async def score(self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS) -> ScoreResponse:
        self.n_scored += 1
        return self._response.model_copy(update={"score": float(sum(map(ord, request.problem)) % 1000) / 10})

    async def close(self) -> None:
        pass


class Marks(Watch):
    """Notes when the first result came, and the memory as the batch goes on."""

    def __init__(self, n_rows: int, n_done: int, started: float) -> None:
        super().__init__(n_rows, n_done)
        self._before = n_done
        self._n_all = n_rows
        self._started = started
        self.first_s: float | None = None
        self.early_mib = 0.0
        self.most_mib = 0.0

    def show(self, n_done: int, n_failed: int, *, rows_per_s: float) -> None:
        if self.first_s is None and n_done > self._before:
            self.first_s = perf_counter() - self._started
        if n_done * 10 >= self._n_all:
            self.early_mib = self.early_mib or resident_mib()
            self.most_mib = max(self.most_mib, resident_mib())
        print(f"done {n_done}", flush=True)


def resident_mib() -> float:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def write_log(path: Path, n_rows: int) -> int:
    """Write a log; return how many different requests are in it."""
    draw, asked = random.Random(0), list[str]()
    with path.open("w", encoding="utf-8") as file:
        for row in range(n_rows):
            if asked and draw.random() < REPEATED:
                text = asked[draw.randrange(len(asked))]
            else:
                a, b = draw.randrange(2, 1000), len(asked)
                text = f"A box holds {a} eggs, and there are {b} boxes. How many eggs are there?|{a} * {b} = {a * b}."
                asked.append(text)
            problem, _, step = text.partition("|")
            trace = f"Each box holds as many. {step} So the answer is {step.split()[-1]}" * 4
            file.write(json.dumps({"id": f"r{row}", "problem": problem, "trace": trace}) + "\n")
    return len(asked)


async def run_once(log: Path, out: Path, response: ScoreResponse, settings: Settings) -> dict[str, object]:
    """Run a batch to its end in this process; return the figures."""
    started, cpu = perf_counter(), process_time()
    scorer = LightScorer(response)
    index = BatchIndex(out)
    order = Order(
        path=log,
        out=out,
        format="auto",
        paths={},
        requests=None,
        choice=Choice(preset="gate"),
        full=False,
        provenance=response.provenance,
    )
    begun = begin(order, index, lambda text: None)
    feed = Feed(index, begun.mapper, begun.read)
    marks = Marks(begun.n_rows, feed.cursor.n_rows - index.n_pending, started)
    parts = Parts(index, out, begun.names, full=False)
    await Run(index, feed, parts, marks).score(LocalEngine(scorer, Plan(settings=settings, preset="gate")))
    totals = count_totals(index, feed.cursor)
    index.close()
    return {
        "first_s": marks.first_s,
        "early_mib": marks.early_mib,
        "most_mib": max(marks.most_mib, resident_mib()),
        "n_scored": scorer.n_scored,
        "distinct": totals.distinct,
        "duplicates": totals.duplicates,
        "cpu_s": process_time() - cpu,
        "wall_s": perf_counter() - started,
    }


def child(log: Path, out: Path, template: Path) -> None:
    """Run in a process of its own, and print the figures as the last line."""
    response = ScoreResponse.model_validate_json(template.read_bytes())
    print(json.dumps(asyncio.run(run_once(log, out, response, load_settings()))), flush=True)


def start(log: Path, out: Path, template: Path, kill_at: int | None = None) -> dict[str, Any]:
    """Run a child; where it is to be killed, there are no figures."""
    command = [sys.executable, __file__, "--child", str(log), str(out), str(template)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = ""
        for line in process.stdout:
            last = line
            if kill_at is not None and line.startswith("done ") and int(line.split()[1]) >= kill_at:
                process.send_signal(signal.SIGKILL)
                return {}
    figures: dict[str, Any] = json.loads(last)
    return figures


async def make_template(folder: Path) -> ScoreResponse:
    """Score one trace with the checkers alone."""
    content = yaml.safe_load(MODELS.read_text("utf-8"))
    for preset in content["presets"].values():
        preset["models"] = {}
    models = folder / "models.yaml"
    models.write_text(yaml.safe_dump(content), "utf-8")
    scorer = build_scorer(load_settings(models_file=models))
    try:
        return await scorer.score(ScoreRequest(problem="What is 2 * 3?", trace="2 * 3 = 6", preset="gate"))
    finally:
        await scorer.close()


def results_of(out: Path) -> Sequence[dict[str, object]]:
    """Return what the parts of a batch hold, as far as it is compared."""
    return [row for part in written_parts(out) for row in parquet().read_table(part, columns=COMPARED).to_pylist()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--child", nargs=3, type=Path)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template, log = folder / "template.json", folder / "log.jsonl"
        template.write_text(asyncio.run(make_template(folder)).model_dump_json(), "utf-8")
        n_distinct = write_log(log, arguments.rows)
        whole = start(log, folder / "whole", template)
        start(log, folder / "killed", template, kill_at=arguments.rows // 2)
        resumed = start(log, folder / "killed", template)
        equal = results_of(folder / "whole") == results_of(folder / "killed")
        show(arguments.rows, n_distinct, whole, resumed, equal=equal)


def show(n_rows: int, n_distinct: int, whole: dict[str, Any], resumed: dict[str, Any], *, equal: bool) -> None:
    """Print the figures."""
    early, most = whole["early_mib"], whole["most_mib"]
    table = Table.grid(padding=(0, 2))
    for name, value in (
        ("rows", f"{n_rows}, {whole['duplicates']} of them duplicates"),
        ("memory", f"{early:.1f} MiB at a tenth, at most {most:.1f} from then on: {most / early - 1:+.1%}"),
        ("dedupe", f"{whole['n_scored']} scored of {n_distinct} different ones"),
        ("cost", f"{whole['cpu_s'] / n_rows * 1e6:.0f} us of processor a row, {n_rows / whole['wall_s']:.0f} rows/s"),
        ("resume", f"{resumed['first_s']:.2f} s to the first new result"),
        ("equal", f"{equal}, with {resumed['n_scored']} scored after the kill"),
    ):
        table.add_row(name, value)
    Console(markup=False, emoji=False, highlight=False).print(table)


if __name__ == "__main__":
    main()
