"""What is told of a score before it is there: the steps that were read, verdicts, and bounds that narrow."""

from collections.abc import Callable

from rafs.bounds import score_bounds
from rafs.policy import Policy
from rafs.progress_wire import ScoreBounds, StepJudged, StepRead, StepsRead
from rafs.result import Evidence
from rafs.types import Judged, Reading, Verdict
from rafs.usage import Stage

News = StepsRead | StepJudged | ScoreBounds
Tell = Callable[[News], None]


class Narrator:
    """Watches the evidence of one request and tells each thing once."""

    def __init__(self, tell: Tell, policy: Policy) -> None:
        """Keep to whom it tells.

        Args:
            tell: Called on the event loop; it neither blocks nor raises.
            policy: The operator's constants.
        """
        self._tell = tell
        self._policy = policy
        self._told: set[int] = set()
        self._has_read = False
        self._bounds: tuple[float, float] | None = None

    def __call__(self, evidence: Evidence) -> None:
        """Tell what is new; see `rafs.result.Observer`."""
        if not self._has_read:
            self._has_read = True
            self._tell(_steps(evidence.reading))
        is_final = Stage.VERIFY not in evidence.cut_off
        for t, verdict in enumerate(evidence.verdicts.combined):
            if t not in self._told and (is_final or (isinstance(verdict, Judged) and verdict.refuted)):
                self._told.add(t)
                self._tell(self._verdict(evidence, t, verdict))
        bounds = score_bounds(evidence, self._policy)
        if bounds != self._bounds:
            self._bounds = bounds
            self._tell(ScoreBounds(lower=bounds[0], upper=bounds[1]))

    def _verdict(self, evidence: Evidence, t: int, verdict: Verdict) -> StepJudged:
        p_correct = verdict.p_correct if isinstance(verdict, Judged) else None
        return StepJudged(
            index=evidence.reading.trace.derivation()[t].index,
            p_correct=p_correct,
            refuted=isinstance(verdict, Judged) and verdict.refuted,
            suspect=p_correct is not None and p_correct < self._policy.tau_step,
            decided_by=list(evidence.verdicts.decided_by[t]),
            reason=verdict.reason if isinstance(verdict, Judged) else verdict.detail or verdict.why.value,
        )


def _steps(reading: Reading) -> StepsRead:
    steps = [
        StepRead(index=step.index, start=step.span.start, end=step.span.end, text=step.text, kind=step.kind.value)
        for step in reading.trace.steps
    ]
    answer = reading.trace.answer
    return StepsRead(steps=steps, answer=None if answer is None else answer.text)
