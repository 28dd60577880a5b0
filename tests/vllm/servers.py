"""A real vLLM server on the loopback: started, waited for, killed, started again on its port."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from rafs.engines.server_connection import ServerConnection, ServerSettings

BLOCK_TOKENS = 32
WINDOW = 2048
START_S = 300.0
LIFETIME_S = 1800
"""Whatever happens to the tests, no server outlives that."""
SERVE = ["--max-model-len", str(WINDOW), "--block-size", str(BLOCK_TOKENS), "--enforce-eager"]
SERVE += ["--enable-prompt-tokens-details", "--scheduling-policy", "priority", "--host", "127.0.0.1"]


class VllmServer:
    """One server; `name` is that of the served model."""

    def __init__(self, folder: Path, name: str, dtype: str, logs: Path, more: Sequence[str] = ()) -> None:
        self.name = name
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = ["timeout", "--kill-after=10", str(LIFETIME_S), str(vllm_bin("vllm")), "serve", str(folder)]
        self._command += ["--served-model-name", name, "--port", str(self.port), "--dtype", dtype, *SERVE, *more]
        self._log = logs / f"vllm-{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return at once."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=vllm_environment(), start_new_session=True
            )

    def wait(self) -> None:
        """Wait until it serves; say every ten seconds that it does not yet."""
        started = said = time.monotonic()
        while not self.is_healthy():
            now = time.monotonic()
            assert self._process is not None
            if self._process.poll() is not None or now - started > START_S:
                raise AssertionError(f"vLLM does not serve {self.name}:\n{self._log.read_text()[-4000:]}")
            if now - said > 10:
                said = now
                print(f"waiting for vLLM to serve {self.name}: {now - started:.0f} s", file=sys.stderr, flush=True)
            time.sleep(0.5)

    def is_healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def seen(self) -> int:
        """How many requests it has answered or computes now; those of one token are never seen while they run."""
        lines = httpx.get(f"{self.url}/metrics", timeout=30).text.splitlines()
        counts = ("vllm:num_requests_running{", "vllm:request_success_total{")
        return int(sum(float(line.split()[-1]) for line in lines if line.startswith(counts)))

    def kill(self) -> None:
        """End it and all its processes at once, as the kernel does when memory runs out."""
        self._signal(signal.SIGKILL)
        self._reap(10)

    def close(self) -> None:
        """Ask it to end; whatever is left after 15 s is killed."""
        self._signal(signal.SIGTERM)
        self._reap(15)
        self._signal(signal.SIGKILL)
        self._process = None

    def connection(self, **changes: float) -> ServerConnection:
        settings: dict[str, str | float] = {"base_url": self.url, "model": self.name, **changes}
        return ServerConnection(ServerSettings(**settings))  # type: ignore[arg-type]

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:  # All of them have ended.
                return

    def _reap(self, patience_s: float) -> None:
        if self._process is not None:
            try:
                self._process.wait(patience_s)
            except subprocess.TimeoutExpired:
                return


@contextmanager
def serving(*servers: VllmServer) -> Iterator[None]:
    """Start them together, wait for all, and end them."""
    try:
        for server in servers:
            server.start()
        for server in servers:
            server.wait()
        yield
    finally:
        for server in servers:
            server.close()


def vllm_bin(name: str) -> Path:
    return Path(os.environ["VLLM_VENV"]).absolute() / "bin" / name


def vllm_environment() -> dict[str, str]:
    """What makes vLLM fast on few cores and keeps it from the network."""
    last_core = (os.cpu_count() or 1) - 1
    return {
        **os.environ,
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "KMP_BLOCKTIME": "0",  # threads that spin keep the other server from the cores
        "LD_PRELOAD": str(vllm_bin("vllm").parents[1] / "lib" / "libiomp5.so"),
        "OMP_NUM_THREADS": str(last_core + 1),
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": f"0-{last_core}",  # the default leaves a core idle
        "VLLM_NO_USAGE_STATS": "1",
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
