"""`rafs eval`: the whole pipeline over labelled traces, and how good it was."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from rafs.contracts import Verifier
from rafs.errors import BackendError, OverloadedError
from rafs.evaluation.baselines import baselines, compare, comparisons_json
from rafs.evaluation.data_files import draw, read_files, sha256_of
from rafs.evaluation.headlines import headlines
from rafs.evaluation.intervals import N_RESAMPLES
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.libraries import jinja2, matplotlib, n_usable_cores, scipy_stats, sklearn_metrics
from rafs.evaluation.page import render_page
from rafs.evaluation.records import ItemRecord, submitted
from rafs.evaluation.run import score_traces
from rafs.evaluation.run_folder import DataFile, RunFacts, RunFolder
from rafs.evaluation.sighted import add_sighted
from rafs.evaluation.summary import report_json, sections_of, summarise
from rafs.request import GeneratorInfo, ScoreRequest
from rafs.result import ScoreResult
from service.evaluation_table import print_report
from service.exits import explained
from service.models_cli import CalibrationFile, ModelsFile
from service.request_body import to_request_error
from service.scorer import Scorer
from service.settings import Settings, load_settings
from service.wiring import scorer_and_judges

PLOTTED = ("length", "weakest_step", "arithmetic_mean")
"""Baselines in the plot of precision and recall; more lines would hide each other."""

MAX_THREADS = 8
"""Of a model of this process: more than that gain nothing on one short trace."""
N_LINES = 20
"""Lines of progress in a log, where no bar can be drawn."""


def evaluate(
    *,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Labelled traces: .jsonl, .json, .csv or .zip.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; one that was stopped goes on where it was.")],
    preset: Annotated[str | None, typer.Option(help="How much is measured: gate, standard or deep.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Traces scored, evenly many of every subset, drawn by the seed.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws traces, edits and resamples.")] = 0,
    generator: Annotated[str | None, typer.Option(help="Model that wrote the traces which name none.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Traces scored at a time.")] = 4,
    sighted: Annotated[
        bool, typer.Option("--with-sighted-judge", help="Ask judges again with the answer in sight, as a baseline.")
    ] = False,
    password: Annotated[str | None, typer.Option(envvar="RAFS_ARCHIVE_PASSWORD", help="Of encrypted archives.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the headlines as one JSON document.")] = False,
    models_file: ModelsFile = None,
    calibration: CalibrationFile = None,
) -> None:
    """Measure RAFS on labelled traces: first errors, silent failures, extraction failures, the gate, baselines.

    Writes DIR/report.html, report.json and records.jsonl. Formats are told by their fields; docs/measurements.md.

    Example: rafs eval processbench.jsonl --preset standard --limit 400 --out run
    """
    with explained():
        for library in (scipy_stats, sklearn_metrics, matplotlib, jinja2):
            library()  # a run of hours must not end in a missing library
        settings = _with_all_cores(load_settings(models_file=models_file, calibration=calibration))
        traces = draw(read_files(files, password), limit, seed)
        hashes = [DataFile(name=path.name, sha256=sha256_of(path)) for path in files]
        scorer, judges = scorer_and_judges(settings)
        provenance = scorer.would_use(preset or settings.preset, seed)
        facts = RunFacts(provenance=provenance, generator=generator, files=hashes, sighted=sighted)
        folder = RunFolder(out)
        finished = folder.begin(facts)
        shown_to = judges if sighted else None
        records = asyncio.run(score_into(scorer, traces, finished, folder, facts, concurrency, shown_to))
        archived = any(path.suffix == ".zip" for path in files)
        shown = _write_report(records, traces, folder, facts, scorer, as_json=as_json, with_texts=not archived)
    print(shown, end="")


def _with_all_cores(settings: Settings) -> Settings:
    """Let models compute on every core, unless the operator said on how many: nobody else is to be served."""
    if "torch_threads" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"torch_threads": min(n_usable_cores(), MAX_THREADS)})


async def score_into(
    scorer: Scorer,
    traces: Sequence[LabelledTrace],
    finished: Mapping[str, ItemRecord],
    folder: RunFolder,
    facts: RunFacts,
    concurrency: int,
    judges: Callable[[str], Sequence[Verifier]] | None = None,
) -> list[ItemRecord]:
    """Score what a run has not finished yet, with progress; errors as of `score_traces`.

    Args:
        scorer: Closed at the end.
        traces: All of the run.
        finished: Records of earlier, by id.
        folder: Where new records go.
        facts: What runs.
        concurrency: Traces scored at a time.
        judges: Gives the judges of a preset that are asked once more with the answer in sight; None asks none.
    """
    source = facts.provenance
    n_finished = sum(trace.id in finished for trace in traces)
    try:
        if n_finished < len(traces):
            await scorer.warm(source.preset)
        with _progress() as bars:
            bar = bars.add_task("scoring", total=len(traces), completed=n_finished, rate="")

            async def measure(trace: LabelledTrace) -> ScoreResult:
                result = await scorer.measure(to_request(trace, source.preset, source.seed, facts.generator))
                if judges is not None:
                    await add_sighted(result.evidence, judges(source.preset))
                return result

            def keep(record: ItemRecord) -> None:
                folder.append(record)
                speed = bars.tasks[bar].speed
                rate = f"{speed * 60:.0f} a minute" if speed else ""
                bars.update(bar, advance=1, rate=rate)
                n = round(bars.tasks[bar].completed)
                if not bars.console.is_terminal and n * N_LINES // len(traces) > (n - 1) * N_LINES // len(traces):
                    bars.console.print(f"{n} of {len(traces)} scored {rate}")

            return await score_traces(traces, finished, measure, keep, concurrency=concurrency)
    except (BackendError, OverloadedError) as error:
        kept = f"what is finished is kept in {folder.path}: start again to go on"
        raise BackendError(f"{error}; {kept}") from error
    finally:
        await scorer.close()


def to_request(trace: LabelledTrace, preset: str, seed: int, generator: str | None) -> ScoreRequest:
    """Return what a caller would send of a labelled trace: never the reference answer, nor any label.

    Raises:
        InputError: It breaks a bound of the service, such as that on steps.
    """
    writer = trace.generator or generator
    sent = submitted(trace)
    try:
        return ScoreRequest(
            problem=trace.problem,
            trace=sent if isinstance(sent, str) else list(sent),
            answer=trace.final_answer or None,
            generator=GeneratorInfo(model=writer) if writer else None,
            samples=list(trace.samples),
            preset=preset,
            seed=seed,
        )
    except ValidationError as error:
        raise to_request_error(error) from None


def _write_report(
    records: Sequence[ItemRecord],
    traces: Sequence[LabelledTrace],
    folder: RunFolder,
    facts: RunFacts,
    scorer: Scorer,
    *,
    as_json: bool,
    with_texts: bool,
) -> str:
    """Write report.json and report.html, and return what goes to standard output."""
    seed, policy = facts.provenance.seed, scorer.policy_of(facts.provenance.preset)
    sections = sections_of(records, traces)
    report = summarise(records, traces, seed=seed)
    compared = compare(sections, policy, seed=seed, n_resamples=N_RESAMPLES)
    others = {one.name: one.suspicion for one in baselines(records, policy) if one.suspicion and one.name in PLOTTED}
    short = headlines(report, sections, facts)
    whole = {
        "run": short["run"],
        **report_json(report),
        "baselines": {name: comparisons_json(rows) for name, rows in compared.items()},
    }
    folder.write("report.json", json.dumps(whole, indent=1, allow_nan=False))
    page = folder.write("report.html", render_page(report, sections, compared, others, facts, with_texts=with_texts))
    if as_json:
        return json.dumps(short, allow_nan=False) + "\n"
    console = Console(markup=False, emoji=False, highlight=False)
    with console.capture() as printed:
        print_report(report, sections, compared, console)
        console.print(f"written: {page}", soft_wrap=True)
    return printed.get()


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, markup=False, emoji=False, highlight=False),
    )
