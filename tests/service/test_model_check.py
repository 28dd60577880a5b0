from pathlib import Path

import pytest

from service.model_check import changed_files, record_hashes


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "model-1"
    (folder / "inner").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "inner" / "weights.bin").write_bytes(b"\0" * 1000)
    return folder


def test_weights_are_as_they_were_fetched(weights: Path) -> None:
    record_hashes(weights)
    assert changed_files(weights) == []


def test_without_a_record_nothing_is_claimed(weights: Path) -> None:
    assert changed_files(weights) is None


def test_a_changed_a_missing_and_an_added_file_are_named(weights: Path) -> None:
    record_hashes(weights)
    (weights / "inner" / "weights.bin").write_bytes(b"\0" * 999 + b"\1")
    (weights / "config.json").unlink()
    (weights / "more.py").write_text("")
    assert changed_files(weights) == ["model-1/config.json", "model-1/inner/weights.bin", "model-1/more.py"]


def test_a_single_file_is_checked_too(tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    file.write_bytes(b"1")
    record_hashes(file)
    file.write_bytes(b"2")
    assert changed_files(file) == ["model.bin"]
