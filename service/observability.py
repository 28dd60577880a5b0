"""Request ids, logs as JSON lines, and the headers of every response. No log line holds text of a trace."""

import asyncio
import logging
import re
import sys
import traceback
import uuid
from collections.abc import Callable
from functools import partial
from time import perf_counter

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.visible import show_text

REQUEST_ID_HEADER = "x-request-id"
SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
ID_KEY = "rafs.request_id"
CLIENT_LEFT = 499
"""Logged where the client left before there was a response (nginx's number; it is never sent)."""
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
QUIET_PATHS = ("/healthz", "/readyz")
"""Asked every few seconds; a good answer is logged for debugging only."""
OUR_LOGGERS = ("rafs", "service", "verifiers", "counterfactuals", "uvicorn")
JSON_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of everything that is not a page."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger("rafs.service")


def request_id(scope: Scope) -> str:
    """Return the id of the request that is being answered."""
    return str(scope.get(ID_KEY, ""))


class Observed:
    """ASGI middleware around all of ours: id, headers, one log line a request, and an answer to what nobody caught."""

    def __init__(
        self, app: ASGIApp, on_crash: Callable[[Request], Response], on_stop: Callable[[Request], Response]
    ) -> None:
        self._app = app
        self._on_crash = on_crash
        self._on_stop = on_stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, partial(_receive_or_stop, receive), send)
            return
        sent = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        identity = sent if SANE_ID.fullmatch(sent) else uuid.uuid4().hex
        scope[ID_KEY] = identity
        status = CLIENT_LEFT
        started = perf_counter()

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(MutableHeaders(scope=message), identity)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=identity):
            try:
                await self._app(scope, receive, send_with_headers)
            except asyncio.CancelledError:  # by the server, which stops; it would log what goes further as a crash
                if status == CLIENT_LEFT:
                    await self._on_stop(Request(scope))(scope, receive, send_with_headers)
            except Exception as error:  # the boundary of a request: a fault in one leaves the others alone
                log_unexpected(error)
                if status == CLIENT_LEFT:
                    await self._on_crash(Request(scope))(scope, receive, send_with_headers)
            finally:
                milliseconds = round((perf_counter() - started) * 1000, 1)
                quiet = status == 200 and scope["path"] in QUIET_PATHS
                logger.log(
                    logging.DEBUG if quiet else logging.INFO,
                    "request",
                    method=scope["method"],
                    path=show_text(scope["path"]),
                    status=status,
                    ms=milliseconds,
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
