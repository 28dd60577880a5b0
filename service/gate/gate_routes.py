"""`POST /v1/gate`: a decision and no more."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from rafs.gate_wire import GateDecision
from rafs.usage import Priority
from service.auth import Scope
from service.gate.deciding import Conditions, Gate
from service.gate.decision import GateRequest
from service.gate.ordering import allowed_fails, choose
from service.gate_settings import FailPolicy, GateSettings
from service.idempotency import PARAMETER as IDEMPOTENCY_PARAMETER
from service.intake import TERMS_PARAMETERS, Intake, Visit
from service.request_body import parse_body
from service.routes import EXAMPLE, SCORING_PROBLEMS, json_of, problems

GATE_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/GateRequest"},
            "example": {**EXAMPLE, "budget_ms": 2000},
        }
    },
}


def build_gate_router(gate: Gate, settings: GateSettings, intake: Intake) -> APIRouter:
    """Return the path of the gate."""
    router = APIRouter()

    @router.post(
        "/v1/gate",
        summary="Decide whether an answer may be shown",
        response_model=GateDecision,
        responses=problems(*SCORING_PROBLEMS),
        openapi_extra={"requestBody": GATE_BODY, "parameters": [*TERMS_PARAMETERS, IDEMPOTENCY_PARAMETER]},
    )
    async def decide(request: Request) -> Response:
        """Say whether the answer may be shown, asking no model more than the decision needs."""

        async def work(visit: Visit) -> Response:
            asked = parse_body(visit.body, GateRequest)
            operator = settings.gate_fail
            allowed = allowed_fails(operator, settings)
            fail: FailPolicy = choose("fail", asked.fail, operator, allowed)
            async with visit.working(asked.within(settings.gate_budget_ms)) as terms:
                return json_of(await gate.decide(asked.to_score(), Conditions(fail=fail, terms=terms)))

        return await intake.run(request, Scope.SCORE, Priority.GATE, work)

    return router
