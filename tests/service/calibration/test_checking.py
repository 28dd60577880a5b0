"""`rafs calibrate --check`: recent traffic against the calibration set."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from typer.testing import Result

from rafs.evaluation.records import ItemRecord
from rafs.wire import ScoreResponse
from tests.service.calibration.made_run import command, write_run


def checked(folder: Path, name: str, records: Sequence[ItemRecord]) -> Result:
    write_run(folder / name, folder / "more.jsonl", records, str(folder / "made.json"))
    return command("--check", folder / name, "--calibration", folder / "made.json")


def test_traffic_like_the_calibration_set_is_no_drift(folder: Path, under_artefact: list[ItemRecord]) -> None:
    done = checked(folder, "like", under_artefact)
    assert done.exit_code == 0, done.output
    assert "no drift seen in 120 traces" in done.stdout


def test_traffic_of_which_less_is_thought_is_drift(folder: Path, under_artefact: list[ItemRecord]) -> None:
    worse = [replace(one, score=None if one.score is None else one.score / 2) for one in under_artefact]
    done = checked(folder, "worse", worse)
    assert done.exit_code == 1
    assert "DRIFT in score" in done.stdout


def test_a_run_under_another_calibration_is_not_compared(folder: Path) -> None:
    done = command("--check", folder / "run", "--calibration", folder / "made.json")
    assert done.exit_code == 2
    assert "calibration default" in done.stderr


def test_responses_are_held_against_the_calibration_set(folder: Path, responses: list[ScoreResponse]) -> None:
    (folder / "served_out.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in responses))
    done = command("--check", folder / "served_out.jsonl", "--calibration", folder / "made.json")
    assert done.exit_code == 0, done.output
    assert "no drift seen in 50 traces" in done.stdout


def test_responses_under_another_calibration_are_left_out(
    folder: Path, tmp_path: Path, responses: list[ScoreResponse]
) -> None:
    other = [
        one.model_copy(update={"provenance": one.provenance.model_copy(update={"calibration": "default"})})
        for one in responses[:15]
    ]
    lines = [one.model_dump_json() + "\n" for one in [*other, *responses[15:]]]
    (tmp_path / "mixed.jsonl").write_text("".join(lines))
    done = command("--check", tmp_path / "mixed.jsonl", "--calibration", folder / "made.json")
    assert "15 responses of another preset or calibration are left out" in done.stdout
    assert "in 35 traces" in done.stdout


def test_lines_that_are_neither_records_nor_responses_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    done = command("--check", tmp_path / "other.jsonl", "--calibration", folder / "made.json")
    assert done.exit_code == 2
    assert "line 1" in done.stderr
