"""The running service against its own description."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.runtime.served import served

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)


@pytest.mark.slow
def test_whatever_is_sent_the_answer_is_a_documented_one_and_no_fault_of_ours(tmp_path: Path) -> None:
    tool = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    assert tool is not None
    with served("stand-in") as running:
        command = [tool, "run", f"{running.url}/openapi.json", "--checks", ",".join(CHECKS)]
        command += ["--max-examples", "15", "--seed", "1", "--no-color"]
        command += ["--suppress-health-check", "filter_too_much"]  # of its own generator, on our patterns
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-5_000:]
