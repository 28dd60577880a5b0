"""The HTTP application: paths, problems, lifespan."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rafs import __version__
from rafs.batch_wire import BatchError, BatchRecord, BatchRequest
from rafs.errors import BackendError, ConfigError, RafsError
from rafs.progress_wire import ScoreBounds, StepJudged, StepsRead
from rafs.request import ScoreRequest
from service.counted import CountedScorer
from service.errors import INTERNAL, Problem, ProblemDocument, from_error, from_http, render, stopping
from service.gate.chat import ChatRequest
from service.gate.decision import GATE_PRESET, GateRequest
from service.gate.faces import build_gate_routers
from service.gate.guardrail import GuardrailRequest
from service.intake import Intake
from service.jobs.faces import build_jobs
from service.jobs.jobs import Jobs
from service.key_routes import build_key_router
from service.keys.wire import KeyIn
from service.metrics import Metrics
from service.observability import CLIENT_LEFT, Observed, log_failure, log_unexpected, logger
from service.routes import ScoringService, build_router
from service.settings import Settings
from service.shedding import Shedding
from service.stores import Stores, open_stores
from service.streaming import build_stream_router

TITLE = "RAFS"
DESCRIPTION = "Says, without a reference answer, whether a chain of thought really carries its answer."
TELEMETRY: TelemetryConfig = {"auto_configure": True, "logs": False, "operation_spans": False}
"""A span for each request, sent where the variables of OpenTelemetry say; no exceptions, which may quote a trace."""
COMPONENT = "#/components/schemas/{model}"


def create_app(scorer: ScoringService, settings: Settings) -> FastAPI:
    """Return the application on a scorer, which it warms when it starts and closes when it stops.

    Raises:
        ConfigError: The database of the settings cannot be used.
    """
    stores = open_stores(settings, scorer.would_use)
    app = FastAPI(
        title=TITLE,
        description=DESCRIPTION,
        version=__version__,
        lifespan=partial(_lifespan, scorer, stores),
        redoc_url=None,
        redirect_slashes=False,
        telemetry=TELEMETRY,
    )
    app.state.intake = intake = Intake(settings, doorkeeper=stores.doorkeeper, idempotency=stores.idempotency)
    app.state.stores = stores
    app.state.metrics = metrics = Metrics(intake.admission)
    counted = CountedScorer(scorer, metrics)
    app.state.jobs, batch_router = build_jobs(counted, settings, intake, stores)
    routers = [
        build_router(counted, intake, metrics, stores.cache),
        build_stream_router(counted, intake),
        build_key_router(stores.keys, stores.doorkeeper, intake),
        *build_gate_routers(counted, settings, intake, stores.database),
        batch_router,
    ]
    for router in routers:
        app.include_router(router)
    app.add_middleware(Shedding, intake=intake)
    app.add_middleware(
        Observed,
        on_crash=partial(render, INTERNAL),
        on_stop=partial(render, stopping()),
        on_end=metrics.count_request,
    )
    paths = list(dict.fromkeys(route.path for router in routers for route in router.routes if hasattr(route, "path")))
    _answer_failures(app, [*paths, "/docs", "/openapi.json"])
    app.openapi = _describe(app)  # type: ignore[method-assign]  # FastAPI's own way to extend it
    return app


@asynccontextmanager
async def _lifespan(scorer: ScoringService, stores: Stores, app: FastAPI) -> AsyncIterator[None]:
    """Answer /healthz while the models load; /readyz says when they are there."""
    jobs: Jobs = app.state.jobs
    async with stores.kept(), AsyncExitStack() as working:
        warming = asyncio.create_task(_warm(scorer))
        await working.enter_async_context(jobs.working())
        try:
            yield
        finally:
            warming.cancel()
            with suppress(asyncio.CancelledError):
                await warming
            await working.aclose()  # what is under way goes on at the next start
            await scorer.close()
    logger.info("stopped")


async def _warm(scorer: ScoringService) -> None:
    logger.info("loading models")
    try:
        await scorer.warm()
        await scorer.warm(GATE_PRESET)
    except (ConfigError, BackendError) as error:
        logger.error("models are not loaded", reason=str(error))
    except Exception as error:  # a task of its own: nobody else would hear of it
        log_unexpected(error)
    else:
        logger.info("ready", models=[model.id for model in scorer.models() if model.ready])


def _answer_failures(app: FastAPI, paths: list[str]) -> None:
    @app.exception_handler(Problem)
    async def problem(request: Request, error: Problem) -> Response:
        return render(error, request)

    @app.exception_handler(RafsError)
    async def ours(request: Request, error: RafsError) -> Response:
        log_failure(error)
        return render(from_error(error), request)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        return render(from_http(error, paths), request)

    @app.exception_handler(ClientDisconnect)
    async def left(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=CLIENT_LEFT)  # nobody reads it


def _describe(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return what makes the OpenAPI document: bodies are parsed by hand, so FastAPI does not know their schema."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=TITLE, version=__version__, description=DESCRIPTION, routes=app.routes)
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            for model in (
                ScoreRequest,
                GateRequest,
                ChatRequest,
                GuardrailRequest,
                ProblemDocument,
                KeyIn,
                BatchRequest,
                BatchRecord,
                BatchError,
                StepsRead,
                StepJudged,
                ScoreBounds,
            ):
                schema = model.model_json_schema(ref_template=COMPONENT)
                schemas |= {**schema.pop("$defs", {}), model.__name__: schema}
            app.openapi_schema = document
        return app.openapi_schema

    return openapi
