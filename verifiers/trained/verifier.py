"""A trained head as verifier: P(correct) of every step from one pass of its base model and from exact reading."""

from collections.abc import Sequence

from rafs.fences import show_invisible
from rafs.step_reading import StepReader, StepReading
from rafs.types import Abstained, BlindTrace, Judged, ModelIdentity, Verdict
from rafs.usage import Meter
from verifiers.trained.features import step_features
from verifiers.trained.head import StepHead


class TrainedVerifier:
    """Reads the problem and the steps, no answer, and of each step nothing that comes after it."""

    def __init__(self, reader: StepReader, head: StepHead) -> None:
        """Put a head on a reader.

        Args:
            reader: The base that the head was trained on.
            head: The trained part.
        """
        self._reader = reader
        self._head = head

    @property
    def name(self) -> str:
        """`prm:` and the model's id."""
        return f"prm:{self._reader.identity.id}"

    @property
    def identity(self) -> ModelIdentity:
        """The base, whose family it shares."""
        return self._reader.identity

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Judge the asked steps; invisible characters are shown to the model as escapes."""
        steps = [show_invisible(step.text) for step in trace.steps]
        found = await self._reader.read(show_invisible(trace.problem), steps, ask, meter)
        read = {t: one for t, one in zip(ask, found, strict=True) if isinstance(one, StepReading)}
        if not read:
            return [one for one in found if isinstance(one, Abstained)]
        rows = step_features(trace)[list(read)]
        columns = self._head.columns(rows, list(read.values()))
        p_correct = self._head.p_correct(columns, [one.pooled for one in read.values()])
        judged = dict(zip(read, map(float, p_correct), strict=True))
        return [
            Judged(p_correct=judged[t]) if isinstance(one, StepReading) else one
            for t, one in zip(ask, found, strict=True)
        ]
