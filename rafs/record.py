"""JSON of a record: what a replay needs, and where its numbers came from."""

from dataclasses import asdict

from pydantic import Field, field_serializer

from rafs.calibration import Calibration
from rafs.interventions import Continued, Proposed
from rafs.messages import Wire
from rafs.policy import Policy, Preset
from rafs.request import ScoreRequest
from rafs.rounds import Stopped
from rafs.types import Entailment, ModelIdentity, Sampled, Truth, Why
from rafs.usage import Stage


class ModelOut(Wire):
    """A model that took part."""

    id: str
    family: str
    revision: str
    role: str


class ProvenanceOut(Wire):
    """Where the numbers come from."""

    rafs_version: str
    config_hash: str
    calibration: str
    preset: str
    seed: int
    prompts: dict[str, str]
    models: list[ModelOut]
    audits: dict[str, str] = Field(default={}, description="What audits found of these models, by id.")


class VerdictTape(Wire):
    """One verdict: a probability, or why there is none."""

    p_correct: float | None
    refuted: bool
    why: Why | None
    reason: str


class MemberTape(Wire):
    """Every verdict that one verifier gave, in step order."""

    member: str
    identity: ModelIdentity | None
    verdicts: list[VerdictTape]


class Tape(Wire):
    """Everything that models and workers said during one request."""

    members: list[MemberTape]
    validator: ModelIdentity | None
    generator: ModelIdentity | None
    entailments: list[tuple[str, str, Entailment | Why | None]] = Field(
        description="Or why it could not say; null in records of older versions."
    )
    algebra: list[tuple[str, str, Truth]] = Field(description="Left side, right side and truth of every claim.")
    samples: list[Sampled] | None = Field(description="Drawn from the writer; null where none were.")
    stopped: Stopped | None = Field(default=None, description="Why no more were drawn.")
    continuations: list[Continued] = Field(description="What the writer made of each prefix, in the order of asking.")
    n_tried: int | None = Field(description="Claims weighed and edits tried; null where that stage did not begin.")
    editor: ModelIdentity | None = None
    embedder: ModelIdentity | None = Field(
        default=None, description="It chose which pairs of claims the validator was asked; null where that were all."
    )
    proposals: list[Proposed] = Field(default=[], description="What the editor made of each sentence.")
    follows: list[MemberTape] = Field(description="Judges of whether the answer follows, and what they said.")
    cut_off: list[Stage] = Field(description="Stages the deadline cut off.")


class Record(Wire):
    """What `rafs replay` needs to give the same score without a model: the input, the constants and the tape."""

    request: ScoreRequest
    writer_model: str | None
    writer_families: list[str]
    edit_seed: int
    policy: Policy
    preset: Preset
    calibration: Calibration
    provenance: ProvenanceOut
    tape: Tape

    @field_serializer("preset")
    def order_preset(self, preset: Preset) -> dict[str, object]:
        """Write sets in order, so that equal records are equal bytes."""
        sets = {name: sorted(getattr(preset, name)) for name in ("required", "accept_without")}
        return asdict(preset) | sets
