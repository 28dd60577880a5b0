"""Stage 6: from evidence to components, score and decision; pure, so that a record can be concluded again."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from rafs.aggregation import Aggregate, aggregate
from rafs.agreement import resampled_agreement
from rafs.bootstrap import bootstrap_interval
from rafs.independence import judge_independence
from rafs.interventions import Effect, EffectMethod, Interventions, Response
from rafs.outcomes import Component, ComponentName, Measured, Status
from rafs.padding import carrying_steps
from rafs.policy import Decision, Findings, Policy, Preset, decide
from rafs.result import Evidence, ScoreInput, ScoreResult
from rafs.support import answer_support, continuation_delta, share_read
from rafs.types import FAILED, Abstained, Entailment, Verdict, Why, judged_only
from rafs.usage import Meter, Stage
from rafs.validity import step_validity, suspect_positions


def conclude(job: ScoreInput, evidence: Evidence, policy: Policy, preset: Preset, meter: Meter) -> ScoreResult:
    """Compute components, score, interval, suspect step, status and outcome."""
    effects = evidence.interventions.effects
    components = measure_components(evidence, policy)
    score = aggregate(components, policy.weights, policy.epsilon)
    suspects = suspect_positions(evidence.verdicts.combined, policy.tau_step)
    findings = _findings(job, evidence, components, score, policy)
    return ScoreResult(
        input=job,
        evidence=evidence,
        components=components,
        aggregate=score,
        interval=bootstrap_interval(
            partial(_resampled_score, evidence, policy, components),
            len(evidence.agreement.voters) if _is_measured(components, ComponentName.CONSENSUS) else 0,
            len(effects) if len(effects) > 1 and _has_continuations(effects) else 0,
            job.seed,
        ),
        suspects=suspects,
        decision=decide(findings, policy, preset),
        truncated=_truncations(evidence),
        meter=meter,
    )


def can_accept(job: ScoreInput, evidence: Evidence, policy: Policy, preset: Preset) -> bool:
    """Whether the trace is accepted if all that is not known yet turns out for the best.

    Args:
        job: The request.
        evidence: As the checkers left it; what models said is not looked at.
        policy: The operator's constants.
        preset: What the decision needs.
    """
    best = dict.fromkeys(ComponentName, Measured(value=1.0, coverage=1.0))
    score = aggregate(best, policy.weights, policy.epsilon)
    findings = replace(
        _findings(job, evidence, best, score, policy),
        deadline_passed=False,
        suspect=evidence.verdicts.refutes,
        disagree=False,
        verifier_down=False,
        arithmetic_alone=False,
        decorative=False,
        answer_is_modal=True,
        mostly_unanswered=False,
    )
    return decide(findings, policy, preset).status is Status.ACCEPT


def least_consensus(policy: Policy) -> float:
    """Return the C below which nothing is accepted, since the score is too low even where P, S and D are 1.

    C + eps = (tau_accept / 100)^(1 / w_C): with fewer components measured the weight of C is larger, and C has to be
    higher still. Infinite where the policy accepts nothing.
    """
    if policy.tau_accept is None:
        return math.inf
    return float((policy.tau_accept / 100) ** (1 / policy.weights[ComponentName.CONSENSUS]) - policy.epsilon)


def is_settled(job: ScoreInput, evidence: Evidence, so_far: Interventions, policy: Policy, preset: Preset) -> bool:
    """Whether no continuation that is still to come can change status or outcome.

    S lies between its value where all that is `not_run` follows and its value where all of it stays, with at least the
    coverage it has where none of it can be read; where it is not measured yet, it may stay so. The decision depends on
    S monotonously, so it is settled when it is the same at these ends. It does not depend on how fast anybody was.

    Args:
        job: The request.
        evidence: With verdicts and agreement known.
        so_far: What was observed.
        policy: The operator's constants.
        preset: What the decision needs.
    """
    best, low = (_completed(so_far, response) for response in (Response.FOLLOWED, Response.STAYED))
    lowest, now = (_support(evidence, one, policy) for one in (low, so_far))
    if isinstance(lowest, Measured):
        lowest = replace(lowest, coverage=share_read(so_far.effects))
    ends = [(best, _support(evidence, best, policy)), (so_far, lowest), (so_far, now)]
    decisions = [_decision_with(job, evidence, one, support, policy, preset) for one, support in ends]
    return len({(decision.status, decision.outcome) for decision in decisions}) == 1


def _completed(so_far: Interventions, response: Response) -> Interventions:
    effects = []
    for effect in so_far.effects:
        responses = tuple(response if one is Response.NOT_RUN else one for one in effect.responses)
        effects.append(replace(effect, responses=responses, delta=continuation_delta(responses)))
    return replace(so_far, effects=tuple(effects))


def _decision_with(
    job: ScoreInput, evidence: Evidence, observed: Interventions, support: Component, policy: Policy, preset: Preset
) -> Decision:
    known = replace(evidence, interventions=observed, cut_off=evidence.cut_off - {Stage.INTERVENE})
    components = measure_components(known, policy) | {ComponentName.SUPPORT: support}
    score = aggregate(components, policy.weights, policy.epsilon)
    return decide(_findings(job, known, components, score, policy), policy, preset)


def measure_components(evidence: Evidence, policy: Policy) -> dict[ComponentName, Component]:
    """Return P, S, C and D as far as the evidence measures them."""
    return {
        ComponentName.VALIDITY: _validity(evidence, policy),
        ComponentName.SUPPORT: _support(evidence, evidence.interventions, policy),
        ComponentName.CONSENSUS: evidence.agreement.consensus.component,
        ComponentName.STABILITY: evidence.agreement.stability.component,
    }


def _findings(
    job: ScoreInput,
    evidence: Evidence,
    components: Mapping[ComponentName, Component],
    score: Aggregate | None,
    policy: Policy,
) -> Findings:
    answer = evidence.reading.trace.answer
    effects = evidence.interventions.effects
    verdicts, consensus = evidence.verdicts, evidence.agreement.consensus
    return Findings(
        components=components,
        aggregate=score,
        independence=judge_independence(verdicts.members, evidence.refused, evidence.validator, job.writer),
        has_derivation=bool(evidence.reading.trace.derivation()),
        has_answer=answer is not None,
        ambiguous_answer=answer is not None and answer.ambiguous,
        deadline_passed=bool(evidence.cut_off),
        refuted=verdicts.refutes,
        suspect=bool(suspect_positions(verdicts.combined, policy.tau_step)),
        disagree=any(spread is not None and spread > policy.tau_disagree for spread in verdicts.disagreement),
        verifier_down=not verdicts.heard_models and _some_model_failed(evidence),
        arithmetic_alone=not verdicts.heard_models and evidence.settled is None,
        derived_matches=evidence.link.matches,
        decorative=_is_measured(components, ComponentName.SUPPORT) and not any(effect.delta for effect in effects),
        answer_is_modal=None if consensus.mostly_unanswered else consensus.answer_is_modal,
        mostly_unanswered=consensus.mostly_unanswered,
    )


def _validity(evidence: Evidence, policy: Policy) -> Component:
    return step_validity(evidence.verdicts.combined, carrying_steps(evidence.reading), policy.mean_weight)


def _support(evidence: Evidence, interventions: Interventions, policy: Policy) -> Component:
    return answer_support(evidence.entailment, interventions, alpha=policy.alpha, m_min=policy.m_min)


def _resampled_score(
    evidence: Evidence,
    policy: Policy,
    components: Mapping[ComponentName, Component],
    samples: Sequence[int],
    effects: Sequence[int],
) -> float | None:
    """Score for resampled indices of samples and effects; what was not resampled keeps its value."""
    resampled = dict(components)
    if effects:
        chosen = replace(evidence.interventions, effects=tuple(evidence.interventions.effects[i] for i in effects))
        resampled[ComponentName.SUPPORT] = _support(evidence, chosen, policy)
    if samples:
        resampled |= resampled_agreement(evidence.agreement, samples)
    if any(isinstance(components[name], Measured) != isinstance(resampled[name], Measured) for name in components):
        return None
    score = aggregate(resampled, policy.weights, policy.epsilon)
    return None if score is None else score.score


def _is_measured(components: Mapping[ComponentName, Component], name: ComponentName) -> bool:
    return isinstance(components[name], Measured)


def _some_model_failed(evidence: Evidence) -> bool:
    asked = [row.verdicts for row in evidence.verdicts.members if row.identity is not None and any(row.asked())]
    down = [any(_abstained(v, *FAILED) for v in verdicts) and not judged_only(verdicts) for verdicts in asked]
    return any(down)


def _has_continuations(effects: Sequence[Effect]) -> bool:
    return any(effect.method is EffectMethod.CONTINUATION for effect in effects)


def _truncations(evidence: Evidence) -> list[str]:
    """Name what was not wholly looked at, and why."""
    cut = [
        f"samples.{i}: generation stopped at its limit" for i, s in enumerate(evidence.agreement.samples) if s.truncated
    ]
    for row in evidence.verdicts.members:
        too_long = [t for t, verdict in enumerate(row.verdicts) if _abstained(verdict, Why.TOO_LONG)]
        if too_long:
            cut.append(f"steps from {too_long[0]} on: beyond the window of {row.member}")
    return cut + _truncated_pairs(evidence)


def _truncated_pairs(evidence: Evidence) -> list[str]:
    opinions = [*evidence.agreement.opinions.values(), *evidence.followed.opinions.values()]
    windowed = sum(isinstance(said, Entailment) and said.windowed for said in opinions)
    unread = sum(isinstance(said, Abstained) and said.why is Why.TOO_LONG for said in opinions)
    cut = [f"{windowed} pairs of texts: beyond the validator's window, read in pieces"] if windowed else []
    return [*cut, f"{unread} pairs of texts: beyond the validator's window, not read"] if unread else cut


def _abstained(verdict: Verdict, *reasons: Why) -> bool:
    return isinstance(verdict, Abstained) and verdict.why in reasons
