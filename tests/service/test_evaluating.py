import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from rafs.evaluation.run_folder import TRACES, RunFolder
from rafs.registry import find_default
from service.cli import app
from tests.rafs.engines.scripted_server import Reply, Request, ScriptedServer, serve
from tests.rafs.engines.served_engines import COMPLETIONS, listing_labels, vllm
from tests.rafs.engines.tiny_models import tiny_tokenizer

N_TRACES = 15
ENDS_S = 60.0


def is_wrong(n: int) -> bool:
    """Whether the checker refutes the one step, so that no judge is asked."""
    return n % 3 == 0


def row(n: int, **changes: object) -> dict[str, object]:
    """Return a labelled trace whose number can be found in what a model is asked."""
    wrong = is_wrong(n)
    plain = {
        "id": str(n),
        "problem": f"Shelf {n}x has 4 figs and 3 pears. How many?",
        "steps": [f"On {n}x are 4 + 3 = {8 if wrong else 7}.", "So it is 7."],
        "first_error": 0 if wrong else None,
        "solution_correct": not wrong,
        "answer_correct": True,
        "final_answer": "7",
        "generator": "gpt-4o",
        "subset": "odd" if n % 2 else "even",
    }
    return plain | changes


def write_traces(path: Path, n: int = N_TRACES, **changes: object) -> str:
    path.write_text("".join(json.dumps(row(number, **changes)) + "\n" for number in range(n)))
    return str(path)


def write_models(path: Path, url: str | None) -> str:
    """Write a registry whose one model is a judge on this server, or that has none."""
    written = yaml.safe_load(find_default().read_text("utf-8"))
    source = {"source": f"endpoint:{url}", "model": "served"}
    judge = {"id": "mine", "family": "llama", "roles": ["judge"], "licence": "L", **source}
    written["models"] = [judge] if url else []
    for preset in written["presets"].values():
        preset["models"] = {"judge": ["mine"]} if url else {}
    path.write_text(yaml.safe_dump(written))
    return str(path)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    def slowly(request: Request) -> Reply:
        time.sleep(0.05)
        return listing_labels(request)

    with serve(vllm(slowly)) as server:
        yield server


def asked_about(server: ScriptedServer) -> set[int]:
    """Return the numbers of the traces that the judge was asked about."""
    tokenizer = tiny_tokenizer().tokenizer
    prompts = [tokenizer.decode(body["prompt"]) for body in server.bodies(COMPLETIONS) if "prompt" in body]
    return {n for prompt in prompts for n in range(N_TRACES) if f"Shelf {n}x" in prompt}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, arguments)])


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from service.cli import main; main()", "eval", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finished(out: Path) -> set[int]:
    records = out / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True) if records.exists() else []
    return {int(json.loads(line)["id"]) for line in lines if line.endswith("\n")}


def measured(out: Path) -> Any:
    """Return the report without what a clock said and what was counted in calls."""
    report = json.loads((out / "report.json").read_text())
    for section in report["sections"].values():
        del section["cost"]
    return report


def test_a_killed_run_goes_on_to_the_report_of_an_unbroken_one_and_asks_nothing_twice(
    tmp_path: Path, server: ScriptedServer
) -> None:
    files = [write_traces(tmp_path / "t.jsonl"), "--models-file", write_models(tmp_path / "m.yaml", server.url)]
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    process = start(*files, "--out", broken, "--concurrency", "2")
    ends = time.monotonic() + ENDS_S
    while len(finished(broken)) < 4 and process.poll() is None and time.monotonic() < ends:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    done = finished(broken)
    assert 4 <= len(done) < N_TRACES
    with (broken / "records.jsonl").open("ab") as file:
        file.write(b'{"id":"cut sho')
    server.requests.clear()
    assert run(*files, "--out", broken).exit_code == 0
    assert asked_about(server) == {n for n in range(N_TRACES) if not is_wrong(n)} - done
    assert run(*files, "--out", whole).exit_code == 0
    assert measured(broken) == measured(whole)


def test_a_finished_run_is_reported_again_without_any_model(tmp_path: Path, server: ScriptedServer) -> None:
    files = [write_traces(tmp_path / "t.jsonl", 4), "--models-file", write_models(tmp_path / "m.yaml", server.url)]
    first = run(*files, "--out", tmp_path / "run", "--json")
    server.requests.clear()
    assert run(*files, "--out", tmp_path / "run", "--json").stdout == first.stdout
    assert server.requests == []


