"""`rafs audit` on judges behind a real server, and what its verdict does to scoring."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from rafs.registry import find_default
from service.cli import app
from tests.rafs.engines.scripted_server import Reply, Request, ScriptedServer, at, serve
from tests.rafs.engines.served_engines import COMPLETIONS, probed

CLAIM = re.compile(r"(\d+) ([-+*/]) (\d+) = (\d+)")
WORTH: Mapping[str, Callable[[int, int], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
REQUEST = {
    "problem": "A crate holds 12 melons. How many do 8 crates hold?",
    "trace": "We count the melons of all crates.\nSo the crates hold many melons.",
    "generator": {"model": "gpt-4o"},
}
Opinion = Callable[[str], bool | None]


def holds(text: str) -> bool:
    """Whether the last claim of a text is true, and an answer behind it is its result."""
    a, sign, b, result = CLAIM.findall(text)[-1]
    answers = re.findall(r"Proposed answer:\s*<<\w+>>\s*(\d+)|The answer is (\d+)", text)
    said = [int(one or other) for one, other in answers]
    return WORTH[sign](int(a), int(b)) == int(result) and all(one == int(result) for one in said)


def knows(prompt: str) -> bool:
    if "Second solution:" in prompt:
        return holds(prompt.partition("First solution:")[2].partition("Second solution:")[0])
    return holds(prompt)


def served(opinion: Opinion) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        match opinion(str(request.body.get("prompt"))):
            case None:
                return probed({"x": 0.0})
            case yes:
                p = 0.8 if yes else 0.1
                return probed({" Yes": math.log(p), " No": math.log(0.9 - p)})

    return at({COMPLETIONS: answer})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    folder: Path
    server: ScriptedServer
    models_file: Path

    def rafs(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--models-file", str(self.models_file)])

    def audit(self, *options: str, model: str = "mine") -> Result:
        return self.rafs("audit", model, "--n", "6", *options)

    def report(self, *options: str) -> dict[str, Any]:
        (found,) = json.loads(self.audit("--json", *options).stdout)
        return dict(found)

    def score(self) -> dict[str, Any]:
        file = self.folder / "request.json"
        file.write_text(json.dumps(REQUEST))
        scored = self.rafs("score", str(file), "--preset", "gate", "--json")
        assert scored.exit_code == 0, scored.stderr
        return dict(json.loads(scored.stdout))

    def change(self, **keys: Any) -> None:
        """Change the judge's entry in models.yaml."""
        written = yaml.safe_load(self.models_file.read_text())
        written["models"][-1].update(keys)
        self.models_file.write_text(yaml.safe_dump(written))


@contextmanager
def bench(folder: Path, opinion: Opinion) -> Iterator[Bench]:
    with serve(served(opinion)) as server:
        written = yaml.safe_load(find_default().read_text("utf-8"))
        mine = {"id": "mine", "family": "llama", "roles": ["judge"], "licence": "L", "model": "served"}
        written["models"].append({**mine, "source": f"endpoint:{server.url}"})
        written["presets"]["gate"]["models"] = {"judge": ["mine"]}
        file = folder / "models.yaml"
        file.write_text(yaml.safe_dump(written))
        yield Bench(folder=folder, server=server, models_file=file)


def always(said: bool | None) -> Opinion:
    return lambda prompt: said


def judge_row(response: Mapping[str, Any]) -> dict[str, Any]:
    rows = [row for row in response["ledger"] if row["member"] == "judge:mine"]
    return dict(rows[-1])


def value(report: Mapping[str, Any], rate: str, origin: str = "synthetic") -> float:
    return float(report["rates"][origin][-1][rate]["value"])


def test_a_judge_that_knows_is_admitted(tmp_path: Path) -> None:
    with bench(tmp_path, knows) as here:
        report = here.report()
    assert report["verdict"] == "admitted"
    assert (value(report, "true_pass"), value(report, "false_pass")) == (1, 0)
    assert report["pairs"]["right"]["value"] == 1


def test_a_judge_that_agrees_with_everything_fails_with_both_rates_shown(tmp_path: Path) -> None:
    with bench(tmp_path, always(True)) as here:
        done = here.audit()
        report = here.report()
    assert (done.exit_code, report["verdict"]) == (1, "no discrimination")
    assert (value(report, "true_pass"), value(report, "false_pass")) == (1, 1)
    assert report["pairs"]["always_first"]["value"] == 1
    assert "no discrimination" in done.stdout


def test_outputs_that_say_neither_are_excluded_and_counted(tmp_path: Path) -> None:
    with bench(tmp_path, always(None)) as here:
        report = here.report()
    rates = report["rates"]["synthetic"][-1]
    assert (rates["n_right"], rates["n_wrong"], rates["n_unusable"]) == (0, 0, 12)
    assert (report["verdict"], report["pairs"]["n_unusable"]) == ("no discrimination", 6)


def test_a_server_that_fails_leaves_no_verdict(tmp_path: Path) -> None:
    with bench(tmp_path, knows) as here:
        here.change(source="endpoint:http://127.0.0.1:9", timeout_s=1)
        done = here.audit()
    assert done.exit_code == 4
    assert not (tmp_path / "models.audits.json").exists()


