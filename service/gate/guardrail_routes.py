"""The path that LiteLLM's `generic_guardrail_api` calls."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from rafs.usage import Priority
from service.auth import Scope
from service.gate.guardrail import Guardrail, GuardrailRequest, GuardrailResponse
from service.intake import Intake, Visit
from service.request_body import parse_body
from service.routes import SCORING_PROBLEMS, json_of, problems

PATH = "/beta/litellm_basic_guardrail_api"
BODY = {
    "required": True,
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GuardrailRequest"}}},
}


def build_guardrail_router(guardrail: Guardrail, intake: Intake) -> APIRouter:
    """Return the path of the guardrail."""
    router = APIRouter()

    @router.post(
        PATH,
        summary="Be a guardrail of LiteLLM",
        response_model=GuardrailResponse,
        responses=problems(*SCORING_PROBLEMS),
        openapi_extra={"requestBody": BODY},
    )
    async def apply(request: Request) -> Response:
        """Keep the question before the model, decide on the answer behind it."""

        async def work(visit: Visit) -> Response:
            return json_of(await guardrail.apply(parse_body(visit.body, GuardrailRequest), visit))

        return await intake.run(request, Scope.SCORE, Priority.GATE, work)

    return router
