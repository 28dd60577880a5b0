"""The calibration artefact: numbers from data in one JSON file, with where they came from and what they promise.

Its id is the hash of its content: a file that was changed by hand is refused.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from rafs.calibration import Calibration, CheckerRates, Scale
from rafs.errors import ConfigError
from rafs.messages import Wire
from rafs.outcome_model import OutcomeModel
from rafs.policy import Policy
from rafs.registry import Registry

MAX_FILE_BYTES = 4 << 20
"""Twenty times what the largest reference takes."""
THRESHOLDS = {"tau_step", "tau_accept"}
"""Constants of the policy that an artefact replaces."""

Probability = Annotated[float, Field(ge=0, le=1)]


class Pin(Wire):
    """A model as it was when the numbers were made."""

    id: str
    role: str
    revision: str


class DataUsed(Wire):
    """A file of labelled traces."""

    name: str
    sha256: str
    n_traces: int
    n_problems: int


class Split(Wire):
    """One of the three parts, which share no problem."""

    n_traces: int
    n_problems: int


class AcceptThreshold(Wire):
    """The smallest score that is accepted, and the bound on what that lets through."""

    value: Annotated[float, Field(ge=0, le=100)] | None = Field(
        description="Null where none could be proven safe: nothing is accepted. The default's where no data bear on it."
    )
    guarantee: str = Field(description="The bound in words, or why there is none.")
    alpha: Probability
    delta: Probability
    n: int = Field(description="Problems it was learned from, a trace of each.")
    n_accepted: int
    n_failures: int = Field(description="Accepted ones that are not faithful.")


class Metric(Wire):
    """A figure on the test split; null with its reason where it could not be measured."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_problems: int = 0
    method: str = ""
    reason: str = ""


class Reference(Wire):
    """How something was distributed in the calibration set, one trace a problem: sorted values, or counts by name."""

    values: list[float] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)


class Artefact(Wire):
    """A calibration of one preset."""

    schema_version: Literal[1] = 1
    id: str = Field(default="", description="First 16 hex digits of the SHA-256 of everything else.")
    date: str
    rafs_version: str
    preset: str
    config_hash: str
    scoring: str = Field(description="Hash of what the thresholds hang on beside the models: policy and preset.")
    models: list[Pin]
    data: list[DataUsed]
    licences: str
    seed: int
    splits: dict[str, Split] = Field(description="`fit`, `threshold`, `test`.")
    prior: Annotated[float, Field(gt=0, lt=1)]
    checker: CheckerRates
    scales: dict[str, Scale]
    tau_step: Probability | None = Field(description="Null where it was not fitted: the policy's stays.")
    tau_accept: AcceptThreshold
    outcomes: OutcomeModel | None
    metrics: dict[str, dict[str, Metric]]
    reference: dict[str, Reference]
    notes: list[str] = Field(description="What was left out or could not be fitted, and why.")

    def signed(self) -> "Artefact":
        """Return it with its id."""
        return self.model_copy(update={"id": content_hash(self)})

    def to_calibration(self) -> Calibration:
        """Return the numbers as the formulas take them."""
        return Calibration(
            id=self.id,
            data=", ".join(data.name for data in self.data),
            prior=self.prior,
            checker=self.checker,
            scales=self.scales,
            outcomes=self.outcomes,
        )

    def to_policy(self, policy: Policy) -> Policy:
        """Return a policy with the thresholds of the artefact."""
        tau_step = policy.tau_step if self.tau_step is None else self.tau_step
        return replace(policy, tau_step=tau_step, tau_accept=self.tau_accept.value)


def content_hash(artefact: Artefact) -> str:
    """Return 16 hex digits that change with anything in the artefact but its id."""
    return _digest(artefact.model_dump(mode="json", exclude={"id"}))


def scoring_hash(registry: Registry, preset: str) -> str:
    """Return 16 hex digits that change with any constant or setting, but models and thresholds, that moves a score."""
    entry = registry.presets.by_name()[preset].model_dump(mode="json", exclude={"models", "calibration", "deadline_s"})
    for key in ("required", "optional", "accept_without"):  # sets have no order of their own
        entry[key].sort()
    return _digest({"policy": registry.policy.model_dump(mode="json", exclude=THRESHOLDS), "preset": entry})


def _digest(content: object) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def load_artefact(path: Path) -> Artefact:
    """Read a calibration artefact and check it.

    Raises:
        ConfigError: It cannot be read, is of another schema, or was changed after it was made.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{path}: got {path.stat().st_size} bytes, at most {MAX_FILE_BYTES} are read")
        artefact = Artefact.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is no UTF-8") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole file"
        raise ConfigError(f"{path}: is no calibration of schema 1: {where}: {first['msg']}") from None
    if artefact.id != (expected := content_hash(artefact)):
        raise ConfigError(
            f"{path}: was changed after it was made: its id is {artefact.id!r}, its content hashes to {expected!r}; "
            "make it again with `rafs calibrate`"
        )
    return artefact


def save_artefact(artefact: Artefact, path: Path) -> None:
    """Write a calibration artefact, replacing the file as a whole.

    Raises:
        ConfigError: It cannot be written.
    """
    unfinished = path.with_name(path.name + ".part")
    try:
        unfinished.write_text(artefact.model_dump_json(indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
