"""Stage 7: a result as JSON."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from rafs.grammar.expressions import show
from rafs.interventions import Effect
from rafs.outcomes import ComponentName, Unmeasured
from rafs.record import ProvenanceOut, Record
from rafs.result import ScoreResult
from rafs.types import Claim, Judged, MemberVerdicts, SourceKind, Step, StepKind, Verdict
from rafs.wire import (
    AnswerOut,
    ClaimOut,
    ComponentOut,
    ContradictionOut,
    EffectOut,
    InterventionsOut,
    LedgerRow,
    OutcomeOut,
    ScoreResponse,
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
        suspect_step=_suspect(result),
        answer=_answer(result),
        steps=_steps(result),
        components=[_component(result, name) for name in ComponentName],
        coverage=0.0 if result.aggregate is None else result.aggregate.coverage,
        independence=evidence.independence.value,
        interventions=_interventions(result, show_edits="interventions" in include),
        samples=len(evidence.agreement.samples),
        contradictions=_contradictions(result),
        truncated=list(result.truncated),
        ledger=[row for member in evidence.verdicts.members for row in _ledger(result, member)],
        usage=[
            StageOut(stage=stage, calls=usage.calls, tokens=usage.tokens, milliseconds=usage.milliseconds)
            for stage, usage in result.meter.stages.items()
        ],
        provenance=provenance,
        record=record if "record" in include else None,
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
    answer, consensus = evidence.reading.trace.answer, evidence.agreement.consensus
    derived = evidence.reading.graph.derived
    return AnswerOut(
        stated=None if answer is None else answer.text,
        source=None if answer is None else answer.source,
        ambiguous=answer is not None and answer.ambiguous,
        derived=None if derived is None else show(derived),
        derived_matches=evidence.link.matches,
        modal=None if consensus.modal is None else evidence.agreement.answers[consensus.modal[0]],
        share=consensus.share_of_stated,
        is_modal=consensus.answer_is_modal,
    )


def _steps(result: ScoreResult) -> list[StepOut]:
    reading = result.evidence.reading
    steps = reading.trace.derivation()
    verdicts = dict(zip((step.index for step in steps), result.evidence.verdicts.combined, strict=True))
    suspects = {steps[position].index for position in result.suspects}
    return [
        _step(
            step,
            verdicts.get(step.index),
            [claim for claim in reading.graph.claims if claim.step == step.index],
            is_suspect=step.index in suspects,
        )
        for step in reading.trace.steps
    ]


def _step(step: Step, verdict: Verdict | None, claims: list[Claim], *, is_suspect: bool) -> StepOut:
    judged = verdict if isinstance(verdict, Judged) else None
    reason = "states the answer" if step.kind is StepKind.ANSWER else _reason(verdict)
    return StepOut(
        index=step.index,
        start=step.span.start,
        end=step.span.end,
        text=step.text,
        kind=step.kind.value,
        p_correct=None if judged is None else judged.p_correct,
        refuted=judged is not None and judged.refuted,
        suspect=is_suspect,
        reason=reason,
        claims=[_claim(claim) for claim in claims],
    )


def _reason(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    if isinstance(verdict, Judged):
        return verdict.reason
    return f"{verdict.why}: {verdict.detail}" if verdict.detail else verdict.why.value


def _claim(claim: Claim) -> ClaimOut:
    ungrounded = [operand.text for operand in claim.operands if operand.source is SourceKind.UNGROUNDED]
    return ClaimOut(text=claim.text, truth=claim.truth.value, reason=claim.reason, ungrounded=ungrounded)


def _component(result: ScoreResult, name: ComponentName) -> ComponentOut:
    part, aggregate = result.components[name], result.aggregate
    detail = result.evidence.link.entailment.detail if name is ComponentName.SUPPORT else ""
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
        log_contribution=aggregate.log_contributions[name],
        unmeasured=None,
        detail=detail,
    )


def _interventions(result: ScoreResult, *, show_edits: bool) -> InterventionsOut:
    interventions = result.evidence.interventions
    return InterventionsOut(
        method=interventions.method.value,
        valid=sum(effect.delta is not None for effect in interventions.effects),
        discarded=dict(Counter(code for _, code in interventions.discarded)),
        effects=[_effect(effect) for effect in interventions.effects] if show_edits else None,
    )


def _effect(effect: Effect) -> EffectOut:
    edit = effect.edit
    return EffectOut(
        step=edit.step,
        family=edit.family.value,
        text=edit.text,
        old=show(edit.old),
        new=show(edit.new),
        predicted=_shown(edit.predicted),
        responses=[response.value for response in effect.responses],
        delta=effect.delta,
    )


def _shown(value: Fraction | None) -> str | None:
    return None if value is None else show(value)


def _contradictions(result: ScoreResult) -> list[ContradictionOut]:
    rows = result.evidence.agreement.rows
    return [
        ContradictionOut(traces=(rows[i], rows[j]), claims=(a, b))
        for i, j, a, b in result.evidence.agreement.stability.contradictions
    ]


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
