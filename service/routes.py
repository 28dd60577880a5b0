"""The paths of the HTTP face: body in, response out."""

from collections.abc import Coroutine
from typing import Any, Protocol

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel

from rafs.request import ScoreRequest
from rafs.wire import ModelStatus, ScoreResponse
from service.admission import Admission, BodyTooLarge, discard_body, read_body, until_disconnect
from service.errors import MEDIA_TYPE, ProblemDocument, not_ready, too_large, too_slow, wrong_encoding, wrong_media_type
from service.request_body import parse_request
from service.settings import Settings

EXAMPLE = {
    "problem": "A box holds 12 eggs. How many eggs are in 5 boxes, when 3 are broken and thrown away?",
    "trace": "5 boxes hold 5 * 12 = 60 eggs. 60 - 3 = 57 eggs are left. The answer is 57.",
    "generator": {"model": "gpt-4o-mini"},
}
REQUEST_SCHEMA = "#/components/schemas/ScoreRequest"


class ScoringService(Protocol):
    """What the faces need of the scorer."""

    def score(self, request: ScoreRequest) -> Coroutine[Any, Any, ScoreResponse]:
        """Score one trace.

        Raises:
            InputError: The request names a preset that does not exist.
            OverloadedError: A bounded queue is full.
            BackendError: A model failed.
        """
        ...

    def models(self) -> list[ModelStatus]:
        """Return every model of the registry."""
        ...

    def not_ready(self) -> list[str]:
        """Return why nothing can be scored yet; empty when it can."""
        ...

    async def warm(self) -> None:
        """Load the models.

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


def build_router(scorer: ScoringService, settings: Settings) -> APIRouter:
    """Return all paths, on one scorer."""
    router = APIRouter()
    _add_scoring(router, scorer, settings)
    _add_states(router, scorer)
    return router


def _add_scoring(router: APIRouter, scorer: ScoringService, settings: Settings) -> None:
    admission = Admission(settings.max_in_flight)

    @router.post(
        "/v1/score",
        summary="Score one trace",
        response_model=ScoreResponse,
        responses=problems(400, 408, 413, 415, 422, 429, 503, 504),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": REQUEST_SCHEMA}, "example": EXAMPLE}},
            }
        },
    )
    async def score(request: Request) -> Response:
        """Say whether the chain of thought really carries its answer."""
        try:
            with admission.enter():
                parsed = parse_request(await _read(request, settings))
                response = await until_disconnect(request, scorer.score(parsed))
        except Exception:
            await discard_body(request)
            raise
        return _json(response)


def _add_states(router: APIRouter, scorer: ScoringService) -> None:
    @router.get("/v1/models", summary="List the models", response_model=Models)
    async def models() -> Response:
        """Say which models the registry has, and whether their weights are here."""
        return _json(Models(models=scorer.models()))

    @router.get("/healthz", summary="Is the process alive?", response_model=Alive)
    async def healthz() -> Response:
        """Answer as long as the process does."""
        return _json(Alive())

    @router.get("/readyz", summary="Can it score?", response_model=Ready, responses=problems(503))
    async def readyz() -> Response:
        """Answer 503 with the reasons until the models are loaded."""
        if reasons := scorer.not_ready():
            raise not_ready(reasons)
        return _json(Ready())


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of failures with these statuses."""
    schema = {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}
    return {
        status: {"description": "Problem document", "content": {MEDIA_TYPE: {"schema": schema}}} for status in statuses
    }


async def _read(request: Request, settings: Settings) -> bytes:
    media_type = request.headers.get("content-type", "application/json")
    if not _is_json(media_type):
        raise wrong_media_type(media_type)
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.strip().lower() != "identity":
        raise wrong_encoding(encoding)
    try:
        return await read_body(request, settings.max_body_bytes, settings.body_timeout_s)
    except BodyTooLarge:
        raise too_large(settings.max_body_bytes) from None
    except TimeoutError:
        raise too_slow(settings.body_timeout_s) from None


def _is_json(media_type: str) -> bool:
    essence = media_type.partition(";")[0].strip().lower()
    return essence == "application/json" or (essence.startswith("application/") and essence.endswith("+json"))


def _json(model: BaseModel) -> Response:
    return Response(model.model_dump_json(), media_type="application/json")
