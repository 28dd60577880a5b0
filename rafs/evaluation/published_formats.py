"""The formats in which others publish labelled traces, as their files have them."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from rafs.evaluation.labels import LabelledTrace, LabelLevel
from rafs.evaluation.plain_format import RowModel
from rafs.evaluation.rows import Row
from rafs.evaluation.trace_building import labelled


def _counted_from_0(row: Row, field: str, value: int | str | None) -> int | None:
    """Read a step number that counts from 1, or N/A."""
    if value is None or str(value).strip().upper() in {"N/A", ""}:
        return None
    digits = str(value).lower().removeprefix("step").strip()
    if not digits.isdecimal() or int(digits) < 1:
        raise row.refuse(field, value, "a step number counted from 1, or N/A")
    return int(digits) - 1


class ProcessBench(RowModel):
    """Zheng et al. 2024, arXiv:2412.06559; `label` counts from 0 and is -1 where all steps are right."""

    FORMAT: ClassVar = "processbench"

    id: str
    generator: str
    problem: str
    steps: list[str]
    final_answer_correct: bool
    label: int = Field(ge=-1)

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row."""
        yield labelled(
            row,
            id=self.id,
            source="ProcessBench",
            problem=self.problem,
            steps=self.steps,
            level=LabelLevel.FIRST_ERROR,
            first_error=self.label if self.label >= 0 else None,
            solution_correct=self.label < 0,
            answer_correct=self.final_answer_correct,
            generator=self.generator,
            subset=self.id.rpartition("-")[0] or None,
        )


class MrGsm8k(RowModel):
    """Zeng et al. 2023, arXiv:2312.17080; step numbers count from 1."""

    FORMAT: ClassVar = "mr-gsm8k"

    uuid: str | int
    question: str
    ground_truth_answer: str | int | float | None
    model_output_steps: list[str]
    model_output_answer_correctness: Literal["correct", "wrong", "incorrect"]
    model_output_solution_correctness: Literal["correct", "wrong", "incorrect"]
    model_output_solution_first_error_step: int | str
    model_output_solution_first_error_reason: str = ""
    question_type: str = ""

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row."""
        field = "model_output_solution_first_error_step"
        yield labelled(
            row,
            id=str(self.uuid),
            source="MR-GSM8K",
            problem=self.question,
            steps=self.model_output_steps,
            level=LabelLevel.FIRST_ERROR,
            first_error=_counted_from_0(row, field, self.model_output_solution_first_error_step),
            solution_correct=self.model_output_solution_correctness == "correct",
            answer_correct=self.model_output_answer_correctness == "correct",
            gold_answer=None if self.ground_truth_answer is None else str(self.ground_truth_answer),
            subset=self.question_type or None,
            error_note=self.model_output_solution_first_error_reason or None,
        )


class MrBen(RowModel):
    """Zeng et al. 2024, arXiv:2406.13975; step numbers count from 1, and no row says whether the answer is right."""

    FORMAT: ClassVar = "mr-ben"

    Question_UUID: str
    Subject: str
    Question: str
    Options: str | None = None
    Ground_Truth_Answer: str | None
    Ground_Truth_Answer_Modified: str | None = None
    Sampled_Model: str
    Model_Solution_Steps: list[str]
    Model_Solution_Correctness: Literal["correct", "incorrect"]
    Model_Solution_First_Error_Step: int | str
    Model_Solution_Error_Reason: Any = None
    """A text, or one object for each annotator; only a text is read."""

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row; the corrected reference answer goes before the original one."""
        reason = self.Model_Solution_Error_Reason
        field = "Model_Solution_First_Error_Step"
        yield labelled(
            row,
            id=f"{self.Question_UUID}-{self.Sampled_Model}",
            source="MR-Ben",
            problem=self.Question if not self.Options else f"{self.Question}\n{self.Options}",
            steps=self.Model_Solution_Steps,
            level=LabelLevel.FIRST_ERROR,
            first_error=_counted_from_0(row, field, self.Model_Solution_First_Error_Step),
            solution_correct=self.Model_Solution_Correctness == "correct",
            gold_answer=self.Ground_Truth_Answer_Modified or self.Ground_Truth_Answer,
            generator=self.Sampled_Model,
            subset=self.Subject,
            error_note=reason if isinstance(reason, str) else None,
        )


