"""The nouns of RAFS: frozen values without I/O.

A thing that was not measured is a type (`Abstained`, `Unmeasured`), never a number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rafs.immutable import immutable
from rafs.quantity_graph import Claim, Implied, Operand, QuantityGraph, SourceKind, Span, Truth

__all__ = [
    "ANSWER_PLACEHOLDER",
    "COVERED_PLACEHOLDER",
    "Abstained",
    "Answer",
    "BlindStep",
    "BlindTrace",
    "Claim",
    "Entailment",
    "Implied",
    "Judged",
    "LabelMass",
    "MemberVerdicts",
    "ModelIdentity",
    "Operand",
    "QuantityGraph",
    "Reading",
    "Sampled",
    "SourceKind",
    "Span",
    "Step",
    "StepKind",
    "StepVerdicts",
    "Trace",
    "Truth",
    "Verdict",
    "Why",
    "judged_only",
    "kind_of",
]


class StepKind(StrEnum):
    """What a step does in the derivation."""

    INFERENCE = "inference"
    """Carries a claim or draws a conclusion; counts in P."""
    SETUP = "setup"
    """Announces, restates or plans; judged, but left out of the mean of P."""
    ANSWER = "answer"
    """Only states the final answer; no verifier ever sees it."""


@immutable
class Step:
    """One atomic step; the steps of a trace, joined, give its text back."""

    index: int
    """0-based position in the trace (in the caller's own list, when steps were sent as a list)."""
    span: Span
    text: str
    """Exactly the submitted characters of the span."""
    blind_text: str
    """`text` with every statement of the final answer replaced by `ANSWER_PLACEHOLDER`; what verifiers see."""
    kind: StepKind


ANSWER_PLACEHOLDER = "[answer]"
"""Stands where a step stated the final answer (a box, a `####` line); never a number, so it cannot be judged."""
COVERED_PLACEHOLDER = "(answer)"
"""What a writer's own `[answer]` reads as, so that it is never taken for ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A final answer as it was stated."""

    text: str
    """The answer alone: `42`, `\\frac{1}{2}`, `B`; no `####`, no `\\boxed`, no sentence."""
    source: str
    """How it was found: `field`, `boxed`, `hash`, `phrase`, `label`, `conclusion`, `last_number`."""
    ambiguous: bool = False
    """True when markers disagreed and the last one won."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A problem and one chain of thought, split into steps, the answer statement apart."""

    problem: str
    text: str
    steps: tuple[Step, ...]
    answer: Answer | None

    def derivation(self) -> tuple[Step, ...]:
        """Return the steps that are not statements of the answer."""
        return tuple(step for step in self.steps if step.kind is not StepKind.ANSWER)


@immutable
class BlindStep:
    """A step as verifiers see it: no statement of the final answer in it."""

    index: int
    """Position in `Trace.steps`."""
    text: str
    kind: StepKind


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindTrace:
    """What a verifier is given: it holds no stated answer, so none can leak."""

    problem: str
    steps: tuple[BlindStep, ...]
    """The derivation's steps in order; statements of the answer are not among them."""
    graph: QuantityGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A trace and what the grammar makes of it."""

    trace: Trace
    graph: QuantityGraph

    def blind(self) -> BlindTrace:
        """Return the trace as verifiers see it."""
        steps = (BlindStep(index=step.index, text=step.blind_text, kind=step.kind) for step in self.trace.derivation())
        problem = self.trace.problem.replace(ANSWER_PLACEHOLDER, COVERED_PLACEHOLDER)
        return BlindTrace(problem=problem, steps=tuple(steps), graph=self.graph)


class Why(StrEnum):
    """Why there is no verdict."""

    NOT_APPLICABLE = "not_applicable"
    DECIDED_BY_CHECKER = "decided_by_checker"
    SAME_FAMILY = "same_family"
    NOT_NEEDED = "not_needed"
    """The operator lists enough other models of the same kind before it."""
    NOT_EVALUATED = "not_evaluated"
    """The decision was settled before a model was asked."""
    AT_CHANCE = "at_chance"
    """Only verifiers spoke that were measured to be at chance."""
    FAILED_AUDIT = "failed_audit"
    """An audit found that it does not tell right from wrong."""
    UNPARSED = "unparsed"
    WORD_ONLY = "word_only"
    """The model said yes or no where its server gives no probability; no rate of its word is measured, so the ledger
    shows it and nothing counts it."""
    NO_LABELS = "no_labels"
    TOO_LONG = "too_long"
    TIMEOUT = "timeout"
    BACKEND_DOWN = "backend_down"
    OVERLOADED = "overloaded"
    """Its queue was full, and another model could answer."""
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    """It raised an error that no contract foresees."""
    INVALID = "invalid_verdicts"
    """It gave too few or too many verdicts, or what is no probability: none of them is believed."""


NEVER_ASKED = frozenset(
    {Why.DECIDED_BY_CHECKER, Why.SAME_FAMILY, Why.NOT_NEEDED, Why.NOT_EVALUATED, Why.FAILED_AUDIT},
)
"""Where a member is silent because the step was not put to it."""
FAILED = frozenset(
    {Why.TIMEOUT, Why.BACKEND_DOWN, Why.OVERLOADED, Why.OUT_OF_MEMORY, Why.CRASHED, Why.INVALID},
)
"""Where it was asked and failed as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verifier's opinion of one step."""

    p_correct: float
    """P(step is correct | problem, earlier steps), in [0, 1]."""
    refuted: bool = False
    """True only when a deterministic checker proved the step wrong."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstained:
    """No opinion. Never counted as 0, never counted as 1."""

    why: Why
    detail: str = ""


Verdict = Judged | Abstained


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberVerdicts:
    """What one verifier said of every step of a trace, in step order: one row of the decision ledger."""

    member: str
    """`symbolic`, `judge:<model id>`, ..."""
    identity: "ModelIdentity | None"
    """None for a deterministic checker."""
    verdicts: tuple[Verdict, ...]

    def asked(self) -> tuple[bool, ...]:
        """Say of each step whether it was put to the member, shape (n_steps,)."""
        return tuple(isinstance(verdict, Judged) or verdict.why not in NEVER_ASKED for verdict in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepVerdicts:
    """The ensemble's verdict on every step, and every member's own."""

    combined: tuple[Verdict, ...]
    members: tuple[MemberVerdicts, ...]
    heard_models: tuple[str, ...]
    """Names of the models whose word counted on some step; none means that checkers alone judged."""
    decided_by: tuple[tuple[str, ...], ...]
    """Names of the members whose word made the combined verdict, one entry a step; empty where there is none."""
    disagreement: tuple[float | None, ...]
    """Largest minus smallest calibrated p_correct of the judges heard on a step, in [0, 1]; None for fewer than 2."""

    @property
    def refutes(self) -> bool:
        """Whether a checker proved some step wrong."""
        return any(isinstance(verdict, Judged) and verdict.refuted for verdict in self.combined)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """Three-way opinion of a validator on (premise, hypothesis); sums to 1."""

    entails: float
    neutral: float
    contradicts: float
    windowed: bool = False
    """The premise passed the model's window and was read in overlapping pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelMass:
    """Probability mass that a language model put on the two labels of a probe."""

    yes: float
    no: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One text drawn from a generator."""

    text: str
    truncated: bool
    """True when a length limit cut it; a truncated sample never votes."""
    logprob: float | None = None
    """Natural log-probability of all its tokens by the model at temperature 1, in nats; None where it is not known."""
    n_tokens: int | None = None
    """Tokens that `logprob` sums over, the end token included where the engine counts it."""

    @property
    def mean_logprob(self) -> float | None:
        """Mean log-probability of a token; None where it is not known."""
        return None if self.logprob is None or not self.n_tokens else self.logprob / self.n_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """Which model gave a number."""

    id: str
    family: str
    revision: str
    kin: tuple[str, ...] = ()
    """Further families in its descent: a model distilled from one family into another has two."""

    @property
    def families(self) -> frozenset[str]:
        """Every family it may share a bias with."""
        return frozenset({self.family, *self.kin})


def judged_only(verdicts: Sequence[Verdict]) -> list[Judged]:
    """Return the verdicts that are opinions, in order."""
    return [verdict for verdict in verdicts if isinstance(verdict, Judged)]


def kind_of(member: str) -> str:
    """Return the kind of a member: `judge` for `judge:smollm2-135m-instruct`."""
    return member.partition(":")[0]
