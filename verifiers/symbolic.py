"""The deterministic verifier: arithmetic and grounding, from the claims already read."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import StrEnum

from rafs.calibration import CheckerRates
from rafs.quantities.labels import stands_in_latex
from rafs.types import Abstained, BlindTrace, Claim, Judged, ModelIdentity, SourceKind, Truth, Verdict, Why
from rafs.usage import Meter

_CURRENCY = re.compile(r"[$€£¥]\s?\d|\d\s?[€¢]")
_THING = re.compile(r"\s?[^\W\d_]{3,}")
"""A word right behind a calculation: what is counted."""


class CheckerSays(StrEnum):
    """What the checker makes of a step."""

    REFUTED = "refuted"
    INVENTED = "invented"
    UNGROUNDED = "ungrounded"
    PROVEN = "proven"
    SILENT = "silent"


class SymbolicVerifier:
    """Refutes a false claim, doubts an ungrounded operand or units that do not match, backs what holds."""

    name = "symbolic"
    identity: ModelIdentity | None = None

    def __init__(self, rates: CheckerRates) -> None:
        self._rates = rates

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Judge the asked steps; a step without a readable claim is `Abstained(NOT_APPLICABLE)`."""
        meter.add("verify", calls=1)
        return [self._judge(trace, t) for t in ask]

    def _judge(self, trace: BlindTrace, t: int) -> Verdict:
        claims = claims_of(trace, t)
        nowhere = ", ".join(dict.fromkeys(text for claim in claims for text in ungrounded_operands(claim)))
        match check_step(trace, t):
            case CheckerSays.REFUTED:
                reasons = [claim.reason for claim in claims if claim.truth is Truth.FALSE]
                return Judged(p_correct=0.0, refuted=True, reason="; ".join(reasons))
            case CheckerSays.INVENTED:
                conflicts = [claim.conflict for claim in claims if claim.conflict]
                reason = f"{nowhere} comes from neither the problem nor a step" if nowhere else "; ".join(conflicts)
                return Judged(p_correct=self._rates.invented, reason=reason)
            case CheckerSays.UNGROUNDED:
                reason = f"its arithmetic holds; the source of {nowhere} is not stated"
                return Judged(p_correct=self._rates.ungrounded, reason=reason)
            case CheckerSays.PROVEN:
                return Judged(
                    p_correct=self._rates.proven, reason="its arithmetic holds and every operand has a source"
                )
            case CheckerSays.SILENT:
                return Abstained(why=Why.NOT_APPLICABLE, detail="no claim that arithmetic decides")


def check_step(trace: BlindTrace, t: int) -> CheckerSays:
    """Say what arithmetic and provenance make of a step."""
    claims = claims_of(trace, t)
    if any(claim.truth is Truth.FALSE for claim in claims):
        return CheckerSays.REFUTED
    doubted = [claim for claim in claims if ungrounded_operands(claim)]
    if any(claim.conflict for claim in claims) or any(_counts_things(claim, trace.steps[t].text) for claim in doubted):
        return CheckerSays.INVENTED
    if doubted:
        return CheckerSays.UNGROUNDED
    if any(claim.truth is Truth.TRUE or _is_open(claim) for claim in claims):
        return CheckerSays.PROVEN
    return CheckerSays.SILENT


def claims_of(trace: BlindTrace, t: int) -> list[Claim]:
    """Return the claims of a step; they stand in the order of the steps."""
    claims, step = trace.graph.claims, trace.steps[t].index
    first = bisect_left(claims, step, key=_step_of)
    return list(claims[first : bisect_right(claims, step, lo=first, key=_step_of)])


def _step_of(claim: Claim) -> int:
    return claim.step


def _counts_things(claim: Claim, text: str) -> bool:
    """Whether a calculation is one of money or of counted things."""
    if stands_in_latex(text, claim.span):
        return False
    return bool(_CURRENCY.search(claim.text) or _THING.match(text, claim.span.end))


def ungrounded_operands(claim: Claim) -> list[str]:
    """Return the operands of a claim that come from nowhere, as written."""
    return [operand.text for operand in claim.operands if operand.source is SourceKind.UNGROUNDED]


def _is_open(claim: Claim) -> bool:
    """Whether the claim ends in the set-apart answer: nothing is asserted that could be false."""
    return claim.value is not None and claim.result_span is None
