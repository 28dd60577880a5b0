"""From components to a decision: status, outcome and their reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rafs.aggregation import Aggregate
from rafs.outcomes import AnswerSupport, Component, ComponentName, OutcomeLabel, Reasoning, Status, Unmeasured
from rafs.probes import ProbeKind
from rafs.rounds import StopRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Constants of the score and of the decision; every default of `models.yaml` is documented there."""

    weights: Mapping[ComponentName, float]
    epsilon: float
    mean_weight: float
    """lambda of P."""
    alpha: float
    """Weight of e in S."""
    q_refuted: float
    """Largest q_t of a refuted step."""
    tau_step: float
    tau_disagree: float
    """Largest spread of the judges' probabilities of one step, in [0, 1], in an accepted trace."""
    tau_accept: float | None
    """Smallest accepted score, in [0, 100]; None where a calibration proved none safe, and nothing is accepted."""
    c_min: float
    """Smallest accepted coverage of the measured components."""
    m_min: int
    accept_unknown_generator: bool
    """Operator's choice: a trace whose writer is unknown may be accepted."""
    independence_override: bool
    """Operator's choice: verifiers of the generator's family are used, on the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How much is measured, and what a decision needs."""

    name: str
    required: frozenset[ComponentName]
    accept_without: frozenset[ComponentName]
    """Optional components that may be unmeasured in an accepted trace."""
    n_edits: int
    n_samples: int
    """Samples drawn from a generator, at most, when the caller sent none."""
    n_continuations: int
    n_judges: int
    """Judges asked, each of a family of its own."""
    stop_when_settled: bool
    """Once a checker refuted a step, no model is asked: the decision cannot change any more."""
    deadline_s: float
    probes: tuple[ProbeKind, ...] = ()
    """Complementary probes of the writer; they inform the report and enter no score."""
    stop_sampling: StopRule = StopRule.NEVER
    """When fewer than n_samples are drawn."""


NOT_EVALUATED = Unmeasured(reason="not_evaluated", detail="a checker refuted a step, which settles the decision")
"""A component for which nothing was run; no reason to abstain, since the decision rests on the refuted step."""
OUT_OF_REACH = Unmeasured(
    reason="not_evaluated", detail="no Accept can come of it: the score stays below the threshold"
)
"""The same where what is measured already keeps the score below the smallest accepted one."""


class Independence(StrEnum):
    """Whether those who judged are of another family than the one who wrote."""

    INDEPENDENT = "independent"
    UNKNOWN = "unknown"
    OVERRIDDEN = "overridden"
    NONE_LEFT = "none_left"