def test_a_judge_that_sees_the_answer_is_a_baseline_and_changes_no_score(
    tmp_path: Path, server: ScriptedServer
) -> None:
    files = [write_traces(tmp_path / "t.jsonl", 4), "--models-file", write_models(tmp_path / "m.yaml", server.url)]
    run(*files, "--out", tmp_path / "blind")
    run(*files, "--out", tmp_path / "both", "--with-sighted-judge")
    blind, both = (json.loads((tmp_path / out / "report.json").read_text()) for out in ("blind", "both"))
    assert measured(tmp_path / "both")["sections"] == measured(tmp_path / "blind")["sections"]
    assert set(both["baselines"]["pooled"]) - set(blind["baselines"]["pooled"]) == {"only sighted judge:mine"}


@pytest.fixture
def checkers(tmp_path: Path) -> list[str]:
    """Options of a run without models."""
    return ["--models-file", write_models(tmp_path / "m.yaml", None), "--out", str(tmp_path / "run")]


def test_json_is_one_document_of_all_subsets_and_nothing_else(tmp_path: Path, checkers: list[str]) -> None:
    files = [write_traces(tmp_path / "a.jsonl", 4), write_traces(tmp_path / "b.jsonl", 4, subset="figs")]
    done = run(*files, *checkers, "--json")
    document = json.loads(done.stdout)
    assert set(document["subsets"]) == {"a/even", "a/odd", "b/figs"}
    pooled = document["pooled"]
    assert (pooled["n"], sum(pooled["status_counts"].values())) == (8, 8)
    assert pooled["accuracy_erroneous"]["value"] == 1
    assert document["run"]["provenance"]["preset"] == "standard"


def test_ids_of_two_files_are_told_apart(tmp_path: Path, checkers: list[str]) -> None:
    run(write_traces(tmp_path / "a.jsonl", 2), write_traces(tmp_path / "b.jsonl", 2), *checkers)
    lines = (tmp_path / "run" / "records.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {"a.jsonl:0", "a.jsonl:1", "b.jsonl:0", "b.jsonl:1"}


def test_a_limit_may_be_raised_later_and_what_is_finished_stays(tmp_path: Path, checkers: list[str]) -> None:
    file = write_traces(tmp_path / "t.jsonl", 8)
    run(file, *checkers, "--limit", "2")
    first = (tmp_path / "run" / "records.jsonl").read_text()
    run(file, *checkers, "--limit", "6")
    second = (tmp_path / "run" / "records.jsonl").read_text()
    assert second.startswith(first) and len(second.splitlines()) == 6


def test_people_get_tables_and_the_place_of_the_page(tmp_path: Path, checkers: list[str]) -> None:
    done = run(write_traces(tmp_path / "t.jsonl", 8), *checkers)
    assert done.exit_code == 0
    for words in ("First errors", "Silent failures", "Baselines", "report.html"):
        assert words in done.stdout
    assert (tmp_path / "run" / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("", "holds no trace"),
        ("no json\n", "t.jsonl:1"),
        ('{"id": 1, "text": "?"}\n', "or null together with `solution_correct`: true for none"),
        ('{"id": 1, "problem": "?", "samples": ["!"]}\n', "samples are measured where they stand beside one"),
        (json.dumps(row(1, first_error=9, solution_correct=None)) + "\n", "first_error is 9"),
    ],
    ids=["missing", "empty", "no JSON", "of no format", "of samples", "a label behind the last step"],
)
def test_a_file_that_cannot_be_used_is_one_line_and_exit_code_2(
    tmp_path: Path, checkers: list[str], content: str | None, said: str
) -> None:
    path = tmp_path / "t.jsonl"
    if content is not None:
        path.write_text(content)
    done = run(path, *checkers)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("library", ["scipy", "sklearn", "matplotlib", "jinja2"])
