"""Labelled traces and records of our own invention."""

from rafs.evaluation.labels import LabelledTrace, LabelLevel
from rafs.evaluation.records import Cost, ItemRecord
from rafs.outcomes import AnswerSupport, OutcomeLabel, Reasoning, Status


def trace(
    id: str,
    *,
    steps: tuple[str, ...] = ("4 crates of 6 hold 24 pears.", "24 - 5 = 19 are left."),
    first_error: int | None = None,
    solution_correct: bool | None = True,
    answer_correct: bool | None = True,
    extraction_failure: bool | None = False,
    natural: bool = True,
    group: str | None = None,
    subset: str = "orchard",
    label_level: LabelLevel = LabelLevel.FIRST_ERROR,
    step_labels: tuple[bool | None, ...] | None = None,
) -> LabelledTrace:
    silent = None if answer_correct is None or solution_correct is None else answer_correct and not solution_correct
    return LabelledTrace(
        id=id,
        source="made",
        problem="Four crates hold six pears each. Five pears are eaten. How many are left?",
        steps=steps,
        first_error=first_error,
        step_labels=step_labels,
        final_answer="19",
        gold_answer="19",
        answer_correct=answer_correct,
        solution_correct=solution_correct,
        silent_failure=silent,
        extraction_failure=extraction_failure,
        natural=natural,
        group=group or id,
        subset=subset,
        label_level=label_level,
    )


def record(
    id: str,
    *,
    score: float | None = 90.0,
    status: Status | None = Status.REVIEW,
    q: tuple[float | None, ...] = (0.9, 0.9),
    suspect: int | None = None,
    outcome: OutcomeLabel | None = OutcomeLabel.UNDETERMINED,
    reasoning: Reasoning | None = Reasoning.SOUND,
) -> ItemRecord:
    return ItemRecord(
        id=id,
        score=score,
        coverage=1.0,
        status=status,
        reasons=(),
        outcome=outcome,
        reasoning=reasoning,
        answer=AnswerSupport.UNKNOWN,
        q=q,
        suspect=suspect,
        components={},
        members={},
        cost=Cost(calls=2, tokens=100, milliseconds=10.0),
    )
