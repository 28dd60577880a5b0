"""What goes into the flow and what comes out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rafs.aggregation import Aggregate
from rafs.agreement import Agreement, no_agreement
from rafs.derivation import AnswerLink, link_answer
from rafs.independence import Writer
from rafs.interventions import EffectMethod, Interventions
from rafs.outcomes import Component, ComponentName, Unmeasured
from rafs.policy import Decision, Independence
from rafs.types import Abstained, ModelIdentity, Reading, StepVerdicts, Why
from rafs.usage import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreInput:
    """One trace to score."""

    problem: str
    trace: str | tuple[str, ...]
    stated: str | None
    """The answer that the caller sent apart from the trace."""
    samples: tuple[str, ...]
    writer: Writer
    seed: int
    edit_seed: int
    """`seed` with the server's secret mixed in; draws the counterfactual edits."""


@dataclass(slots=True, kw_only=True)
class Evidence:
    """Everything that was read, checked, asked and observed about one trace.

    The flow fills it in stage by stage; what a deadline cut off stays unmeasured, with that as its reason.
    """

    reading: Reading
    independence: Independence
    barred: frozenset[ModelIdentity]
    """Verifiers of the writer's family, which were not asked."""
    generator: ModelIdentity | None
    """The writer of the trace, where it can be asked for samples and continuations."""
    link: AnswerLink
    verdicts: StepVerdicts
    agreement: Agreement
    interventions: Interventions
    deadline_passed: bool


def begin_evidence(
    reading: Reading, independence: Independence, barred: frozenset[ModelIdentity], generator: ModelIdentity | None
) -> Evidence:
    """Return the evidence before any stage has run."""
    late = Unmeasured(reason="deadline")
    unjudged = Abstained(why=Why.TIMEOUT, detail="the deadline passed first")
    return Evidence(
        reading=reading,
        independence=independence,
        barred=barred,
        generator=generator,
        link=link_answer(reading.trace, reading.graph),
        verdicts=StepVerdicts(combined=(unjudged,) * len(reading.trace.derivation()), members=()),
        agreement=no_agreement(late),
        interventions=Interventions(effects=(), discarded=(), method=EffectMethod.NONE, missing=late),
        deadline_passed=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreResult:
    """The decision and all that it rests on."""

    input: ScoreInput
    evidence: Evidence
    components: Mapping[ComponentName, Component]
    aggregate: Aggregate | None
    interval: tuple[float, float] | None
    suspect: int | None
    """Position in the derivation of the earliest step with q_t < tau_step."""
    decision: Decision
    truncated: Sequence[str]
    meter: Meter
