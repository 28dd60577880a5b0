"""The paths of the proxy, as clients of the OpenAI protocol know them; `base_url` is `http://HOST/openai/v1`.

`/v1/chat/completions` answers the same. The list of models is under `/openai/v1` alone, since `/v1/models` is that of
RAFS.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel

from rafs.errors import RafsError
from rafs.usage import Priority
from service.auth import Scope
from service.errors import Problem
from service.gate.chat import ChatRequest
from service.gate.chunks import DONE, to_chunks, to_event
from service.gate.client_errors import render_for_clients
from service.gate.ordering import ORDER_PARAMETERS, Order, read_order
from service.gate.passing import pass_on
from service.gate.proxy import Call, Proxy
from service.gate.upstream import Upstream, UpstreamRefusal
from service.gate_settings import GateSettings, Release
from service.idempotency import PARAMETER as IDEMPOTENCY_PARAMETER
from service.intake import TERMS_PARAMETERS, Intake, Visit
from service.request_body import parse_body
from service.routes import SCORING_PROBLEMS, json_of, problems
from service.streaming import HeldResponse
from service.visible import show_text

CHAT_PATHS = ("/v1/chat/completions", "/openai/v1/chat/completions")
CHAT_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/ChatRequest"},
            "example": {"model": "my-model", "messages": [{"role": "user", "content": "What is 12 * 5 - 3?"}]},
        }
    },
}
CHAT_DESCRIPTION = (
    "A chat completion with the field `rafs`; with `stream`, its chunks as server-sent events, of which the last one "
    "has that field. What the model's server refuses is passed on with its status, and with `rafs-origin: upstream`."
)


class ServedModel(BaseModel):
    """A model that the proxy passes requests on to."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "rafs"


class ServedModels(BaseModel):
    """The models of the proxy."""

    object: Literal["list"] = "list"
    data: list[ServedModel]


def build_proxy_router(
    proxy: Proxy, upstreams: Mapping[str, Upstream], settings: GateSettings, intake: Intake
) -> APIRouter:
    """Return the paths of the proxy; its connections are closed with the application."""

    @asynccontextmanager
    async def kept(app: Any) -> AsyncIterator[None]:
        yield
        for upstream in upstreams.values():
            await upstream.close()

    router = APIRouter(lifespan=kept)
    _Chat(proxy, upstreams, settings, intake).add_to(router)

    @router.get(
        "/openai/v1/models",
        summary="List the proxy's models",
        response_model=ServedModels,
        responses=problems(401, 403),
    )
    async def models(request: Request) -> Response:
        """Say which models the proxy passes requests on to."""
        await intake.identify(request, Scope.SCORE)
        return json_of(ServedModels(data=[ServedModel(id=name) for name in upstreams]))

    return router


class _Chat:
    """The path of chat completions."""

    def __init__(self, proxy: Proxy, upstreams: Mapping[str, Upstream], settings: GateSettings, intake: Intake) -> None:
        self._proxy = proxy
        self._upstreams = upstreams
        self._settings = settings
        self._intake = intake

    def add_to(self, router: APIRouter) -> None:
        """Add the path under both its names."""
        for path in CHAT_PATHS:
            router.add_api_route(
                path,
                self.complete,
                methods=["POST"],
                summary="Ask a model, and judge its answer before it is passed on",
                description=CHAT_DESCRIPTION,
                response_class=JSONResponse,
                responses=problems(404, *SCORING_PROBLEMS),
                openapi_extra={
                    "requestBody": CHAT_BODY,
                    "parameters": [*ORDER_PARAMETERS, *TERMS_PARAMETERS, IDEMPOTENCY_PARAMETER],
                },
            )

    async def complete(self, request: Request) -> Response:
        """Answer one request."""
        try:
            order = read_order(request, self._settings)
            if order.release is Release.AFTER:
                return await self._open(request, order)

            async def work(visit: Visit) -> Response:
                return await self._answer(self._read(visit, order))

            return await self._intake.run(request, Scope.SCORE, Priority.GATE, work)
        except UpstreamRefusal as refusal:
            return refusal.to_response()
        except (Problem, RafsError) as error:
            return render_for_clients(error, request)

    async def _open(self, request: Request, order: Order) -> Response:
        """Begin a stream that is passed on as it comes, or answer whole where none is asked for."""
        held = AsyncExitStack()
        visit = await held.enter_async_context(self._intake.enter(request, Scope.SCORE, Priority.GATE))
        try:
            call = self._read(visit, order)
            if not call.chat.stream:
                async with held:
                    return await self._intake.answer(request, visit, partial(self._answer, call))
            body = call.chat.to_upstream(call.upstream.served_name, stream=True)
            async with visit.charged(1):
                chunks = await held.enter_async_context(call.upstream.stream(body))
        except BaseException as error:
            await held.__aexit__(type(error), error, error.__traceback__)
            raise
        return HeldResponse(pass_on(self._proxy, call, chunks), held)

    async def _answer(self, call: Call) -> Response:
        completion = await self._proxy.answer(call)
        if not call.chat.stream:
            return Response(json.dumps(completion), media_type="application/json")
        events = [to_event(chunk) for chunk in to_chunks(completion, with_usage=call.chat.wants_usage)]
        return Response(b"".join([*events, DONE]), media_type=EventSourceResponse.media_type)

    def _read(self, visit: Visit, order: Order) -> Call:
        chat = parse_body(visit.body, ChatRequest)
        upstream = self._upstreams.get(chat.model)
        if upstream is None:
            raise _unknown_model(chat.model, self._upstreams)
        return Call(chat=chat, order=order, upstream=upstream, visit=visit)


def _unknown_model(name: str, upstreams: Mapping[str, Any]) -> Problem:
    known = ", ".join(upstreams) or "none: the operator names them in RAFS_PROXY_MODELS"
    detail = f"there is no model {show_text(name)!r} behind this proxy; it has {known}"
    return Problem(status=404, slug="unknown-model", title="Unknown model", detail=detail)