class BigBenchMistake(RowModel):
    """Tyen et al. 2023, arXiv:2311.08516; `mistake_index` counts from 0 and is null where there is no mistake."""

    FORMAT: ClassVar = "bigbench-mistake"

    input: str
    steps: list[str]
    answer: str
    target: str
    mistake_index: int | None

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row; the task is the name of the file."""
        right = self.answer.strip() == self.target.strip()
        doubt = "a wrong answer, but no mistake was marked" if not right and self.mistake_index is None else None
        yield labelled(
            row,
            id=f"{row.file}-{row.number}",
            source="BIG-Bench-Mistake",
            problem=self.input,
            steps=self.steps,
            level=LabelLevel.FIRST_ERROR,
            first_error=self.mistake_index,
            solution_correct=self.mistake_index is None,
            answer_correct=right,
            final_answer=self.answer,
            gold_answer=self.target,
            generator="PaLM-2-L",
            label_suspect=doubt,
        )


class ReasonEvalInvalid(RowModel):
    """Xia et al. 2024, arXiv:2404.05692, `mr-math_invalid_errors`: right answers; step numbers count from 1."""

    FORMAT: ClassVar = "reasoneval-invalid"

    id: int | str
    question: str
    ground_truth_answer: str
    generator: str
    model_output_step_format: list[list[str]]
    model_output_answer_correctness: Literal["correct", "wrong", "incorrect"]
    model_output_solution_correctness: Literal["correct", "wrong", "incorrect"]
    model_output_solution_first_error_step: int | str

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row."""
        field = "model_output_solution_first_error_step"
        yield labelled(
            row,
            id=f"{row.file}-{self.id}",
            source="ReasonEval",
            problem=self.question,
            steps=["\n".join(lines) for lines in self.model_output_step_format],
            level=LabelLevel.FIRST_ERROR,
            first_error=_counted_from_0(row, field, self.model_output_solution_first_error_step),
            solution_correct=self.model_output_solution_correctness == "correct",
            answer_correct=self.model_output_answer_correctness == "correct",
            gold_answer=self.ground_truth_answer,
            generator=self.generator,
        )


class ReasonEvalRedundant(RowModel):
    """The same, `mr-math_redundant_errors`: a rating of 0 is a step that leads nowhere, and all steps are right."""

    FORMAT: ClassVar = "reasoneval-redundant"

    id: int | str
    question: str
    ground_truth_answer: str
    generator: str
    model_output_step_format: list[list[str]]
    rating: list[Literal[0, 1]]

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row."""
        yield labelled(
            row,
            id=f"{row.file}-{self.id}",
            source="ReasonEval",
            problem=self.question,
            steps=["\n".join(lines) for lines in self.model_output_step_format],
            level=LabelLevel.STEP,
            step_labels=(True,) * len(self.rating),
            solution_correct=True,
            gold_answer=self.ground_truth_answer,
            generator=self.generator,
        )


class ReasonEvalPerturbed(RowModel):
    """The same, `perturbation`: one planted error in a right solution; `tags` count from 0."""

    FORMAT: ClassVar = "reasoneval-perturbed"

    id: int | str
    question: str
    ground_truth_answer: str
    hypothesis_steps: list[str]
    error_type: str
    tags: int | list[int]

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the perturbed trace; a repeated step is redundant, not wrong."""
        yield labelled(
            row,
            id=f"{row.file}-{self.id}",
            source="ReasonEval",
            problem=self.question,
            steps=self.hypothesis_steps,
            level=LabelLevel.FIRST_ERROR,
            first_error=self._first_error(),
            solution_correct=self.error_type == "repeat step",
            gold_answer=self.ground_truth_answer,
            natural=False,
            subset=self.error_type,
        )

    def _first_error(self) -> int | None:
        """Return the perturbed step: of two swapped ones the earlier, of a removed one what stands in its place.

        The solution of another problem is wrong from its first step on.
        """
        if self.error_type == "repeat step":
            return None
        if self.error_type == "swap solutions":
            return 0
        place = self.tags if isinstance(self.tags, int) else min(self.tags)
        return min(place, len(self.hypothesis_steps) - 1)
