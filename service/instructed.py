"""Whether a trace keeps the rules that were sent with it: by program, beside the score."""

from rafs.checked_wire import InstructionsOut, RuleOut
from rafs.request import ScoreRequest
from rafs.types import Truth
from rafs.wire import ScoreResponse
from verifiers.oracles.instructions import InstructionOracle, Rule, parse_rules
from verifiers.oracles.oracle import all_hold

_END_OF_REASONING = "</think>"


def rules_of(request: ScoreRequest) -> tuple[Rule, ...]:
    """Return the rules of a request; none where it has none.

    Raises:
        InputError: They are none that are known.
    """
    return parse_rules(request.rules) if request.rules else ()


def with_instructions(response: ScoreResponse, request: ScoreRequest) -> ScoreResponse:
    """Return the response with what the oracle of instructions says of the reply, the reasoning before it left out."""
    rules = rules_of(request)
    if not rules:
        return response
    text = request.trace_text()
    whole = text if isinstance(text, str) else "\n".join(text)
    reply = whole.rpartition(_END_OF_REASONING)[2].strip()
    each = [InstructionOracle([rule]).decide(request.problem, reply) for rule in rules]
    kept = [RuleOut(rule=rule.rule, kept=_wire(one.truth)) for rule, one in zip(rules, each, strict=True)]
    decided = all_hold(each, "no rule")
    found = InstructionsOut(kept=_wire(decided.truth), reason=decided.reason, rules=kept)
    return response.model_copy(update={"instructions": found})


def _wire(truth: Truth) -> bool | None:
    return None if truth is Truth.UNKNOWN else truth is Truth.TRUE
