import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rafs.errors import BackendError, ConfigError, OverloadedError
from rafs.record import Record
from rafs.wire import ScoreResponse
from service.cli import app
from service.faces import Faces
from tests.service.stand_in import StandIn, make_response

REQUEST = {"problem": "What is 55 - 40?", "trace": "55 - 40 = 10"}


def run(scorer: StandIn, *arguments: str, stdin: bytes | None = None) -> Result:
    async def never(record: Record) -> ScoreResponse:
        raise AssertionError("nothing was to be replayed")

    faces = Faces(build_scorer=lambda settings: scorer, replay=never)
    return CliRunner().invoke(app, list(arguments), input=stdin, obj=faces)


@pytest.fixture
def request_file(tmp_path: Path) -> str:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    return str(path)


@pytest.fixture
def trace_file(tmp_path: Path) -> str:
    path = tmp_path / "trace.txt"
    path.write_text("55 - 40 = 10\r\nso 10", encoding="utf-8", newline="")
    return str(path)


def test_a_request_file_becomes_a_report(request_file: str) -> None:
    done = run(StandIn(), "score", request_file)
    assert done.exit_code == 0
    assert "42.5 of 100" in done.stdout
    assert "REFUTED" in done.stdout


def test_a_report_leaves_the_models_closed(request_file: str) -> None:
    scorer = StandIn()
    run(scorer, "score", request_file)
    assert scorer.closed


def test_json_is_one_response_a_line_and_nothing_else(request_file: str) -> None:
    done = run(StandIn(), "score", "--json", request_file, request_file)
    lines = done.stdout.splitlines()
    assert [ScoreResponse.model_validate_json(line).score for line in lines] == [42.5, 42.5]


def test_a_folder_stands_for_its_json_files_by_name(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(json.dumps(REQUEST | {"problem": name}))
    (tmp_path / "note.txt").write_text("no request")
    scorer = StandIn()
    assert run(scorer, "score", str(tmp_path)).exit_code == 0
    assert [request.problem for request in scorer.seen] == ["a", "b"]


def test_standard_input_is_read_for_a_dash() -> None:
    scorer = StandIn()
    assert run(scorer, "score", "-", stdin=json.dumps(REQUEST).encode()).exit_code == 0
    assert scorer.seen[0].problem == REQUEST["problem"]


def test_a_plain_trace_is_scored_exactly_as_it_stands_in_the_file(trace_file: str) -> None:
    scorer = StandIn()
    assert run(scorer, "score", trace_file, "--problem", "What?").exit_code == 0
    assert (scorer.seen[0].problem, scorer.seen[0].trace) == ("What?", "55 - 40 = 10\r\nso 10")


@pytest.mark.parametrize(
    "text",
    ['{"steps": 1}', '{"trace": ', "the trace [1, 2]", '["trace"]', "[" * 90_000 + "trace"],
    ids=["other keys", "broken", "prose", "a list", "deep"],
)
def test_a_plain_trace_may_look_like_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text(text)
    scorer = StandIn()
    assert run(scorer, "score", str(tmp_path / "trace.txt"), "--problem", "What?").exit_code == 0
    assert scorer.seen[0].trace == text


def test_a_file_that_is_not_there_is_named_once() -> None:
    done = run(StandIn(), "score", "nope.json")
    assert done.stderr == "rafs: nope.json cannot be read: No such file or directory\n"


def test_a_problem_may_stand_in_a_file(trace_file: str, tmp_path: Path) -> None:
    (tmp_path / "problem.txt").write_text("How many?", encoding="utf-8-sig")
    scorer = StandIn()
    run(scorer, "score", trace_file, "--problem", f"@{tmp_path / 'problem.txt'}")
    assert scorer.seen[0].problem == "How many?"


def test_options_win_over_the_file(request_file: str, trace_file: str) -> None:
    scorer = StandIn()
    arguments = ["--answer", "15", "--generator", "gpt-4o", "--family", "gpt", "--seed", "7", "--preset", "gate"]
    assert run(scorer, "score", request_file, *arguments, "--sample", trace_file, "--sample", trace_file).exit_code == 0
    request = scorer.seen[0]
    assert (request.answer, request.seed, request.preset) == ("15", 7, "gate")
    assert request.generator is not None
    assert (request.generator.model, request.generator.family) == ("gpt-4o", "gpt")
    assert len(request.samples) == 2


WRONG = {
    "no such file": (["score", "nowhere.json"], "nowhere.json cannot be read: No such file or directory"),
    "null byte in a name": (["score", "a\0b"], "cannot be read"),
    "stdin twice": (["score", "-", "-"], "standard input can be read once"),
    "negative seed": (["score", "{request}", "--seed", "-1"], "field `seed`: got the number -1"),
    "text seed": (["score", "{request}", "--seed", "x"], "Invalid value for '--seed'"),
    "empty problem": (["score", "{trace}", "--problem", ""], "field `problem`: got an empty text"),
    "a trace without its problem": (["score", "{trace}"], "--problem TEXT"),
    "record of two": (["score", "{request}", "{request}", "--record", "r.json"], "--record takes one FILE, got 2"),
    "no file": (["score"], "Missing argument"),
    "unknown option": (["score", "{request}", "--colour"], "No such option"),
    "empty folder": (["score", "{folder}"], "has no *.json file"),
    "unknown model": (["models", "pull", "gpt-9"], "there is no model 'gpt-9'; known are smollm2-135m-instruct"),
    "replay of a request": (["replay", "{request}"], "it is a request; score it with --record FILE"),
    "replay of another object": (["replay", "{object}"], "no record of this version: the key `id` is missing"),
    "replay of a list": (["replay", "{list}"], "no record of this version: it holds no JSON object"),
    "record that is no JSON": (["replay", "{trace}"], "no record of this version: it is no JSON"),
    "a request as plain trace": (
        ["score", "{request}", "--problem", "x"],
        "is a JSON request with its own `trace`, not a plain trace: leave out --problem",
    ),
    "a request as plain sample": (["score", "{request}", "--sample", "{request}"], "give --sample plain text"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_usage_is_one_clear_line_and_exit_code_2(
    arguments: list[str], message: str, request_file: str, trace_file: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"{request}": request_file, "{trace}": trace_file, "{folder}": str(tmp_path / "empty")}
    for name, content in (("object", '{"score": 1}'), ("list", "[1]")):
        (tmp_path / f"{name}.json").write_text(content)
        places[f"{{{name}}}"] = str(tmp_path / f"{name}.json")
    done = run(StandIn(), *(places.get(argument, argument) for argument in arguments))
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "no JSON"),
        (b'{"problem":"p","trace":"a","x":1}', "the unknown key 'x'"),
        (b"[" * 100_000, "recursion limit"),
        (b"", "got nothing"),
    ],
    ids=["UTF-16", "unknown key", "deep", "empty"],
)
def test_a_file_that_is_no_request_is_named_and_the_others_are_scored(
    content: bytes, message: str, request_file: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(content)
    done = run(StandIn(), "score", "--json", str(bad), request_file)
    assert done.exit_code == 2
    assert len(done.stdout.splitlines()) == 1
    assert "bad.json: " in done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_plain_trace_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    done = run(StandIn(), "score", str(tmp_path / "latin.txt"), "--problem", "p")
    assert (done.exit_code, "save it as UTF-8" in done.stderr) == (2, True)


def test_a_device_without_end_is_not_read_to_its_end() -> None:
    done = run(StandIn(), "score", "/dev/zero")
    assert (done.exit_code, "has more than" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("the weights of 'm' are not on this machine: run `rafs models pull`"), 3),
        (BackendError("the judge is down"), 4),
        (OverloadedError("the queue is full", retry_after_s=1), 4),
    ],
    ids=["configuration", "back-end", "full queue"],
)
def test_the_exit_code_says_whose_turn_it_is(error: Exception, code: int, request_file: str) -> None:
    done = run(StandIn(error=error), "score", request_file)
    assert done.exit_code == code
    assert str(error) in done.stderr


