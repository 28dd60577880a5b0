"""One run, its artefact and what is scored under it, for all tests of this folder."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from rafs.calibration import DEFAULT_CALIBRATION
from rafs.calibration_file import Artefact, load_artefact
from rafs.evaluation.records import ItemRecord
from rafs.wire import ScoreResponse
from tests.service.calibration.made_run import (
    N_PROBLEMS,
    REGISTRY,
    command,
    rescored,
    respond,
    row,
    write_data,
    write_run,
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run, its labelled file, and the artefact made of them."""
    found = tmp_path_factory.mktemp("calibrating")
    traces = write_data(found / "pens.jsonl", [row(i) for i in range(N_PROBLEMS)])
    write_run(found / "run", found / "pens.jsonl", rescored(traces, DEFAULT_CALIBRATION, REGISTRY.policy.to_policy()))
    done = command(found / "run", found / "pens.jsonl", "--out", found / "made.json", "--licences", "CC0")
    assert done.exit_code == 0, done.output
    (found / "printed.txt").write_text(done.stdout)
    return found


@pytest.fixture(scope="session")
def artefact(folder: Path) -> Artefact:
    return load_artefact(folder / "made.json")


@pytest.fixture(scope="session")
def under_artefact(folder: Path, artefact: Artefact) -> Iterator[list[ItemRecord]]:
    """Yield records of other traces of the kind, as the service makes them under the artefact."""
    traces = write_data(folder / "more.jsonl", [row(i) for i in range(10, 130)])
    policy = artefact.to_policy(REGISTRY.policy.to_policy())
    yield rescored(traces, artefact.to_calibration(), policy)


@pytest.fixture(scope="session")
def responses(folder: Path, artefact: Artefact) -> list[ScoreResponse]:
    traces = write_data(folder / "served.jsonl", [row(i) for i in range(10, 60)])
    return asyncio.run(respond(artefact, traces))
