"""Other packages, in a process of their own: one JSON request a line, one JSON reply a line."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


class OtherProcess:
    """A module of this folder, run by the python of an environment with requirements.txt, on one thread."""

    def __init__(self, python: str, module: str, *arguments: str) -> None:
        """Start it and wait for its greeting, which says what it offers."""
        environment = dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
        self._process = subprocess.Popen(
            [python, "-m", f"benchmarks.rivals.{module}", *arguments],
            cwd=ROOT,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.greeting = self._reply()

    def ask(self, **request: Any) -> Any:
        """Send a request and return the reply."""
        assert self._process.stdin is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._reply()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _reply(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the other packages' process ended; its messages stand above")
        return json.loads(line)
