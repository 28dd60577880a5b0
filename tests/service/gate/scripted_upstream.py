"""A small server of the OpenAI protocol that says what it was told to say, one answer after the other."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

PATIENCE_S = 20.0


@dataclass(frozen=True, kw_only=True)
class Says:
    """One answer."""

    content: str | None = None
    message: dict[str, Any] = field(default_factory=dict)
    """More keys of the message."""
    extra: dict[str, Any] = field(default_factory=dict)
    """More keys of the completion."""
    finish_reason: str = "stop"
    raw: Response | None = None
    """Sent as it is."""
    delay_s: float = 0.0
    breaks_after: int | None = None
    """Chunks of a stream after which the connection breaks."""
    stalls_after: int | None = None
    """Chunks of a stream after which nothing more comes."""


class ScriptedUpstream:
    """What it was asked, and what it says; the last answer is said again and again."""

    def __init__(self, *answers: Says, by_seed: Mapping[int, Says] | None = None) -> None:
        self.answers = list(answers)
        self.by_seed = by_seed or {}
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.left = threading.Event()
        """Set when a client leaves during a stream."""
        self.app = FastAPI()
        self.app.add_api_route("/v1/chat/completions", self._answer, methods=["POST"])

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        self.seen.append(body)
        self.headers.append(dict(request.headers))
        says = self.by_seed.get(body.get("seed")) or self._next()
        await asyncio.sleep(says.delay_s)
        if says.raw is not None:
            return says.raw
        if body.get("stream"):
            return StreamingResponse(self._stream(body, says), media_type="text/event-stream")
        message = {"role": "assistant", "content": says.content, **says.message}
        choices = [
            {"index": index, "message": message, "finish_reason": says.finish_reason}
            for index in range(body.get("n") or 1)
        ]
        completion = {**_head(body, "chat.completion"), "choices": choices, "usage": USAGE, **says.extra}
        return Response(json.dumps(completion), media_type="application/json")

    def _next(self) -> Says:
        return self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)

    async def _stream(self, body: dict[str, Any], says: Says) -> AsyncIterator[bytes]:
        try:
            for n, chunk in enumerate(_chunks(body, says)):
                if n == says.breaks_after:
                    raise ConnectionError
                if n == says.stalls_after:
                    await asyncio.sleep(PATIENCE_S)
                yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
            yield b"data: [DONE]\n\n"
        except asyncio.CancelledError:
            self.left.set()
            raise


USAGE = {"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": body["model"]}


def _chunks(body: dict[str, Any], says: Says) -> Iterator[dict[str, Any]]:
    head = {**_head(body, "chat.completion.chunk"), **says.extra}
    yield {**head, "choices": [{"index": 0, "delta": {"role": "assistant", **says.message}, "finish_reason": None}]}
    for line in (says.content or "").splitlines(keepends=True):
        yield {**head, "choices": [{"index": 0, "delta": {"content": line}, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": says.finish_reason}]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": USAGE}


@contextmanager
def served(app: FastAPI) -> Iterator[int]:
    """Serve an application on loopback, in a thread, and yield its port."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_config=None, access_log=False, timeout_graceful_shutdown=2
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.listens.wait(PATIENCE_S), "the server did not start"
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


class _Server(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listens.set()
