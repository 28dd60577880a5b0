"""Runs of `rafs eval` with the labelled files that they were made from."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rafs.calibration_file import DataUsed
from rafs.errors import InputError
from rafs.evaluation.data_files import read_files, sha256_of
from rafs.evaluation.datasets import read_traces
from rafs.evaluation.families import Item
from rafs.evaluation.records import ItemRecord
from rafs.evaluation.run_folder import TRACES, DataFile, RunFacts, RunFolder
from rafs.model_entry import Role
from rafs.record import ProvenanceOut
from rafs.registry import Registry
from service.labelled_scoring import DEADLINE_S, score_into
from service.rescoring import VERIFIERS
from service.scorer import Scorer

CONCURRENCY = 4
"""As `rafs eval` scores unless told otherwise."""
SAME_FOR_EVERY_PRESET = ("rafs_version", "config_hash", "calibration", "seed", "audits")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRun:
    """The traces of a run that were scored, each with its record."""

    facts: RunFacts
    items: Sequence[Item]
    data: Sequence[DataUsed]


def read_runs(
    sources: Sequence[Path], scorer: Scorer, registry: Registry, preset: str, generator: str | None, fresh: Path
) -> list[LabelledRun]:
    """Read the runs among the sources; labelled files that belong to none are scored.

    A run of another preset serves where it holds the words of every model that this one asks: they are scored again.

    Args:
        sources: Folders of runs, and labelled files.
        scorer: With the models and the calibration that the runs were made with.
        registry: Presets and models.
        preset: That is calibrated.
        generator: Taken for the writer of every trace that names none, where files are scored.
        fresh: Folder of the run over those; one that was stopped goes on.

    Raises:
        InputError: A folder is no run, lacks a labelled file, or differs from another or from what runs here.
    """
    for source in sources:
        if not source.exists():
            allowed = f"a labelled file, or the folder of a run; make one with `rafs eval FILE --out {source}` first"
            raise refused(str(source), "nothing there", allowed)
    files = {sha256_of(source): source for source in sources if not source.is_dir()}
    runs = [_read_run(source, files, scorer, registry, preset) for source in sources if source.is_dir()]
    used = {file.sha256 for run in runs for file in run.facts.files}
    if rest := [path for digest, path in files.items() if digest not in used]:
        hashes = [DataFile(name=path.name, sha256=sha256_of(path)) for path in rest]
        seed = runs[0].facts.provenance.seed if runs else 0
        facts = RunFacts(
            provenance=scorer.would_use(preset, seed), generator=generator, files=hashes, deadline_s=DEADLINE_S
        )
        folder = RunFolder(fresh, TRACES)
        with folder.held():
            records = asyncio.run(score_into(scorer, read_files(rest), folder.begin(facts), folder, facts, CONCURRENCY))
        runs.append(_joined(facts, rest, {record.id: record for record in records}))
    for run in runs[1:]:
        ours, first = ({"seed": one.provenance.seed, "generator": one.generator} for one in (run.facts, runs[0].facts))
        if ours != first:
            raise refused("RUN", f"runs with {first} and with {ours}", "runs of one seed and one --generator")
    return runs


def facts_of(run: Path) -> RunFacts:
    """Read what ran.

    Raises:
        InputError: The folder is no run.
    """
    try:
        return RunFacts.model_validate_json((run / "run.json").read_text("utf-8"))
    except (OSError, ValidationError) as error:
        raise refused("RUN", str(run), "a folder that `rafs eval` wrote, with its run.json") from error


def refused(what: str, got: str, allowed: str) -> InputError:
    """Return the error for an argument of the command line."""
    return InputError(f"{what}: got {got}, allowed: {allowed}", field="FILE", got=got, allowed=allowed)


def _read_run(run: Path, files: Mapping[str, Path], scorer: Scorer, registry: Registry, preset: str) -> LabelledRun:
    facts = facts_of(run)
    here, there = scorer.would_use(preset, facts.provenance.seed), facts.provenance
    compared = SAME_FOR_EVERY_PRESET if _holds_words_of(there, here, registry) else tuple(ProvenanceOut.model_fields)
    for name in compared:
        if (ours := getattr(here, name)) != (theirs := getattr(there, name)):
            got = f"{run} with {name} {theirs}, where {ours} runs here"
            raise refused("RUN", got, "a run of this version of RAFS with the same preset, models file and calibration")
    if missing := [file.name for file in facts.files if file.sha256 not in files]:
        raise refused("RUN", f"{run} without {missing[0]}", "a run with the labelled files that it was made from")
    return _joined(facts, [files[file.sha256] for file in facts.files], RunFolder(run, TRACES).begin(facts))


def _holds_words_of(run: ProvenanceOut, here: ProvenanceOut, registry: Registry) -> bool:
    """Whether a run of another preset holds the words of every model that ours asks, so that it can be scored again.

    A generator's words are in no record, and a preset that stops when it is settled leaves models unasked.
    """
    theirs_of = registry.presets.by_name().get(run.preset)
    if theirs_of is None or theirs_of.stop_when_settled:
        return False
    ours, theirs = ({(one.role, one.id, one.revision) for one in each.models} for each in (here, run))
    asked = {one for one in ours if one[0] in VERIFIERS}
    return asked <= theirs and Role.GENERATOR not in {role for role, _, _ in ours | theirs}


def _joined(facts: RunFacts, paths: Sequence[Path], finished: Mapping[str, ItemRecord]) -> LabelledRun:
    traces, items, data = iter(read_files(paths)), list[Item](), list[DataUsed]()
    for path, file in zip(paths, facts.files, strict=True):
        scored = [
            Item(trace=trace, record=finished[trace.id])
            for trace, _ in zip(traces, read_traces(path), strict=False)
            if trace.id in finished
        ]
        n_problems = len({item.trace.group for item in scored})
        data.append(DataUsed(name=file.name, sha256=file.sha256, n_traces=len(scored), n_problems=n_problems))
        items += scored
    return LabelledRun(facts=facts, items=items, data=data)
