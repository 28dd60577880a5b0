"""Oracles in the service: what they know is decided by them, and the response says so."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from rafs.registry import find_default
from service.cli import app

STEPS = ["A kiln holds 12 pots [kiln-4].", "All of them crack [kiln-5].", "So 3 kilns hold 3 * 12 = 36 pots."]
REQUEST = {"problem": "A kiln holds 12 pots. How many do 3 hold?", "trace": STEPS, "preset": "gate"}


def score(folder: Path, *options: str, as_json: bool = True, **changes: Any) -> Result:
    """Score a request with no model at all."""
    written = yaml.safe_load(find_default().read_text("utf-8"))
    written["presets"]["gate"]["models"] = {}
    (folder / "models.yaml").write_text(yaml.safe_dump(written))
    (folder / "request.json").write_text(json.dumps({**REQUEST, **changes}))
    arguments = ["score", str(folder / "request.json"), "--models-file", str(folder / "models.yaml")]
    return CliRunner().invoke(app, [*arguments, *(["--json"] if as_json else []), *options])


def response(folder: Path, *options: str, **changes: Any) -> dict[str, Any]:
    scored = score(folder, *options, **changes)
    assert scored.exit_code == 0, scored.stderr
    return dict(json.loads(scored.stdout))


@pytest.fixture
def citations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ids.txt").write_text("kiln-4\n")
    monkeypatch.setenv("RAFS_CITATIONS", str(tmp_path / "ids.txt"))


@pytest.mark.usefixtures("citations")
def test_a_citation_of_nothing_is_refuted_by_its_oracle(tmp_path: Path) -> None:
    first, second, _ = response(tmp_path)["steps"]
    assert (second["refuted"], second["decided_by"]) == (True, ["oracle:citations"])
    assert "kiln-5" in second["reason"]
    assert not first["refuted"]


@pytest.mark.usefixtures("citations")
def test_a_citation_that_exists_proves_no_step(tmp_path: Path) -> None:
    said = [row for row in response(tmp_path)["ledger"] if row["member"] == "oracle:citations" and row["step"] == 0]
    assert [row["p_correct"] for row in said] == [None]


def test_without_a_registry_no_citation_is_looked_at(tmp_path: Path) -> None:
    found = response(tmp_path)
    assert [member["member"] for member in found["members"]] == ["symbolic"]


@pytest.mark.usefixtures("citations")
def test_the_share_that_checkers_decided_is_reported(tmp_path: Path) -> None:
    assert response(tmp_path)["routed"] == {"checkers": pytest.approx(2 / 3), "models": 0, "asked": 0}


@pytest.mark.usefixtures("citations")
def test_a_replay_repeats_what_the_oracle_said(tmp_path: Path) -> None:
    recorded = response(tmp_path, "--record", str(tmp_path / "record.json"))
    replayed = CliRunner().invoke(app, ["replay", str(tmp_path / "record.json"), "--json"])
    assert (replayed.exit_code, json.loads(replayed.stdout)["equal"]) == (0, True)
    assert recorded["steps"][1]["refuted"]


def test_a_registry_that_is_not_there_is_a_fault_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAFS_CITATIONS", str(tmp_path / "none.txt"))
    assert score(tmp_path).exit_code == 3


def test_rules_are_checked_beside_the_score(tmp_path: Path) -> None:
    rules = [{"rule": "no_commas"}, {"rule": "sentences", "at_most": 2}, {"rule": "letter", "letter": "z"}]
    found = response(tmp_path, rules=rules)
    assert found["instructions"]["kept"] is False
    assert [rule["kept"] for rule in found["instructions"]["rules"]] == [True, False, False]
    assert found["score"] == response(tmp_path)["score"]


def test_reasoning_before_the_reply_breaks_no_rule(tmp_path: Path) -> None:
    trace = "<think>\nWell, 3 * 12 = 36, I think.\n</think>\n3 kilns hold 3 * 12 = 36 pots."
    assert response(tmp_path, trace=trace, rules=[{"rule": "no_commas"}])["instructions"]["kept"] is True


def test_without_rules_there_are_no_instructions(tmp_path: Path) -> None:
    assert response(tmp_path)["instructions"] is None


def test_a_rule_that_is_not_known_is_refused_with_its_place(tmp_path: Path) -> None:
    refused = score(tmp_path, rules=[{"rule": "rhymes"}])
    assert (refused.exit_code, "rules.0" in refused.stderr) == (2, True)


def test_a_broken_rule_is_in_the_report_for_people(tmp_path: Path) -> None:
    assert (
        "rule no_commas is broken"
        in score(tmp_path, as_json=False, trace="3 * 12 = 36, so 36 pots.", rules=[{"rule": "no_commas"}]).stdout
    )
