"""What goes into the flow and what comes out of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rafs.aggregation import Aggregate
from rafs.agreement import Agreement, no_agreement
from rafs.derivation import AnswerLink, link_answer
from rafs.following import NOT_ASKED, Followed
from rafs.independence import Writer
from rafs.interventions import NO_INTERVENTIONS, Interventions
from rafs.outcomes import Component, ComponentName, Unmeasured
from rafs.policy import NOT_EVALUATED, Decision
from rafs.sampling import Samples
from rafs.support import AnswerEntailment
from rafs.types import Abstained, MemberVerdicts, ModelIdentity, Reading, Sampled, StepVerdicts, Why
from rafs.usage import Meter, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreInput:
    """One trace to score."""

    problem: str
    trace: str | tuple[str, ...]
    stated: str | None
    """The answer that the caller sent apart from the trace."""
    samples: tuple[Sampled, ...]
    """The caller's."""
    writer: Writer
    seed: int
    edit_seed: int
    """`seed` with the server's secret mixed in; draws the counterfactual edits."""
    deadline_s: float | None = None
    """The caller's, where that is less than the preset's; a replay has none."""
    cut_off: frozenset[Stage] = frozenset()
    """In a replay: the stages that the deadline cut off when the record was made; they are not run again."""
    drawn: Samples | None = None
    """In a replay: the samples that the writer gave; they are not drawn again."""
    n_tried: int | None = None
    """In a replay: claims weighed and edits tried when the deadline cut that stage off; None for not begun."""


@dataclass(slots=True, kw_only=True)
class Evidence:
    """Everything that was read, checked, asked and observed about one trace.

    The flow fills it in stage by stage; what a deadline cut off stays unmeasured, with that as its reason.
    """

    reading: Reading
    refused: frozenset[str]
    """Names of the model verifiers that may not judge, being of the writer's family."""
    generator: ModelIdentity | None
    """The writer of the trace, where it can be asked for samples and continuations."""
    link: AnswerLink
    verdicts: StepVerdicts
    agreement: Agreement
    interventions: Interventions
    cut_off: set[Stage]
    """Stages that are not finished; empty at the end, unless the deadline passed."""
    followed: Followed = NOT_ASKED
    """What models said on whether the answer follows, where the graph cannot say."""
    settled: Unmeasured | None = None
    """Why no model is asked any more, where the preset stops once the decision cannot change."""

    @property
    def entailment(self) -> AnswerEntailment | Unmeasured:
        """P(the derivation entails the answer) by the graph, else by a model; else the graph's reason."""
        return self.followed.entailment or self.link.entailment

    @property
    def validator(self) -> ModelIdentity | None:
        """The validator, where it was asked anything."""
        editing = self.interventions.editing
        return self.agreement.validator or self.followed.validator or (editing.validator if editing.opinions else None)

    def settle(self, why: Unmeasured) -> None:
        """Note that the decision cannot change any more, and what is not run therefore."""
        self.settled = why
        self.cut_off -= {Stage.VERIFY}
        if why == NOT_EVALUATED:
            self.interventions = replace(NO_INTERVENTIONS, missing=why)
            self.cut_off -= {Stage.INTERVENE}


Observer = Callable[[Evidence], None]
"""Told of the evidence as it grows; it keeps nothing of it, changes nothing, and does not raise."""


def unobserved(evidence: Evidence) -> None:
    """Watch nothing."""


def begin_evidence(
    reading: Reading,
    refused: frozenset[str],
    models: Sequence[tuple[str, ModelIdentity]],
    generator: ModelIdentity | None,
) -> Evidence:
    """Return the evidence before any stage has run."""
    late = Unmeasured(reason="deadline")
    unjudged = (Abstained(why=Why.TIMEOUT),) * len(reading.trace.derivation())
    rows = tuple(MemberVerdicts(member=name, identity=identity, verdicts=unjudged) for name, identity in models)
    return Evidence(
        reading=reading,
        refused=refused,
        generator=generator,
        link=link_answer(reading.trace, reading.graph),
        verdicts=StepVerdicts(
            combined=unjudged,
            members=rows,
            heard_models=(),
            decided_by=((),) * len(unjudged),
            disagreement=(None,) * len(unjudged),
        ),
        agreement=no_agreement(late),
        interventions=replace(NO_INTERVENTIONS, missing=late, late=True),
        cut_off=set(Stage),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreResult:
    """The decision and all that it rests on."""

    input: ScoreInput
    evidence: Evidence
    components: Mapping[ComponentName, Component]
    aggregate: Aggregate | None
    interval: tuple[float, float] | None
    suspects: Sequence[int]
    """Positions in the derivation of the steps with q_t < tau_step; the first one is the suspect step."""
    decision: Decision
    truncated: Sequence[str]
    meter: Meter
