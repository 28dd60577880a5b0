"""`rafs truthful`: how truthful a model's answers are, and how far the judge who says so can be believed."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rafs import __version__
from rafs.engines.question_prompt import QUESTION_PROMPT_VERSION
from rafs.errors import InputError
from rafs.evaluation.data_files import draw_evenly, sha256_of
from rafs.evaluation.datasets import read_questions
from rafs.evaluation.labels import TruthfulQuestion
from rafs.evaluation.libraries import filelock, scipy_stats
from rafs.evaluation.run_folder import DataFile, RunFolder
from rafs.evaluation.truthful_records import PersonLabel, read_labels
from rafs.evaluation.truthful_report import TruthfulReport, report_truthful, truthful_json
from rafs.families import UNNAMED
from rafs.model_entry import ModelEntry, Role
from rafs.registry import Registry, load_registry
from service.exits import explained
from service.identity import revision_of
from service.models_cli import ModelsFile
from service.one_model import entry_named
from service.settings import load_settings
from service.truthful_models import load_models
from service.truthful_run import TRUTHFUL, TruthfulFacts, ask_all
from service.truthful_table import print_truthful
from service.visible import show_text
from verifiers.truth_judge import TRUTH_PROMPT_VERSION

UNKNOWN = "unknown"
"""Family of a writer whose name tells none."""

File = Annotated[Path, typer.Argument(metavar="FILE", help="TruthfulQA as it is published: a table with a header.")]
ModelName = Annotated[str, typer.Option(metavar="ID", help="Generator of models.yaml whose answers are measured.")]
Out = Annotated[Path, typer.Option(help="Folder of the run; one that was stopped goes on where it was.")]
JudgeName = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Judge of models.yaml; the first one of another family unless given."),
]
SameFamily = Annotated[
    bool, typer.Option("--same-family", help="Let a judge of the model's own family judge; it goes on the record.")
]
Labels = Annotated[
    Path | None, typer.Option(help="Answers that people labelled, to audit the judge: JSON lines, as above.")
]
FittedOn = Annotated[
    list[str] | None, typer.Option(metavar="FAMILY", help="A family that the judge was fitted on; repeatable.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Questions asked, evenly many of every category.")]
Seed = Annotated[int, typer.Option(min=0, help="Draws questions and resamples.")]
Concurrency = Annotated[int, typer.Option(min=1, max=256, help="Questions asked at a time.")]
Password = Annotated[str | None, typer.Option(envvar="RAFS_ARCHIVE_PASSWORD", help="Of an encrypted archive.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as one JSON document.")]


def measure_truthfulness(
    *,
    file: File,
    model: ModelName,
    out: Out,
    judge: JudgeName = None,
    same_family: SameFamily = False,
    labels: Labels = None,
    fitted_on: FittedOn = None,
    limit: Limit = None,
    seed: Seed = 0,
    concurrency: Concurrency = 4,
    password: Password = None,
    as_json: AsJson = False,
    models_file: ModelsFile = None,
) -> None:
    """Ask a model the questions of TruthfulQA, and say how many answers are true, informative, and both at once.

    Beside it, without any judge: what the model holds likely among the reference answers (MC1, MC2). The judge is
    audited on references hidden from it, and on answers that people labelled, by the family that wrote them: a line
    {"question": ..., "answer": ..., "generator": ..., "true": true, "informative": true} for each, as --labels.

    Writes DIR/report.json and records.jsonl, which holds the answers.

    Example: rafs truthful TruthfulQA.csv --model my-model --judge my-judge --limit 100 --out run
    """
    with explained():
        scipy_stats()  # a run of hours must not end in a missing library
        filelock()
        settings = load_settings(models_file=models_file)
        registry = load_registry(settings.models_file)
        answering = entry_named(model, Role.GENERATOR, registry, "--model")
        judging = _judge_for(answering, judge, registry, same_family=same_family)
        everything = _read(file, password)
        questions = draw_evenly(everything, limit, seed, lambda one: one.category)
        labelled = read_labels(labels, everything) if labels else []
        facts = _facts(answering, judging, registry, [file, *([labels] if labels else [])], seed)
        folder = RunFolder(out, TRUTHFUL)
        load = partial(load_models, answering, judging, registry, settings)
        with folder.held():
            finished = folder.begin(facts)
            records = asyncio.run(ask_all(load, questions, labelled, finished, folder, concurrency))
            seen = _not_held_out(registry, labelled, registry.families_of_entry(judging) | frozenset(fitted_on or ()))
            report = report_truthful(questions, labelled, records, partial(_family_of, registry), seen, seed=seed)
            document = _document(report, facts)
            page = folder.write("report.json", document)
    if as_json:
        print(document)
    else:
        print_truthful(report, facts, page, Console(markup=False, emoji=False, highlight=False))


def _read(file: Path, password: str | None) -> list[TruthfulQuestion]:
    questions = list(read_questions(file, password))
    if not questions:
        raise InputError(f"{file} holds no question", field="FILE", got=str(file), allowed="at least one question")
    return questions


def _judge_for(model: ModelEntry, named: str | None, registry: Registry, *, same_family: bool) -> ModelEntry:
    """Return the judge, of another family than the model unless the operator says otherwise."""
    judges = [entry for entry in registry.models if Role.JUDGE in entry.roles]
    others = [entry for entry in judges if _is_independent(model, entry, registry)]
    chosen = next(iter(others), None) if named is None else entry_named(named, Role.JUDGE, registry, "--judge")
    if chosen is not None and (same_family or chosen in others):
        return chosen
    who = "no judge of models.yaml" if chosen is None else f"{show_text(chosen.id)!r}, which is not"
    allowed = ", ".join(entry.id for entry in others) or "add one to models.yaml"
    message = f"--judge: {who} of another family than {show_text(model.id)!r}: {allowed}; or --judge ID --same-family"
    raise InputError(message, field="--judge", got=show_text(named or "nothing"), allowed=allowed)


def _is_independent(model: ModelEntry, judge: ModelEntry, registry: Registry) -> bool:
    own, other = registry.families_of_entry(model), registry.families_of_entry(judge)
    return own.isdisjoint(other) and UNNAMED not in own | other


def _facts(model: ModelEntry, judge: ModelEntry, registry: Registry, files: Sequence[Path], seed: int) -> TruthfulFacts:
    return TruthfulFacts(
        model=f"{model.id} {revision_of(model)}",
        judge=f"{judge.id} {revision_of(judge)}",
        independent=_is_independent(model, judge, registry),
        prompts={"model": QUESTION_PROMPT_VERSION, "judge": TRUTH_PROMPT_VERSION},
        seed=seed,
        files=[DataFile(name=path.name, sha256=sha256_of(path)) for path in files],
        rafs_version=__version__,
    )


def _family_of(registry: Registry, generator: str) -> str:
    return "+".join(sorted(registry.families_of(generator))) or UNKNOWN


def _not_held_out(registry: Registry, labels: Sequence[PersonLabel], known: frozenset[str]) -> frozenset[str]:
    """Return the families, as `_family_of` names them, of which it is not sure that the judge has not learned."""
    writers = {label.generator: registry.families_of(label.generator) for label in labels}
    unsure = known | {UNNAMED}
    return frozenset(_family_of(registry, name) for name, own in writers.items() if not own or own & unsure)


def _document(report: TruthfulReport, facts: TruthfulFacts) -> str:
    figures = truthful_json(report)
    assert isinstance(figures, dict)
    return json.dumps({"run": facts.model_dump(mode="json"), **figures}, allow_nan=False)
