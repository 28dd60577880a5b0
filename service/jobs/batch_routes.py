"""The paths of batches: /v1/batches, for keys with the scope `batch`."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import Row

from rafs.batch_wire import BatchError, BatchList, BatchRecord, BatchStatus
from service.auth import Principal, Scope
from service.errors import Problem
from service.idempotency import PARAMETER as IDEMPOTENCY_PARAMETER
from service.intake import Intake
from service.jobs.making import Maker
from service.jobs.query import ListQuery, PageQuery, UploadQuery, parameters_of, read_query
from service.jobs.reading import ResultReader
from service.jobs.showing import to_status
from service.jobs.store import BatchStore
from service.jobs.upload import MEDIA_TYPES
from service.routes import json_of, problems

REFUSED = (401, 403, 429, 503)
LINES = "application/jsonl"
BATCH_SCHEMA = "#/components/schemas/BatchRequest"
BODY = {
    "required": True,
    "content": {
        "application/json": {"schema": {"$ref": BATCH_SCHEMA}},
        LINES: {"schema": {"type": "string", "description": "One request, or logged exchange, a line."}},
    },
}
UPLOAD_PARAMETERS = parameters_of(UploadQuery, "Of an upload of JSON Lines. ")


def build_batch_router(maker: Maker, store: BatchStore, reader: ResultReader, intake: Intake) -> APIRouter:
    """Return the paths of batches.

    Args:
        maker: Makes them.
        store: Where they are.
        reader: Reads their results.
        intake: The way in.
    """
    router = APIRouter()
    _add_making(router, maker)
    _add_states(router, store, intake)
    _add_cancelling(router, maker, store, intake)
    _add_results(router, store, reader, intake)
    return router


def _add_making(router: APIRouter, maker: Maker) -> None:
    @router.post(
        "/v1/batches",
        summary="Score many traces in the background",
        status_code=201,
        response_model=BatchStatus,
        responses=problems(400, 408, 409, 413, 415, 422, *REFUSED),
        openapi_extra={"requestBody": BODY, "parameters": [*UPLOAD_PARAMETERS, IDEMPOTENCY_PARAMETER]},
    )
    async def create(request: Request) -> Response:
        """Keep the requests and score them behind all that is waited for; a restart of the service loses none."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() in MEDIA_TYPES:
            return await maker.take_upload(request)
        return await maker.take_inline(request)


def _add_states(router: APIRouter, store: BatchStore, intake: Intake) -> None:
    @router.get(
        "/v1/batches",
        summary="List the batches",
        response_model=BatchList,
        responses=problems(404, 422, *REFUSED),
        openapi_extra={"parameters": parameters_of(ListQuery)},
    )
    async def list_batches(request: Request) -> Response:
        """Return batches of the tenant, the newest first."""
        principal = await _ask(intake, request)
        query = read_query(request, ListQuery)
        rows = await store.list(principal.tenant, query.before, query.limit + 1)
        if rows is None:
            raise _no_batch()
        shown = [to_status(row, store.now()) for row in rows[: query.limit]]
        return json_of(BatchList(batches=shown, next=shown[-1].id if len(rows) > query.limit else None))

    @router.get(
        "/v1/batches/{batch_id}",
        summary="Read how far a batch is",
        response_model=BatchStatus,
        responses=problems(404, *REFUSED),
    )
    async def read(request: Request, batch_id: str) -> Response:
        """Return status, counts, rate and times."""
        row = await _find(store, await _ask(intake, request), batch_id)
        return json_of(to_status(row, store.now()))


def _add_cancelling(router: APIRouter, maker: Maker, store: BatchStore, intake: Intake) -> None:
    @router.post(
        "/v1/batches/{batch_id}/cancel",
        summary="Cancel a batch",
        response_model=BatchStatus,
        responses=problems(404, *REFUSED),
    )
    async def cancel(request: Request, batch_id: str) -> Response:
        """End a batch where it is: what is scored stays. One that is over stays as it is."""
        principal = await intake.identify(request, Scope.BATCH)
        await _find(store, principal, batch_id)
        await maker.cancel(principal.tenant, batch_id)
        return json_of(to_status(await _find(store, principal, batch_id), store.now()))


def _add_results(router: APIRouter, store: BatchStore, reader: ResultReader, intake: Intake) -> None:
    def add(path: str, summary: str, model: type[Any], *, errors: bool) -> None:
        schema = {"itemSchema": {"$ref": f"#/components/schemas/{model.__name__}"}}

        @router.get(
            f"/v1/batches/{{batch_id}}/{path}",
            summary=summary,
            name=path,
            response_class=Response,
            responses={
                200: {
                    "description": "JSON Lines, in the order of the rows. Where there are more, the header `link` "
                    'names the next page (`rel="next"`). While a batch is under way, rows may still come in between.',
                    "content": {LINES: schema},
                },
                **problems(404, 422, *REFUSED),
            },
            openapi_extra={"parameters": parameters_of(PageQuery)},
        )
        async def page(request: Request, batch_id: str) -> Response:
            await _find(store, await _ask(intake, request), batch_id)
            query = read_query(request, PageQuery)
            following = await reader.find_next(batch_id, query.after, query.limit, errors=errors)
            link = f'</v1/batches/{batch_id}/{path}?after={following}&limit={query.limit}>; rel="next"'
            lines = reader.read(batch_id, query.after, query.limit, errors=errors)
            return StreamingResponse(lines, media_type=LINES, headers={} if following is None else {"link": link})

    add("results", "Read the scores of a batch", BatchRecord, errors=False)
    add("errors", "Read which rows of a batch have no score, and why", BatchError, errors=True)


async def _ask(intake: Intake, request: Request) -> Principal:
    return await intake.identify(request, Scope.BATCH, while_stopping=True)


async def _find(store: BatchStore, principal: Principal, batch_id: str) -> Row[Any]:
    """Return a batch of whoever asks; that of another tenant is none."""
    row = await store.find(principal.tenant, batch_id)
    if row is None:
        raise _no_batch()
    return row


def _no_batch() -> Problem:
    detail = "there is no batch with this id"
    return Problem(status=404, slug="no-such-batch", title="No such batch", detail=detail)
