"""A real HTTP server on the loopback that answers as a test tells it to."""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
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
    headers: Mapping[str, str]
    """By lower-case name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    wait: threading.Event | None = None
    """The reply is held back until this is set or the client leaves, for at most 5 s."""


Answer = Callable[[Request], Reply]


@dataclass(slots=True, kw_only=True)
class ScriptedServer:
    """Where it listens, and what it was asked."""

    url: str
    requests: list[Request]
    left: threading.Event
    """Set when a client left before its reply."""

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """What was posted to this path, in order."""
        return [request.body for request in self.requests if request.path == path]

    def connection(self, **changes: Any) -> ServerConnection:
        return ServerConnection(ServerSettings(**{"base_url": self.url, "model": "served", **changes}))


def reply_json(value: object, *, status: int = 200) -> Reply:
    return Reply(status=status, body=json.dumps(value).encode())


def no_such_path(request: Request) -> Reply:
    return reply_json({"error": "no such path"}, status=404)


def at(answers: Mapping[str, Answer]) -> Answer:
    """Answer by path; any other is not there."""
    return lambda request: answers.get(request.path, no_such_path)(request)


def in_turn(*replies: Reply) -> Answer:
    """Answer with one reply after the other; the last one stays."""
    left = list(replies)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def serve(answer: Answer, port: int = 0) -> Iterator[ScriptedServer]:
    """Serve on this port, or on a free one, until the block ends."""
    seen: list[Request] = []
    left = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(answer, seen, left))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield ScriptedServer(url=f"http://127.0.0.1:{server.server_address[1]}", requests=seen, left=left)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(answer: Answer, seen: list[Request], left: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(sent) if sent else {}
            headers = {name.lower(): value for name, value in self.headers.items()}
            authorization = self.headers.get("authorization")
            request = Request(path=self.path, body=body, authorization=authorization, headers=headers)
            seen.append(request)
            reply = answer(request)
            if reply.wait is not None and _leaves(self.connection, reply.wait):
                left.set()
                return
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client left, which some tests want

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _leaves(client: socket.socket, wait: threading.Event) -> bool:
    """Hold the reply back until `wait` is set, for at most 5 s; say whether the client left meanwhile."""
    for _ in range(250):
        readable, _, _ = select.select([client], [], [], 0)
        try:
            if readable and not client.recv(1, socket.MSG_PEEK):
                return True
        except ConnectionResetError:
            return True
        if wait.wait(0.02):
            break
    return False
