"""JSON out: what every response carries."""

from typing import Literal

from pydantic import Field

from rafs.checked_wire import InstructionsOut, RoutedOut
from rafs.consensus_wire import ConsensusOut
from rafs.messages import Wire
from rafs.record import ProvenanceOut, Record


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
    suspect: bool = Field(description="Whether p_correct is below the policy's tau_step.")
    decided_by: list[str] = Field(description="Members whose word made p_correct; the ledger says why others did not.")
    disagreement: float | None = Field(
        description="Largest minus smallest calibrated p_correct of the judges, 0 to 1; null where fewer than 2 judged."
    )
    shown_to: list[str] = Field(
        description="Models among the verifiers that were sent the step, to judge it or one behind it."
    )
    reason: str
    claims: list[ClaimOut]
    role: Literal["load_bearing", "decorative", "unknown"] | None = Field(
        description="Whether the answer hangs on the step, by its edits, else by the graph; null for a statement of it."
    )
    necessity: float | None = Field(
        description="How far the answer changes when the step is changed or left out, 0 to 1; null where not observed."
    )
    necessity_source: Literal["continuation", "replay", "deletion"] | None
    sufficiency: float | None = Field(
        description="Share of the steps the answer is computed from that this step is or builds on, 0 to 1."
    )


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
    log_contribution: float | None = Field(
        description="w * log(value + eps), to 6 decimals; these sum to log(score / 100)."
    )
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


class SupportOut(Wire):
    """The two halves of S: S = e^alpha * mean_delta^(1 - alpha)."""

    e: float | None = Field(description="P(the derivation entails the answer); null where nobody could say.")
    e_source: Literal["graph", "validator", "judge"] | None
    detail: str = Field(description="What e rests on, or why there is none.")
    mean_delta: float | None = Field(description="Mean effect of the valid edits; null where none was observed.")


class ProbePointOut(Wire):
    """What the writer answered where its trace was cut, shortened, reworded or falsified."""

    step: int | None
    position: float = Field(description="Share of the derivation before that place.")
    same: int
    read: int
    asked: int


class ProbeOut(Wire):
    """A complementary probe; no score depends on it."""

    kind: Literal["early_answering", "deletion", "paraphrase", "added_mistake", "unedited"]
    value: float | None = Field(
        description="Area over the curve (early_answering, added_mistake), share of changed answers (deletion), or "
        "share of unchanged ones (paraphrase, unedited)."
    )
    coverage: float
    unmeasured: str | None
    detail: str
    baseline: float | None = Field(
        description="The same share beside it: where nothing was reworded (paraphrase), after the edits (unedited)."
    )
    points: list[ProbePointOut] | None = Field(description="Null unless interventions were asked for.")


class InterventionsOut(Wire):
    """What was edited and how the answer responded; the edits themselves only where asked for."""

    method: Literal["replay", "continuation", "none"]
    valid: int
    discarded: dict[str, int] = Field(
        description="Edits that broke a constraint or that the validator refused, by reason."
    )
    not_needed: int = Field(description="Continuations that were not asked, since the decision was settled.")
    not_run: int = Field(description="Continuations that time, or a failure of the writer, left out.")
    late: bool = Field(description="Whether time ran out: then the effects are what was observed by then.")
    writer_failed: bool = Field(default=False, description="Whether the writer failed on the way; likewise.")
    pivots: list["PivotOut"] | None
    effects: list["EffectOut"] | None
    probes: list[ProbeOut]


class PivotOut(Wire):
    """A step that was found worth editing, and why."""

    step: int
    reason: str
    influence: float | None = Field(
        description="Elasticity of the answer in the step's result, by exact replay; with reason `ablation`, how much "
        "rarer the writer gives the stated answer without the step."
    )
    doubt: float = Field(description="1 - p_correct; 1 where nobody judged the step.")


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
    interval: tuple[float, float] | None = Field(description="95 % of delta; null for a replay, which is exact.")


class LedgerRow(Wire):
    """Who decided what on one step."""

    step: int
    member: str
    family: str | None
    p_correct: float | None
    refuted: bool
    reason: str


class MemberOut(Wire):
    """How many steps one verifier was asked about, and what became of it."""

    member: str
    family: str | None
    asked: int
    judged: int
    silent: dict[str, int] = Field(description="Steps without its verdict, by reason, those not put to it included.")


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
    reused: int = Field(description="Opinions that cost nothing: the same had been asked before, or was just then.")
    milliseconds: float


class ContradictionOut(Wire):
    """Two claims of two agreeing traces that contradict each other; trace -1 is the scored one."""

    traces: tuple[int, int]
    claims: tuple[str, str]
    found_by: Literal["arithmetic", "validator"] = Field(
        description="One quantity with two results, or a validator's opinion of the words."
    )


class StabilityOut(Wire):
    """How the traces behind the modal answer differ; component D says by how much."""

    contradiction: float | None = Field(
        description="Share of the compared pairs of traces with a quantity of two results."
    )
    method_diversity: float | None = Field(
        description="Share of the calculations of two traces that neither match nor contradict one of the other: right "
        "by another way, or beside the point."
    )
    n_contradictions: int = Field(description="All that were found; `contradictions` shows the first ones.")
    pairs_full: int = Field(description="Pairs of claims of these traces in both directions, K (K - 1) C^2.")
    pairs_canonical: int = Field(description="Those decided without a model, by their canonical form.")
    pairs_asked: int = Field(description="Those put to the validator; equal texts count once. The others weigh 0.")


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
    outcome_probabilities: dict[str, float] | None = Field(
        default=None,
        description="By outcome; null without a score, where the calibration has none, and where its data measured "
        "less of a trace than this one: without samples it knows nothing of what consensus says.",
    )
    suspect_step: SuspectOut | None
    answer: AnswerOut
    steps: list[StepOut]
    components: list[ComponentOut]
    coverage: float
    independence: Literal["independent", "unknown", "overridden", "none_left"]
    support: SupportOut
    interventions: InterventionsOut
    samples: int = Field(description="Sent or drawn; `consensus.k` is how many of them voted.")
    consensus: ConsensusOut | None = Field(
        default=None, description="Null where there are no samples, or nobody counted them."
    )
    contradictions: list[ContradictionOut]
    stability: StabilityOut
    truncated: list[str] = Field(description="Fields of the input that were not wholly looked at, and why.")
    members: list[MemberOut]
    routed: RoutedOut | None = Field(default=None, description="Null in responses of older versions.")
    instructions: InstructionsOut | None = Field(default=None, description="Null where no rules were sent.")
    ledger: list[LedgerRow]
    usage: list[StageOut]
    provenance: ProvenanceOut
    record: "Record | None" = None
