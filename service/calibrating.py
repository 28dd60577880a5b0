"""`rafs calibrate`: numbers and thresholds from labelled traces, and whether they still fit what comes in."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from rafs import __version__
from rafs.algebra import AlgebraWorker
from rafs.calibration import Calibration
from rafs.calibration_file import Artefact, Metric, save_artefact, scoring_hash
from rafs.errors import ConfigError
from rafs.evaluation.calibrate import Basis, Options, calibrate
from rafs.evaluation.calibrate_combiner import CHECKER
from rafs.evaluation.calibrate_words import read_words, with_words
from rafs.evaluation.families import Item
from rafs.evaluation.libraries import linear_models, scipy_stats
from rafs.evaluation.records import ItemRecord, write_record
from rafs.model_entry import Role
from rafs.policy import Policy
from rafs.registry import Registry, config_hash, load_registry
from rafs.types import kind_of
from service.calibrations import pins_of
from service.drift import print_drift
from service.exits import Exit, explained
from service.labelled_runs import LabelledRun, facts_of, read_runs, refused
from service.labelled_scoring import DEADLINE_S
from service.models_cli import CalibrationFile, ModelsFile
from service.rescoring import VERIFIERS, Rescorer
from service.scorer import Scorer
from service.settings import Settings, load_settings
from service.wiring import scorer_and_judges

SHOWN = (
    ("gate", "accepted"),
    ("gate", "accepted_risk"),
    ("first_error", "processbench_f1"),
    ("silent_failure", "auprc"),
    ("silent_failure", "prevalence"),
    ("steps", "brier"),
    ("steps", "ece"),
)
"""Figures printed; the artefact holds them all."""


Sources = Annotated[
    list[Path] | None,
    typer.Argument(metavar="RUN|FILE", help="Folders of `rafs eval`, and the labelled files they were made from."),
]
Out = Annotated[Path | None, typer.Option(help="The artefact, a JSON file.")]
PresetName = Annotated[str | None, typer.Option(help="Preset to calibrate; that of the first RUN unless given.")]
Alpha = Annotated[float, typer.Option(help="Largest share of the accepted that is not faithful.")]
Delta = Annotated[float, typer.Option(help="Largest probability that this does not hold.")]
Seed = Annotated[int, typer.Option(min=0, help="Draws the splits.")]
TestShare = Annotated[float, typer.Option(help="Share of the problems on which the whole is measured.")]
FitOnly = Annotated[
    list[str] | None, typer.Option(help="A source that stands for no traffic: no threshold from it; repeatable.")
]
LeaveOut = Annotated[list[str] | None, typer.Option(help="A subset to leave out; repeatable.")]
WordFiles = Annotated[
    list[str] | None,
    typer.Option(metavar="ID=FILE", help="What trained verifier ID said of unseen problems; repeatable."),
]
TestRecords = Annotated[
    Path | None, typer.Option(help="Write the records of the test split here: what the figures are computed from.")
]
Licences = Annotated[str, typer.Option(help="Licences of the traces, written into the artefact.")]
WriterName = Annotated[str | None, typer.Option(help="Model that wrote the traces which name none.")]
Check = Annotated[
    list[Path] | None, typer.Option(help="RUN, or JSON responses, to hold against --calibration; repeatable.")
]
Level = Annotated[float, typer.Option(help="Of --check: probability of naming drift where there is none.")]


def calibrate_preset(
    *,
    sources: Sources = None,
    out: Out = None,
    preset: PresetName = None,
    alpha: Alpha = 0.1,
    delta: Delta = 0.1,
    seed: Seed = 0,
    test_share: TestShare = 0.4,
    fit_only: FitOnly = None,
    leave_out: LeaveOut = None,
    words: WordFiles = None,
    test_records: TestRecords = None,
    licences: Licences = "",
    generator: WriterName = None,
    check: Check = None,
    level: Level = 0.05,
    calibration: CalibrationFile = None,
    models_file: ModelsFile = None,
) -> None:
    """Fit how much each verifier's word counts, learn what may be accepted, and say what that guarantees.

    Labelled files without a RUN are scored first, into a folder beside the artefact, which goes on where it stopped.

    Example: rafs calibrate run processbench.jsonl --out calibration.json

    Example: rafs calibrate --check responses.jsonl --calibration calibration.json
    """
    with explained():
        _check_shares({"alpha": alpha, "delta": delta, "test-share": test_share, "level": level})
        scipy_stats()
        if check:
            raise typer.Exit(_drift(check, None if sources or out or test_records else calibration, level))
        if not sources or out is None:
            raise refused("arguments", "too few", "RUN|FILE... with --out FILE, or --check with --calibration")
        _check_apart(test_records, out)
        settings = load_settings(models_file=models_file, preset=preset or _preset_of(sources), calibration=calibration)
        scorer, _ = scorer_and_judges(settings, DEADLINE_S)
        options = Options(
            alpha=alpha, delta=delta, seed=seed, test_share=test_share, fit_only=frozenset(fit_only or ())
        )
        linear_models()  # a run of hours must not end in a missing library
        registry = load_registry(settings.models_file)
        runs = read_runs(sources, scorer, registry, settings.preset, generator, out.with_suffix(".run"))
        items, notes = _gather(runs, options, leave_out or (), words or ())
        artefact, tested = _make(runs, items, notes, scorer, registry, settings, options, licences)
        _save(artefact, out, tested, test_records)
    _print(artefact, out)


def _check_apart(test_records: Path | None, out: Path) -> None:
    if test_records is not None and test_records.resolve() == out.resolve():
        raise refused("--test-records", str(test_records), "another file than --out")


def _save(artefact: Artefact, out: Path, tested: Sequence[Item], test_records: Path | None) -> None:
    save_artefact(artefact, out)
    if test_records is None:
        return
    lines = (f"{write_record(item.record)}\n" for item in tested if item.record is not None)
    try:
        test_records.write_text("".join(lines), "utf-8")
    except OSError as error:
        raise ConfigError(f"{test_records}: cannot be written: {error.strerror}") from error


def _drift(check: Sequence[Path], calibration: Path | None, level: float) -> Exit:
    if calibration is None:
        raise refused("--check", "it with other arguments", "--check FILE with --calibration FILE alone")
    return Exit.DIFFERENT if print_drift(check, calibration, level) else Exit.DONE


def _check_shares(shares: Mapping[str, float]) -> None:
    for name, value in shares.items():
        if not 0 < value < 1:
            raise refused(f"--{name}", str(value), "a number between 0 and 1")


def _preset_of(sources: Sequence[Path]) -> str | None:
    runs = [source for source in sources if source.is_dir()]
    return facts_of(runs[0]).provenance.preset if runs else None


def _gather(
    runs: Sequence[LabelledRun], options: Options, leave_out: Collection[str], words: Sequence[str]
) -> tuple[list[Item], list[str]]:
    """Return the items of all runs, with what the caller gives for them, and notes on that."""
    items = [item for run in runs for item in run.items if item.trace.subset not in leave_out]
    known = {item.trace.source for item in items}
    if unknown := options.fit_only - known:
        raise refused("--fit-only", ", ".join(sorted(unknown)), ", ".join(sorted(known)))
    members = {name for item in items if item.record is not None for name in item.record.members}
    if others := {name for name in members if name != CHECKER and kind_of(name) not in VERIFIERS}:
        got, allowed = ", ".join(sorted(others)), "runs without further checkers, which cannot be asked again"
        raise refused("RUN", f"words of {got}", allowed)
    notes = [f"subset {name} is left out" for name in sorted(leave_out)]
    for one in words:
        model, _, path = one.partition("=")
        if not path:
            raise refused("--words", one, "ID=FILE, with the id of a trained verifier")
        member = f"{Role.PRM.value}:{model}"
        items, count = with_words(items, member, read_words(Path(path)))
        notes.append(
            f"{member}: its words on {count} of {len(items)} traces are from fits that did not see the problem"
        )
    return items, notes


def _make(
    runs: Sequence[LabelledRun],
    items: Sequence[Item],
    notes: Sequence[str],
    scorer: Scorer,
    registry: Registry,
    settings: Settings,
    options: Options,
    licences: str,
) -> tuple[Artefact, Sequence[Item]]:
    preset = settings.preset
    basis = Basis(
        preset=preset,
        policy=scorer.policy_of(preset),
        made_with=scorer.calibration_of(preset),
        date=datetime.now(UTC).date().isoformat(),
        rafs_version=__version__,
        config_hash=config_hash(registry),
        scoring=scoring_hash(registry, preset),
        models=pins_of(registry, preset),
        data=[file for run in runs for file in run.data],
        licences=licences,
        can_rescore=not registry.candidates(preset, Role.GENERATOR),
        notes=[*notes, *_doubts(registry, preset, notes)],
    )
    first, secret = runs[0].facts, settings.edit_secret.get_secret_value()
    rescorer = Rescorer(registry, preset, seed=first.provenance.seed, generator=first.generator, secret=secret)

    def rescore(part: Sequence[Item], calibration: Calibration, policy: Policy) -> list[ItemRecord]:
        return asyncio.run(_rescore(rescorer, part, calibration, policy))

    return calibrate(items, basis, options, rescore)


def _doubts(registry: Registry, preset: str, notes: Sequence[str]) -> list[str]:
    """Name the trained verifiers whose words may be on what they learned from."""
    trained = [f"{Role.PRM.value}:{entry.id}" for entry in registry.candidates(preset, Role.PRM) if entry.trained]
    return [
        f"{name} is trained: on traces that it learned from it looks better than it is, and so does all that follows; "
        "--words mends that"
        for name in trained
        if not any(note.startswith(f"{name}: ") for note in notes)
    ]


async def _rescore(
    rescorer: Rescorer, items: Sequence[Item], calibration: Calibration, policy: Policy
) -> list[ItemRecord]:
    algebra = AlgebraWorker()
    try:
        with Progress(console=Console(stderr=True)) as bars:
            bar = bars.add_task("scoring again", total=len(items))
            records = []
            for item in items:
                records.append(await rescorer.rescore(item, calibration, policy, algebra))
                bars.advance(bar)
        return records
    finally:
        await algebra.close()


def _print(artefact: Artefact, out: Path) -> None:
    splits = ", ".join(
        f"{name} {part.n_traces} of {part.n_problems} problems" for name, part in artefact.splits.items()
    )
    threshold = artefact.tau_accept
    print(f"calibration {artefact.id} of preset {artefact.preset}: {out}")
    print(f"traces: {splits}")
    print(f"suspect below: {'not fitted' if artefact.tau_step is None else f'{artefact.tau_step:.3f}'}")
    print(f"accept from: {'no score' if threshold.value is None else f'{threshold.value:g}'}")
    print(f"guarantee: {threshold.guarantee}")
    print("on problems that nothing was fitted on:")
    for family, name in SHOWN:
        print(f"  {family}.{name}: {_shown(artefact.metrics[family][name])}")
    for note in artefact.notes:
        print(f"note: {note}")


def _shown(metric: Metric) -> str:
    if metric.value is None:
        return f"not measured ({metric.reason})"
    interval = "no interval" if metric.low is None or metric.high is None else f"{metric.low:.3f} to {metric.high:.3f}"
    return f"{metric.value:.3f} ({interval}; {metric.n} items)"
