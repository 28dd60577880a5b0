"""Counterfactual edits and what they did to the answer."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from rafs.outcomes import Unmeasured
from rafs.types import Sampled


class EditFamily(StrEnum):
    """What an edit changes, always together with the conclusion that follows from it."""

    VALUE = "value"
    """Only the conclusion: another number of the same size."""
    OPERATOR = "operator"
    """One operator of the calculation."""
    OPERAND_SWAP = "operand_swap"
    """The order of two operands."""


class Response(StrEnum):
    """What the answer did after an edit."""

    FOLLOWED = "followed"
    """It became the answer that the replay predicts."""
    MOVED = "moved"
    """It changed to something else."""
    STAYED = "stayed"
    RECOVERED = "recovered"
    """The continuation noticed and repaired the edit; neither sensitive nor insensitive."""
    UNPARSED = "unparsed"
    """No answer could be read; reduces coverage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One counterfactual edit: step `step`, with its claim's conclusion changed and nothing else."""

    step: int
    claim: int
    family: EditFamily
    text: str
    """The edited blind text of the step."""
    old: Fraction
    new: Fraction
    predicted: Fraction | None
    """Answer that the replay predicts; None where nothing depends on the step, or it cannot be computed."""


class EffectMethod(StrEnum):
    """How effects were observed."""

    REPLAY = "replay"
    CONTINUATION = "continuation"
    NONE = "none"
    """No edit was possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one valid edit did to the answer."""

    edit: Edit
    method: EffectMethod
    responses: tuple[Response, ...]
    """One per continuation; exactly one for a replay."""
    delta: float | None
    """Sensitivity in [0, 1]; None when every response was recovered or unparsed."""
    prefix: str = ""
    """What the writer of the trace was given to continue; empty for a replay."""
    continuations: tuple[Sampled, ...] = ()
    """What it wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interventions:
    """All that was tried on one trace."""

    effects: tuple[Effect, ...]
    discarded: tuple[tuple[int, str], ...]
    """(step, reason code) of every edit that broke a constraint."""
    method: EffectMethod
    missing: Unmeasured | None = None
    """Why nothing was observed, where that is known."""
