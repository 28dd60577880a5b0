"""Which edits are tried on a trace: one valid edit a pivot, until there are enough."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice

from counterfactuals.constraints import broken_constraint
from counterfactuals.edits import draw_edits
from counterfactuals.pivotal import rank_pivots, rank_text_pivots
from counterfactuals.prefixes import first_mentions
from counterfactuals.text_edits import draw_negations
from rafs.interventions import NO_EDITING, Continued, Edit, EditFamily, Editing, Pivot, Target
from rafs.types import Reading

TRIED_PER_EDIT = 2
"""Pivots tried for each edit wanted: some have no valid edit, but a replay for every step would be quadratic."""


@dataclass(slots=True, kw_only=True)
class Plan:
    """The edits of one trace, and how they were found."""

    pivots: tuple[Pivot, ...] = ()
    """The pivots that are looked at, the most promising first."""
    edits: tuple[Edit, ...] = ()
    mistakes: tuple[Edit, ...] = ()
    """Valid edits of a value, for a probe that adds a mistake."""
    discarded: list[tuple[int, str]] = field(default_factory=list)
    """(step, reason code) of every edit that broke a constraint."""
    n_weighed: int = 0
    """Claims whose influence was measured."""
    n_tried: int = 0
    """Candidate edits that were made, valid or not."""
    late: bool = False
    """Time ran out before all pivots were looked at."""
    ablated: tuple[Continued, ...] = ()
    """What the writer answered when a step was left out, to find the influence of steps without claims."""
    editing: Editing = NO_EDITING
    """What an editor and the validator said."""

    @property
    def n_done(self) -> int:
        """Pieces of work, after each of which the clock is looked at."""
        return self.n_weighed + self.n_tried


class Planner:
    """Draws one valid edit for each of the best pivots; more of one pivot where too few are left for a measurement."""

    def __init__(self, *, n_edits: int, m_min: int, with_mistakes: bool = False) -> None:
        self._n_edits = n_edits
        self._most = n_edits * TRIED_PER_EDIT
        self._m_min = m_min
        self._with_mistakes = with_mistakes

    def rank(
        self,
        reading: Reading,
        target: Target | None,
        q_by_step: Mapping[int, float],
        seed: int,
        *,
        is_read: bool,
        is_over: Callable[[int], bool],
    ) -> Plan:
        """Return a plan with the pivots of one trace, those with claims first; it has no edits yet.

        Args:
            reading: The trace and its quantity graph.
            target: What the answer is in the graph; None where it is no result of it.
            q_by_step: Combined q_t by step index.
            seed: Server-side; draws ties.
            is_read: Whether a generator will continue the edited prefixes; only then are words edited, for a replay
                knows nothing of them.
            is_over: Whether to stop, given `Plan.n_done`; asked before each claim is weighed.
        """
        plan = Plan()

        def is_late() -> bool:
            plan.late = is_over(plan.n_done)
            plan.n_weighed += not plan.late
            return plan.late

        plan.pivots = tuple(rank_pivots(reading, target, q_by_step, seed, is_late)[: self._most])
        if is_read and not plan.late and len(plan.pivots) < self._most:
            plan.pivots += tuple(rank_text_pivots(reading, q_by_step, seed))
        return plan

    def draw(
        self,
        plan: Plan,
        reading: Reading,
        target: Target | None,
        seed: int,
        *,
        is_read: bool,
        is_over: Callable[[int], bool],
    ) -> None:
        """Draw the edits of the best pivots into their plan.

        Args:
            plan: With its pivots.
            reading: The trace and its quantity graph.
            target: What the answer is in the graph; None where it is no result of it.
            seed: Server-side; draws families, values and words.
            is_read: Whether a generator will continue the edited prefixes; only then may one give the answer away.
            is_over: Whether to stop, given `Plan.n_done`; asked before each candidate is made.
        """
        plan.pivots = pivots = plan.pivots[: self._most]
        valid = _valid_edits(plan, reading, target, is_read=is_read, is_over=is_over)
        drawn = [valid(pivot, seed + rank) for rank, pivot in enumerate(pivots)]
        edits = list(islice((edit for one in drawn if (edit := next(one, None)) is not None), self._n_edits))
        edits += islice(chain.from_iterable(drawn), max(0, self._m_min - len(edits)))
        plan.edits = tuple(edits)
        if self._with_mistakes and is_read:
            again = (valid(pivot, seed + rank, EditFamily.VALUE) for rank, pivot in enumerate(pivots))
            wrong = (edit for one in again if (edit := next(one, None)) is not None)
            plan.mistakes = tuple(islice(wrong, self._n_edits))


def _valid_edits(
    plan: Plan, reading: Reading, target: Target | None, *, is_read: bool, is_over: Callable[[int], bool]
) -> Callable[..., Iterator[Edit]]:
    mentioned = first_mentions(reading.trace) if is_read else None

    def valid(pivot: Pivot, seed: int, only: EditFamily | None = None) -> Iterator[Edit]:
        candidates, made = _candidates(reading, pivot, target, seed), set[EditFamily]()
        while not (late := is_over(plan.n_done)) and (edit := next(candidates, None)) is not None:
            if only not in (None, edit.family) or edit.family in made:
                continue  # one valid edit of a family: another one would say nothing new
            plan.n_tried += 1
            broken = broken_constraint(edit, reading, target, mentioned)
            if broken is None:
                made.add(edit.family)
                yield edit
            elif only is None:
                plan.discarded.append((edit.step, broken))
        plan.late = plan.late or late

    return valid


def _candidates(reading: Reading, pivot: Pivot, target: Target | None, seed: int) -> Iterator[Edit]:
    step = reading.trace.steps[pivot.step]
    if pivot.claim is None:
        return draw_negations(step, seed)
    return draw_edits(reading.graph, pivot.claim, target, step.blind_text, seed, reading.trace.problem)
