"""What one scored trace leaves behind: enough for every metric and for the scorers it is compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from rafs.errors import InputError
from rafs.evaluation.labels import LabelledTrace
from rafs.outcomes import AnswerSupport, Component, ComponentName, OutcomeLabel, Reasoning, Status
from rafs.result import ScoreResult
from rafs.types import Judged, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What it took to score one trace."""

    calls: int
    tokens: int
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFlaw:
    """A flaw that an expert described, and what was said of it."""

    step: int | None
    """The step that he called flawed; None for the solution as a whole."""
    flagged: bool | None
    """Whether it was called flawed here; None where nothing was said of it."""
    p_same: float | None
    """P(what was named is what he described), by the judge of equivalence; 0 where it was called flawed without a word
    of what is wrong; None where it was not called flawed, or the judge gave nothing that could be used."""
    p_itself: float | None
    """The same of his own note against itself, as a control; None where it was not asked or not answered."""
    p_other: float | None
    """The same of his note against one on another problem."""
    text: str = ""
    """What was named, for people to grade; empty where texts are not to be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord:
    """One scored trace. Steps are those of the labelled trace; None is where nothing was said."""

    id: str
    score: float | None
    coverage: float | None
    status: Status | None
    """None where scoring failed; then `error` says why."""
    reasons: tuple[str, ...]
    outcome: OutcomeLabel | None
    reasoning: Reasoning | None
    answer: AnswerSupport | None
    q: tuple[float | None, ...]
    """P(step is right), shape (n_steps,)."""
    suspect: int | None
    """The earliest step below the policy's threshold."""
    components: Mapping[ComponentName, Component]
    members: Mapping[str, tuple[float | None, ...]]
    """What each verifier alone said of each step, by its name in the ledger."""
    cost: Cost
    error: str | None = None
    flaws: tuple[NamedFlaw, ...] = ()
    """Flaws that experts described, where a run graded them."""

    @property
    def judged(self) -> bool:
        """Whether some step was judged, so that naming no suspect means something."""
        return any(p is not None for p in self.q)


ADAPTER = TypeAdapter(ItemRecord)


def write_record(record: ItemRecord) -> str:
    """Return the record as one line of JSON."""
    return ADAPTER.dump_json(record).decode()


def read_record(line: str) -> ItemRecord:
    """Return the record of a line.

    Raises:
        InputError: The line is no record, such as one that a kill cut short.
    """
    try:
        return ADAPTER.validate_json(line)
    except ValidationError as error:
        raise InputError(
            f"not a record: {line[:80]!r} ({error.error_count()} errors)",
            field="record",
            got=line[:80],
            allowed="a line as `write_record` gives it",
        ) from error


def submitted(trace: LabelledTrace) -> str | tuple[str, ...]:
    """Return what is sent to be scored: the steps that carry the labels, or the text where it is not cut into steps."""
    return trace.steps if len(trace.steps) > 1 else trace.steps[0]


def record_result(trace: LabelledTrace, result: ScoreResult) -> ItemRecord:
    """Keep of a result what is measured."""
    derivation = result.evidence.reading.trace.derivation()
    places = [step.index if len(trace.steps) > 1 else 0 for step in derivation]
    verdicts = result.evidence.verdicts
    usage = result.meter.stages.values()
    return ItemRecord(
        id=trace.id,
        score=result.decision.score,
        coverage=result.aggregate.coverage if result.aggregate is not None else None,
        status=result.decision.status,
        reasons=result.decision.reasons,
        outcome=result.decision.outcome.label,
        reasoning=result.decision.outcome.reasoning,
        answer=result.decision.outcome.answer,
        q=_by_step(verdicts.combined, places, len(trace.steps)),
        suspect=places[result.suspects[0]] if result.suspects else None,
        components=result.components,
        members={row.member: _by_step(row.verdicts, places, len(trace.steps)) for row in verdicts.members},
        cost=Cost(
            calls=sum(stage.calls for stage in usage),
            tokens=sum(stage.tokens for stage in usage),
            milliseconds=sum(stage.milliseconds for stage in usage),
        ),
    )


def record_failure(trace: LabelledTrace, error: str) -> ItemRecord:
    """Keep that a trace could not be scored, and why."""
    return ItemRecord(
        id=trace.id,
        score=None,
        coverage=None,
        status=None,
        reasons=(),
        outcome=None,
        reasoning=None,
        answer=None,
        q=(None,) * len(trace.steps),
        suspect=None,
        components={},
        members={},
        cost=Cost(calls=0, tokens=0, milliseconds=0.0),
        error=error,
    )


def _by_step(verdicts: Sequence[Verdict], places: Sequence[int], n_steps: int) -> tuple[float | None, ...]:
    """Return the smallest probability that was given to each step; None where it was not judged."""
    lowest: list[float | None] = [None] * n_steps
    for verdict, place in zip(verdicts, places, strict=True):
        if isinstance(verdict, Judged):
            known = lowest[place]
            lowest[place] = verdict.p_correct if known is None else min(known, verdict.p_correct)
    return tuple(lowest)
