"""`rafs eval`: the whole pipeline over labelled traces, and how good it was."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rafs.evaluation.data_files import draw, read_files, sha256_of
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.libraries import filelock, jinja2, matplotlib, n_usable_cores, scipy_stats, sklearn_metrics
from rafs.evaluation.run_folder import TRACES, DataFile, RunFacts, RunFolder
from rafs.model_entry import ModelEntry, Role
from rafs.registry import load_registry
from service.evaluation_run import Run
from service.exits import explained
from service.identity import revision_of
from service.labelled_scoring import DEADLINE_S, Beside
from service.models_cli import CalibrationFile, ModelsFile
from service.one_model import entry_named
from service.settings import Settings, load_settings
from service.wiring import scorer_and_judges
from verifiers.equivalence import EQUIVALENCE_PROMPT_VERSION

MAX_THREADS = 8
"""Of a model of this process: more than that gain nothing on one short trace."""

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Labelled traces: .jsonl, .json, .csv or .zip.")]
Out = Annotated[Path, typer.Option(help="Folder of the run; one that was stopped goes on where it was.")]
PresetName = Annotated[str | None, typer.Option(help="How much is measured: gate, standard or deep.")]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Traces scored, evenly many of every subset, drawn by the seed.")
]
Seed = Annotated[int, typer.Option(min=0, help="Draws traces, edits and resamples.")]
WriterName = Annotated[str | None, typer.Option(help="Model that wrote the traces which name none.")]
Concurrency = Annotated[int, typer.Option(min=1, max=256, help="Traces scored at a time.")]
Deadline = Annotated[
    float,
    typer.Option(
        min=1, help="Seconds that a trace may take, instead of the preset's: a busy machine then measures the same."
    ),
]
Sighted = Annotated[
    bool, typer.Option("--with-sighted-judge", help="Ask judges again with the answer in sight, as a baseline.")
]
GraderName = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Judge that says whether the flaws RAFS names are those that experts described."),
]
Password = Annotated[str | None, typer.Option(envvar="RAFS_ARCHIVE_PASSWORD", help="Of encrypted archives.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the headlines as one JSON document.")]


def evaluate(
    *,
    files: Files,
    out: Out,
    preset: PresetName = None,
    limit: Limit = None,
    seed: Seed = 0,
    generator: WriterName = None,
    concurrency: Concurrency = 4,
    deadline: Deadline = DEADLINE_S,
    sighted: Sighted = False,
    grader: GraderName = None,
    password: Password = None,
    as_json: AsJson = False,
    models_file: ModelsFile = None,
    calibration: CalibrationFile = None,
) -> None:
    """Measure RAFS on labelled traces: first errors, silent failures, extraction failures, the gate, baselines.

    Writes DIR/report.html, report.json and records.jsonl. Formats are told by their fields; docs/measurements.md.

    Plain rows: `id`, `problem`, `steps`, `answer_correct` (true or false), and as `first_error` a 0-based step,
    or null together with `solution_correct`: true for no error.

    --grader also writes DIR/flaws.jsonl: fill in its `equivalent` and run the same command again to audit the judge.

    Example: rafs eval processbench.jsonl --preset standard --limit 400 --out run

    Example: rafs eval findtheflaws.zip --grader smollm2-135m-instruct --out run
    """
    with explained():
        for library in (scipy_stats, sklearn_metrics, matplotlib, jinja2, filelock):
            library()  # a run of hours must not end in a missing library
        settings = _with_all_cores(load_settings(models_file=models_file, calibration=calibration))
        registry = load_registry(settings.models_file)
        judge = None if grader is None else entry_named(grader, Role.JUDGE, registry, "--grader")
        traces = draw(read_files(files, password), limit, seed)
        scorer, judges = scorer_and_judges(settings, deadline)
        facts = RunFacts(
            provenance=scorer.would_use(preset or settings.preset, seed),
            generator=generator,
            files=[DataFile(name=path.name, sha256=sha256_of(path)) for path in files],
            sighted=sighted,
            grader=None if judge is None else _asked_with(judge),
            deadline_s=deadline,
        )
        policy = scorer.policy_of(facts.provenance.preset)
        with_texts = not any(path.suffix == ".zip" for path in files)
        run = Run(folder=RunFolder(out, TRACES), facts=facts, traces=traces, policy=policy, with_texts=with_texts)
        grading = None if judge is None else run.grading_by(judge, registry, settings)
        beside = Beside(sighted=judges if sighted else None, load_grading=grading)
        shown = run.finish(scorer, concurrency, beside, as_json=as_json)
    _show(shown, traces)


def _show(report: str, traces: Sequence[LabelledTrace]) -> None:
    """Print the report, and on standard error of how many traces nobody labelled the reasoning."""
    print(report, end="", flush=True)
    n = sum(one.first_error is None and one.solution_correct is None and one.step_labels is None for one in traces)
    if n:
        known = "`first_error`: null alone is not known; add `solution_correct`: true where there is no error"
        print(f"{n} of {len(traces)} traces have no label of their reasoning: {known}", file=sys.stderr)


def _asked_with(judge: ModelEntry) -> str:
    return f"{judge.id} {revision_of(judge)} {EQUIVALENCE_PROMPT_VERSION}"


def _with_all_cores(settings: Settings) -> Settings:
    """Let models compute on every core, unless the operator said on how many: nobody else is to be served."""
    if "torch_threads" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"torch_threads": min(n_usable_cores(), MAX_THREADS)})
