from pathlib import Path
from typing import Any

import pytest

from rafs.errors import ConfigError, InputError
from rafs.evaluation.run_folder import TRACES, DataFile, RunFacts, RunFolder
from rafs.record import ProvenanceOut
from tests.rafs.evaluation.made import record

PROVENANCE = ProvenanceOut(
    rafs_version="1", config_hash="c", calibration="default", preset="gate", seed=0, prompts={}, models=[]
)


def facts(**changes: Any) -> RunFacts:
    own = {name: changes.pop(name) for name in ("generator", "files") if name in changes}
    made = {"generator": None, "files": [DataFile(name="a.jsonl", sha256="f")], **own}
    return RunFacts(provenance=PROVENANCE.model_copy(update=changes), **made)


def test_what_was_kept_is_read_back(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", TRACES)
    assert folder.begin(facts()) == {}
    folder.append(record("a"))
    folder.append(record("b"))
    assert RunFolder(tmp_path / "run", TRACES).begin(facts()) == {"a": record("a"), "b": record("b")}


@pytest.mark.parametrize("tail", [b'{"id":"b","sco', b"\0\0\0\0\n"], ids=["cut by a kill", "zeros of a power cut"])
def test_a_last_line_that_is_not_whole_is_scored_again(tmp_path: Path, tail: bytes) -> None:
    folder = RunFolder(tmp_path, TRACES)
    folder.begin(facts())
    folder.append(record("a"))
    with (tmp_path / "records.jsonl").open("ab") as file:
        file.write(tail)
    assert set(folder.begin(facts())) == {"a"}
    folder.append(record("b"))
    assert set(folder.begin(facts())) == {"a", "b"}


def test_a_damaged_line_before_the_last_is_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, TRACES)
    folder.begin(facts())
    (tmp_path / "records.jsonl").write_text("no record\n")
    folder.append(record("a"))
    with pytest.raises(InputError, match="a damaged line 1"):
        folder.begin(facts())


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"preset": "deep"},
        {"config_hash": "d"},
        {"rafs_version": "2"},
        {"calibration": "other"},
        {"generator": "gpt-4o"},
        {"files": [DataFile(name="a.jsonl", sha256="e")]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_run_of_something_else_is_not_gone_on_with(tmp_path: Path, changes: dict[str, Any]) -> None:
    RunFolder(tmp_path, TRACES).begin(facts())
    with pytest.raises(InputError, match=f"a run with {next(iter(changes))}"):
        RunFolder(tmp_path, TRACES).begin(facts(**changes))


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a folder that can be written"):
        RunFolder(tmp_path / "file" / "run", TRACES).begin(facts())


def test_two_runs_are_never_in_one_folder_at_once(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path, TRACES).held(),
        pytest.raises(ConfigError, match="another run is writing there"),
        RunFolder(tmp_path, TRACES).held(),
    ):
        pass


def test_a_folder_is_free_again_where_its_run_ended_by_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), RunFolder(tmp_path, TRACES).held():
        raise KeyError
    with RunFolder(tmp_path, TRACES).held():
        assert (tmp_path / ".lock").exists()


def test_a_folder_that_cannot_be_locked_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="a folder that can be written"),
        RunFolder(tmp_path / "file" / "run", TRACES).held(),
    ):
        pass
