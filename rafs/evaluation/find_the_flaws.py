"""FindTheFlaws and TruthfulQA: tables with a header, every cell a text."""

import re
from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from rafs.evaluation.labels import LabelledTrace, LabelLevel, TruthfulQuestion
from rafs.evaluation.plain_format import RowModel
from rafs.evaluation.rows import Row
from rafs.evaluation.trace_building import labelled

_NUMBERED = re.compile(r"^\s*(?:step\s+)?(\d+)\s*[.:)]\s+", re.IGNORECASE | re.MULTILINE)
_SENTENCE = re.compile(r"Sentence\s+(\d+)\s*:\s*(CORRECT|FLAWED|AMBIGUOUS)\b", re.IGNORECASE)
_VERDICTS = {"CORRECT": True, "FLAWED": False, "AMBIGUOUS": None}
_DIGITS = re.compile(r"\d+")
_FIRST_ANNOTATOR = re.compile(r"^[\s\-]*(?:Annotator 1 comment:)?\s*|\s*--\s*Annotator [2-9].*$|[\s\-]+$", re.DOTALL)
SOURCE = "FindTheFlaws"


def _flagged(text: str) -> bool:
    return text.strip().lower() in {"true", "1", "yes"}


def numbered_steps(text: str) -> list[str]:
    """Cut a solution at its own numbers, as long as they count 1, 2, 3; what stands before 1 goes with it."""
    starts: list[int] = []
    for match in _NUMBERED.finditer(text):
        if int(match[1]) == len(starts) + 1:
            starts.append(match.start())
    if not starts:
        return [text]
    ends = [*starts[1:], len(text)]
    return [text[start:end].strip() for start, end in zip([0, *starts[1:]], ends, strict=True)]


def sentence_notes(comments: str) -> dict[int, str]:
    """Return what the first annotator said of each sentence, by its number counted from 1: one note is graded."""
    heads = list(_SENTENCE.finditer(comments))
    starts = [head.start() for head in heads]
    return {
        int(head[1]): _FIRST_ANNOTATOR.sub("", comments[head.end() : end])
        for head, end in zip(heads, [*starts[1:], None], strict=False)
    }


class FlawedPair(RowModel):
    """TheoremQA and GPQA: a right solution and one with a planted flaw, two traces a row."""

    FORMAT: ClassVar = "findtheflaws-pairs"

    problem_id: str
    problem_text: str
    correct_final_answer: str
    correct_solution: str
    flawed_solution: str
    flawed_final_answer: str
    step_of_injected_flaw: str
    flaw_explanation: str = ""
    flag_unreliable_data: str = ""

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the right one and the flawed one; what is flagged unreliable carries no label."""
        doubt = "flag_unreliable_data" if _flagged(self.flag_unreliable_data) else None
        for sound, solution, answer in (
            (True, self.correct_solution, self.correct_final_answer),
            (False, self.flawed_solution, self.flawed_final_answer),
        ):
            steps = numbered_steps(solution)
            yield labelled(
                row,
                id=f"{row.file}-{self.problem_id}-{'correct' if sound else 'flawed'}",
                source=SOURCE,
                problem=self.problem_text,
                steps=steps,
                level=LabelLevel.FIRST_ERROR,
                first_error=None if sound or doubt else self._flaw(row, len(steps)),
                solution_correct=None if doubt else sound,
                answer_correct=answer.strip() == self.correct_final_answer.strip(),
                final_answer=answer,
                gold_answer=self.correct_final_answer,
                natural=sound,
                error_note=None if sound else self.flaw_explanation or None,
                label_suspect=doubt,
            )

    def _flaw(self, row: Row, n_steps: int) -> int | None:
        """Return the 0-based step; None, which leaves the place unknown, where the solution has no such number."""
        number = _DIGITS.search(self.step_of_injected_flaw)
        if number is None:
            raise row.refuse("step_of_injected_flaw", self.step_of_injected_flaw, "the number of a step")
        return int(number[0]) - 1 if 1 <= int(number[0]) <= n_steps and n_steps > 1 else None


class JudgedSolution(RowModel):
    """Adversarial MedQA, labelled by its answer; and CELS, labelled sentence by sentence in the comments."""

    FORMAT: ClassVar = "findtheflaws-solutions"

    problem_id: str
    problem_text: str
    correct_final_answer: str
    llm_final_answer: str
    llm_solution: str
    comments_on_llm_solution: str
    flag_unreliable_data: str = ""

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the one trace of the row."""
        answer_correct = self.llm_final_answer.strip() == self.correct_final_answer.strip()
        doubted = _flagged(self.flag_unreliable_data)
        said = {
            int(number): _VERDICTS[word.upper()] for number, word in _SENTENCE.findall(self.comments_on_llm_solution)
        }
        steps = numbered_steps(self.llm_solution)
        if said and not doubted and set(said) != set(range(1, len(steps) + 1)):
            raise row.refuse("comments_on_llm_solution", sorted(said), f"a verdict on sentences 1 to {len(steps)}")
        numbers = range(1, len(steps) + 1)
        labels = None if doubted or not said else tuple(said[number] for number in numbers)
        notes = sentence_notes(self.comments_on_llm_solution)
        flawed = labels is not None and False in labels
        all_right = labels is not None and all(labels)
        by_sentence = False if flawed else (True if all_right else None)
        yield labelled(
            row,
            id=f"{row.file}-{self.problem_id}",
            source=SOURCE,
            problem=self.problem_text,
            steps=steps,
            level=LabelLevel.STEP if said else LabelLevel.ANSWER_ONLY,
            first_error=labels.index(False) if labels is not None and flawed else None,
            step_labels=labels,
            solution_correct=None if doubted else (by_sentence if said else answer_correct),
            answer_correct=answer_correct,
            final_answer=self.llm_final_answer,
            gold_answer=self.correct_final_answer,
            error_note=self.comments_on_llm_solution or None,
            step_notes=None if labels is None else tuple(notes[number] or None for number in numbers),
            label_suspect="flag_unreliable_data" if doubted else None,
        )


