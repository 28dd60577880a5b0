"""The oracle of arithmetic: the claims of a text, computed exactly."""

from rafs.derivation import link_answer
from rafs.errors import InputError
from rafs.reading import read_text
from rafs.types import Claim, Truth
from verifiers.oracles.oracle import Decision, all_hold, is_too_long


class ArithmeticOracle:
    """A text is wrong with one false claim, and right where every claim is true and none contradicts its answer.

    It speaks of arithmetic alone: a true calculation may still be the wrong one for the problem. Claims that only
    algebra decides are left open.
    """

    name = "oracle:arithmetic"

    def decide(self, problem: str, text: str) -> Decision:
        """Decide by the claims of the text; see `oracle.Oracle`."""
        if (refusal := is_too_long(text)) is not None:
            return refusal
        try:
            reading = read_text(problem, text, None)
        except InputError as error:
            return Decision(truth=Truth.UNKNOWN, reason=str(error))
        decided = all_hold(map(_decide, reading.graph.claims), "no claim that arithmetic decides")
        if decided.truth is Truth.TRUE and link_answer(reading.trace, reading.graph).matches is False:
            return Decision(truth=Truth.UNKNOWN, reason="its claims hold, but its answer is not where they end")
        return decided


def _decide(claim: Claim) -> Decision:
    match claim.truth:
        case Truth.FALSE:
            return Decision(truth=claim.truth, reason=claim.reason or f"{claim.text} is false")
        case Truth.TRUE:
            return Decision(truth=claim.truth, reason=f"{claim.text} holds")
        case Truth.UNKNOWN:
            return Decision(truth=claim.truth, reason=f"{claim.text} is open")
