"""A judge that failed its audit: it keeps its row in the ledger, and is asked nothing."""

from collections.abc import Sequence

from rafs.types import Abstained, BlindTrace, ModelIdentity, Verdict, Why
from rafs.usage import Meter


class BarredJudge:
    """Says of every step that it failed its audit; its model is not even loaded."""

    def __init__(self, identity: ModelIdentity, detail: str) -> None:
        """Keep who it is, and what the audit found."""
        self._identity = identity
        self._detail = detail

    @property
    def name(self) -> str:
        """`judge:` and the model's id."""
        return f"judge:{self._identity.id}"

    @property
    def identity(self) -> ModelIdentity:
        """The model that would judge."""
        return self._identity

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Abstain on every asked step."""
        return [Abstained(why=Why.FAILED_AUDIT, detail=self._detail)] * len(ask)
