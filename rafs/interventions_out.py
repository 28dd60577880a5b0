"""Edits, probes and the halves of S as JSON."""

from collections import Counter
from fractions import Fraction

from rafs.grammar.expressions import show
from rafs.interventions import Effect, Interventions, Response
from rafs.outcomes import Measured, Unmeasured
from rafs.probes import ProbeFinding
from rafs.result import Evidence
from rafs.support import mean_delta
from rafs.wire import EffectOut, InterventionsOut, PivotOut, ProbeOut, ProbePointOut, SupportOut


def show_support(evidence: Evidence) -> SupportOut:
    """Return e with who said it, and the mean effect of the edits."""
    e = evidence.entailment
    return SupportOut(
        e=None if isinstance(e, Unmeasured) else e.p,
        e_source=None if isinstance(e, Unmeasured) else e.source.value,
        detail=e.reason if isinstance(e, Unmeasured) else e.detail,
        mean_delta=mean_delta(evidence.interventions.effects),
    )


def show_interventions(interventions: Interventions, *, show_edits: bool) -> InterventionsOut:
    """Return what was tried; the edits, and where the probes were made, only with `show_edits`."""
    responses = Counter(response for effect in interventions.effects for response in effect.responses)
    return InterventionsOut(
        method=interventions.method.value,
        valid=sum(effect.delta is not None for effect in interventions.effects),
        discarded=dict(Counter(code for _, code in interventions.discarded)),
        not_needed=responses[Response.NOT_NEEDED],
        not_run=responses[Response.NOT_RUN],
        late=interventions.late,
        writer_failed=interventions.writer_failed,
        pivots=[
            PivotOut(step=pivot.step, reason=pivot.reason.value, influence=pivot.influence, doubt=pivot.doubt)
            for pivot in interventions.pivots
        ]
        if show_edits
        else None,
        effects=[_effect(effect) for effect in interventions.effects] if show_edits else None,
        probes=[_probe(finding, show_points=show_edits) for finding in interventions.probes],
    )


def _effect(effect: Effect) -> EffectOut:
    edit = effect.edit
    return EffectOut(
        step=edit.step,
        family=edit.family.value,
        text=edit.text,
        old=_shown(edit.old),
        new=_shown(edit.new),
        predicted=None if edit.predicted is None else show(edit.predicted),
        responses=[response.value for response in effect.responses],
        delta=effect.delta,
        interval=effect.interval,
    )


def _shown(conclusion: Fraction | str) -> str:
    return conclusion if isinstance(conclusion, str) else show(conclusion)


def _probe(finding: ProbeFinding, *, show_points: bool) -> ProbeOut:
    part, baseline = finding.component, finding.baseline
    points = [
        ProbePointOut(step=one.step, position=one.position, same=one.same, read=one.read, asked=one.asked)
        for one in finding.points
    ]
    return ProbeOut(
        kind=finding.kind.value,
        value=part.value if isinstance(part, Measured) else None,
        coverage=part.coverage if isinstance(part, Measured) else 0.0,
        unmeasured=part.reason if isinstance(part, Unmeasured) else None,
        detail=part.detail if isinstance(part, Unmeasured) else "",
        baseline=baseline.value if isinstance(baseline, Measured) else None,
        points=points if show_points else None,
    )