def test_a_judge_that_failed_is_not_asked_and_the_ledger_says_why(tmp_path: Path) -> None:
    with bench(tmp_path, always(True)) as here:
        assert judge_row(here.score())["p_correct"] is not None
        here.audit()
        n_asked = len(here.server.requests)
        response = here.score()
        assert len(here.server.requests) == n_asked
    row = judge_row(response)
    assert (row["p_correct"], row["reason"].partition(":")[0]) == (None, "failed_audit")
    assert response["status"] == "Abstain"


def test_a_judge_that_was_admitted_is_asked_as_before_and_the_audit_is_on_the_record(tmp_path: Path) -> None:
    with bench(tmp_path, lambda prompt: True if "crates" in prompt else knows(prompt)) as here:
        before = here.score()
        here.audit()
        after = here.score()
    assert judge_row(after) == judge_row(before)
    assert before["provenance"]["audits"] == {}
    assert after["provenance"]["audits"]["mine"].startswith("admitted (arithmetic, ")


def test_an_operator_may_use_a_failed_judge_on_the_record(tmp_path: Path) -> None:
    with bench(tmp_path, always(True)) as here:
        here.audit()
        here.change(despite_audit="no other judge is here yet")
        response = here.score()
    assert judge_row(response)["p_correct"] is not None
    assert "used all the same: no other judge is here yet" in response["provenance"]["audits"]["mine"]


def test_an_audit_of_other_weights_bars_nobody(tmp_path: Path) -> None:
    with bench(tmp_path, always(True)) as here:
        here.audit()
        here.change(model="served-2")
        assert judge_row(here.score())["p_correct"] is not None


def test_the_same_seed_asks_the_same(tmp_path: Path) -> None:
    with bench(tmp_path, always(True)) as here:
        first, again, other = (here.report("--seed", seed) for seed in "001")
    assert first == again
    assert first["items_sha256"] != other["items_sha256"]


def test_natural_errors_stand_apart_and_decide(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{number}-{name}",
            "problem": f"A crate holds {number} melons. How many do 3 crates hold?",
            "steps": ["We multiply.", f"3 * {number} = {3 * number + wrong} melons."],
            "first_error": 1 if wrong else None,
            "solution_correct": not wrong,
            "generator": name,
        }
        for number in range(20, 26)
        for name, wrong in (("llama-3-8b", 1), ("qwen2-7b", 2), ("gpt-4o", 0))
    ]
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    lenient = ("3 * " + str(number) + " = " + str(3 * number + 1) for number in range(20, 26))
    passed = set(lenient)
    with bench(tmp_path, lambda prompt: knows(prompt) or any(one in prompt for one in passed)) as here:
        report = here.report("--natural", str(file), "--n", "12")
    assert (report["decided_on"], set(report["rates"])) == ("natural", {"natural", "synthetic"})
    assert (value(report, "false_pass", "natural"), value(report, "false_pass")) == (0.5, 0)
    preference = report["self_preference"]
    assert (preference["n_questions"], preference["own"]["value"], preference["other"]["value"]) == (6, 1, 0)


def test_citations_are_held_against_the_registry(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("\n".join(f"kiln-{number}" for number in range(100, 110)))
    listed = {f"kiln-{number}" for number in range(100, 110)}

    def reads(prompt: str) -> bool:
        cited = re.findall(r"See \[([^\]]+)\]", prompt)
        return cited[0 if "First solution" in prompt else -1] in listed

    with bench(tmp_path, reads) as here:
        refused = here.audit("--oracle", "citations")
        report = here.report("--oracle", "citations", "--registry", str(tmp_path / "ids.txt"))
    assert (refused.exit_code, "--registry" in refused.stderr) == (2, True)
    assert report["verdict"] == "admitted"


def test_replies_are_decided_by_their_rules(tmp_path: Path) -> None:
    rows = [
        {"problem": f"Name {n} things, no commas.", "reply": reply, "rules": [{"rule": "no_commas"}]}
        for n in range(15)
        for reply in ("clay and kiln", "clay, kiln")
    ]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with bench(tmp_path, lambda prompt: "clay, kiln" not in prompt) as here:
        report = here.report("--oracle", "instructions", "--natural", str(tmp_path / "replies.jsonl"))
    assert (report["verdict"], report["decided_on"]) == ("admitted", "natural")
    assert len(report["rates"]["synthetic"]) == 6 + 1
    assert value(report, "false_pass") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param(["nobody"], "there is no judge 'nobody'", id="unknown model"),
        pytest.param(["all-minilm-l6-v2"], "there is no judge", id="no judge"),
        pytest.param(["mine", "--natural", "none.jsonl"], "cannot be read", id="no such file"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_one_line(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    with bench(tmp_path, knows) as here:
        done = here.rafs("audit", *arguments)
    assert (done.exit_code, complaint in done.stderr) == (2, True)


def test_a_reason_to_use_a_failed_model_is_of_a_judge(tmp_path: Path) -> None:
    with bench(tmp_path, knows) as here:
        here.change(despite_audit="x", roles=["generator"])
        done = here.rafs("audit", "mine")
    assert done.exit_code == 3


def test_the_report_holds_every_item_and_the_file_too(tmp_path: Path) -> None:
    with bench(tmp_path, knows) as here:
        done = here.audit("--out", str(tmp_path / "report.json"))
    (report,) = json.loads((tmp_path / "report.json").read_text())
    assert (done.exit_code, len(report["items"]), len(report["pair_items"])) == (0, 12, 6)
