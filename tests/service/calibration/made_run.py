"""Made problems, what a verifier says of them, and the run that they give."""

import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import yaml
from typer.testing import CliRunner, Result

from rafs.algebra import AlgebraWorker
from rafs.calibration import DEFAULT_CALIBRATION, Calibration
from rafs.calibration_file import Artefact
from rafs.evaluation.data_files import sha256_of
from rafs.evaluation.datasets import read_traces
from rafs.evaluation.families import Item
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import ItemRecord, write_record
from rafs.evaluation.run_folder import DataFile, RunFacts
from rafs.model_entry import Role
from rafs.policy import Policy
from rafs.registry import load_registry
from rafs.wire import ScoreResponse
from service.cli import app
from service.identity import identity_of
from service.labelled_scoring import to_request
from service.rescoring import RememberedVerifier, Rescorer
from service.scorer import Scorer
from service.settings import load_settings
from service.wiring import assemble, build_scorer
from tests.rafs.engines.tiny_prms import MODELS_YAML
from tests.rafs.evaluation.made import record
from verifiers.symbolic import SymbolicVerifier

PRESET, WRITER = "gate", "gpt-4o"


@cache
def models_file() -> Path:
    """Write our models.yaml with no preset calibrated yet, and return where."""
    written = yaml.safe_load(MODELS_YAML.read_text("utf-8"))
    for preset in written["presets"].values():
        preset.pop("calibration", None)
    file = Path(tempfile.mkdtemp(prefix="rafs-uncalibrated-")) / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    return file


REGISTRY = load_registry(models_file())
MODEL = f"prm:{REGISTRY.presets.gate.models['prm'][0]}"  # type: ignore[index]
N_PROBLEMS = 240


def row(i: int, *, more: int = 0) -> dict[str, object]:
    """Return a labelled trace; three in ten add where they should multiply, each step right as arithmetic."""
    boxes, pens, loose = 3 + i % 7 + more, 4 + i % 11 + more, 5 + i % 13
    flawed = i % 10 < 3
    held = boxes + pens if flawed else boxes * pens
    sign = "+" if flawed else "*"
    return {
        "id": f"t{i}",
        "problem": f"Shelf {i} has {boxes} boxes of {pens} pens and {loose} loose pens. How many pens are there?",
        "steps": [
            f"The boxes hold {boxes} {sign} {pens} = {held} pens.",
            f"With the loose pens there are {held} + {loose} = {held + loose} pens.",
            f"The answer is {held + loose}.",
        ],
        "first_error": 0 if flawed else None,
        "solution_correct": not flawed,
        "answer_correct": not flawed,
        "final_answer": str(held + loose),
        "generator": WRITER,
    }


def said(trace: LabelledTrace, i: int) -> tuple[float | None, ...]:
    """Return what the verifier says: mostly it doubts the flawed step; one in twenty times it errs."""
    doubts = (trace.first_error is not None) != (i % 20 == 7)
    return (0.2 + 0.01 * (i % 9) if doubts else 0.9 - 0.01 * (i % 9), 0.85, None)


def rescored(traces: Sequence[LabelledTrace], calibration: Calibration, policy: Policy) -> list[ItemRecord]:
    rescorer = Rescorer(REGISTRY, PRESET, seed=0, generator=None, secret="")

    async def run() -> list[ItemRecord]:
        algebra = AlgebraWorker()
        try:
            found = []
            for i, trace in enumerate(traces):
                words = replace(record(trace.id, q=(None,) * 3), members={MODEL: said(trace, i)})
                found.append(await rescorer.rescore(Item(trace=trace, record=words), calibration, policy, algebra))
            return found
        finally:
            await algebra.close()

    return asyncio.run(run())


def write_run(folder: Path, data: Path, records: Sequence[ItemRecord], calibration: str | None = None) -> None:
    """Write what `rafs eval` leaves behind."""
    provenance = build_scorer(load_settings(calibration=calibration, models_file=models_file())).would_use(PRESET, 0)
    facts = RunFacts(provenance=provenance, generator=None, files=[DataFile(name=data.name, sha256=sha256_of(data))])
    folder.mkdir()
    (folder / "run.json").write_text(facts.model_dump_json())
    (folder / "records.jsonl").write_text("".join(write_record(one) + "\n" for one in records))


def write_data(path: Path, rows: Sequence[dict[str, object]]) -> list[LabelledTrace]:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return list(read_traces(path))


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["calibrate", *map(str, arguments), "--models-file", str(models_file())])


async def respond(artefact: Artefact, traces: Sequence[LabelledTrace]) -> list[ScoreResponse]:
    """Return what the service answers under an artefact, the verifier saying what `said` says."""
    algebra, calibration = AlgebraWorker(), artefact.to_calibration()
    entry = REGISTRY.candidates(PRESET, Role.PRM)[0]
    found = []
    try:
        for i, trace in enumerate(traces):
            model = RememberedVerifier(MODEL, identity_of(entry, REGISTRY), said(trace, i))
            pipeline = assemble(
                artefact.to_policy(REGISTRY.policy.to_policy()),
                REGISTRY.presets.gate.to_preset(PRESET),
                calibration,
                algebra=algebra,
                checkers=[SymbolicVerifier(calibration.checker)],
                models=[model],
                validators=[],
                generators={},
            )
            scorer = Scorer(
                registry=REGISTRY,
                build_pipeline=lambda name, built=pipeline: built,  # type: ignore[misc]
                is_ready=lambda entry: True,
                close=algebra.close,
                calibration=DEFAULT_CALIBRATION,
                default_preset=PRESET,
                edit_secret="",
                artefacts={PRESET: artefact},
            )
            found.append(await scorer.score(to_request(trace, PRESET, 0, None)))
    finally:
        await algebra.close()
    return found
