"""Oracles as checkers in scoring: what they refute needs no model, and what they confirm is still to be judged."""

from collections.abc import Sequence

from rafs.types import Abstained, BlindTrace, Judged, ModelIdentity, Truth, Verdict, Why
from rafs.usage import Meter
from verifiers.oracles.oracle import Oracle


class OracleChecker:
    """Refutes the steps that an oracle knows to be wrong.

    One that the oracle knows to be right in what it looks at is left open: a step may cite a document that exists, and
    be wrong all the same.
    """

    identity: ModelIdentity | None = None

    def __init__(self, oracle: Oracle) -> None:
        """Keep the oracle."""
        self._oracle = oracle

    @property
    def name(self) -> str:
        """The oracle's."""
        return self._oracle.name

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Judge the asked steps, each by itself."""
        meter.add("verify", calls=1)
        return [self._judge(trace.problem, trace.steps[t].text) for t in ask]

    def _judge(self, problem: str, text: str) -> Verdict:
        decision = self._oracle.decide(problem, text)
        if decision.truth is Truth.FALSE:
            return Judged(p_correct=0.0, refuted=True, reason=decision.reason)
        return Abstained(why=Why.NOT_APPLICABLE, detail=decision.reason)
