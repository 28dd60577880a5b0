"""`rafs eval --grader`: were the flaws named that experts described?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.rafs.engines.scripted_server import ScriptedServer, serve
from tests.rafs.engines.served_engines import COMPLETIONS, listing_labels, vllm
from tests.rafs.engines.tiny_models import tiny_tokenizer
from tests.service.test_evaluating import is_wrong, row, run, write_models

N_TRACES = 6
NOTE = "4 + 3 is 7."
N_FLAWED = sum(map(is_wrong, range(N_TRACES)))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serve(vllm(listing_labels)) as server:
        yield server


@pytest.fixture
def options(tmp_path: Path, server: ScriptedServer) -> list[str]:
    return ["--models-file", write_models(tmp_path / "m.yaml", server.url), "--out", str(tmp_path / "run")]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "t.jsonl"
    rows = [row(n, error_note=f"{NOTE} That is shelf {n}x.") for n in range(N_TRACES)]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return str(path)


def graded(*arguments: str) -> Any:
    done = run(*arguments, "--grader", "mine", "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["pooled"]["error_grading"]


def asked_to_compare(server: ScriptedServer) -> list[str]:
    tokenizer = tiny_tokenizer().tokenizer
    prompts = [tokenizer.decode(body["prompt"]) for body in server.bodies(COMPLETIONS) if "prompt" in body]
    return [prompt for prompt in prompts if "name the same error" in prompt.rpartition("\n")[0]]


def test_every_described_flaw_is_graded_and_the_grader_controlled(
    file: str, options: list[str], server: ScriptedServer
) -> None:
    figures = graded(file, *options)
    assert (figures["n"], figures["n_unscored"]) == (N_FLAWED, 0)
    assert figures["accuracy"]["value"] == 0  # the served model says No to everything
    assert (figures["control_itself"]["value"], figures["control_other"]["value"]) == (0, 0)
    assert len(asked_to_compare(server)) >= N_FLAWED


def test_people_are_given_a_file_and_what_they_fill_in_audits_the_grader(
    tmp_path: Path, file: str, options: list[str], server: ScriptedServer
) -> None:
    assert graded(file, *options)["agreement"]["value"] is None
    path = tmp_path / "run" / "flaws.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == N_FLAWED
    assert all(one["by_expert"].startswith(NOTE) and "4 + 3 = 8" in one["named"] for one in rows)
    path.write_text("".join(json.dumps(one | {"equivalent": n == 0}) + "\n" for n, one in enumerate(rows)))
    server.requests.clear()
    figures = graded(file, *options)
    assert figures["agreement"]["value"] == 1 - 1 / N_FLAWED
    assert figures["by_people"]["value"] == 1 / N_FLAWED
    assert server.requests == []
    assert json.loads(path.read_text().splitlines()[0])["equivalent"] is True


def test_a_grader_that_tells_nothing_apart_is_named_as_such(file: str, options: list[str]) -> None:
    said = run(file, *options, "--grader", "mine").stdout
    assert "Flaws named as experts did" in said and "its grades say nothing" in said
    assert "fill in `equivalent` in flaws.jsonl" in " ".join(said.split())


def test_no_text_of_an_archive_is_written(tmp_path: Path, file: str, options: list[str]) -> None:
    with ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(file, "t.jsonl")
    Path(file).unlink()
    graded(str(tmp_path / "t.zip"), *options)
    written = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    assert "figs" not in written and NOTE not in written


def test_a_run_without_grader_is_no_part_of_one_with(file: str, options: list[str]) -> None:
    run(file, *options)
    done = run(file, *options, "--grader", "mine")
    assert done.exit_code == 2 and "a run with grader None" in done.stderr


def test_a_grader_that_is_no_judge_is_refused_with_those_that_are(file: str, options: list[str]) -> None:
    done = run(file, *options, "--grader", "other")
    assert done.exit_code == 2 and "there is no judge 'other'; known are mine" in done.stderr
