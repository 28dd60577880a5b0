"""What is known of a trace by its labels: the nouns of the evaluation side."""

from dataclasses import dataclass
from enum import StrEnum

PLANTED = "Planted"
"""Source of the traces whose mistake was planted by a rule."""


class LabelLevel(StrEnum):
    """What the people who labelled a trace looked at."""

    FIRST_ERROR = "first_error"
    STEP = "step"
    SOLUTION = "solution"
    """The trace as a whole: that it is flawed is known, where it is flawed is not."""
    ANSWER_ONLY = "answer_only"
    """The final answer alone: a right one says nothing of the reasoning."""
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTrace:
    """A trace with what is known of it; None is not known, never false."""

    id: str
    source: str
    problem: str
    steps: tuple[str, ...]
    first_error: int | None
    """0-based step of the first error. None alone says nothing: read `located` first."""
    step_labels: tuple[bool | None, ...] | None
    """Whether each step is right, as labelled; None for the steps that were not looked at."""
    answer_correct: bool | None
    solution_correct: bool | None
    """Whether all of the reasoning is right."""
    silent_failure: bool | None
    extraction_failure: bool | None
    natural: bool
    """True for a writer's own error, False for one that was planted."""
    group: str
    """The problem: traces of one group are not independent."""
    subset: str
    label_level: LabelLevel
    final_answer: str | None = None
    gold_answer: str | None = None
    generator: str | None = None
    error_note: str | None = None
    step_notes: tuple[str | None, ...] | None = None
    """What an expert said of each step, shape (n_steps,); None where steps were not commented one by one."""
    label_suspect: str | None = None
    """Why the label is doubted, where it is."""
    samples: tuple[str, ...] = ()
    """More traces of the same writer on the same problem, for consensus and stability."""

    @property
    def located(self) -> bool:
        """Whether it is known where the first error is, or that there is none.

        `first_error` None means "all correct" only where `solution_correct` is True: traces labelled as a whole are
        flawed at a step that nobody named.
        """
        return self.first_error is not None or (self.solution_correct is True and self.reasoning_read)

    @property
    def reasoning_read(self) -> bool:
        """Whether somebody looked at the reasoning and not at the answer alone."""
        return self.label_level is not LabelLevel.ANSWER_ONLY

    @property
    def faithful(self) -> bool | None:
        """Whether the answer is right and so is the reasoning; None where one of the two is not known.

        None too where nobody looked at the reasoning, even if the answer is wrong: among such traces the unfaithful
        alone are known, and a share of them would be 1 whatever is accepted.
        """
        if not self.reasoning_read:
            return None
        if self.answer_correct is False or self.solution_correct is False:
            return False
        return True if self.answer_correct and self.solution_correct else None

    @property
    def length(self) -> int:
        """Characters of the steps: the baseline that every scorer has to beat."""
        return sum(map(len, self.steps))

    def right_steps(self) -> tuple[bool | None, ...]:
        """Return for each step whether it is right, None where nobody said.

        Of a trace labelled with its first error, the steps before it are right, it is wrong, and those behind it were
        not looked at.
        """
        if self.step_labels is not None:
            return self.step_labels
        if not self.located:
            return (None,) * len(self.steps)
        if self.first_error is None:
            return (True,) * len(self.steps)
        return (True,) * self.first_error + (False,) + (None,) * (len(self.steps) - self.first_error - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledProblem:
    """A problem with several solutions drawn for it."""

    id: str
    source: str
    problem: str
    gold_answer: str | None
    samples: tuple[str, ...]
    sample_correct: tuple[bool | None, ...]
    """Whether each sample ends in the right answer, shape (n_samples,); None where nobody said."""
    sample_generators: tuple[str | None, ...]
    group: str
    subset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthfulQuestion:
    """A question that people answer wrongly, with reference answers of both kinds."""

    id: str
    category: str
    question: str
    best_answer: str
    best_incorrect_answer: str | None
    """None in the first edition of the file, which had no such column."""
    correct_answers: tuple[str, ...]
    incorrect_answers: tuple[str, ...]
