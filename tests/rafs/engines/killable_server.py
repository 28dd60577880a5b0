"""A model server in a process of its own, to be killed.

`python -m tests.rafs.engines.killable_server PORT {hold,answer}` prints its port, then a line per request.
"""

import subprocess
import sys
import threading
from pathlib import Path

from tests.rafs.engines.scripted_server import Reply, Request, reply_json, serve

ROOT = Path(__file__).parents[3]


class KillableServer:
    """A running one."""

    def __init__(self, mode: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "tests.rafs.engines.killable_server", str(port), mode]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.port = int(self._line())

    def wait_until_asked(self) -> None:
        """Return when a request has arrived."""
        self._line()

    def kill(self) -> None:
        """End it as the kernel does when memory runs out."""
        self._process.kill()
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def main(port: int, mode: str) -> None:
    """Serve until killed; `hold` never answers a completion."""

    def answer(request: Request) -> Reply:
        if request.path != "/v1/completions":
            return reply_json({}, status=404)
        print(request.path, flush=True)
        top = {"top_logprobs": [{"Yes": -1.0, "No": -1.5}]}
        never = threading.Event() if mode == "hold" else None
        return Reply(body=reply_json({"choices": [{"logprobs": top}]}).body, wait=never)

    with serve(answer, port) as server:
        print(server.url.rpartition(":")[2], flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
