"""Who a model of the registry is, and what pins its weights."""

import hashlib
from functools import lru_cache
from pathlib import Path

from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry, SourceKind
from rafs.registry import Registry
from rafs.types import ModelIdentity
from verifiers.trained.artefacts import FOLDER as HEADS


def identity_of(entry: ModelEntry, registry: Registry) -> ModelIdentity:
    """Return id, families and revision of a model."""
    return ModelIdentity(
        id=entry.id,
        family=entry.family,
        revision=revision_of(entry),
        kin=tuple(sorted(registry.families_of_entry(entry) - {entry.family})),
    )


def revision_of(entry: ModelEntry) -> str:
    """Return what pins a model's weights: a commit, a package version with its hash, a path or a served name.

    A trained verifier is pinned by the hash of its head too.

    Raises:
        ConfigError: That head cannot be read.
    """
    if entry.trained is None:
        return _revision_of_base(entry)
    head = HEADS / entry.trained  # an absolute path stands for itself
    try:
        return f"{_revision_of_base(entry)}+head.{_digest(head, head.stat().st_mtime_ns)[:12]}"
    except OSError as error:
        raise ConfigError(f"model {entry.id!r}: the trained head {entry.trained!r}: {error.strerror}") from error


def _revision_of_base(entry: ModelEntry) -> str:
    match entry.kind:
        case SourceKind.HUB:
            return entry.revision or ""
        case SourceKind.PACKAGE:
            return f"{entry.location.partition('==')[2]}+sha256.{(entry.sha256 or '')[:12]}"
        case SourceKind.PATH | SourceKind.ENDPOINT:
            return entry.model or entry.location


@lru_cache(maxsize=64)
def _digest(file: Path, changed_ns: int) -> str:
    """Return the SHA-256 of a file as it was when it changed last."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
