"""The deterministic verifier: arithmetic and grounding, from the claims already read."""

from collections.abc import Sequence

from rafs.calibration import CheckerRates
from rafs.types import Abstained, BlindTrace, Claim, Judged, ModelIdentity, SourceKind, Truth, Verdict, Why
from rafs.usage import Meter


class SymbolicVerifier:
    """Refutes a false claim, doubts an ungrounded operand, backs a step whose claims all hold."""

    name = "symbolic"
    identity: ModelIdentity | None = None

    def __init__(self, rates: CheckerRates) -> None:
        self._rates = rates

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Judge the asked steps; a step without a readable claim is `Abstained(NOT_APPLICABLE)`."""
        meter.add("verify", calls=1)
        return [self._judge([claim for claim in trace.graph.claims if claim.step == trace.steps[t].index]) for t in ask]

    def _judge(self, claims: Sequence[Claim]) -> Verdict:
        false = [claim for claim in claims if claim.truth is Truth.FALSE]
        if false:
            return Judged(p_correct=0.0, refuted=True, reason="; ".join(claim.reason for claim in false))
        ungrounded = list(dict.fromkeys(text for claim in claims for text in ungrounded_operands(claim)))
        if ungrounded:
            named = ", ".join(ungrounded)
            return Judged(p_correct=self._rates.ungrounded, reason=f"{named} comes from neither the problem nor a step")
        if any(claim.truth is Truth.TRUE or _is_open(claim) for claim in claims):
            return Judged(p_correct=self._rates.proven, reason="its arithmetic holds and every operand has a source")
        return Abstained(why=Why.NOT_APPLICABLE, detail="no claim that arithmetic decides")


def ungrounded_operands(claim: Claim) -> list[str]:
    """Return the operands of a claim that come from nowhere, as written."""
    return [operand.text for operand in claim.operands if operand.source is SourceKind.UNGROUNDED]


def _is_open(claim: Claim) -> bool:
    """Whether the claim ends in the set-apart answer: nothing is asserted that could be false."""
    return claim.value is not None and claim.result_span is None
