"""The file of audits keeps one verdict for a model and an oracle, and believes none that was changed by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rafs.errors import ConfigError
from rafs.evaluation.audit import AuditRecord, AuditVerdict, admit, pass_rates, ranking
from rafs.evaluation.audit_biases import pair_rates, self_preference
from rafs.evaluation.audit_file import AuditEntry, OracleName, failures, load_audits, path_beside, write_audits

RECORDS = [
    AuditRecord(id=f"{t}{right}", domain="sums", question=str(t), natural=False, right=right, p_correct=0.4)
    for t in range(5)
    for right in (True, False)
]


def entry(**changes: Any) -> AuditEntry:
    rates = pass_rates(RECORDS, seed=0)
    fields: dict[str, Any] = {
        "model": "potter-1b",
        "revision": "r1",
        "asked_with": {"judge": "judge/3"},
        "oracle": OracleName.ARITHMETIC,
        "verdict": admit(rates),
        "decided_on": "synthetic",
        "date": "2026-01-02",
        "rafs_version": "0",
        "seed": 0,
        "items_sha256": "0" * 64,
        "rates": {"synthetic": tuple(rates)},
        "rankings": {"synthetic": ranking(RECORDS, seed=0)},
        "pairs": None,
        "self_preference": None,
        "left_out": {},
    }
    return AuditEntry(**{**fields, **changes})


def test_it_stands_beside_its_models_file() -> None:
    assert path_beside(Path("/srv/own.yaml")) == Path("/srv/own.audits.json")


@pytest.mark.parametrize("records", [RECORDS, [replace(one, p_correct=None) for one in RECORDS]], ids=["all", "none"])
def test_what_was_written_is_read_back(tmp_path: Path, records: list[AuditRecord]) -> None:
    rates, ranks = tuple(pass_rates(records, seed=0)), ranking(records, seed=0)
    written = entry(
        rates={"natural": rates},
        rankings={"natural": ranks},
        pairs=pair_rates([], seed=0),
        self_preference=self_preference(records, seed=0),
    )
    write_audits(tmp_path / "a.json", [written])
    assert load_audits(tmp_path / "a.json") == (written.sealed(),)


def test_without_a_file_nobody_was_audited(tmp_path: Path) -> None:
    assert load_audits(tmp_path / "none.json") == ()


def test_a_later_audit_takes_the_place_of_the_same_oracles_earlier_one(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_audits(file, [entry(), entry(oracle=OracleName.CITATIONS)])
    write_audits(file, [entry(verdict=AuditVerdict.ADMITTED)])
    assert [(one.oracle, one.verdict) for one in load_audits(file)] == [
        (OracleName.CITATIONS, AuditVerdict.NO_DISCRIMINATION),
        (OracleName.ARITHMETIC, AuditVerdict.ADMITTED),
    ]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        pytest.param({"verdict": "admitted"}, "was changed after the audit", id="verdict"),
        pytest.param({"revision": "r2"}, "was changed after the audit", id="revision"),
        pytest.param({"sha256": ""}, "has no sha256", id="hash taken out"),
        pytest.param({"note": "fine"}, "Extra inputs", id="unknown key"),
    ],
)
def test_a_changed_entry_is_refused(tmp_path: Path, changes: dict[str, str], complaint: str) -> None:
    file = tmp_path / "a.json"
    write_audits(file, [entry()])
    content = json.loads(file.read_text())
    content["audits"][0].update(changes)
    file.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=complaint):
        load_audits(file)


def test_what_is_no_file_of_audits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[")
    with pytest.raises(ConfigError, match=r"a\.json"):
        load_audits(tmp_path / "a.json")


def test_a_folder_that_is_not_there_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        write_audits(tmp_path / "none" / "a.json", [entry()])


@pytest.mark.parametrize(
    ("model", "revision", "asked_with", "applies"),
    [
        ("potter-1b", "r1", {"judge": "judge/3"}, True),
        ("potter-2b", "r1", {"judge": "judge/3"}, False),
        ("potter-1b", "r2", {"judge": "judge/3"}, False),
        ("potter-1b", "r1", {"judge": "judge/4"}, False),
    ],
)
def test_an_audit_says_nothing_of_other_weights_or_prompts(
    model: str, revision: str, asked_with: dict[str, str], applies: bool
) -> None:
    assert entry().applies_to(model, revision, asked_with) is applies


def test_only_what_was_failed_is_a_failure() -> None:
    failed = entry()
    assert failures([failed, entry(verdict=AuditVerdict.ADMITTED)]) == [failed]
