"""A verifier that repeats what was said when a record was made."""

from collections.abc import Sequence

from rafs.record import MemberTape
from rafs.recording import from_tape
from rafs.types import BlindTrace, ModelIdentity, Verdict
from rafs.usage import Meter


class RecordedVerifier:
    """Repeats one row of a recorded decision ledger."""

    def __init__(self, tape: MemberTape) -> None:
        self._tape = tape

    @property
    def name(self) -> str:
        """Name of the member that was recorded."""
        return self._tape.member

    @property
    def identity(self) -> ModelIdentity | None:
        """Model of the member that was recorded."""
        return self._tape.identity

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Repeat the verdicts on the asked steps."""
        return [from_tape(self._tape.verdicts[t]) for t in ask]
