"""`rafs calibrate --check`: recent traffic held against what a calibration was made from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from rafs.calibration import Calibration
from rafs.calibration_file import Artefact, load_artefact
from rafs.errors import InputError
from rafs.evaluation.calibrate_combiner import CHECKER, SILENT, checker_word
from rafs.evaluation.calibrate_drift import Look, Shift, describe, find_drift, look_at
from rafs.evaluation.records import read_record
from rafs.wire import ScoreResponse
from service.labelled_runs import facts_of, refused

MAX_LINE_CHARS = 16 << 20
"""A response with its record is below it."""


def print_drift(paths: Sequence[Path], calibration: Path, level: float) -> bool:
    """Compare, print the verdict, and return whether anything drifted.

    Raises:
        InputError: A file holds something else, or too few traces that this calibration scored.
        ConfigError: The artefact cannot be read.
    """
    artefact = load_artefact(calibration)
    seen = [look for path in paths for look in _read(path, artefact)]
    looks = [look for look in seen if look is not None]
    if len(looks) < len(seen):
        print(f"{len(seen) - len(looks)} responses of another preset or calibration are left out")
    shifts = find_drift(artefact.reference, describe(looks, seed=artefact.seed), level=level)
    for shift in shifts:
        print(_line(shift))
    drifted = [shift.name for shift in shifts if shift.drifted]
    if drifted:
        print(f"DRIFT in {', '.join(drifted)}: the guarantee of calibration {artefact.id} is not for such traffic;")
        print("calibrate again on labelled traces like it")
    else:
        print(f"no drift seen in {len(looks)} traces: they look like those of calibration {artefact.id}")
    return bool(drifted)


def _line(shift: Shift) -> str:
    verdict = "DRIFT" if shift.drifted else "as before"
    return f"{shift.name:10} {verdict:9}  effect {shift.effect:.3f}, p {shift.p_value:.2g} ({shift.test})"


def _read(path: Path, artefact: Artefact) -> Iterator[Look | None]:
    """Yield a look at every trace of a file; None for a response that the artefact has no part in."""
    calibration = artefact.to_calibration()
    if path.is_dir():
        source = facts_of(path).provenance
        if (source.preset, source.calibration) != (artefact.preset, artefact.id):
            got = f"{path} of preset {source.preset}, calibration {source.calibration}"
            raise refused("--check", got, f"a run of preset {artefact.preset} with --calibration {artefact.id}")
        path = path / "records.jsonl"
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE_CHARS + 1), ""), 1):
                if line.strip():
                    yield _look(line, artefact, calibration, f"{path} line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise refused("--check", f"{path}: {error}", "a readable file of JSON lines") from error


def _look(line: str, artefact: Artefact, calibration: Calibration, where: str) -> Look | None:
    if len(line) > MAX_LINE_CHARS:
        raise refused("--check", f"{where}: a longer line", f"at most {MAX_LINE_CHARS} characters")
    if '"provenance"' not in line:
        try:
            return look_at(read_record(line), calibration)
        except InputError as error:
            raise refused("--check", f"{where}: {error}", "records, or responses of `rafs score --json`") from error
    try:
        response = ScoreResponse.model_validate_json(line)
    except ValidationError as error:
        raise refused(
            "--check", f"{where}: {error.error_count()} errors", "a response of `rafs score --json`"
        ) from error
    source = response.provenance
    if (source.preset, source.calibration) != (artefact.preset, artefact.id):
        return None
    rows = [row for row in response.ledger if row.member == CHECKER]
    said = {row.step: checker_word(row.p_correct, calibration.checker) for row in rows}
    return Look(
        score=response.score,
        status=response.status,
        coverage=response.coverage,
        q=tuple(step.p_correct for step in response.steps),
        checker=tuple(said.get(step.index, SILENT) for step in response.steps),
    )
