import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from service.cli import app
from tests.service.batch.logs import errors_of, results_of, row_of, write_log, write_models


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["batch", *map(str, arguments)])


def begin(*arguments: object) -> subprocess.Popen[str]:
    """Start the command in a process of its own, which hears Ctrl-C even where the tests run in the background."""
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{hears}; from service.cli import main; main()"
    command = [sys.executable, "-c", code, "batch", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return write_models(tmp_path)


def test_a_log_is_scored_into_its_folder(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n % 6, id=f"r{n}") for n in range(8)])
    done = run(log, "--out", tmp_path / "out", "--models-file", models)
    assert done.exit_code == 0, done.stderr
    assert [row["outcome"] for row in results_of(tmp_path / "out")][:2] == ["undetermined", "faithful_success"]


def test_the_summary_counts_rows_and_says_with_what_they_were_scored(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1), row_of(1), "{broken"])
    run(log, "--out", tmp_path / "out", "--models-file", models)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    totals = summary["totals"]
    assert (totals["rows"], totals["scored"], totals["duplicates"], totals["errors"]) == (3, 2, 1, {"input": 1})
    assert summary["batch"]["provenance"]["rafs_version"]


def test_the_most_frequent_reason_of_failed_rows_is_said_with_their_file(tmp_path: Path, models: Path) -> None:
    other = [{"problem": "p", "trace": "1 + 1 = 2", "seed": "x"}, *[{"problem": "p"}] * 2]
    log = write_log(tmp_path / "log.jsonl", [row_of(1), *other])
    done = run(log, "--out", tmp_path / "out", "--models-file", models)
    told = next(line for line in done.stdout.splitlines() if "most often" in line)
    assert told.startswith("3 rows failed, most often (2) for: field `trace`: got nothing")
    assert told.endswith(f"each is in {tmp_path / 'out' / 'errors.jsonl'}")


def test_a_batch_without_any_score_says_so_and_is_done(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [{"messages": [{"role": "user", "content": "p"}]}] * 2)
    done = run(log, "--out", tmp_path / "out", "--models-file", models)
    assert (done.exit_code, "no row was scored, 2 failed, most often (2) for" in done.stdout) == (0, True)


def test_outcomes_say_what_they_are_shares_of(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1), "{broken"])
    done = run(log, "--out", tmp_path / "out", "--models-file", models)
    assert "outcomes, as shares of the 1 scored rows:\n  faithful_success" in done.stdout


def test_a_file_of_an_unknown_shape_is_named(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [{"q": 1}])
    done = run(log, "--out", tmp_path / "out", "--models-file", models)
    assert done.stderr.startswith(f"rafs: {log}: got rows with the keys q")


def test_how_the_rows_are_read_is_said(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1, at="now")])
    done = run(log, "--out", tmp_path / "out", "--models-file", models)
    assert "format rafs: 1 of the first 1 rows have `problem` and `trace` or `steps`" in done.stderr
    assert "keys that are not read: at" in done.stderr


def test_json_is_the_summary_and_nothing_else(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1)])
    done = run(log, "--out", tmp_path / "out", "--models-file", models, "--json")
    assert json.loads(done.stdout)["scored"] == 1


def test_the_output_of_an_openai_batch_is_joined_with_its_requests(tmp_path: Path, models: Path) -> None:
    def reply(n: int) -> dict[str, object]:
        choice = {"message": {"role": "assistant", "content": str(row_of(n)["trace"])}, "finish_reason": "stop"}
        body = {"model": "gpt-4o-mini", "choices": [choice]}
        return {"custom_id": f"c{n}", "response": {"status_code": 200, "body": body}, "error": None}

    def request(n: int) -> dict[str, object]:
        messages = [{"role": "user", "content": row_of(n)["problem"]}]
        return {"custom_id": f"c{n}", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": messages}}

    log = write_log(tmp_path / "output.jsonl", [reply(n) for n in (2, 1, 9)])
    asked = write_log(tmp_path / "requests.jsonl", [request(n) for n in range(4)])
    done = run(log, "--requests", asked, "--out", tmp_path / "out", "--models-file", models)
    assert done.exit_code == 0, done.stderr
    assert [(row["id"], row["outcome"]) for row in results_of(tmp_path / "out")] == [
        ("c2", "faithful_success"),
        ("c1", "faithful_success"),
    ]
    assert [error["id"] for error in errors_of(tmp_path / "out")] == ["c9"]


def test_the_output_of_an_openai_batch_alone_is_refused(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "output.jsonl", [{"custom_id": "c", "response": None, "error": None}])
    done = run(log, "--out", tmp_path / "out", "--models-file", models)
    assert (done.exit_code, "--requests: got nothing" in done.stderr) == (2, True)


def test_rows_that_are_no_replies_are_counted_apart(tmp_path: Path, models: Path) -> None:
    span = {"id": "s", "trace_id": "t", "type": "SPAN", "input": "x", "output": "y"}
    said = {"id": "g", "trace_id": "t", "type": "GENERATION", "input": "What is 2 + 2?", "output": "2 + 2 = 4"}
    log = write_log(tmp_path / "log.jsonl", [span, said, span])
    done = run(log, "--out", tmp_path / "out", "--models-file", models, "--json")
    totals = json.loads(done.stdout)
    assert (totals["rows"], totals["scored"], totals["left_out"]) == (3, 1, {"observations of type SPAN": 2})


@pytest.mark.parametrize(
    ("rows", "options", "told"),
    [
        pytest.param([{"q": 1}], [], "rows with the keys q", id="an unknown shape"),
        pytest.param([row_of(1)], ["--map", "x"], "--map", id="a wrong path"),
        pytest.param([row_of(1)], ["--preset", "huge"], "preset", id="an unknown preset"),
    ],
)
def test_what_is_wrong_with_an_order_is_one_line(
    tmp_path: Path, models: Path, rows: list[object], options: list[str], told: str
) -> None:
    log = write_log(tmp_path / "log.jsonl", rows)
    done = run(log, "--out", tmp_path / "out", "--models-file", models, *options)
    assert (done.exit_code, done.stderr.startswith("rafs: "), told in done.stderr) == (2, True, True)


@pytest.mark.slow
def test_processes_give_what_one_process_gives(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n % 20) for n in range(30)])
    columns = ("row", "status", "outcome", "score", "reasons", "duplicate_of", "request_hash")
    for name, options in (("one", []), ("two", ["--workers", "2"])):
        done = run(log, "--out", tmp_path / name, "--models-file", models, *options)
        assert done.exit_code == 0, done.stderr
    assert results_of(tmp_path / "one", columns) == results_of(tmp_path / "two", columns)


@pytest.mark.slow
def test_ctrl_c_stops_the_batch_and_says_how_it_goes_on(tmp_path: Path, models: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(600)])
    arguments = (log, "--out", tmp_path / "out", "--models-file", models)
    with begin(*arguments) as process:
        assert process.stderr is not None
        while "of 600 rows" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
        assert process.wait() == 130, told
    assert "the same command goes on" in told
    assert 0 < len(results_of(tmp_path / "out")) < 600
    done = run(*arguments)
    assert done.exit_code == 0, done.stderr
    assert [row["row"] for row in results_of(tmp_path / "out")] == list(range(1, 601))