def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it(request_file: str) -> None:
    missing = ModuleNotFoundError("No module named 'torch'", name="torch")
    done = run(StandIn(error=missing), "score", request_file)
    assert (done.exit_code, "pip install 'rafs[local]'" in done.stderr) == (3, True)


def test_a_wrong_setting_is_named_by_its_variable(request_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_PORT", "many")
    done = run(StandIn(), "score", request_file)
    assert (done.exit_code, "RAFS_PORT: got 'many'" in done.stderr) == (3, True)


def test_a_wrong_option_is_named_as_the_option() -> None:
    done = run(StandIn(), "serve", "--port", "99999")
    assert (done.exit_code, done.stderr.startswith("rafs: --port: got the number 99999, allowed")) == (3, True)


def test_serving_to_other_machines_is_refused_without_permission() -> None:
    done = run(StandIn(), "serve", "--host", "0.0.0.0")
    assert (done.exit_code, "--allow-remote" in done.stderr) == (3, True)


def test_a_response_without_record_cannot_be_replayed_and_the_line_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "response.json").write_text(make_response().model_dump_json())
    done = run(StandIn(), "replay", str(tmp_path / "response.json"))
    assert (done.exit_code, "score with --record FILE" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [[], ["score"], ["serve"], ["replay"], ["models", "list"], ["models", "pull"]])
def test_help_teaches_with_an_example(command: list[str]) -> None:
    done = run(StandIn(), *command, "--help")
    assert done.exit_code == 0
    assert "rafs " in done.stdout
    assert command == [] or "Example: rafs " in done.stdout


def test_the_version_is_printed() -> None:
    done = run(StandIn(), "--version")
    assert (done.exit_code, done.stdout.startswith("rafs ")) == (0, True)


def test_a_terminal_of_few_characters_gets_escapes_and_no_crash() -> None:
    program = (
        "import sys; from service.cli import app; from service.faces import Faces;"
        "from tests.service.stand_in import StandIn;"
        "app(sys.argv[1:], obj=Faces(build_scorer=lambda settings: StandIn(), replay=None))"
    )
    command = [sys.executable, "-c", program, "score", "-", "--problem", "Größe → 漢"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    trace = "naïve → 55 - 40 = 10".encode()
    done = subprocess.run(command, env=environment, input=trace, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"na\\xefve" in done.stdout
