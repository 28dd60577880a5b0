"""A process reward model as verifier: P(correct) of every step, from one reading of the trace."""

from collections.abc import Sequence

from rafs.contracts import StepRewarder
from rafs.fences import show_invisible
from rafs.types import BlindTrace, ModelIdentity, Verdict
from rafs.usage import Meter


class PrmVerifier:
    """Asks a process reward model; it reads the problem and the steps, no answer, and no step after the judged one."""

    def __init__(self, rewarder: StepRewarder) -> None:
        self._rewarder = rewarder

    @property
    def name(self) -> str:
        """`prm:` and the model's id."""
        return f"prm:{self._rewarder.identity.id}"

    @property
    def identity(self) -> ModelIdentity:
        """The model that judges."""
        return self._rewarder.identity

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Judge the asked steps; invisible characters are shown to the model as escapes."""
        steps = [show_invisible(step.text) for step in trace.steps]
        return await self._rewarder.reward(show_invisible(trace.problem), steps, ask, meter)
