"""The HTTP application: paths, problems, lifespan."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rafs import __version__
from rafs.errors import BackendError, ConfigError, RafsError
from rafs.request import ScoreRequest
from service.errors import INTERNAL, STOPPING, Problem, ProblemDocument, from_error, from_http, render
from service.observability import CLIENT_LEFT, Observed, log_unexpected, logger
from service.routes import ScoringService, build_router
from service.settings import Settings
from service.visible import show_text

TITLE = "RAFS"
DESCRIPTION = "Says, without a reference answer, whether a chain of thought really carries its answer."
MAX_LOGGED = 300
"""Characters of a back-end's complaint in the log."""
COMPONENT = "#/components/schemas/{model}"


def create_app(scorer: ScoringService, settings: Settings) -> FastAPI:
    """Return the application on a scorer, which it warms when it starts and closes when it stops."""
    app = FastAPI(
        title=TITLE,
        description=DESCRIPTION,
        version=__version__,
        lifespan=partial(_lifespan, scorer),
        redoc_url=None,
        redirect_slashes=False,
    )
    router = build_router(scorer, settings)
    app.include_router(router)
    app.add_middleware(Observed, on_crash=partial(render, INTERNAL), on_stop=partial(render, STOPPING))
    paths = [route.path for route in router.routes if hasattr(route, "path")]
    _answer_failures(app, [*paths, "/docs", "/openapi.json"])
    app.openapi = _describe(app)  # type: ignore[method-assign]  # FastAPI's own way to extend it
    return app


@asynccontextmanager
async def _lifespan(scorer: ScoringService, app: FastAPI) -> AsyncIterator[None]:
    """Answer /healthz while the models load; /readyz says when they are there."""
    warming = asyncio.create_task(_warm(scorer))
    try:
        yield
    finally:
        warming.cancel()
        with suppress(asyncio.CancelledError):
            await warming
        await scorer.close()
        logger.info("stopped")


async def _warm(scorer: ScoringService) -> None:
    logger.info("loading models")
    try:
        await scorer.warm()
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
        if isinstance(error, ConfigError | BackendError):
            logger.error("not scored", error=type(error).__name__, reason=show_text(str(error), MAX_LOGGED))
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
            for model in (ScoreRequest, ProblemDocument):
                schema = model.model_json_schema(ref_template=COMPONENT)
                schemas |= {**schema.pop("$defs", {}), model.__name__: schema}
            app.openapi_schema = document
        return app.openapi_schema

    return openapi
