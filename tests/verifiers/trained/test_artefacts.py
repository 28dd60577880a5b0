"""The file of a head: it comes back as it was, and is refused where it does not fit."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rafs.engines.head_files import read_arrays, write_arrays
from rafs.errors import BackendError, ConfigError
from rafs.registry import load_registry
from tests.verifiers.trained.made_traces import made_examples, with_readings
from verifiers.trained.artefacts import BaseNeeded, check_base, load_head, save_head
from verifiers.trained.fitting import Recipe, fit_head
from verifiers.trained.training import layers_of

READ = with_readings(made_examples(40))
HEAD = fit_head(READ, Recipe(n_components=3, n_trees=10, least_leaf=3, width=8, epochs=1))
BASE = BaseNeeded(weights_sha256="a" * 64, dtype="float32", layers=(1, 2))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "head.safetensors"
    save_head(file, HEAD, BASE, {"data": "made"})
    return file


def test_a_head_comes_back_as_it_was(path: Path) -> None:
    head, base = load_head(path)
    assert base == BASE
    assert_allclose(READ[0].log_odds(head), READ[0].log_odds(HEAD), atol=1e-3)  # the network is kept in half precision


def test_the_head_that_ships_belongs_to_its_entry() -> None:
    entry = load_registry().model("smollm2-135m-steps")
    _, base = load_head(Path(entry.trained or ""))
    assert (base.dtype, base.layers) == (entry.dtype, layers_of(30))


def test_the_same_head_is_the_same_file(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    save_head(other, HEAD, BASE, {"data": "made"})
    assert other.read_bytes() == path.read_bytes()


def test_a_base_with_other_weights_is_refused(path: Path) -> None:
    with pytest.raises(ConfigError, match="train-verifier"):
        check_base(path, BASE, "b" * 64)


def test_the_base_that_it_was_trained_on_is_taken(path: Path) -> None:
    check_base(path, BASE, "a" * 64)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the trained head"):
        load_head(tmp_path / "none.safetensors")


def test_a_damaged_file_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(BackendError, match="damaged"):
        load_head(path)


@pytest.mark.parametrize("key", ["format", "features", "surprisal"])
def test_a_head_of_another_version_is_refused(path: Path, key: str) -> None:
    arrays, notes = read_arrays(path)
    write_arrays(path, arrays, {**notes, key: "[]"})
    with pytest.raises(ConfigError, match="another version"):
        load_head(path)


def loops(arrays: dict[str, np.ndarray]) -> None:
    arrays["trees.left"] = np.zeros_like(arrays["trees.left"])
    arrays["trees.right"] = np.ones_like(arrays["trees.right"])


def looks_beyond(arrays: dict[str, np.ndarray]) -> None:
    arrays["trees.column"] = np.full_like(arrays["trees.column"], 30_000)


def lacks(arrays: dict[str, np.ndarray]) -> None:
    del arrays["linear.weights"]


def is_not_finite(arrays: dict[str, np.ndarray]) -> None:
    arrays["linear.weights"] = np.full_like(arrays["linear.weights"], np.nan)


def has_another_network(arrays: dict[str, np.ndarray]) -> None:
    arrays["pooler.hidden.bias"] = arrays["pooler.hidden.bias"][:-1]


def is_too_short(arrays: dict[str, np.ndarray]) -> None:
    arrays["linear.mean"] = arrays["linear.mean"][:-1]


@pytest.mark.parametrize(
    "damage",
    [loops, looks_beyond, lacks, is_not_finite, is_too_short, has_another_network],
    ids=lambda one: one.__name__,
)
def test_arrays_that_do_not_fit_are_refused(path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    arrays, notes = read_arrays(path)
    changed = dict(arrays)
    damage(changed)
    write_arrays(path, changed, notes)
    with pytest.raises(BackendError, match="damaged"):
        load_head(path)
