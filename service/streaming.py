"""`POST /v1/score/stream`: a score told as it grows, in server-sent events."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing

from fastapi import APIRouter, Request
from fastapi.responses import Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from pydantic import BaseModel
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from rafs.errors import RafsError
from rafs.progress_wire import ScoreBounds, StepJudged, StepsRead
from rafs.request import ScoreRequest
from rafs.usage import Priority
from rafs.wire import ScoreResponse
from service.auth import Scope
from service.errors import INTERNAL, Problem, ProblemDocument, describe, from_error
from service.intake import TERMS_PARAMETERS, Intake
from service.observability import log_failure, log_unexpected
from service.request_body import parse_request
from service.routes import SCORE_BODY, SCORING_PROBLEMS, ScoringService, problems
from service.terms import Terms

HEARTBEAT_S = 15.0
"""Proxies give up a silent connection after half a minute or more."""
EVENTS: dict[type[BaseModel], str] = {
    StepsRead: "steps",
    StepJudged: "verdict",
    ScoreBounds: "bounds",
    ScoreResponse: "result",
    ProblemDocument: "problem",
}
"""Name of the event that carries each document."""
DESCRIPTION = (
    "Server-sent events: `steps` (once: how the trace was read), `verdict` (for each step, when its verdict is known), "
    "`bounds` (the lowest and highest score that can still come; they only narrow), and at the end either `result` "
    "(the document of `/v1/score`) or `problem`. A comment is sent while nothing is new."
)
STREAM = {
    "itemSchema": {
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": list(EVENTS.values())},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"oneOf": [{"$ref": f"#/components/schemas/{model.__name__}"} for model in EVENTS]},
            },
        },
        "required": ["event", "data"],
    }
}
"""The schema of each event, as OpenAPI 3.2 writes it."""


class HeldResponse(EventSourceResponse):
    """A stream that holds something until its end, also where it never begins."""

    def __init__(self, content: AsyncGenerator[bytes, None], held: AsyncExitStack) -> None:
        super().__init__(content, headers={"x-accel-buffering": "no"})  # or a proxy would keep the events back
        self._content = content
        self._held = held

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Send the stream; it is given up when the client leaves."""
        async with self._held, aclosing(self._content):
            await super().__call__(scope, receive, send)


def build_stream_router(scorer: ScoringService, intake: Intake, *, heartbeat_s: float = HEARTBEAT_S) -> APIRouter:
    """Return the path that tells a score as it grows.

    Args:
        scorer: Scores.
        intake: The way in.
        heartbeat_s: Seconds without news after which a comment is sent.
    """
    router = APIRouter()

    @router.post(
        "/v1/score/stream",
        summary="Score one trace and tell how it goes",
        response_class=Response,  # FastAPI takes the function of an EventSourceResponse for a generator
        responses={
            200: {"description": DESCRIPTION, "content": {EventSourceResponse.media_type: STREAM}},
            **problems(*SCORING_PROBLEMS),
        },
        openapi_extra={"requestBody": SCORE_BODY, "parameters": TERMS_PARAMETERS},
    )
    async def stream(request: Request) -> Response:
        """Tell what was read, each verdict when it is known, and bounds that narrow; then the score."""
        held = AsyncExitStack()
        visit = await held.enter_async_context(intake.enter(request, Scope.SCORE, Priority.SCORE))
        try:
            parsed = parse_request(visit.body)
            terms = await held.enter_async_context(visit.working(parsed))
        except BaseException as error:
            await held.__aexit__(type(error), error, error.__traceback__)
            raise
        return HeldResponse(_Work(scorer, request, parsed, terms).events(heartbeat_s), held)

    return router


class _Work:
    """One score under way, and what is to be told of it."""

    def __init__(self, scorer: ScoringService, request: Request, parsed: ScoreRequest, terms: Terms) -> None:
        self._scorer = scorer
        self._request = request
        self._parsed = parsed
        self._terms = terms
        self._news: asyncio.Queue[BaseModel] = asyncio.Queue()  # bounded by the steps of a trace

    async def events(self, heartbeat_s: float) -> AsyncGenerator[bytes, None]:
        """Yield news as they come, and the end; the work is cancelled where nobody listens any more."""
        working = asyncio.create_task(self._score())
        try:
            while True:
                try:
                    async with asyncio.timeout(heartbeat_s):
                        told = await self._news.get()
                except TimeoutError:
                    yield KEEPALIVE_COMMENT
                    continue
                yield encode(told)
                if isinstance(told, ScoreResponse | ProblemDocument):
                    return
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def _score(self) -> None:
        """Score, and tell the end; the status is sent, so that a failure can only be told."""
        end: BaseModel
        try:
            end = await self._scorer.score(self._parsed, self._terms, self._news.put_nowait)
        except RafsError as error:
            log_failure(error)
            end = describe(from_error(error), self._request)
        except Problem as problem:
            end = describe(problem, self._request)
        except Exception as error:  # a task of its own: nobody else would hear of it
            log_unexpected(error)
            end = describe(INTERNAL, self._request)
        self._news.put_nowait(end)


def encode(told: BaseModel) -> bytes:
    """Return a document as an event."""
    return format_sse_event(event=EVENTS[type(told)], data_str=told.model_dump_json())
