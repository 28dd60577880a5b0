"""Problems as clients of the OpenAI protocol read them: with the key `error`, which they look for."""

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from rafs.errors import RafsError
from service.errors import MEDIA_TYPE, Problem, describe, from_error
from service.observability import log_failure


def render_for_clients(error: Problem | RafsError, request: Request) -> Response:
    """Return a problem document that says the same again under `error`."""
    if isinstance(error, RafsError):
        log_failure(error)
        error = from_error(error)
    document = describe(error, request)
    content = {**document.model_dump(mode="json"), "error": error_object(error)}
    return JSONResponse(content, status_code=error.status, media_type=MEDIA_TYPE, headers=dict(error.headers))


def error_object(problem: Problem) -> dict[str, str | None]:
    """Return what such clients show of an error."""
    return {"message": problem.detail, "type": problem.slug, "param": None, "code": problem.slug}
