import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rafs.registry import find_default
from service.cli import app

SERVED = """
  - id: served
    family: llama
    roles: [judge]
    source: endpoint:http://127.0.0.1:{port}/v1
    model: llama-3.3
    api_key_env: RAFS_TEST_KEY
    licence: L
"""


class ModelList(BaseHTTPRequestHandler):
    """A server whose reply to GET /v1/models is chosen by the key it is sent."""

    def do_GET(self) -> None:
        status, content = REPLIES[self.headers["authorization"].removeprefix("Bearer ")]
        self.send_response(status if self.path == "/v1/models" else 500)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


REPLIES = {
    "good": (200, json.dumps({"data": [{"id": "llama-3.3"}]}).encode()),
    "other": (200, json.dumps({"data": [{"id": "gpt-2"}, {"x": 1}]}).encode()),
    "page": (200, b"<html>"),
    "list": (200, b"[]"),
    "odd": (200, b'{"object": "page"}'),
    "nested": (200, b"[" * 100_000),
    "unlisted": (404, b""),
    "refused": (401, b"key refused is wrong"),
    "ill": (503, b""),
}
FOUND = {
    "good": (0, "served: reachable; serves 'llama-3.3'"),
    "other": (1, "served: reachable, but it does not list 'llama-3.3'; it lists 'gpt-2'"),
    "page": (1, "sent no JSON: '<html>'"),
    "list": (1, "sent a list, not a JSON object"),
    "odd": (1, "served: reachable, but what answers is no OpenAI-compatible server"),
    "unlisted": (0, "served: reachable; it has no list of models to look the name up in"),
    "refused": (1, "served: reachable, but it refuses the key in RAFS_TEST_KEY"),
    "ill": (1, "status 503"),
    "nested": (1, "sent no JSON"),
}


@contextmanager
def model_server() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), ModelList) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def models_file(folder: Path, port: int | str = 9) -> str:
    path = folder / "my models.yaml"
    path.write_text(find_default().read_text("utf-8").replace("\nmodels:\n", f"\nmodels:{SERVED.format(port=port)}", 1))
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(autouse=True)
def nothing_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAFS_CACHE", str(tmp_path / "cache"))


def test_models_are_listed_with_where_they_are(tmp_path: Path) -> None:
    done = run("models", "list", "--models-file", models_file(tmp_path))
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert done.exit_code == 0
    assert "on a server" in rows["served"]
    assert "not here" in rows["all-minilm-l6-v2"]
    assert "ready" not in done.stdout


def test_the_next_step_names_the_same_models_file(tmp_path: Path) -> None:
    path = models_file(tmp_path)
    wanted = f"rafs models pull --models-file '{path}'"
    (tmp_path / "r.json").write_text('{"problem": "What is 2 + 2?", "trace": "2 + 2 = 4"}')
    assert wanted in "".join(run("models", "list", "--models-file", path).stdout.splitlines())
    assert wanted in run("models", "check", "--models-file", path, "all-minilm-l6-v2").stderr
    scored = run("score", str(tmp_path / "r.json"), "--models-file", path)
    assert (scored.exit_code, f"run `{wanted}`" in scored.stderr) == (3, True)


@pytest.mark.parametrize(("key", "code", "line"), [(key, *found) for key, found in FOUND.items()], ids=FOUND.keys())
def test_a_served_model_is_asked_for(
    key: str, code: int, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAFS_TEST_KEY", key)
    with model_server() as port:
        done = run("models", "check", "served", "--models-file", models_file(tmp_path, port))
    assert (done.exit_code, line in done.stdout) == (code, True), done.output


def test_a_server_that_is_not_there_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_TEST_KEY", "k")
    with model_server() as port:
        path = models_file(tmp_path, port)
    done = run("models", "check", "served", "--models-file", path)
    assert done.exit_code == 1
    assert f"served: NOT usable: model server http://127.0.0.1:{port}/v1/models" in done.stdout
    assert "no connection (ConnectError" in done.stdout


def test_an_address_that_is_none_is_a_matter_of_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_TEST_KEY", "k")
    done = run("models", "check", "served", "--models-file", models_file(tmp_path, port="x"))
    assert (done.exit_code, "is no address" in done.stderr) == (3, True), done.output


@pytest.mark.parametrize("key", ["", "two words", "gr\u00fcn"])
def test_a_key_that_is_none_is_a_matter_of_configuration_and_not_shown(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAFS_TEST_KEY", key)
    done = run("models", "check", "served", "--models-file", models_file(tmp_path))
    assert (done.exit_code, "'RAFS_TEST_KEY'" in done.stderr) == (3, True)
    assert not key or key not in done.output