def test_a_missing_library_is_named_before_anything_is_scored(
    tmp_path: Path, checkers: list[str], library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    done = run(write_traces(tmp_path / "t.jsonl", 1), *checkers)
    assert done.exit_code == 3
    assert "pip install 'rafs[eval]'" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_of_another_seed_is_refused(tmp_path: Path, checkers: list[str]) -> None:
    file = write_traces(tmp_path / "t.jsonl", 2)
    run(file, *checkers)
    done = run(file, *checkers, "--seed", "1")
    assert done.exit_code == 2
    assert "a run with seed 0, and now it is 1" in done.stderr


def test_a_preset_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path, checkers: list[str]) -> None:
    done = run(write_traces(tmp_path / "t.jsonl", 1), *checkers, "--preset", "quick")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "'quick'" in done.stderr and "gate, standard, deep" in done.stderr


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        pytest.param({"first_error": None, "solution_correct": None}, ["2 of 2 traces have no label"], id="null alone"),
        pytest.param({"first_error": None, "solution_correct": True}, [], id="right"),
        pytest.param({"first_error": 0, "solution_correct": None}, [], id="wrong"),
    ],
)
def test_traces_that_nobody_labelled_are_counted_at_the_end(
    tmp_path: Path, checkers: list[str], labels: dict[str, object], told: list[str]
) -> None:
    done = run(write_traces(tmp_path / "t.jsonl", 2, **labels), *checkers, "--json")
    assert [line.partition(" of their")[0] for line in done.stderr.splitlines() if "no label" in line] == told


def test_samples_of_a_row_are_sent_and_their_agreement_is_a_baseline(tmp_path: Path, checkers: list[str]) -> None:
    file = write_traces(tmp_path / "t.jsonl", 4, samples=["So it is 7.", "The answer is 7.", "The answer is 8."])
    run(file, *checkers)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert "consensus" in report["baselines"]["pooled"]


def test_a_model_that_is_down_ends_the_run_and_what_lacks_it_is_not_kept(tmp_path: Path) -> None:
    models = write_models(tmp_path / "m.yaml", "http://127.0.0.1:9")
    done = run(write_traces(tmp_path / "t.jsonl", 4), "--models-file", models, "--out", tmp_path / "run")
    assert (done.exit_code, done.stdout) == (4, "")
    assert "judge:mine could not be asked: backend_down" in done.stderr
    assert "start again to go on" in done.stderr
    assert finished(tmp_path / "run") <= {n for n in range(4) if is_wrong(n)}


def test_a_trace_beyond_the_bounds_of_the_service_is_counted_as_failed(tmp_path: Path, checkers: list[str]) -> None:
    file = write_traces(tmp_path / "t.jsonl", 1, steps=["1 + 1 = 2."] * 401, first_error=None, solution_correct=True)
    done = run(file, *checkers, "--json")
    assert json.loads(done.stdout)["pooled"]["status_counts"] == {"failed": 1}


def test_a_second_run_in_the_same_folder_is_refused_while_the_first_one_writes(
    tmp_path: Path, checkers: list[str]
) -> None:
    with RunFolder(tmp_path / "run", TRACES).held():
        done = run(write_traces(tmp_path / "t.jsonl", 1), *checkers)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "another run is writing there" in done.stderr
    assert run(tmp_path / "t.jsonl", *checkers).exit_code == 0


def test_the_deadline_of_a_preset_does_not_decide_what_is_measured(tmp_path: Path, server: ScriptedServer) -> None:
    models = tmp_path / "m.yaml"
    written = yaml.safe_load(Path(write_models(models, server.url)).read_text())
    written["presets"]["standard"]["deadline_s"] = 0.01
    models.write_text(yaml.safe_dump(written))
    run(write_traces(tmp_path / "t.jsonl", 4), "--models-file", models, "--out", tmp_path / "run")
    assert asked_about(server) == {n for n in range(4) if not is_wrong(n)}
    lines = map(json.loads, (tmp_path / "run" / "records.jsonl").read_text().splitlines())
    said = {int(line["id"]): line["members"]["judge:mine"][0] for line in lines}
    assert {n for n, p in said.items() if p is not None} == {n for n in range(4) if not is_wrong(n)}


def test_a_run_with_another_deadline_is_another_run(tmp_path: Path, checkers: list[str]) -> None:
    file = write_traces(tmp_path / "t.jsonl", 1)
    run(file, *checkers)
    assert "a run with deadline_s 600.0, and now it is 20.0" in run(file, *checkers, "--deadline", "20").stderr
