"""The flaws that experts described, and whether what RAFS named is what they meant, by a judge of equivalence.

RAFS is the critic here: its suspect step, with the reason where a checker has one. The judge is controlled on every
trace with two questions whose answers are known: the expert's own note against itself, and against the note of another
problem.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import NamedFlaw
from rafs.outcomes import Reasoning
from rafs.result import ScoreResult
from rafs.types import Judged, ModelIdentity, Verdict
from rafs.usage import Caller, Meter, Priority


class Grader(Protocol):
    """Says whether two descriptions name the same error; `verifiers.equivalence` has one."""

    @property
    def identity(self) -> ModelIdentity:
        """The model that grades."""
        ...

    async def same_error(self, problem: str, first: str, second: str, meter: Meter) -> Verdict:
        """Return P(both name the same error) as `p_correct`, or why there is none.

        Raises:
            BackendError: The model failed.
            OverloadedError: Its bounded queue is full.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """What the grading of a run needs."""

    grader: Grader
    others: Mapping[str, str]
    """For each trace a note on another problem, as a control; a trace without one has none."""
    keep_texts: bool
    """Whether what was named may be kept for people to read; not where the traces stay in an encrypted archive."""

    async def grade(self, trace: LabelledTrace, result: ScoreResult) -> tuple[NamedFlaw, ...]:
        """Return what became of every described flaw of a trace; errors as of the grader."""
        named: list[NamedFlaw] = []
        for place, (step, note) in enumerate(described_flaws(trace)):
            flagged, text = critique(trace, result, step)
            other = self.others.get(trace.id) if place == 0 else None
            p_same = 0.0 if flagged else None
            named.append(
                NamedFlaw(
                    step=step,
                    flagged=flagged,
                    p_same=await self._ask(trace.problem, note, text) if text else p_same,
                    p_itself=await self._ask(trace.problem, note, note) if place == 0 else None,
                    p_other=await self._ask(trace.problem, note, other) if other else None,
                    text=text if self.keep_texts else "",
                )
            )
        return tuple(named)

    async def _ask(self, problem: str, first: str, second: str) -> float | None:
        meter = Meter(caller=Caller(priority=Priority.BATCH))
        said = await self.grader.same_error(problem, first, second, meter)
        return said.p_correct if isinstance(said, Judged) else None


def described_flaws(trace: LabelledTrace) -> list[tuple[int | None, str]]:
    """Return each flaw that an expert put into words, by its step; None stands for the solution as a whole."""
    if trace.step_notes is not None:
        notes = zip(trace.right_steps(), trace.step_notes, strict=True)
        return [(step, note) for step, (right, note) in enumerate(notes) if right is False and note]
    return [(None, trace.error_note)] if trace.solution_correct is False and trace.error_note else []


def critique(trace: LabelledTrace, result: ScoreResult, step: int | None) -> tuple[bool | None, str]:
    """Return whether RAFS calls a step, or the solution as a whole, flawed, and what it says is wrong.

    Returns:
        None where it says nothing of it; an empty text where it names nothing.
    """
    derivation, combined = result.evidence.reading.trace.derivation(), result.evidence.verdicts.combined
    places = [one.index if len(trace.steps) > 1 else 0 for one in derivation]
    if step is None:
        said = result.decision.outcome.reasoning
        flagged = None if said is Reasoning.UNKNOWN else said is Reasoning.FLAWED
        suspects = list(result.suspects)
    else:
        judged = any(place == step and isinstance(one, Judged) for place, one in zip(places, combined, strict=True))
        suspects = [at for at in result.suspects if places[at] == step]
        flagged = bool(suspects) if judged else None
    if not flagged or not suspects:
        return flagged, ""
    verdict = combined[suspects[0]]
    reason = verdict.reason if isinstance(verdict, Judged) else ""
    text = f"Step {places[suspects[0]] + 1} is wrong: {derivation[suspects[0]].blind_text.strip()}"
    return flagged, f"{text}\n{reason}" if reason else text


def notes_of_others(traces: Sequence[LabelledTrace]) -> dict[str, str]:
    """Return for every trace with a described flaw the note on another problem: the next one in the order of a hash."""
    noted = [(trace, flaws[0][1]) for trace in traces if (flaws := described_flaws(trace))]
    order = sorted(noted, key=lambda pair: hashlib.sha256(pair[0].id.encode()).digest())
    found: dict[str, str] = {}
    for at, (trace, own) in enumerate(order):
        following = (pair for pair in order[at + 1 :] + order[:at])
        other = next((note for one, note in following if one.group != trace.group and note != own), None)
        if other is not None:
            found[trace.id] = other
    return found
