"""How every reader makes a labelled trace: what follows from its labels is filled in, what contradicts is refused."""

import hashlib
import re
from collections.abc import Sequence

from rafs.evaluation.labels import LabelledTrace, LabelLevel
from rafs.evaluation.rows import Row

_SPELLING = re.compile(r"[\s,;?]+")


def problem_group(problem: str) -> str:
    """Return a name for the problem that spaces, case and commas do not change, and signs of calculation do."""
    plain = _SPELLING.sub("", problem).rstrip(".").lower()
    return "p" + hashlib.sha256(plain.encode()).hexdigest()[:14]


NO_ERROR = "a trace without error has null together with `solution_correct`: true"
"""How the plain format says so."""


def silent_failure(answer_correct: bool | None, solution_correct: bool | None) -> bool | None:
    """Right answer, wrong reasoning; None where that does not follow from the two."""
    if answer_correct is False or solution_correct is True:
        return False
    return True if answer_correct and solution_correct is False else None


def extraction_failure(answer_correct: bool | None, solution_correct: bool | None) -> bool | None:
    """Right reasoning, wrong answer; None where that does not follow from the two."""
    if answer_correct is True or solution_correct is False:
        return False
    return True if solution_correct and answer_correct is False else None


def labelled(
    row: Row,
    *,
    id: str,
    source: str,
    problem: str,
    steps: Sequence[str],
    level: LabelLevel,
    first_error: int | None = None,
    step_labels: tuple[bool | None, ...] | None = None,
    answer_correct: bool | None = None,
    solution_correct: bool | None = None,
    natural: bool = True,
    subset: str | None = None,
    step_notes: tuple[str | None, ...] | None = None,
    **texts: str | None,
) -> LabelledTrace:
    """Build the trace of a published format, whose rows name neither the group nor the kind of failure.

    `texts` are its `final_answer`, `gold_answer`, `generator`, `error_note` and `label_suspect`, where there are any.

    Raises:
        InputError: The labels contradict each other or the steps.
    """
    of_reasoning = solution_correct if level is not LabelLevel.ANSWER_ONLY else None
    trace = LabelledTrace(
        id=id,
        source=source,
        problem=problem,
        steps=tuple(steps),
        first_error=first_error,
        step_labels=step_labels,
        answer_correct=answer_correct,
        solution_correct=solution_correct,
        silent_failure=silent_failure(answer_correct, of_reasoning),
        extraction_failure=extraction_failure(answer_correct, of_reasoning),
        natural=natural,
        group=problem_group(problem),
        subset=subset or row.file,
        label_level=level,
        step_notes=step_notes,
        samples=(),
        **texts,
    )
    check_labels(trace, row)
    return trace


def check_labels(trace: LabelledTrace, row: Row) -> None:
    """Refuse labels that cannot all be true.

    Raises:
        InputError: There are no steps, a label points behind the last step, or two labels contradict each other.
    """
    n = len(trace.steps)
    if n == 0:
        raise row.refuse("steps", [], "at least one step")
    if trace.first_error is not None and not 0 <= trace.first_error < n:
        raise row.refuse("first_error", trace.first_error, f"a step of 0 to {n - 1}, counted from 0; {NO_ERROR}")
    if trace.first_error is not None and trace.solution_correct is True:
        raise row.refuse("first_error", trace.first_error, "null in a trace whose solution_correct is true")
    if trace.step_notes is not None and len(trace.step_notes) != n:
        raise row.refuse("step_notes", len(trace.step_notes), f"one note or null for each of the {n} steps")
    if trace.step_labels is None:
        return
    if len(trace.step_labels) != n:
        raise row.refuse("step_labels", len(trace.step_labels), f"one label for each of the {n} steps")
    if trace.solution_correct is True and False in trace.step_labels:
        raise row.refuse("step_labels", list(trace.step_labels), "no wrong step where solution_correct is true")
    if trace.first_error is not None and trace.step_labels[trace.first_error] is True:
        raise row.refuse(
            "step_labels", list(trace.step_labels), f"step {trace.first_error}, the first error, not right"
        )
