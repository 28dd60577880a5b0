"""The running service against its own description."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli import app
from tests.service.runtime.served import served

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)
HOOKS = Path(__file__).with_name("uploads.py")
NO_SPEED = ("--suppress-health-check", "too_slow")
"""It judges the time in which inputs are made, which is that of the machine: one second in all."""


def check(url: str, folder: Path, *options: str) -> None:
    tool = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    assert tool is not None
    command = [tool, "run", f"{url}/openapi.json", "--checks", ",".join(CHECKS), "--continue-on-failure"]
    command += ["--max-examples", "15", "--seed", "1", "--no-color", *NO_SPEED, *options]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": str(HOOKS)}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout[-5_000:]


@pytest.mark.slow
def test_whatever_is_sent_the_answer_is_a_documented_one_and_no_fault_of_ours(tmp_path: Path) -> None:
    with served("stand-in") as running:
        check(running.url, tmp_path)


@pytest.mark.slow
def test_whatever_an_administrator_of_keys_sends_the_answer_is_a_documented_one(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'keys.db'}"
    made = CliRunner().invoke(app, ["keys", "create", "admin", "--scope", "admin", "--database", database])
    assert made.exit_code == 0, made.output
    with served("stand-in", RAFS_DATABASE=database) as running:
        key = f"Authorization: Bearer {made.stdout.strip()}"
        check(running.url, tmp_path, "--header", key, "--include-path-regex", "^/v1/keys")
