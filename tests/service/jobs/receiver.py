"""A receiver of webhooks on a real socket."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any


@dataclass
class Received:
    """What came, and what is answered to it: the statuses in turn, the last one for good."""

    statuses: list[int]
    port: int = 0
    messages: "Queue[tuple[dict[str, str], bytes]]" = field(default_factory=Queue)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?token=t"

    def next(self) -> tuple[dict[str, str], bytes]:
        """Return headers and body of the next message."""
        return self.messages.get(timeout=60)


@contextmanager
def receiver(*statuses: int) -> Iterator[Received]:
    received = Received([*statuses] or [204])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = received.statuses.pop(0) if len(received.statuses) > 1 else received.statuses[0]
            self.send_response(status)
            if status == 302:
                self.send_header("location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()
            received.messages.put(({**dict(self.headers.items()), "path": self.path}, body))

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.port = server.server_address[1]
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield received
        finally:
            server.shutdown()
            serving.join()


def verified(secret: str, headers: dict[str, str], body: bytes) -> Any:
    """Return what a message says, None where its signature is not of the secret."""
    from standardwebhooks import Webhook, WebhookVerificationError

    try:
        return Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return None
