import json
from dataclasses import replace
from pathlib import Path

import pytest

from rafs.errors import InputError
from rafs.evaluation.families import Item
from rafs.evaluation.people_grades import read_grades, to_be_graded
from rafs.evaluation.records import NamedFlaw
from tests.rafs.evaluation.made import record, trace


def item(id: str, *, flagged: bool = True, note: str = "5 pears were eaten, not 6.") -> Item:
    flaw = NamedFlaw(
        step=None, flagged=flagged, p_same=0.9 if flagged else None, p_itself=1.0, p_other=0.1, text="Step 2 is wrong"
    )
    made = replace(trace(id, solution_correct=False, first_error=1), error_note=note)
    return Item(trace=made, record=replace(record(id), flaws=(flaw,)))


def test_there_is_a_line_for_every_flaw_that_was_named_with_both_descriptions() -> None:
    lines = to_be_graded([item("a"), item("b", flagged=False)], {}, with_texts=True).splitlines()
    (row,) = map(json.loads, lines)
    assert row == {
        "id": "a", "step": None, "by_expert": "5 pears were eaten, not 6.", "named": "Step 2 is wrong",
        "equivalent": None,
    }  # fmt: skip


def test_texts_of_an_encrypted_archive_are_not_written() -> None:
    written = to_be_graded([item("a")], {}, with_texts=False)
    assert "pears" not in written and "Step" not in written


def test_what_people_filled_in_is_read_and_written_again(tmp_path: Path) -> None:
    path = tmp_path / "flaws.jsonl"
    path.write_text('{"id": "a", "step": null, "equivalent": true}\n{"id": "b", "step": 3, "equivalent": null}\n')
    grades = read_grades(path)
    assert grades == {("a", None): True}
    assert json.loads(to_be_graded([item("a")], grades, with_texts=True))["equivalent"] is True


def test_a_file_that_is_not_there_yet_holds_no_grade(tmp_path: Path) -> None:
    assert read_grades(tmp_path / "flaws.jsonl") == {}


def test_a_grade_that_is_neither_yes_nor_no_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "flaws.jsonl"
    path.write_text('{"id": "a", "equivalent": "maybe"}\n')
    with pytest.raises(InputError, match=r"flaws\.jsonl:1: equivalent"):
        read_grades(path)
