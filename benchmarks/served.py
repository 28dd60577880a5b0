"""Programs in processes of their own, `rafs serve` above all, for benchmarks that ask, load or kill a real one."""

import os
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

LOOK_S = 0.05
PATIENCE_S = 600.0


class Program(ABC):
    """A program on a port of its own, where it can be started again after its end."""

    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the process that was started last."""
        assert self._process is not None
        return self._process.pid

    @abstractmethod
    def start(self) -> None:
        """Start it, and return when it is ready."""

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _launch(self, command: Sequence[str], **options: Any) -> None:
        """Run a command, with options of `Popen`, and return when it is ready."""
        self._process = subprocess.Popen(command, **options)
        ends_at = time.monotonic() + PATIENCE_S
        while not self._is_ready():
            if time.monotonic() > ends_at or self._process.poll() is not None:
                raise SystemExit(self._complaint())
            time.sleep(LOOK_S)

    @abstractmethod
    def _is_ready(self) -> bool: ...

    @abstractmethod
    def _complaint(self) -> str:
        """Say why it did not start."""


class Service(Program):
    """`rafs serve`."""

    def __init__(self, folder: Path, models: Path, database: str = "", **environment: str) -> None:
        """Keep what it is started with.

        Args:
            folder: Takes its log.
            models: Its models.yaml.
            database: Its address; a new SQLite file in the folder unless given.
            environment: Settings, by the names of their variables.
        """
        super().__init__()
        self._log = folder / "service.log"
        self.database = database or f"sqlite:///{folder / 'rafs.db'}"
        self.address = f"http://127.0.0.1:{self.port}"
        self._command = [sys.executable, "-m", "service", "--port", str(self.port), "--models-file", str(models)]
        own = {"RAFS_DATABASE": self.database, "RAFS_LOG_LEVEL": "error"}
        self._environment = os.environ | own | environment

    def start(self) -> None:
        """Start it, and return when it is ready."""
        with self._log.open("ab") as log:
            self._launch(self._command, env=self._environment, stdout=log, stderr=log)

    def stop(self) -> None:
        """End it as an operator does."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def complaints(self) -> list[str]:
        """Return its log lines of the level `error`."""
        return [line for line in self._log.read_text().splitlines() if '"level": "error"' in line]

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.address}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def _complaint(self) -> str:
        return self._log.read_text()[-2_000:]


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
