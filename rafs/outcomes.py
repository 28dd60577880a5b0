"""What is concluded about a trace: components, status and outcome."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A component that was computed from evidence."""

    value: float
    """In [0, 1]."""
    coverage: float
    """Share of what should have been looked at that was, in (0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmeasured:
    """A component for which there is no evidence; it has no value at all."""

    reason: str
    """Machine-readable code, such as `too_few_samples`."""
    detail: str = ""


Component = Measured | Unmeasured


class ComponentName(StrEnum):
    """The four components, by their letter in the formula."""

    VALIDITY = "P"
    SUPPORT = "S"
    CONSENSUS = "C"
    STABILITY = "D"


class Status(StrEnum):
    """What to do with the trace."""

    ACCEPT = "Accept"
    REVIEW = "Review"
    ABSTAIN = "Abstain"


class Reasoning(StrEnum):
    """One half of the outcome."""

    SOUND = "sound"
    FLAWED = "flawed"
    UNKNOWN = "unknown"


class AnswerSupport(StrEnum):
    """The other half of the outcome."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"


class OutcomeLabel(StrEnum):
    """The quadrant."""

    FAITHFUL_SUCCESS = "faithful_success"
    SILENT_FAILURE = "silent_failure"
    EXTRACTION_FAILURE = "extraction_failure"
    OVERT_FAILURE = "overt_failure"
    UNDETERMINED = "undetermined"
