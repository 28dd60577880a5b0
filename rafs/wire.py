"""JSON in and out: what a caller sends and what every response carries."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from rafs.calibration import Calibration
from rafs.policy import Policy, Preset
from rafs.types import Entailment, ModelIdentity, Sampled, Truth, Why

MAX_PROBLEM_CHARS = 20_000
MAX_TRACE_CHARS = 100_000
"""About 25 000 tokens, three times the window of the embedded verifier."""
MAX_STEPS = 400
MAX_STEP_CHARS = 10_000
MAX_SAMPLES = 32
"""Pairs of traces grow with the square: 32 samples are 496 pairs."""
MAX_ANSWER_CHARS = 2_000
MAX_NAME_CHARS = 200
MAX_SEED = 2**31 - 1


class Wire(BaseModel):
    """Strict JSON: no unknown keys, no coercion between types, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Problem = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PROBLEM_CHARS)]
TraceText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TRACE_CHARS)]
StepText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_STEP_CHARS)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARS)]
UNUSABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def unusable(got: str, allowed: str, where: str) -> PydanticCustomError:
    """Return the error for a rule that no type can say; `where` is the dotted path below the field or model."""
    return PydanticCustomError("unusable", "{got}{allowed}", {"got": got, "allowed": allowed, "where": where})


def shape_of(value: object) -> str | None:
    """Return the tag of the union member that a value belongs to, so that an error speaks of that member alone."""
    match value:
        case str():
            return "<text>"
        case list():
            return "<list>"
        case dict() | BaseModel():
            return "<object>"
        case None:
            return "<null>"
        case _:
            return None


def _shapes(allowed: str) -> Discriminator:
    return Discriminator(
        shape_of,
        custom_error_type="wrong_shape",
        custom_error_message="{allowed}",
        custom_error_context={"allowed": allowed},
    )


class ContentBlock(Wire):
    """One block of a message: visible text or a reasoning block."""

    type: Literal["text", "thinking", "reasoning"]
    text: str | None = Field(default=None, max_length=MAX_TRACE_CHARS)
    thinking: str | None = Field(default=None, max_length=MAX_TRACE_CHARS)


class Message(Wire):
    """An assistant message in the common chat shape."""

    role: Literal["assistant"] = "assistant"
    content: Annotated[
        Annotated[TraceText, Tag("<text>")]
        | Annotated[list[ContentBlock], Field(min_length=1, max_length=64), Tag("<list>")]
        | Annotated[None, Tag("<null>")],
        _shapes("text, a list of content blocks or null"),
    ] = None
    reasoning_content: str | None = Field(default=None, max_length=MAX_TRACE_CHARS)


TraceInput = Annotated[
    Annotated[TraceText, Tag("<text>")]
    | Annotated[list[StepText], Field(min_length=1, max_length=MAX_STEPS), Tag("<list>")]
    | Annotated[Message, Tag("<object>")],
    _shapes("text, a list of steps or an assistant message"),
]


class GeneratorInfo(Wire):
    """Who wrote the trace; independence is decided by the family."""

    model: Name | None = Field(default=None, examples=["gpt-4o-mini"])
    family: Name | None = Field(default=None, examples=["gpt"])


class ScoreRequest(Wire):
    """A problem and a chain of thought to score."""

    problem: Problem = Field(description="The problem as the model saw it.")
    trace: TraceInput = Field(
        description="The chain of thought: text, the caller's own list of steps, or an assistant message."
    )
    answer: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ANSWER_CHARS)] | None = Field(
        default=None,
        description="The stated answer, where it is known apart from the trace; it wins over the text.",
    )
    generator: GeneratorInfo | None = Field(default=None, description="The model that wrote the trace.")
    samples: Annotated[list[TraceText], Field(max_length=MAX_SAMPLES)] = Field(
        default=[],
        description="More traces of the same model on the same problem, for consensus and stability.",
    )
    preset: Name | None = Field(default=None, examples=["gate", "standard", "deep"])
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    include: list[Literal["record", "interventions"]] = Field(
        default=[],
        max_length=8,
        description="`record`: what `rafs replay` needs. `interventions`: the edits that were made.",
    )

    @field_validator("problem", "trace", "answer", "samples")
    @classmethod
    def refuse_unusable_text(cls, value: object) -> object:
        """Refuse what is not text: white space alone, null bytes, lone surrogates."""
        for where, text in _texts(value):
            if not text.strip():
                raise unusable("white space only", "text with something to read in it", where)
            if found := UNUSABLE_CHARACTER.search(text):
                got = f"the character U+{ord(found[0]):04X}"
                raise unusable(got, "Unicode text without null bytes and lone surrogates", where)
        return value

    @model_validator(mode="after")
    def bound_the_whole(self) -> "ScoreRequest":
        """Refuse a list of steps that is longer than a trace may be."""
        if isinstance(self.trace, list) and (total := sum(map(len, self.trace))) > MAX_TRACE_CHARS:
            raise unusable(f"{total} characters in its steps", f"at most {MAX_TRACE_CHARS}", "trace")
        return self


