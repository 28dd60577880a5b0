"""A verifier that repeats what was said when a record was made."""

from collections.abc import Sequence

from rafs.record import MemberTape
from rafs.recording import from_tape
from rafs.types import BlindTrace, ModelIdentity, Verdict
from rafs.usage import Meter


class RecordedAnswerJudge:
    """Repeats what a judge said on whether the answer follows."""

    def __init__(self, tape: MemberTape, identity: ModelIdentity) -> None:
        self._tape = tape
        self._identity = identity

    @property
    def identity(self) -> ModelIdentity:
        """Model of the judge that was recorded."""
        return self._identity

    async def follows(self, trace: BlindTrace, answer: str, meter: Meter) -> Verdict:
        """Repeat the verdict."""
        return from_tape(self._tape.verdicts[0])


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
