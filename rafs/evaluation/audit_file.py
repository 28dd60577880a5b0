"""The file beside models.yaml that says which judges were audited, and how they did."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from rafs.errors import ConfigError
from rafs.evaluation.audit import AuditVerdict, PassRates
from rafs.evaluation.audit_biases import PairRates, SelfPreference
from rafs.evaluation.intervals import Measurement

MAX_FILE_BYTES = 16 << 20
Origin = Literal["natural", "synthetic"]


class OracleName(StrEnum):
    """The oracles that an audit can be held against."""

    ARITHMETIC = "arithmetic"
    CITATIONS = "citations"
    INSTRUCTIONS = "instructions"


class AuditEntry(BaseModel):
    """One audit of one model by one oracle."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    model: str
    revision: str
    """Of its weights; an audit says nothing of others."""
    asked_with: dict[str, str]
    """Versions of the prompts, and whether in a chat; an audit says nothing of others."""
    oracle: OracleName
    verdict: AuditVerdict
    decided_on: Origin
    """Natural items decide where there are both right and wrong ones; planted errors flatter a judge."""
    date: str
    rafs_version: str
    seed: int
    items_sha256: str
    """Of everything that was asked, and what is right."""
    rates: dict[Origin, tuple[PassRates, ...]]
    rankings: dict[Origin, Measurement]
    """AUROC of its probabilities: no verdict hangs on it."""
    pairs: PairRates | None
    self_preference: SelfPreference | None
    left_out: dict[str, int]
    """Items of the files that were not asked, by reason."""
    sha256: str = ""
    """Of the entry itself, so that a verdict changed by hand is not believed."""

    @model_validator(mode="after")
    def _was_not_changed(self) -> Self:
        if self.sha256 and self.sha256 != self.hashed():
            raise ValueError(f"the entry of {self.model!r} was changed after the audit: audit it again")
        return self

    def hashed(self) -> str:
        """Return the hash of everything but the hash."""
        plain = self.model_dump(mode="json", exclude={"sha256"})
        return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def sealed(self) -> Self:
        """Return the entry with its hash."""
        return self.model_copy(update={"sha256": self.hashed()})

    @property
    def summary(self) -> str:
        """Return the verdict in a few words."""
        return f"{self.verdict} ({self.oracle}, {self.date})"

    def applies_to(self, model: str, revision: str, asked_with: Mapping[str, str]) -> bool:
        """Whether it was made of this model, with these weights and asked like this."""
        return (self.model, self.revision) == (model, revision) and self.asked_with == dict(asked_with)


class _AuditFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    audits: tuple[AuditEntry, ...]


_FILE = TypeAdapter(_AuditFile)


def path_beside(models_file: Path) -> Path:
    """Return where the audits of a models.yaml stand: `models.audits.json`."""
    return models_file.with_name(f"{models_file.stem}.audits.json")


def load_audits(path: Path) -> tuple[AuditEntry, ...]:
    """Read the audits of a file; none where there is no file.

    Raises:
        ConfigError: It is no such file, or an entry was changed.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{path}: got {path.stat().st_size} bytes, at most {MAX_FILE_BYTES} are read")
        content = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        audits = _FILE.validate_json(content).audits
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{path}: {place or 'the whole file'}: {first['msg']}") from error
    if unsealed := next((entry.model for entry in audits if not entry.sha256), None):
        raise ConfigError(f"{path}: the entry of {unsealed!r} has no sha256, so it is none that an audit wrote")
    return audits


def write_audits(path: Path, entries: Sequence[AuditEntry]) -> None:
    """Add audits to a file; each takes the place of an earlier one of the same model by the same oracle.

    Raises:
        ConfigError: The file cannot be read or written.
    """
    new = {(entry.model, entry.oracle) for entry in entries}
    kept = [entry for entry in load_audits(path) if (entry.model, entry.oracle) not in new]
    content = _AuditFile(audits=(*kept, *(entry.sealed() for entry in entries))).model_dump_json(indent=1)
    partial = path.with_suffix(".partial")
    try:
        partial.write_text(content + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}; use a models.yaml of your own") from error


def failures(audits: Iterable[AuditEntry]) -> list[AuditEntry]:
    """Return the audits that were failed."""
    return [entry for entry in audits if entry.verdict is AuditVerdict.NO_DISCRIMINATION]
