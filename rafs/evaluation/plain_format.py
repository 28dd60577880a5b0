"""Our own schema, one JSON object a line: labelled traces, and problems with several samples."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from rafs.evaluation.labels import LabelledTrace, LabelLevel, SampledProblem
from rafs.evaluation.rows import Row
from rafs.evaluation.trace_building import check_labels, extraction_failure, problem_group, silent_failure

_STEP_WORDS = {"CORRECT": True, "FLAWED": False, "AMBIGUOUS": None, "1": True, "0": True, "-1": False}


def _step_label(value: object) -> object:
    """Read true, false, null; CORRECT, FLAWED, AMBIGUOUS; or a rating, where 0 is right but leads nowhere."""
    if isinstance(value, bool) or value is None:
        return value
    return _STEP_WORDS.get(str(value), value)


StepLabel = Annotated[bool | None, BeforeValidator(_step_label)]


class RowModel(BaseModel):
    """A row of a file; what is not named here is not read."""

    model_config = ConfigDict(extra="ignore", strict=True)


PLAIN_LABELS = (
    "`first_error` is the 0-based step of the first error, or null together with `solution_correct`: true for none; "
    "`answer_correct` is true, false or null"
)


class PlainTrace(RowModel):
    """A labelled trace. An absent `silent_failure` or `extraction_failure` follows from the other two labels."""

    FORMAT: ClassVar = "plain"

    id: str | int
    problem: str
    steps: list[str] = Field(min_length=1)
    first_error: int | None
    solution_correct: bool | None = None
    step_labels: list[StepLabel] | None = None
    final_answer: str | None = None
    gold_answer: str | None = None
    answer_correct: bool | None = None
    silent_failure: bool | None = None
    extraction_failure: bool | None = None
    ef_label: bool | None = None
    """Whether people who looked at the whole transcript call it an extraction failure; goes before the other field."""
    generator: str | None = None
    natural: bool = True
    source: str | None = None
    group: str | None = None
    subset: str | None = None
    label_level: LabelLevel | None = Field(default=None, strict=False)
    error_note: str | None = None
    step_notes: list[str | None] | None = None
    label_suspect: str | None = None
    samples: list[str] = []
    """More traces of the same writer on the same problem."""

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row."""
        trace = LabelledTrace(
            id=str(self.id),
            source=self.source or row.file,
            problem=self.problem,
            steps=tuple(self.steps),
            first_error=self.first_error,
            step_labels=tuple(self.step_labels) if self.step_labels is not None else None,
            final_answer=self.final_answer,
            gold_answer=self.gold_answer,
            answer_correct=self.answer_correct,
            solution_correct=False if self.first_error is not None else self.solution_correct,
            silent_failure=self._failure("silent_failure"),
            extraction_failure=self.ef_label if self.ef_label is not None else self._failure("extraction_failure"),
            generator=self.generator,
            natural=self.natural,
            group=self.group or problem_group(self.problem),
            subset=self.subset or row.file,
            label_level=self.label_level or self._level(),
            error_note=self.error_note,
            step_notes=tuple(self.step_notes) if self.step_notes is not None else None,
            label_suspect=self.label_suspect,
            samples=tuple(self.samples),
        )
        if self.first_error is not None and self.solution_correct is True:
            raise row.refuse("first_error", self.first_error, "null in a trace whose solution_correct is true")
        check_labels(trace, row)
        yield trace

    def _failure(self, name: str) -> bool | None:
        """Return the label as given, even null; derive it only where it is absent and nobody doubts the labels."""
        if name in self.model_fields_set or self.label_suspect:
            return self.silent_failure if name == "silent_failure" else self.extraction_failure
        solution = False if self.first_error is not None else self.solution_correct
        solution = None if self.label_level is LabelLevel.ANSWER_ONLY else solution
        derive = silent_failure if name == "silent_failure" else extraction_failure
        return derive(self.answer_correct, solution)

    def _level(self) -> LabelLevel:
        if self.step_labels is not None:
            return LabelLevel.STEP
        if self.first_error is not None or self.solution_correct is True:
            return LabelLevel.FIRST_ERROR
        return LabelLevel.ANSWER_ONLY if self.solution_correct is None else LabelLevel.SOLUTION


class PlainSamples(RowModel):
    """A problem with samples."""

    FORMAT: ClassVar = "samples"

    id: str | int
    problem: str
    samples: list[str] = Field(min_length=1)
    gold_answer: str | None = None
    sample_correct: list[bool | None] | None = None
    sample_generators: list[str | None] | None = None
    generator: str | None = None
    source: str | None = None
    group: str | None = None
    subset: str | None = None

    def sampled(self, row: Row) -> SampledProblem:
        """Return the problem of the row."""
        n = len(self.samples)
        for name in ("sample_correct", "sample_generators"):
            given = getattr(self, name)
            if given is not None and len(given) != n:
                raise row.refuse(name, len(given), f"one entry for each of the {n} samples")
        return SampledProblem(
            id=str(self.id),
            source=self.source or row.file,
            problem=self.problem,
            gold_answer=self.gold_answer,
            samples=tuple(self.samples),
            sample_correct=tuple(self.sample_correct or [None] * n),
            sample_generators=tuple(self.sample_generators or [self.generator] * n),
            group=self.group or problem_group(self.problem),
            subset=self.subset or row.file,
        )
