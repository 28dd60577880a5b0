"""What is held for review, for those who review it."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from service.auth import Scope
from service.errors import Problem
from service.gate.held import HeldAnswer, HeldAnswers, HeldStore
from service.intake import Intake
from service.routes import json_of, problems

REFUSED = (401, 403, 429, 503)


def build_held_router(store: HeldStore, intake: Intake) -> APIRouter:
    """Return the paths of held answers; a tenant's reviewers see that tenant's alone."""
    router = APIRouter()

    @router.get("/v1/held", summary="List the held answers", response_model=HeldAnswers, responses=problems(*REFUSED))
    async def list_held(request: Request) -> Response:
        """Return the newest hundred, without their texts."""
        principal = await intake.identify(request, Scope.ADMIN)
        return json_of(await store.list_newest(principal.tenant))

    @router.get(
        "/v1/held/{held_id}",
        summary="Read a held answer",
        response_model=HeldAnswer,
        responses=problems(404, *REFUSED),
    )
    async def read_held(request: Request, held_id: str) -> Response:
        """Return the answer as the model wrote it, the question and the decision."""
        principal = await intake.identify(request, Scope.ADMIN)
        if (found := await store.find(principal.tenant, held_id)) is None:
            raise _not_held()
        return json_of(found)

    @router.delete(
        "/v1/held/{held_id}", summary="Let go of a held answer", status_code=204, responses=problems(404, *REFUSED)
    )
    async def remove_held(request: Request, held_id: str) -> Response:
        """Delete an answer that was reviewed."""
        principal = await intake.identify(request, Scope.ADMIN)
        if not await store.remove(principal.tenant, held_id):
            raise _not_held()
        return Response(status_code=204)

    return router


def _not_held() -> Problem:
    return Problem(status=404, slug="not-held", title="Not held", detail="no answer is held under this number")
