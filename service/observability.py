"""Request ids, logs as JSON lines, and the headers of every response. No log line holds text of a trace."""

import asyncio
import logging
import re
import sys
import traceback
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rafs.errors import BackendError, ConfigError, RafsError
from service.visible import show_text

REQUEST_ID_HEADER = "x-request-id"
SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
ID_KEY = "rafs.request_id"
PATH_KEY = "rafs.path"
"""Key of the scope: the template of the path, where it is answered before it is routed."""
EXTRA_HEADERS = "rafs.headers"
"""Key of the scope whose mapping becomes headers of the response, whatever the response is."""
CLIENT_LEFT = 499
"""Logged where the client left before there was a response (nginx's number; it is never sent)."""
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
REPLAYED_HEADER = "idempotency-replayed"
CACHE_HEADER = "cache-status"
QUIET_PATHS = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds; a good answer is logged for debugging only."""
MAX_LOGGED = 300
"""Characters of a back-end's complaint in the log."""
OUR_LOGGERS = ("rafs", "service", "verifiers", "counterfactuals", "uvicorn")
JSON_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of everything that is not a page."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger("rafs.service")


def request_id(scope: Scope) -> str:
    """Return the id of the request that is being answered."""
    return str(scope.get(ID_KEY, ""))


@dataclass(slots=True)
class Answered:
    """How a request was answered."""

    method: str
    path: str | None
    """Template of the route that took it; None where none did."""
    status: int = CLIENT_LEFT
    seconds: float = 0.0
    memory: str | None = None
    """Which memory the answer came from; None where it was worked out."""

    def read_headers(self, headers: MutableHeaders) -> None:
        """Note whether the answer was remembered."""
        if REPLAYED_HEADER in headers:
            self.memory = "idempotency"
        elif "; hit" in headers.get(CACHE_HEADER, ""):
            self.memory = "result_cache"


class Observed:
    """ASGI middleware around all of ours: id, headers, one log line a request, and an answer to what nobody caught."""

    def __init__(
        self,
        app: ASGIApp,
        on_crash: Callable[[Request], Response],
        on_stop: Callable[[Request], Response],
        on_end: Callable[[Answered], None],
    ) -> None:
        self._app = app
        self._on_crash = on_crash
        self._on_stop = on_stop
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, partial(_receive_or_stop, receive), send)
            return
        sent = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        identity = sent if SANE_ID.fullmatch(sent) else uuid.uuid4().hex
        scope[ID_KEY] = identity
        answered = Answered(scope["method"], None)
        started = perf_counter()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.status = message["status"]
                headers = MutableHeaders(scope=message)
                answered.read_headers(headers)
                _add_headers(headers, identity)
                headers.update(scope.get(EXTRA_HEADERS, {}))
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=identity):
            try:
                await self._app(scope, receive, send_with_headers)
            except asyncio.CancelledError:  # by the server, which stops; it would log what goes further as a crash
                if answered.status == CLIENT_LEFT:
                    await self._on_stop(Request(scope))(scope, receive, send_with_headers)
            except Exception as error:  # the boundary of a request: a fault in one leaves the others alone
                log_unexpected(error)
                if answered.status == CLIENT_LEFT:
                    await self._on_crash(Request(scope))(scope, receive, send_with_headers)
            finally:
                answered.seconds = perf_counter() - started
                answered.path = getattr(scope.get("route"), "path", scope.get(PATH_KEY))
                self._on_end(answered)
                _log(scope, answered)


def _log(scope: Scope, answered: Answered) -> None:
    quiet = answered.status == 200 and scope["path"] in QUIET_PATHS
    logger.log(
        logging.DEBUG if quiet else logging.INFO,
        "request",
        method=scope["method"],
        path=show_text(scope["path"]),
        status=answered.status,
        ms=round(answered.seconds * 1000, 1),
    )


async def _receive_or_stop(receive: Receive) -> Message:
    """Return the next message of the lifespan; one that a second signal cut off has come to its end."""
    try:
        return await receive()
    except asyncio.CancelledError:
        return {"type": "lifespan.shutdown"}


def _add_headers(headers: MutableHeaders, identity: str) -> None:
    headers[REQUEST_ID_HEADER] = identity
    for name, value in SECURITY_HEADERS.items():
        headers.setdefault(name, value)
    if not headers.get("content-type", "").startswith("text/html"):
        headers["content-security-policy"] = JSON_POLICY


def log_failure(error: RafsError) -> None:
    """Log what an operator has to know of one of our errors; a caller's own mistakes are none of it."""
    if isinstance(error, ConfigError | BackendError):
        logger.error("not scored", error=type(error).__name__, reason=show_text(str(error), MAX_LOGGED))


def log_unexpected(error: BaseException) -> None:
    """Log the type of an exception and where it came from, but not its message, which may quote a trace."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    logger.error("unexpected exception", exception=type(error).__name__, places=places)


def configure_logging(level: str) -> None:
    """Write log records to stderr as one JSON line each; of libraries only warnings, since they may quote a prompt."""
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(level.upper())
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
