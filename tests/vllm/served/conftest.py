"""Two real servers, started once: a judge in fp32 and a writer of another family in bf16."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.vllm.servers import VllmServer, serving
from tests.vllm.weights import judge_folder, writer_folder

WRITER_TOKENS = 160
"""At most, of one text: enough for the problems of these tests, and a small model that rambles is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    judge: VllmServer
    writer: VllmServer


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    logs: Path = tmp_path_factory.mktemp("logs")
    judge = VllmServer(judge_folder(), "smollm2-served", "float32", logs)
    short = ["--override-generation-config", json.dumps({"max_new_tokens": WRITER_TOKENS})]
    writer = VllmServer(writer_folder(), "qwen-served", "bfloat16", logs, short)
    with serving(judge, writer):
        yield Servers(judge=judge, writer=writer)


@pytest.fixture(scope="module")
def servers(started: Servers) -> Servers:
    """Both of them alive, whatever the tests before have killed."""
    for server in (started.judge, started.writer):
        if not server.is_healthy():
            server.start()
            server.wait()
    return started
