"""PRM800K: a tree of rated completions, of which one path is the solution."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from rafs.evaluation.labels import LabelledTrace, LabelLevel
from rafs.evaluation.plain_format import RowModel
from rafs.evaluation.rows import Row
from rafs.evaluation.trace_building import labelled


class Completion(RowModel):
    """A candidate for one step."""

    text: str
    rating: Literal[-1, 0, 1] | None = None
    """0 is right but makes no progress; null where the labeller did not know."""


class RatedStep(RowModel):
    """All candidates for one step, and which of them the solution went on with."""

    completions: list[Completion] | None = None
    human_completion: Any = None
    """A text or an object with one, where the labeller wrote the step."""
    chosen_completion: int | None = None

    def taken(self) -> tuple[str, bool | None] | None:
        """Return the step on the path and whether it is right; the first wrong candidate where none was chosen."""
        candidates = self.completions or []
        if self.chosen_completion is not None and self.chosen_completion < len(candidates):
            chosen = candidates[self.chosen_completion]
            return chosen.text, None if chosen.rating is None else chosen.rating >= 0
        written = self.human_completion
        text = written.get("text") if isinstance(written, dict) else written
        if isinstance(text, str) and text:
            return text, True
        wrong = [candidate.text for candidate in candidates if candidate.rating == -1]
        return (wrong[0], False) if wrong else None


class Question(RowModel):
    """The problem, with the whole solution where it was generated beforehand."""

    problem: str
    ground_truth_answer: str | None = None
    pre_generated_steps: list[str] | None = None
    pre_generated_answer: str | None = None


class Labels(RowModel):
    """What the labeller said."""

    steps: list[RatedStep]
    finish_reason: Literal["found_error", "solution", "bad_problem", "give_up"]


class Prm800k(RowModel):
    """Lightman et al. 2023, arXiv:2305.20050."""

    FORMAT: ClassVar = "prm800k"

    labeler: str
    question: Question
    label: Labels
    is_quality_control_question: bool = False

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the path that was labelled, continued as it was generated; nobody looked at what follows an error.

        A row that was given up before any step is no trace.
        """
        path = [taken for step in self.label.steps if (taken := step.taken()) is not None]
        steps, labels = [text for text, _ in path], [right for _, right in path]
        whole = self.question.pre_generated_steps or []
        if whole[: len(steps)] == steps:
            labels += [None] * (len(whole) - len(steps))
            steps = whole
        if not steps:
            return
        first_error = labels.index(False) if False in labels else None
        wrong = first_error is not None or self.label.finish_reason == "found_error"
        finished = self.label.finish_reason == "solution"
        yield labelled(
            row,
            id=f"{row.file}-{row.number}",
            source="PRM800K",
            problem=self.question.problem,
            steps=steps,
            level=LabelLevel.STEP,
            first_error=first_error,
            step_labels=tuple(labels),
            solution_correct=False if wrong else (True if finished and None not in labels else None),
            answer_correct=True if finished else None,
            final_answer=self.question.pre_generated_answer,
            gold_answer=self.question.ground_truth_answer,
            generator="GPT-4",
        )