def _texts(value: object) -> Iterator[tuple[str, str]]:
    """Yield every text of a field, with its dotted path below the field."""
    match value:
        case str():
            yield "", value
        case list():
            yield from ((str(index), text) for index, text in enumerate(value))
        case Message():
            parts = [value.reasoning_content, value.content if isinstance(value.content, str) else None]
            blocks = value.content if isinstance(value.content, list) else []
            parts += [part for block in blocks for part in (block.text, block.thinking)]
            yield "", "\n".join(part for part in parts if part is not None)


class ClaimOut(Wire):
    """One claim that the checker read in a step."""

    text: str
    truth: Literal["true", "false", "unknown"]
    reason: str
    ungrounded: list[str] = Field(
        description="Operands that come from nowhere: not the problem, not an earlier result."
    )


class StepOut(Wire):
    """One step and what was found out about it."""

    index: int
    start: int
    end: int
    text: str
    kind: Literal["inference", "setup", "answer"]
    p_correct: float | None = Field(description="q_t in [0, 1]; null where nobody judged the step.")
    refuted: bool
    reason: str
    claims: list[ClaimOut]


class SuspectOut(Wire):
    """The earliest step that is more likely wrong than the threshold allows."""

    index: int
    p_correct: float
    reason: str


class ComponentOut(Wire):
    """One component; value and contribution are null exactly where it was not measured."""

    name: Literal["P", "S", "C", "D"]
    title: str
    value: float | None
    coverage: float
    weight: float = Field(description="Weight after renormalising over what was measured; 0 where unmeasured.")
    log_contribution: float | None = Field(description="w * log(value + eps); these sum to log(score / 100).")
    unmeasured: str | None = Field(description="Why there is no value.")
    detail: str


class OutcomeOut(Wire):
    """The quadrant and its two halves."""

    label: Literal["faithful_success", "silent_failure", "extraction_failure", "overt_failure", "undetermined"]
    reasoning: Literal["sound", "flawed", "unknown"]
    answer: Literal["supported", "contradicted", "unknown"]


class AnswerOut(Wire):
    """What is known of the answer."""

    stated: str | None
    source: str | None = Field(description="Where it was found: field, boxed, hash, phrase, label, conclusion, ...")
    ambiguous: bool
    derived: str | None = Field(description="What the derivation itself ends in, as an exact number.")
    derived_matches: bool | None
    modal: str | None = Field(description="The strictly most frequent answer of the samples.")
    share: float | None = Field(description="Share of the samples that give the stated answer.")
    is_modal: bool | None


class InterventionsOut(Wire):
    """What was edited and how the answer responded; the edits themselves only where asked for."""

    method: Literal["replay", "continuation", "none"]
    valid: int
    discarded: dict[str, int] = Field(description="Edits that broke a constraint, by reason.")
    effects: list["EffectOut"] | None


class EffectOut(Wire):
    """One edit and its effect."""

    step: int
    family: str
    text: str
    old: str
    new: str
    predicted: str | None
    responses: list[str]
    delta: float | None


class LedgerRow(Wire):
    """Who decided what on one step."""

    step: int
    member: str
    family: str | None
    p_correct: float | None
    refuted: bool
    reason: str


class ModelStatus(Wire):
    """A model of the registry."""

    id: str
    family: str
    roles: list[str]
    source: str
    licence: str
    revision: str
    ready: bool = Field(description="Whether its weights lie on this machine; always true for an endpoint.")


class StageOut(Wire):
    """Cost of one stage."""

    stage: str
    calls: int
    tokens: int
    milliseconds: float


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


class ContradictionOut(Wire):
    """Two claims of two agreeing traces that contradict each other; trace -1 is the scored one."""

    traces: tuple[int, int]
    claims: tuple[str, str]


class ScoreResponse(Wire):
    """The score, the decision and all the evidence."""

    id: str
    score: float | None = Field(description="0-100; null when the status is Abstain.")
    interval: tuple[float, float] | None = Field(
        description="95 % bootstrap interval over samples and continuations; null where there are none."
    )
    status: Literal["Accept", "Review", "Abstain"]
    reasons: list[str]
    outcome: OutcomeOut
    suspect_step: SuspectOut | None
    answer: AnswerOut
    steps: list[StepOut]
    components: list[ComponentOut]
    coverage: float
    independence: Literal["independent", "unknown", "overridden", "none_left"]
    interventions: InterventionsOut
    samples: int
    contradictions: list[ContradictionOut]
    truncated: list[str] = Field(description="Fields of the input that were not wholly looked at, and why.")
    ledger: list[LedgerRow]
    usage: list[StageOut]
    provenance: ProvenanceOut
    record: "Record | None" = None


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
    entailments: list[tuple[str, str, Entailment]]
    algebra: list[tuple[str, str, Truth]] = Field(description="Left side, right side and truth of every claim.")
    samples: list[Sampled] = Field(description="Samples drawn from the writer; empty where the caller sent them.")
    continuations: list[tuple[str, list[Sampled]]] = Field(description="What the writer wrote after each edited prefix.")
    deadline_passed: bool


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
