"""Labelled traces as a verifier sees them: blind steps, what is known of each, and which of them are worth reading."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rafs.errors import InputError
from rafs.evaluation.labels import LabelledTrace
from rafs.fences import show_invisible
from rafs.reading import read_text
from verifiers.trained.features import step_features

UNSEEN = -2
"""First error of a trace that has it in a statement of the answer, which no verifier sees: never found."""
ALL_RIGHT = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Example:
    """One trace; positions are those of the blind trace, whose statements of the answer are gone."""

    id: str
    group: str
    """The problem: its traces are never on both sides of a split."""
    subset: str
    """`source/subset`, by which figures are reported."""
    source: str
    problem: str
    steps: tuple[str, ...]
    places: tuple[int, ...]
    """Labelled step of each position."""
    n_labelled: int
    """Steps as labelled."""
    features: NDArray[np.float32]
    wrong: NDArray[np.int8]
    """1 the first error, 0 a right step, -1 a step that nobody looked at or that follows an error, shape (n_steps,)."""
    first_error: int | None
    """ALL_RIGHT, UNSEEN or a position; None where it is not known."""
    silent: bool | None
    """Right answer, flawed reasoning; False for a right answer by right reasoning; None for all other traces."""
    n_chars: int

    @property
    def n_read(self) -> int:
        """Steps worth reading: all where the answer is right, for the weakest of them; else up to the first error."""
        if self.silent is not None or self.first_error is None or self.first_error < 0:
            return len(self.steps)
        return self.first_error + 1


def read_examples(traces: Iterable[LabelledTrace]) -> list[Example]:
    """Read labelled traces; those that are too long to score, or have no step but an answer, are left out."""
    return [example for trace in traces if (example := _read(trace)) is not None]


def _read(trace: LabelledTrace) -> Example | None:
    try:
        blind = read_text(trace.problem, trace.steps, None).blind()
    except InputError:
        return None
    if not any(step.text for step in blind.steps):
        return None
    position = {step.index: t for t, step in enumerate(blind.steps)}
    labels = trace.right_steps()
    wrong = np.full(len(blind.steps), -1, dtype=np.int8)
    first_error = ALL_RIGHT if trace.solution_correct and trace.located else None
    if trace.first_error is not None:
        first_error = position.get(trace.first_error, UNSEEN)
    for index, t in position.items():
        is_after = trace.first_error is not None and index > trace.first_error
        if labels[index] is not None and not is_after:
            wrong[t] = not labels[index]
    return Example(
        id=trace.id,
        group=trace.group,
        subset=f"{trace.source}/{trace.subset}",
        source=trace.source,
        problem=show_invisible(blind.problem),
        steps=tuple(show_invisible(step.text) for step in blind.steps),
        places=tuple(position),
        n_labelled=len(trace.steps),
        features=step_features(blind),
        wrong=wrong,
        first_error=first_error,
        silent=trace.solution_correct is False if trace.answer_correct and trace.solution_correct is not None else None,
        n_chars=trace.length,
    )