class Reason(StrEnum):
    """Machine-readable reasons of a status."""

    NO_TRACE = "no_trace"
    NO_ANSWER = "no_answer"
    NO_INDEPENDENT_VERIFIER = "no_independent_verifier"
    DEADLINE = "deadline"
    REQUIRED_UNMEASURED = "required_component_unmeasured"
    BELOW_THRESHOLD = "score_below_threshold"
    NO_SAFE_THRESHOLD = "no_threshold_is_safe"
    REFUTED_STEP = "refuted_step"
    SUSPECT_STEP = "suspect_step"
    JUDGES_DISAGREE = "judges_disagree"
    ANSWER_NOT_DERIVED = "answer_differs_from_derivation"
    STEPS_DO_NOT_CARRY = "steps_do_not_carry_answer"
    ANSWER_NOT_MODAL = "answer_is_not_the_modal_one"
    MOSTLY_UNANSWERED = "samples_without_answer"
    AMBIGUOUS_ANSWER = "ambiguous_answer"
    OPTIONAL_UNMEASURED = "optional_component_unmeasured"
    LOW_COVERAGE = "low_coverage"
    UNKNOWN_GENERATOR = "unknown_generator"
    VERIFIER_DOWN = "verifier_down"
    ARITHMETIC_ALONE = "only_arithmetic_was_checked"
    ALL_CHECKS_PASSED = "all_checks_passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the decision is made from, beside the score."""

    components: Mapping[ComponentName, Component]
    aggregate: Aggregate | None
    independence: Independence
    has_derivation: bool
    has_answer: bool
    ambiguous_answer: bool
    deadline_passed: bool
    refuted: bool
    """Some step was proven wrong by a checker."""
    suspect: bool
    """Some step has q_t < tau_step."""
    disagree: bool
    """On some step the judges' probabilities are further apart than tau_disagree."""
    arithmetic_alone: bool
    """No model's word counted, though it was asked for: whether the steps are the right ones, nobody judged."""
    verifier_down: bool
    """A model that was to judge failed, and no other model's word counted."""
    derived_matches: bool | None
    """Whether the stated answer is what the derivation ends in; None where that is not known."""
    decorative: bool
    """Interventions were made, and none of them reaches the answer."""
    answer_is_modal: bool | None
    mostly_unanswered: bool
    """More samples have no answer than the modal one, so that what the answered ones agree on says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The quadrant and its two halves."""

    label: OutcomeLabel
    reasoning: Reasoning
    answer: AnswerSupport


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the caller acts on."""

    status: Status
    reasons: tuple[str, ...]
    """Codes of `Reason`, some with the component they speak of: `required_component_unmeasured:S`."""
    score: float | None
    """None when the status is Abstain."""
    outcome: Outcome
    independence: Independence


def decide(findings: Findings, policy: Policy, preset: Preset) -> Decision:
    """Decide status and outcome; Abstain wins over Review, and Review over Accept.

    Accept needs score >= tau_accept, no refuted step, no known difference from the derived answer, coverage of the
    measured components >= c_min, an independent verifier, and every component that the preset does not waive. Beyond
    the source method (ours): no suspect step, no step on which the judges disagree widely, no answer that the samples
    outvote or that is ambiguous, and where no model's word counted, samples that give the stated answer: right
    arithmetic alone is weak evidence.
    """
    outcome = judge_outcome(findings, policy)
    status, reasons, score = _status(findings, policy, preset)
    return Decision(status=status, reasons=reasons, score=score, outcome=outcome, independence=findings.independence)


def _status(findings: Findings, policy: Policy, preset: Preset) -> tuple[Status, tuple[str, ...], float | None]:
    abstentions = _abstentions(findings, preset)
    if abstentions or findings.aggregate is None:
        return Status.ABSTAIN, tuple(abstentions), None
    doubts = _doubts(findings, findings.aggregate, policy, preset)
    if doubts:
        return Status.REVIEW, tuple(doubts), findings.aggregate.score
    return Status.ACCEPT, (Reason.ALL_CHECKS_PASSED,), findings.aggregate.score


def _abstentions(findings: Findings, preset: Preset) -> list[str]:
    reasons: list[str] = []
    if not findings.has_derivation:
        reasons.append(Reason.NO_TRACE)
    if not findings.has_answer:
        reasons.append(Reason.NO_ANSWER)
    if findings.independence is Independence.NONE_LEFT:
        reasons.append(Reason.NO_INDEPENDENT_VERIFIER)
    if findings.deadline_passed:
        reasons.append(Reason.DEADLINE)
    return reasons + _unmeasured(findings, preset.required, Reason.REQUIRED_UNMEASURED)


def _unmeasured(findings: Findings, names: frozenset[ComponentName], reason: Reason) -> list[str]:
    """Name what is missing; what a settled decision left unasked is not where the rest has a score, which decides."""
    settled = {OUT_OF_REACH, NOT_EVALUATED} if findings.refuted else {OUT_OF_REACH}
    excused = settled if findings.aggregate is not None else set[Unmeasured]()
    parts = findings.components.items()
    missing = {name for name, part in parts if isinstance(part, Unmeasured) and part not in excused}
    return [f"{reason}:{name}" for name in ComponentName if name in names & missing]


def _doubts(findings: Findings, aggregate: Aggregate, policy: Policy, preset: Preset) -> list[str]:
    unknown_writer = findings.independence is Independence.UNKNOWN and not policy.accept_unknown_generator
    checks: Sequence[tuple[bool, Reason]] = (
        (policy.tau_accept is None, Reason.NO_SAFE_THRESHOLD),
        (policy.tau_accept is not None and aggregate.score < policy.tau_accept, Reason.BELOW_THRESHOLD),
        (findings.refuted, Reason.REFUTED_STEP),
        (findings.suspect, Reason.SUSPECT_STEP),
        (findings.disagree, Reason.JUDGES_DISAGREE),
        (findings.derived_matches is False, Reason.ANSWER_NOT_DERIVED),
        (findings.decorative, Reason.STEPS_DO_NOT_CARRY),
        (findings.answer_is_modal is False, Reason.ANSWER_NOT_MODAL),
        (findings.mostly_unanswered, Reason.MOSTLY_UNANSWERED),
        (findings.ambiguous_answer, Reason.AMBIGUOUS_ANSWER),
        (aggregate.coverage_of_measured < policy.c_min, Reason.LOW_COVERAGE),
        (unknown_writer, Reason.UNKNOWN_GENERATOR),
        (findings.verifier_down, Reason.VERIFIER_DOWN),
        (findings.arithmetic_alone and findings.answer_is_modal is not True, Reason.ARITHMETIC_ALONE),
    )
    optional = frozenset(ComponentName) - preset.required - preset.accept_without
    return [reason for holds, reason in checks if holds] + _unmeasured(findings, optional, Reason.OPTIONAL_UNMEASURED)


def judge_outcome(findings: Findings, policy: Policy) -> Outcome:
    """Place a trace in its quadrant from evidence alone, never from a reference answer.

    The two halves are always given, so that what is known is not lost when the label is undetermined.
    """
    reasoning = _reasoning(findings, policy)
    answer = _answer(findings, reasoning)
    quadrants = {
        (Reasoning.SOUND, AnswerSupport.SUPPORTED): OutcomeLabel.FAITHFUL_SUCCESS,
        (Reasoning.FLAWED, AnswerSupport.SUPPORTED): OutcomeLabel.SILENT_FAILURE,
        (Reasoning.FLAWED, AnswerSupport.CONTRADICTED): OutcomeLabel.OVERT_FAILURE,
    }
    label = quadrants.get((reasoning, answer), OutcomeLabel.UNDETERMINED)
    if (reasoning, answer) == (
        Reasoning.SOUND,
        AnswerSupport.CONTRADICTED,
    ) and findings.derived_matches is False:
        label = OutcomeLabel.EXTRACTION_FAILURE
    return Outcome(label=label, reasoning=reasoning, answer=answer)


def _reasoning(findings: Findings, policy: Policy) -> Reasoning:
    """Flawed with a suspect step, or when no intervention reaches the answer; sound when P is well covered."""
    validity = findings.components[ComponentName.VALIDITY]
    if findings.refuted or findings.suspect or (findings.decorative and findings.derived_matches is None):
        return Reasoning.FLAWED
    if isinstance(validity, Unmeasured) or validity.coverage < policy.c_min or not findings.has_derivation:
        return Reasoning.UNKNOWN
    return Reasoning.SOUND


def _answer(findings: Findings, reasoning: Reasoning) -> AnswerSupport:
    """Consensus and the derived answer; where they disagree nothing is known.

    A sound derivation that ends in the answer supports it by itself, and one that ends elsewhere contradicts it; a
    flawed derivation says nothing about the answer.
    """
    if not findings.has_answer:
        return AnswerSupport.UNKNOWN
    opinions = {findings.answer_is_modal}
    if reasoning is Reasoning.SOUND:
        opinions.add(findings.derived_matches)
    opinions.discard(None)
    if opinions == {True}:
        return AnswerSupport.SUPPORTED
    if opinions == {False}:
        return AnswerSupport.CONTRADICTED
    return AnswerSupport.UNKNOWN
