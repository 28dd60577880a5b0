"""A real HTTP server on the loopback that answers as a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rafs.engines.server_connection import ServerConnection, ServerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    path: str
    body: dict[str, Any]
    authorization: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    wait: threading.Event | None = None
    """The reply is held back until this is set, for at most 5 s."""


Answer = Callable[[Request], Reply]


@dataclass(slots=True, kw_only=True)
class ScriptedServer:
    """Where it listens, and what it was asked."""

    url: str
    requests: list[Request]

    def connection(self, **changes: Any) -> ServerConnection:
        return ServerConnection(ServerSettings(**{"base_url": self.url, "model": "served", **changes}))


def reply_json(value: object, *, status: int = 200) -> Reply:
    return Reply(status=status, body=json.dumps(value).encode())


def in_turn(*replies: Reply) -> Answer:
    """Answer with one reply after the other; the last one stays."""
    left = list(replies)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def serve(answer: Answer) -> Iterator[ScriptedServer]:
    """Serve on a free port until the block ends."""
    seen: list[Request] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            body = json.loads(self.rfile.read(length))
            request = Request(path=self.path, body=body, authorization=self.headers.get("authorization"))
            seen.append(request)
            reply = answer(request)
            if reply.wait is not None:
                reply.wait.wait(5)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client left, which some tests want

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield ScriptedServer(url=f"http://127.0.0.1:{server.server_address[1]}", requests=seen)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
