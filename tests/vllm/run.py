"""Both halves against the real vLLM: served, called from RAFS's own environment, and in the process of its own."""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.vllm.servers import vllm_bin, vllm_environment
from tests.vllm.weights import writer_folder

HERE = Path(__file__).parent
PYTEST = ["-m", "pytest", "--capture=no", "--durations=5", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=300"]


def main() -> int:
    """Run them one after the other and return 0 where both passed."""
    writer_folder()
    # vLLM and what it imports warn of their own future; ours is checked in the served half.
    in_process = [*PYTEST, "-W", "ignore", str(HERE / "in_process")]
    failed = [
        run("served", [sys.executable, *PYTEST, str(HERE / "served")], dict(os.environ)),
        run("in process", [str(vllm_bin("python")), *in_process], vllm_environment()),
    ]
    return int(any(failed))


def run(name: str, command: list[str], environment: dict[str, str]) -> bool:
    """Return whether it failed."""
    started = time.monotonic()
    code = subprocess.run([*command, *sys.argv[1:]], env=environment, check=False).returncode
    print(f"vLLM {name}: {'failed' if code else 'passed'} in {time.monotonic() - started:.0f} s", flush=True)
    return code != 0


if __name__ == "__main__":
    sys.exit(main())