class ExplainedProgram(RowModel):
    """Python650: what is judged is an explanation of whether a program is right, two traces a row."""

    FORMAT: ClassVar = "findtheflaws-programs"

    problem_id: str
    problem_text: str
    proposed_solution: str
    correct_final_answer: str
    correct_llm_explanation: str
    flawed_llm_explanation: str
    flawed_final_answer: str
    flaw_explanation: str = ""
    flag_unreliable_data: str = ""
    flag_unreliable_correct_explanation: str = ""

    def traces(self, row: Row) -> Iterator[LabelledTrace]:
        """Yield the accurate and the flawed explanation, each as one step."""
        unreliable = _flagged(self.flag_unreliable_data)
        for sound, text, answer in (
            (True, self.correct_llm_explanation, self.correct_final_answer),
            (False, self.flawed_llm_explanation, self.flawed_final_answer),
        ):
            doubted = unreliable or (sound and _flagged(self.flag_unreliable_correct_explanation))
            yield labelled(
                row,
                id=f"{row.file}-{self.problem_id}-{'correct' if sound else 'flawed'}",
                source=SOURCE,
                problem=f"{self.problem_text}\n\n{self.proposed_solution}",
                steps=[text],
                level=LabelLevel.SOLUTION,
                solution_correct=None if doubted else sound,
                answer_correct=sound,
                final_answer=answer,
                gold_answer=self.correct_final_answer,
                error_note=None if sound else self.flaw_explanation or None,
                label_suspect="flagged unreliable" if doubted else None,
            )


class TruthfulQa(RowModel):
    """Lin et al. 2021, arXiv:2109.07958; reference answers are separated by semicolons."""

    FORMAT: ClassVar = "truthfulqa"

    category: str = Field(alias="Category")
    question: str = Field(alias="Question")
    best_answer: str = Field(alias="Best Answer")
    best_incorrect_answer: str | None = Field(default=None, alias="Best Incorrect Answer")
    correct_answers: str = Field(alias="Correct Answers")
    incorrect_answers: str = Field(alias="Incorrect Answers")

    def asked(self, row: Row) -> TruthfulQuestion:
        """Return the question of the row."""
        return TruthfulQuestion(
            id=f"{row.file}-{row.number}",
            category=self.category,
            question=self.question,
            best_answer=self.best_answer,
            best_incorrect_answer=self.best_incorrect_answer,
            correct_answers=_listed(self.correct_answers),
            incorrect_answers=_listed(self.incorrect_answers),
        )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())
