"""The folder of one run: what ran (`run.json`), and a line for every finished item (`records.jsonl`).

A line is on the disk before the next one is written, so that a killed run goes on where it was; what a kill cut short
is done again. Two processes never write to one folder: the first holds its lock, which ends with the process.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rafs.errors import ConfigError, InputError
from rafs.evaluation.libraries import filelock
from rafs.evaluation.records import read_record, write_record
from rafs.record import ProvenanceOut

LOCK = ".lock"


class DataFile(BaseModel):
    """A file of labelled traces."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    sha256: str


class RunFacts(BaseModel):
    """What two runs must share for their records to stand in one report."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provenance: ProvenanceOut
    generator: str | None
    """Taken for the writer of every trace that names none."""
    files: list[DataFile]
    sighted: bool = False
    """Judges were asked once more with the answer in sight, as a control."""
    grader: str | None = None
    """Who said whether the flaws that were named are those of the experts: model, revision and prompt."""
    deadline_s: float | None = None
    """For one trace, instead of the preset's; None is the preset's own."""


class HasId(Protocol):
    """Something that was done once."""

    @property
    def id(self) -> str:
        """Its name, unique in the run."""
        ...


Facts = TypeVar("Facts", bound=BaseModel)
Kept = TypeVar("Kept", bound=HasId)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKind(Generic[Facts, Kept]):
    """What a folder holds."""

    command: str
    """That writes it."""
    facts: type[Facts]
    write: Callable[[Kept], str]
    """Returns a record as one line."""
    read: Callable[[str], Kept]
    """Returns the record of a line; InputError where it is none."""


TRACES = RunKind(command="rafs eval", facts=RunFacts, write=write_record, read=read_record)
"""Scored traces."""


class RunFolder(Generic[Facts, Kept]):
    """Keeps what is finished."""

    def __init__(self, path: Path, kind: RunKind[Facts, Kept]) -> None:
        self.path = path
        self._kind = kind
        self._facts = path / "run.json"
        self._records = path / "records.jsonl"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder, and keep every other process out of it until the block ends.

        The lock is the operating system's: it ends with the process, however that ends.

        Raises:
            ConfigError: Another process holds it, or filelock is not installed.
            InputError: The folder cannot be written.
        """
        library = filelock()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / LOCK).touch()  # what cannot be written is not for waiting
            lock = library.FileLock(self.path / LOCK, timeout=0)
            lock.acquire()
        except library.Timeout as error:
            raise ConfigError(
                f"--out {self.path}: another run is writing there; wait until it ends, or give this one another folder"
            ) from error
        except OSError as error:
            raise self._refuse(error.strerror or str(error), "a folder that can be written") from error
        try:
            yield
        finally:
            lock.release()

    def begin(self, facts: Facts) -> dict[str, Kept]:
        """Make the folder, or go on with the run that it holds, and return what is finished by id.

        Raises:
            InputError: The folder cannot be written, or holds a run of something else.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if self._facts.exists():
                self._check(facts)
            elif self._records.exists():
                raise self._refuse("records.jsonl without run.json", f"a new folder, or one of `{self._kind.command}`")
            else:
                _write_whole(self._facts, facts.model_dump_json(indent=2))
            return self._read()
        except OSError as error:
            raise self._refuse(error.strerror or str(error), "a folder that can be written") from error

    def append(self, record: Kept) -> None:
        """Write a line through to the disk; a few milliseconds, where scoring takes hundreds."""
        with self._records.open("a", encoding="utf-8") as file:
            file.write(self._kind.write(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def write(self, name: str, text: str) -> Path:
        """Write a file of the report, whole or not at all."""
        _write_whole(self.path / name, text)
        return self.path / name

    def _check(self, facts: Facts) -> None:
        try:
            earlier = self._kind.facts.model_validate_json(self._facts.read_text("utf-8"))
        except ValidationError as error:
            raise self._refuse("a run.json that cannot be read", "a new folder, or one of this version") from error
        there, here = (_flat(one) for one in (earlier, facts))
        if differing := [name for name in here if here[name] != there[name]]:
            name = differing[0]
            got = f"a run with {name} {_short(there[name])}, and now it is {_short(here[name])}"
            raise self._refuse(got, "a new folder, or one whose run differs in nothing but --limit")

    def _read(self) -> dict[str, Kept]:
        """Read the records; a last line that a kill cut short is taken off the file."""
        if not self._records.exists():
            return {}
        lines = self._records.read_bytes().splitlines(keepends=True)
        if lines and not self._is_whole(lines[-1]):
            cut = lines.pop()
            os.truncate(self._records, self._records.stat().st_size - len(cut))
        finished: dict[str, Kept] = {}
        for number, line in enumerate(lines, 1):
            try:
                record = self._kind.read(line.decode("utf-8", "replace"))
            except InputError as error:
                raise self._refuse(f"a damaged line {number} in records.jsonl", "a run as it was written") from error
            finished.setdefault(record.id, record)
        return finished

    def _is_whole(self, line: bytes) -> bool:
        """Whether a last line is a record; a line that lost its end, or that a power cut left as zeros, is not."""
        if not line.endswith(b"\n"):
            return False
        try:
            self._kind.read(line.decode("utf-8", "replace"))
        except InputError:
            return False
        return True

    def _refuse(self, got: str, allowed: str) -> InputError:
        message = f"--out {self.path}: got {got}, allowed: {allowed}"
        return InputError(message, field="--out", got=got, allowed=allowed)


def _flat(facts: BaseModel) -> dict[str, object]:
    plain = facts.model_dump()
    return {**plain.pop("provenance", {}), **plain}


def _short(value: object) -> str:
    shown = str(value)
    return shown if len(shown) <= 120 else f"{shown[:119]}…"


def _write_whole(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
