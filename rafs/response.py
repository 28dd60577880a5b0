"""Stage 7: a result as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set

from rafs.agreement import Agreement
from rafs.calibration import Calibration
from rafs.checked_wire import RoutedOut
from rafs.consensus_out import show_consensus
from rafs.grammar.expressions import show
from rafs.interventions_out import show_interventions, show_support
from rafs.outcome_model import outcome_features
from rafs.outcomes import ComponentName, Unmeasured
from rafs.record import ProvenanceOut, Record
from rafs.result import ScoreResult
from rafs.roles import StepRole, step_roles
from rafs.types import Abstained, Claim, Judged, MemberVerdicts, SourceKind, Step, StepVerdicts, Verdict, judged_only
from rafs.usage import Stage, StageUsage
from rafs.wire import (
    AnswerOut,
    ClaimOut,
    ComponentOut,
    ContradictionOut,
    LedgerRow,
    MemberOut,
    OutcomeOut,
    ScoreResponse,
    StabilityOut,
    StageOut,
    StepOut,
    SuspectOut,
)

TITLES = {
    ComponentName.VALIDITY: "step validity",
    ComponentName.SUPPORT: "reasoning-to-answer support",
    ComponentName.CONSENSUS: "answer consensus",
    ComponentName.STABILITY: "reasoning stability",
}

FLOW = ("read", *Stage)
"""Stages in the order in which they are reported; what engines count beside them follows."""
CONTRIBUTION_DECIMALS = 6
"""More would show the epsilon of the logarithm: log(1 + 1e-9) for a component of 1."""


def to_response(
    result: ScoreResult, response_id: str, provenance: ProvenanceOut, include: Sequence[str], record: Record
) -> ScoreResponse:
    """Return the response.

    Args:
        result: What was found out.
        response_id: Names this response.
        provenance: Where the numbers come from.
        include: What was asked for: `record`, and `interventions`, which writers do not learn by default.
        record: What a replay needs.
    """
    decision, evidence = result.decision, result.evidence
    return ScoreResponse(
        id=response_id,
        score=decision.score,
        interval=result.interval if decision.score is not None else None,
        status=decision.status.value,
        reasons=list(decision.reasons),
        outcome=OutcomeOut(
            label=decision.outcome.label.value,
            reasoning=decision.outcome.reasoning.value,
            answer=decision.outcome.answer.value,
        ),
        outcome_probabilities=_probabilities(result, record.calibration),
        suspect_step=_suspect(result),
        answer=_answer(result),
        steps=_steps(result),
        components=[_component(result, name) for name in ComponentName],
        coverage=0.0 if result.aggregate is None else result.aggregate.coverage,
        independence=decision.independence.value,
        support=show_support(evidence),
        interventions=show_interventions(evidence.interventions, show_edits="interventions" in include),
        samples=len(evidence.agreement.samples),
        consensus=show_consensus(evidence.agreement),
        contradictions=_contradictions(result),
        stability=_stability(evidence.agreement),
        truncated=list(result.truncated),
        members=[_member(row) for row in evidence.verdicts.members],
        routed=_routed(evidence.verdicts),
        ledger=[row for member in evidence.verdicts.members for row in _ledger(result, member)],
        usage=[_stage(name, usage) for name, usage in sorted(result.meter.stages.items(), key=_in_order)],
        provenance=provenance,
        record=record if "record" in include else None,
    )


def _probabilities(result: ScoreResult, calibration: Calibration) -> dict[str, float] | None:
    score = result.decision.score
    if score is None or calibration.outcomes is None:
        return None
    q = [verdict.p_correct for verdict in judged_only(result.evidence.verdicts.combined)]
    features = outcome_features(score, result.components, q)
    return calibration.outcomes.probabilities(features) if calibration.outcomes.covers(features) else None


def _in_order(stage: tuple[str, StageUsage]) -> tuple[int, str]:
    """Order stages by the flow, then by name: which one ends first is chance."""
    name, _ = stage
    return (FLOW.index(name) if name in FLOW else len(FLOW), name)


def _stage(name: str, usage: StageUsage) -> StageOut:
    return StageOut(
        stage=name, calls=usage.calls, tokens=usage.tokens, reused=usage.reused, milliseconds=usage.milliseconds
    )


def _suspect(result: ScoreResult) -> SuspectOut | None:
    if not result.suspects:
        return None
    verdict = result.evidence.verdicts.combined[result.suspects[0]]
    if not isinstance(verdict, Judged):
        return None
    step = result.evidence.reading.trace.derivation()[result.suspects[0]]
    return SuspectOut(index=step.index, p_correct=verdict.p_correct, reason=verdict.reason)


def _answer(result: ScoreResult) -> AnswerOut:
    evidence = result.evidence
    answer, consensus, ballot = evidence.reading.trace.answer, evidence.agreement.consensus, evidence.agreement.ballot
    derived = evidence.link.derived(evidence.reading.graph)
    return AnswerOut(
        stated=None if answer is None else answer.text,
        source=None if answer is None else answer.source,
        ambiguous=answer is not None and answer.ambiguous,
        derived=None if derived is None else show(derived),
        derived_matches=evidence.link.matches,
        modal=None if ballot is None or consensus.modal is None else ballot.answers[consensus.modal[0]],
        share=consensus.share_of_stated,
        is_modal=consensus.answer_is_modal,
    )


def _steps(result: ScoreResult) -> list[StepOut]:
    reading, verdicts = result.evidence.reading, result.evidence.verdicts
    positions = {step.index: t for t, step in enumerate(reading.trace.derivation())}
    claims: dict[int, list[ClaimOut]] = {}
    for claim in reading.graph.claims:
        claims.setdefault(claim.step, []).append(_claim(claim))
    suspects, reach = set(result.suspects), _reach(verdicts)
    roles = step_roles(reading, result.evidence.link, result.evidence.interventions)
    return [
        _step(
            step,
            positions.get(step.index),
            verdicts,
            claims.get(step.index, []),
            suspects,
            reach,
            roles.get(step.index),
        )
        for step in reading.trace.steps
    ]


def _routed(verdicts: StepVerdicts) -> RoutedOut:
    n, rows = len(verdicts.combined), [row for row in verdicts.members if row.identity is not None]
    names = {row.member for row in rows}
    by_models = sum(not names.isdisjoint(members) for members in verdicts.decided_by)
    by_checkers = sum(bool(members) and names.isdisjoint(members) for members in verdicts.decided_by)
    asked = sum(map(any, zip(*(row.asked() for row in rows), strict=True)))
    return RoutedOut(
        checkers=by_checkers / n if n else None, models=by_models / n if n else None, asked=asked / n if n else None
    )


def _reach(verdicts: StepVerdicts) -> dict[str, int]:
    """Return the last position that each model was asked about: it was sent that step and all before it."""
    models = {row.member: row.asked() for row in verdicts.members if row.identity is not None}
    return {
        member: max(t for t, is_asked in enumerate(asked) if is_asked) for member, asked in models.items() if any(asked)
    }


def _step(
    step: Step,
    t: int | None,
    verdicts: StepVerdicts,
    claims: list[ClaimOut],
    suspects: Set[int],
    reach: Mapping[str, int],
    role: StepRole | None,
) -> StepOut:
    """Return a step; `t` is its position in the derivation, None for a statement of the answer."""
    verdict = None if t is None else verdicts.combined[t]
    judged = verdict if isinstance(verdict, Judged) else None
    return StepOut(
        index=step.index,
        start=step.span.start,
        end=step.span.end,
        text=step.text,
        kind=step.kind.value,
        p_correct=None if judged is None else judged.p_correct,
        refuted=judged is not None and judged.refuted,
        suspect=t in suspects,
        decided_by=[] if t is None else list(verdicts.decided_by[t]),
        disagreement=None if t is None else verdicts.disagreement[t],
        shown_to=[] if t is None else [member for member, last in reach.items() if t <= last],
        reason="states the answer" if verdict is None else _reason(verdict),
        claims=claims,
        role=None if role is None else role.role.value,
        necessity=None if role is None else role.necessity,
        necessity_source=None if role is None or role.necessity_source is None else role.necessity_source.value,
        sufficiency=None if role is None else role.sufficiency,
    )


def _reason(verdict: Verdict) -> str:
    if isinstance(verdict, Judged):
        return verdict.reason
    return f"{verdict.why}: {verdict.detail}" if verdict.detail else verdict.why.value


def _claim(claim: Claim) -> ClaimOut:
    ungrounded = [operand.text for operand in claim.operands if operand.source is SourceKind.UNGROUNDED]
    return ClaimOut(text=claim.text, truth=claim.truth.value, reason=claim.reason, ungrounded=ungrounded)


def _component(result: ScoreResult, name: ComponentName) -> ComponentOut:
    part, aggregate = result.components[name], result.aggregate
    detail = result.evidence.entailment.detail if name is ComponentName.SUPPORT else ""
    if isinstance(part, Unmeasured) or aggregate is None:
        reason = part if isinstance(part, Unmeasured) else Unmeasured(reason="nothing_measured")
        return ComponentOut(
            name=name.value,
            title=TITLES[name],
            value=None,
            coverage=0.0,
            weight=0.0,
            log_contribution=None,
            unmeasured=reason.reason,
            detail=reason.detail,
        )
    return ComponentOut(
        name=name.value,
        title=TITLES[name],
        value=part.value,
        coverage=part.coverage,
        weight=aggregate.weights[name],
        log_contribution=round(aggregate.log_contributions[name], CONTRIBUTION_DECIMALS) + 0.0,  # and no -0.0
        unmeasured=None,
        detail=detail,
    )


def _contradictions(result: ScoreResult) -> list[ContradictionOut]:
    rows = result.evidence.agreement.rows
    return [
        ContradictionOut(
            traces=(rows[one.traces[0]], rows[one.traces[1]]),
            claims=one.claims,
            found_by="arithmetic" if one.by_arithmetic else "validator",
        )
        for one in result.evidence.agreement.stability.contradictions
    ]


def _stability(agreement: Agreement) -> StabilityOut:
    stability = agreement.stability
    return StabilityOut(
        contradiction=stability.contradiction,
        method_diversity=stability.method_diversity,
        n_contradictions=stability.n_contradictions,
        pairs_full=stability.n_pairs,
        pairs_canonical=stability.n_canonical,
        pairs_asked=len(agreement.opinions),
    )


def _member(row: MemberVerdicts) -> MemberOut:
    return MemberOut(
        member=row.member,
        family=None if row.identity is None else row.identity.family,
        asked=sum(row.asked()),
        judged=len(judged_only(row.verdicts)),
        silent=dict(Counter(verdict.why.value for verdict in row.verdicts if isinstance(verdict, Abstained))),
    )


def _ledger(result: ScoreResult, member: MemberVerdicts) -> list[LedgerRow]:
    steps = result.evidence.reading.trace.derivation()
    return [
        LedgerRow(
            step=step.index,
            member=member.member,
            family=None if member.identity is None else member.identity.family,
            p_correct=verdict.p_correct if isinstance(verdict, Judged) else None,
            refuted=isinstance(verdict, Judged) and verdict.refuted,
            reason=_reason(verdict),
        )
        for step, verdict in zip(steps, member.verdicts, strict=True)
    ]
