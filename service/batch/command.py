"""`rafs batch`: a log of any length, scored once."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from rafs.errors import RafsError
from service.batch.begin import Begun, Order, begin
from service.batch.engine import Engine, LocalEngine, Plan
from service.batch.feed import Feed
from service.batch.index import BatchIndex
from service.batch.mapping import Choice, Format, parse_paths
from service.batch.parts import Parts
from service.batch.processes import ProcessEngine
from service.batch.ray_engine import RayEngine
from service.batch.run import Run
from service.batch.summary import print_summary
from service.batch.totals import Totals, count_totals, write_errors, write_summary
from service.batch.watch import Watch
from service.exits import Exit, explained
from service.faces import faces_of
from service.models_cli import CalibrationFile, ModelsFile
from service.routes import ScoringService
from service.settings import load_settings

STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""


Log = Annotated[Path, typer.Argument(metavar="FILE|DIR", help="Rows: .jsonl (.gz), .parquet or .json.")]
Out = Annotated[Path, typer.Option(help="Folder of the results; a batch that was stopped goes on where it was.")]
LoggedAs = Annotated[Format, typer.Option("--format", help="How rows are logged.")]
Mapped = Annotated[
    list[str] | None, typer.Option("--map", help="FIELD=PATH, such as problem=input.question; may be repeated.")
]
Requests = Annotated[Path | None, typer.Option(help="With openai-batch: the file of requests that was sent.")]
Preset = Annotated[str | None, typer.Option(help="How much is measured: gate, standard or deep.")]
Generator = Annotated[str | None, typer.Option(help="Model that wrote the traces which name none.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Rows read at most; more with a larger one later.")]
Retry = Annotated[bool, typer.Option("--retry-errors", help="Try again what failed for no fault of its own.")]
Where = Annotated[Literal["local", "ray"], typer.Option(help="This machine, or a Ray cluster.")]
Workers = Annotated[int, typer.Option(min=1, max=1024, help="Processes that score, each with models of its own.")]
Concurrency = Annotated[int, typer.Option(min=1, max=256, help="Traces that each scores at a time.")]
Full = Annotated[bool, typer.Option("--full", help="Keep whole responses too, as JSON.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as one JSON document.")]


def batch(
    context: typer.Context,
    *,
    log: Log,
    out: Out,
    logged_as: LoggedAs = "auto",
    mapped: Mapped = None,
    requests: Requests = None,
    preset: Preset = None,
    generator: Generator = None,
    limit: Limit = None,
    retry_errors: Retry = False,
    engine: Where = "local",
    workers: Workers = 1,
    concurrency: Concurrency = 4,
    full: Full = False,
    as_json: AsJson = False,
    models_file: ModelsFile = None,
    calibration: CalibrationFile = None,
) -> None:
    """Score a log of any length: each different request once, in bounded memory, whatever stops it on the way.

    Writes DIR/results/part-*.parquet, errors.jsonl and summary.json; batch.sqlite is what it goes on from.
    Rows: our requests, OpenAI messages and batches, Langfuse exports, labelled sets, or anything by --map.

    Exit codes: 0 done, with the rows that are at fault in errors.jsonl; 4 some failed that --retry-errors may help;
    130 stopped.

    Example: rafs batch log.jsonl --out scored

    Example: rafs batch traces.parquet --out scored --map problem=input.question --map trace=output.text
    """
    with explained():
        settings, faces = load_settings(models_file=models_file, calibration=calibration), faces_of(context)
        choice = Choice(preset=preset or settings.preset, forced=preset is not None, generator=generator)
        scorer = faces.build_scorer(settings)
        order = Order(
            path=log,
            out=out,
            format=logged_as,
            paths=parse_paths(mapped or ()),
            requests=requests,
            choice=choice,
            full=full,
            provenance=scorer.would_use(choice.preset, 0),
        )
        plan = Plan(
            settings=settings, preset=choice.preset, concurrency=concurrency, full=full, build_scorer=faces.build_scorer
        )
        totals, stopped = _run(order, _choose_engine(engine, scorer, plan, workers), limit, retry=retry_errors)
    raise typer.Exit(_end(totals, out, as_json=as_json, stopped=stopped))


def _choose_engine(name: str, scorer: ScoringService, plan: Plan, workers: int) -> Engine:
    if name == "ray":
        return RayEngine(plan, workers)
    return ProcessEngine(plan, workers) if workers > 1 else LocalEngine(scorer, plan)


def _run(order: Order, engine: Engine, limit: int | None, *, retry: bool) -> tuple[Totals, bool]:
    """Run, and write what there is, however it ends; return the totals, and whether it was stopped."""
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)

    def say(text: str) -> None:
        console.print(text, soft_wrap=True)

    index = BatchIndex(order.out)
    try:
        begun = begin(order, index, say)
        parts = Parts(index, order.out, begun.names, full=order.full)
        if retry:
            say(f"{index.revive(parts.rows)} failed items are tried again")
        feed = Feed(index, begun.mapper, begun.read, limit)
        stopped = True
        try:
            stopped = _score(index, feed, parts, begun, engine, limit)
        except RafsError:
            say("what is finished is kept: the same command goes on, and with --retry-errors tries again what failed")
            raise
        finally:
            if stopped:
                parts.write_so_far(feed.cursor)
            totals = _write(order, index, feed, begun)
    finally:
        index.close()
    return totals, stopped


def _score(index: BatchIndex, feed: Feed, parts: Parts, begun: Begun, engine: Engine, limit: int | None) -> bool:
    """Score everything; return whether it was stopped on the way."""
    n_rows = begun.n_rows if limit is None else min(limit, begun.n_rows)
    with Watch(n_rows, feed.cursor.n_rows - index.n_pending) as watch:
        try:
            asyncio.run(Run(index, feed, parts, watch).score(engine))
        except KeyboardInterrupt:
            watch.say("stopped; what is finished is kept: the same command goes on")
            return True
    return False


def _write(order: Order, index: BatchIndex, feed: Feed, begun: Begun) -> Totals:
    totals = count_totals(index, feed.cursor)
    write_errors(index, order.out, begun.names)
    write_summary(order.out, {"totals": totals.model_dump(), "batch": dict(begun.facts)})
    return totals


def _end(totals: Totals, folder: Path, *, as_json: bool, stopped: bool) -> int:
    """Print the summary; return the exit code."""
    if as_json:
        print(totals.model_dump_json())
    else:
        print_summary(totals, folder, Console(markup=False, emoji=False, highlight=False))
    if stopped:
        return STOPPED
    return Exit.BACKEND if totals.retryable else Exit.DONE
