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
from rafs.evaluation.run_folder import DataFile, RunFacts, RunFolder
from service.evaluating import score_into
from service.scorer import Scorer

CONCURRENCY = 4
"""As `rafs eval` scores unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRun:
    """The traces of a run that were scored, each with its record."""

    facts: RunFacts
    items: Sequence[Item]
    data: Sequence[DataUsed]


def read_runs(
    sources: Sequence[Path], scorer: Scorer, preset: str, generator: str | None, fresh: Path
) -> list[LabelledRun]:
    """Read the runs among the sources; labelled files that belong to none are scored.

    Args:
        sources: Folders of runs, and labelled files.
        scorer: With the models and the calibration that the runs were made with.
        preset: Of the runs.
        generator: Taken for the writer of every trace that names none, where files are scored.
        fresh: Folder of the run over those; one that was stopped goes on.

    Raises:
        InputError: A folder is no run, lacks a labelled file, or differs from another or from what runs here.
    """
    files = {sha256_of(source): source for source in sources if not source.is_dir()}
    runs = [_read_run(source, files, scorer, preset) for source in sources if source.is_dir()]
    used = {file.sha256 for run in runs for file in run.facts.files}
    if rest := [path for digest, path in files.items() if digest not in used]:
        hashes = [DataFile(name=path.name, sha256=sha256_of(path)) for path in rest]
        seed = runs[0].facts.provenance.seed if runs else 0
        facts = RunFacts(provenance=scorer.would_use(preset, seed), generator=generator, files=hashes)
        folder = RunFolder(fresh)
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


def _read_run(run: Path, files: Mapping[str, Path], scorer: Scorer, preset: str) -> LabelledRun:
    facts = facts_of(run)
    here = scorer.would_use(preset, facts.provenance.seed).model_dump()
    there = facts.provenance.model_dump()
    if differing := [name for name, value in here.items() if value != there[name]]:
        name = differing[0]
        got = f"{run} with {name} {there[name]}, where {here[name]} runs here"
        raise refused("RUN", got, "a run of this version of RAFS with the same preset, models file and calibration")
    if missing := [file.name for file in facts.files if file.sha256 not in files]:
        raise refused("RUN", f"{run} without {missing[0]}", "a run with the labelled files that it was made from")
    return _joined(facts, [files[file.sha256] for file in facts.files], RunFolder(run).begin(facts))


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
