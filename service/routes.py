"""The paths of the HTTP face: body in, response out."""

from collections.abc import Coroutine
from typing import Any, Protocol

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel

from rafs.record import ProvenanceOut
from rafs.request import ScoreRequest
from rafs.usage import Priority
from rafs.wire import ModelStatus, ScoreResponse
from service.auth import Scope
from service.errors import MEDIA_TYPE, ProblemDocument, not_ready
from service.idempotency import PARAMETER as IDEMPOTENCY_PARAMETER
from service.intake import TERMS_PARAMETERS, Intake, Visit
from service.metrics import MEDIA_TYPE as METRICS_TYPE
from service.metrics import Metrics
from service.progress import Tell
from service.request_body import parse_request
from service.result_cache import ResultCache
from service.terms import DEFAULT_TERMS, Terms

EXAMPLE = {
    "problem": "A box holds 12 eggs. How many eggs are in 5 boxes, when 3 are broken and thrown away?",
    "trace": "5 boxes hold 5 * 12 = 60 eggs. 60 - 3 = 57 eggs are left. The answer is 57.",
    "generator": {"model": "gpt-4o-mini"},
}
REQUEST_SCHEMA = "#/components/schemas/ScoreRequest"
SCORING_PROBLEMS = (400, 401, 403, 408, 409, 413, 415, 422, 429, 503, 504)
"""Statuses of a path that scores, where it does not."""
SCORE_BODY = {
    "required": True,
    "content": {"application/json": {"schema": {"$ref": REQUEST_SCHEMA}, "example": EXAMPLE}},
}


class ScoringService(Protocol):
    """What the faces need of the scorer."""

    def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> Coroutine[Any, Any, ScoreResponse]:
        """Score one trace.

        Args:
            request: Its own deadline and token budget are part of the terms already.
            terms: How urgent it is, for whom, and within what bounds.
            tell: Told what is known before the response is there.

        Raises:
            InputError: The request names a preset that does not exist.
            OverloadedError: A bounded queue is full.
            BackendError: A model failed.
        """
        ...

    def models(self) -> list[ModelStatus]:
        """Return every model of the registry."""
        ...

    def would_use(self, preset: str, seed: int) -> ProvenanceOut:
        """Say where the numbers of a preset come from, with all models that it may ask.

        Raises:
            InputError: There is no such preset.
        """
        ...

    def not_ready(self) -> list[str]:
        """Return why nothing can be scored yet; empty when it can."""
        ...

    async def warm(self, preset: str | None = None) -> None:
        """Load the models of a preset, of the default one if none is named.

        Raises:
            ConfigError: Weights or libraries are not here.
            BackendError: A model does not load.
        """
        ...

    async def close(self) -> None:
        """Free what was loaded."""
        ...


class Alive(BaseModel):
    """The process answers."""

    status: str = "alive"


class Ready(BaseModel):
    """The models are loaded."""

    status: str = "ready"


class Models(BaseModel):
    """The models of the registry."""

    models: list[ModelStatus]


def build_router(
    scorer: ScoringService, intake: Intake, metrics: Metrics, cache: ResultCache | None = None
) -> APIRouter:
    """Return the paths of scoring and of the service's state, on one scorer."""
    router = APIRouter()
    _add_scoring(router, scorer, intake, cache)
    _add_states(router, scorer, intake)
    _add_metrics(router, intake, metrics)
    return router


def _add_scoring(router: APIRouter, scorer: ScoringService, intake: Intake, cache: ResultCache | None) -> None:
    @router.post(
        "/v1/score",
        summary="Score one trace",
        response_model=ScoreResponse,
        responses=problems(*SCORING_PROBLEMS),
        openapi_extra={"requestBody": SCORE_BODY, "parameters": [*TERMS_PARAMETERS, IDEMPOTENCY_PARAMETER]},
    )
    async def score(request: Request) -> Response:
        """Say whether the chain of thought really carries its answer."""

        async def work(visit: Visit) -> Response:
            parsed = parse_request(visit.body)

            async def compute() -> ScoreResponse:
                async with visit.working(parsed) as terms:
                    return await scorer.score(parsed, terms)

            if cache is None:
                return json_of(await compute())
            return await cache.answer(request, parsed, visit.principal, compute)

        return await intake.run(request, Scope.SCORE, Priority.SCORE, work)


def _add_states(router: APIRouter, scorer: ScoringService, intake: Intake) -> None:
    @router.get("/v1/models", summary="List the models", response_model=Models, responses=problems(401, 403, 429, 503))
    async def models(request: Request) -> Response:
        """Say which models the registry has, and whether their weights are here."""
        await intake.identify(request, Scope.SCORE, while_stopping=True)
        return json_of(Models(models=scorer.models()))

    @router.get("/healthz", summary="Is the process alive?", response_model=Alive)
    async def healthz() -> Response:
        """Answer as long as the process does."""
        return json_of(Alive())

    @router.get("/readyz", summary="Can it score?", response_model=Ready, responses=problems(503))
    async def readyz() -> Response:
        """Answer 503 with the reasons until the models are loaded."""
        if reasons := [*scorer.not_ready(), *intake.not_ready()]:
            raise not_ready(reasons)
        return json_of(Ready())


def _add_metrics(router: APIRouter, intake: Intake, metrics: Metrics) -> None:
    @router.get(
        "/metrics",
        summary="Counts and times for a monitor",
        response_class=Response,
        responses={
            200: {"description": "Text format of Prometheus", "content": {"text/plain": {}}},
            **problems(401, 403, 429, 503),
        },
    )
    async def monitored(request: Request) -> Response:
        """Say what was answered, how long it took and what it cost; needs the scope `admin` where keys are needed."""
        await intake.identify(request, Scope.ADMIN, while_stopping=True)
        return Response(metrics.render(), media_type=METRICS_TYPE)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of failures with these statuses."""
    schema = {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}
    return {
        status: {"description": "Problem document", "content": {MEDIA_TYPE: {"schema": schema}}} for status in statuses
    }


def json_of(model: BaseModel) -> Response:
    """Return a model as the body of a response."""
    return Response(model.model_dump_json(), media_type="application/json")
