"""LiteLLM's generic guardrail contract: texts before and after a model, answered with what to do about them.

What LiteLLM sends after the model holds the answer, not the question. So the question is kept from the call before the
model (`mode: [pre_call, post_call]`), under LiteLLM's id of the call, for as long as an answer may take.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from cachetools import TTLCache
from pydantic import Field, JsonValue

from rafs.errors import InputError, OverloadedError
from rafs.gate_wire import GateDecision
from rafs.messages import MAX_TURNS, Name, Wire
from rafs.request import ScoreRequest
from service.gate.chat import ChatMessage, Lenient
from service.gate.completions import note_of
from service.gate.deciding import Conditions, Gate
from service.gate.ordering import allowed_fails, choose
from service.gate.proxy import without_quotes
from service.gate.scorable import Asked, NotScorable, read_problem, read_request
from service.gate_settings import Blocking, GateSettings
from service.intake import Visit
from service.terms import DEFAULT_TERMS

REMEMBERED_S = 1800.0
REMEMBERED_CHARS = 32 << 20
"""Of all questions together; beyond it the oldest go."""
MAX_TEXTS = 1024


class GuardrailRequest(Lenient):
    """What LiteLLM sends before (`request`) and after (`response`) the model."""

    input_type: Literal["request", "response"]
    texts: Annotated[list[str], Field(max_length=MAX_TEXTS)] | None = None
    structured_messages: Annotated[list[ChatMessage], Field(max_length=MAX_TURNS)] | None = None
    images: list[JsonValue] | None = None
    tool_calls: list[JsonValue] | None = None
    model: Name | None = None
    litellm_call_id: Name | None = None
    additional_provider_specific_params: dict[str, JsonValue] | None = None


class GuardrailResponse(Wire):
    """What LiteLLM does with it."""

    action: Literal["NONE", "BLOCKED", "GUARDRAIL_INTERVENED"]
    blocked_reason: str | None = None
    texts: list[str] | None = None
    rafs: GateDecision | None = Field(default=None, description="Null before the model: there is nothing to decide.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """The operator's, tightened by the parameters of the call."""

    policy: Blocking
    conditions: Conditions


class Guardrail:
    """Answers LiteLLM."""

    def __init__(self, gate: Gate, settings: GateSettings) -> None:
        self._gate = gate
        self._settings = settings
        self._asked: TTLCache[tuple[str, str], Asked | NotScorable] = TTLCache(
            REMEMBERED_CHARS, REMEMBERED_S, getsizeof=_size_of
        )

    async def apply(self, request: GuardrailRequest, visit: Visit) -> GuardrailResponse:
        """Keep a question, or decide on an answer.

        Raises:
            InputError: A parameter asks for something looser than the operator allows.
            Problem: The quota of the key is used up.
        """
        rules = self._read_rules(request)
        call = request.litellm_call_id  # without one, nobody can say whose question was whose
        key = None if call is None else (visit.principal.tenant, call)
        if request.input_type == "request":
            if key is not None:
                self._asked[key] = _question_of(request)
            return GuardrailResponse(action="NONE")
        if not (request.texts or request.tool_calls or request.images):
            return GuardrailResponse(action="NONE")
        unknown = NotScorable(why="question_unknown")
        asked = unknown if key is None else self._asked.get(key, unknown)
        scored = asked if isinstance(asked, NotScorable) else _answer_of(request, asked)
        decision = await self._decide(scored, rules.conditions, visit)
        return _response(decision, request, rules.policy, self._settings.proxy_abstention)

    async def _decide(self, scored: ScoreRequest | NotScorable, conditions: Conditions, visit: Visit) -> GateDecision:
        if isinstance(scored, NotScorable):
            return self._gate.fall_back(f"not_scorable:{scored.why}", conditions)
        try:
            async with visit.working(scored) as terms:
                budget_ms = self._settings.gate_budget_ms
                within = terms.within(None if budget_ms is None else budget_ms / 1000, None)
                return await self._gate.decide(scored, Conditions(fail=conditions.fail, terms=within))
        except OverloadedError:
            return self._gate.fall_back("overloaded", conditions)
        except InputError:
            return self._gate.fall_back("not_scorable:too_long", conditions)

    def _read_rules(self, request: GuardrailRequest) -> _Rules:
        """Read `rafs_policy` and `rafs_fail`, which LiteLLM's own callers can set as well."""
        sent = request.additional_provider_specific_params or {}
        asked = {key: value for key, value in sent.items() if isinstance(value, str)}
        operator, order = self._settings.guardrail_policy, list(Blocking)
        fail = self._settings.guardrail_fail
        return _Rules(
            policy=choose("rafs_policy", asked.get("rafs_policy"), operator, order[order.index(operator) :]),
            conditions=Conditions(
                fail=choose("rafs_fail", asked.get("rafs_fail"), fail, allowed_fails(fail, self._settings)),
                terms=DEFAULT_TERMS,
            ),
        )


def _question_of(request: GuardrailRequest) -> Asked | NotScorable:
    if request.images:
        return NotScorable(why="prompt_is_not_all_text")
    if request.structured_messages:
        return read_problem(request.structured_messages)
    return read_problem([ChatMessage(role="user", content=text) for text in request.texts or []])


def _answer_of(request: GuardrailRequest, asked: Asked) -> ScoreRequest | NotScorable:
    texts: Sequence[str] = request.texts or []
    if request.tool_calls:
        return NotScorable(why="tool_calls")
    if request.images:
        return NotScorable(why="images")
    if len(texts) != 1:
        return NotScorable(why="several_choices")
    return read_request(asked.problem, texts[0], request.model)


def _response(
    decision: GateDecision, request: GuardrailRequest, policy: Blocking, abstention: str
) -> GuardrailResponse:
    texts = request.texts or []
    if decision.passes or policy is Blocking.PASS:
        return GuardrailResponse(action="NONE", rafs=decision)
    if policy is Blocking.ANNOTATE and texts:
        noted = [*texts[:-1], f"{texts[-1]}\n\n{note_of(decision)}"]
        return GuardrailResponse(action="GUARDRAIL_INTERVENED", texts=noted, rafs=decision)
    hidden = without_quotes(decision)
    has_more = request.tool_calls or request.images  # which other texts would leave in the answer
    if policy is Blocking.ABSTAIN and texts and not has_more:
        return GuardrailResponse(action="GUARDRAIL_INTERVENED", texts=[abstention] * len(texts), rafs=hidden)
    why = decision.failure or ", ".join(decision.reasons)
    return GuardrailResponse(
        action="BLOCKED", blocked_reason=f"{abstention} ({why}; decision {decision.id})", rafs=hidden
    )


def _size_of(asked: Asked | NotScorable) -> int:
    return 100 + (len(asked.problem) if isinstance(asked, Asked) else 0)
