"""Refusing what there is no room for before it is routed: under a flood a refusal must cost little."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.admission import discard_body
from service.errors import Problem, from_error, render
from service.intake import Intake
from service.observability import PATH_KEY


class Shedding:
    """ASGI middleware that asks the way in whether there is room, and nothing else; what it lets through asks again."""

    def __init__(self, app: ASGIApp, intake: Intake) -> None:
        self._app = app
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that would be refused, and pass the others on."""
        is_work = scope["type"] == "http" and scope["method"] == "POST"
        refused = self._intake.refusal(scope["path"]) if is_work else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        scope[PATH_KEY] = scope["path"]
        request = Request(scope, receive)
        await discard_body(request)
        problem = refused if isinstance(refused, Problem) else from_error(refused)
        await render(problem, request)(scope, receive, send)
