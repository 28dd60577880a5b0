"""What becomes of an item: a record of its score, or why there is none."""

from dataclasses import dataclass
from enum import StrEnum

from rafs.types import FAILED
from rafs.wire import ScoreResponse

GENERATOR_DOWN = "generator_down"
"""Reason of a component that a generator was to be asked for."""
VERIFIER_DOWN = "verifier_down"
DEADLINE = "deadline"


class Kind(StrEnum):
    """Whose fault it is that an item has no score."""

    INPUT = "input"
    """The row cannot be read, or makes no request that can be scored: mend the log."""
    BACKEND = "backend"
    """A model, server or worker failed."""
    TIMEOUT = "timeout"
    """It took too long."""
    OVERLOADED = "overloaded"
    """A model's queue stayed full."""
    WORKER_DIED = "worker_died"
    """The process that scored it ended more than once."""
    INTERNAL = "internal"
    """A fault of RAFS."""


RETRYABLE = frozenset(Kind) - {Kind.INPUT}
"""What may go well the next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the results hold of a score."""

    status: str
    outcome: str
    reasoning: str
    answer: str
    score: float | None
    interval_low: float | None
    interval_high: float | None
    suspect_step: int | None
    reasons: tuple[str, ...]
    coverage: float
    independence: str
    tokens: int
    rafs_version: str
    config_hash: str
    calibration: str
    models: tuple[str, ...]
    """`role:id@revision` of those that took part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An item with its score."""

    record: Record
    response: str | None = None
    """The whole response as JSON, where that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An item without one."""

    kind: Kind
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A request to score."""

    number: int
    """The first row that asks it, 1-based."""
    request: bytes
    """In its canonical form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """An item that is done."""

    number: int
    ms: float
    result: Scored | Failed


def to_record(response: ScoreResponse) -> Record:
    """Return what the results hold of a response."""
    low, high = response.interval or (None, None)
    provenance = response.provenance
    return Record(
        status=response.status,
        outcome=response.outcome.label,
        reasoning=response.outcome.reasoning,
        answer=response.outcome.answer,
        score=response.score,
        interval_low=low,
        interval_high=high,
        suspect_step=None if response.suspect_step is None else response.suspect_step.index,
        reasons=tuple(response.reasons),
        coverage=response.coverage,
        independence=response.independence,
        tokens=sum(stage.tokens for stage in response.usage),
        rafs_version=provenance.rafs_version,
        config_hash=provenance.config_hash,
        calibration=provenance.calibration,
        models=tuple(f"{model.role}:{model.id}@{model.revision}" for model in provenance.models),
    )


def outage_of(response: ScoreResponse) -> str | None:
    """Return which model could not be asked, where one that is part of the preset was down; None where none was.

    What RAFS says without it would pass for what RAFS says.
    """
    if VERIFIER_DOWN in response.reasons or _nobody_answered(response):
        return "no verifier could be asked"
    if any(component.unmeasured == GENERATOR_DOWN for component in response.components):
        return "the generator could not be asked"
    if response.consensus is not None and response.consensus.stopped_because == GENERATOR_DOWN:
        return "the generator failed before all samples were drawn"
    if response.interventions.writer_failed:
        return "the generator failed before all edits were continued"
    return None


def _nobody_answered(response: ScoreResponse) -> bool:
    """Whether models that were asked failed, and none said anything; an Abstain for lack of P names no model."""
    models = [member for member in response.members if member.family is not None]
    failed = any(member.judged == 0 and not FAILED.isdisjoint(member.silent) for member in models)
    return failed and DEADLINE not in response.reasons and not any(member.judged for member in models)
