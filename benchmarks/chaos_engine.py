"""The model server that `chaos.py` kills. It speaks the OpenAI protocol.

It has completions with log-probabilities and no tokenizer. What it says hangs on the prompt alone, so that the
same row has the same score whenever, and of whichever process, it is asked.
"""

import hashlib
import json
import math
import socket
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.served import Program

MODEL = "scripted-judge"
ENGINE = "import sys; from benchmarks.chaos_engine import serve_model; serve_model(int(sys.argv[1]))"


class Engine(Program):
    """A model server, which is started again on its port when it was killed."""

    @property
    def entry(self) -> dict[str, object]:
        """What models.yaml says of it."""
        return {
            "id": MODEL,
            "family": "llama",
            "roles": ["judge"],
            "source": f"endpoint:http://127.0.0.1:{self.port}/v1",
            "model": MODEL,
            "licence": "of this project",
        }

    def start(self) -> None:
        """Start it, and return when it listens; its standard error would tell of every client that was killed."""
        self._launch([sys.executable, "-c", ENGINE, str(self.port)], stderr=subprocess.DEVNULL)

    def _is_ready(self) -> bool:
        with socket.socket() as trying:
            return trying.connect_ex(("127.0.0.1", self.port)) == 0

    def _complaint(self) -> str:
        return "the model server did not start"


class Handler(BaseHTTPRequestHandler):
    """Answers `/v1/completions`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/v1/completions":
            self._reply(200, complete(body["prompt"]))
        else:
            self._reply(404, {"error": {"message": "no such path"}})

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _reply(self, status: int, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def complete(prompt: str) -> dict[str, Any]:
    """Return a completion whose P(Yes) is drawn from the prompt, in [0.05, 0.95]."""
    p_yes = 0.05 + 0.9 * hashlib.sha256(prompt.encode()).digest()[0] / 255
    top = {" Yes": math.log(p_yes), " No": math.log(1 - p_yes)}
    n_tokens = len(prompt.split())
    usage = {"prompt_tokens": n_tokens, "completion_tokens": 1, "total_tokens": n_tokens + 1}
    choice = {"index": 0, "text": " Yes", "finish_reason": "length", "logprobs": {"top_logprobs": [top]}}
    return {"object": "text_completion", "model": MODEL, "choices": [choice], "usage": usage}


def serve_model(port: int) -> None:
    """Serve completions until killed."""
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
