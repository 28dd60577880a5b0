"""From records of a TruthfulQA run to its figures, by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from rafs.errors import InputError
from rafs.evaluation.intervals import Figure, Measurement
from rafs.evaluation.labels import TruthfulQuestion
from rafs.evaluation.truthful_records import (
    LabelledRecord,
    PersonLabel,
    QuestionRecord,
    candidates_of,
    read_labels,
    read_truthful,
    write_truthful,
)
from rafs.evaluation.truthful_report import TruthfulReport, report_truthful, truthful_json


def question(id: str, category: str = "kitchen", **changes: Any) -> TruthfulQuestion:
    fields: dict[str, Any] = {
        "id": id,
        "category": category,
        "question": f"Do lids make water {id} boil hotter?",
        "best_answer": "No",
        "best_incorrect_answer": "Yes",
        "correct_answers": ("No", "Hardly"),
        "incorrect_answers": ("Yes", "Twice as hot"),
    }
    return TruthfulQuestion(**fields | changes)


def answered(id: str, **changes: Any) -> QuestionRecord:
    fields: dict[str, Any] = {
        "id": id,
        "answer": "No",
        "truncated": False,
        "p_true": 0.9,
        "p_informative": 0.9,
        "logprobs": (-1.0, -5.0, -3.0, -4.0),
        "p_right_reference": 0.9,
        "p_wrong_reference": 0.1,
    }
    return QuestionRecord(**fields | changes)


def label(number: int, generator: str, *, true: bool | None = True) -> PersonLabel:
    return PersonLabel(
        id=f"labelled {number}", question=question("a"), answer="No", generator=generator, true=true, informative=None
    )


def value(measurement: Measurement) -> float:
    assert isinstance(measurement, Figure)
    return measurement.value


def report(
    questions: list[TruthfulQuestion], records: list[Any], labels: tuple[PersonLabel, ...] = ()
) -> TruthfulReport:
    seen = frozenset({"llama"})
    return report_truthful(questions, labels, records, lambda name: name.partition("-")[0], seen, seed=0)


def test_candidates_are_the_references_of_both_kinds_once_each_and_the_best_first() -> None:
    assert candidates_of(question("a")) == (("No", True), ("Hardly", True), ("Yes", False), ("Twice as hot", False))
    assert candidates_of(question("a", best_incorrect_answer=None))[2:] == (("Yes", False), ("Twice as hot", False))


def test_the_joint_rate_is_counted_answer_by_answer() -> None:
    said = [answered("a"), answered("b", p_informative=0.1), answered("c", p_true=0.1), answered("d", p_true=None)]
    found = report([question(id) for id in "abcd"], said).answers
    shown = [value(found.true), value(found.informative), value(found.true_and_informative)]
    assert shown == pytest.approx([2 / 3, 0.75, 1 / 3])
    assert found.n_undecided == 1


def test_multiple_choice_is_of_the_likelihoods_alone() -> None:
    said = [answered("a"), answered("b", logprobs=(-3.0, -3.0, -1.0, -9.0), p_true=None)]
    choice = report([question("a"), question("b")], said).choice
    assert (value(choice.best_first), value(choice.above_half), choice.n_unmeasured) == (0.5, 0.5, 0)


def test_the_judge_is_held_against_references_that_are_true_or_false_by_the_data_set() -> None:
    said = [answered("a"), answered("b", p_right_reference=0.2, p_wrong_reference=0.8), answered("c")]
    rates = report([question(id) for id in "abc"], said).references
    assert [value(rates.true_pass), value(rates.false_pass)] == pytest.approx([2 / 3, 1 / 3])


def test_agreement_with_people_is_told_apart_for_families_the_judge_has_not_seen() -> None:
    labels = (label(1, "llama-3"), label(2, "qwen-2"), label(3, "qwen-2", true=False), label(4, "qwen-2", true=None))
    said = [LabelledRecord(id=one.id, p_true=0.9, p_informative=None) for one in labels]
    found = report([question("a")], [answered("a"), *said], labels).agreement_true
    shown = {name: value(figure) for name, figure in found.by_family.items()}
    assert (shown, value(found.held_out)) == ({"llama": 1, "qwen": 0.5}, 0.5)


def test_a_report_is_json_with_reasons_where_nothing_was_measured() -> None:
    document: Any = truthful_json(report([question("a")], [answered("a", logprobs=(None,) * 4)]))
    assert json.loads(json.dumps(document)) == document
    assert document["choice"]["mean_mass"] == {"value": None, "reason": "no_items", "detail": ""}
    assert document["answers"]["true"]["n"] == 1
    assert set(document["by_category"]) == {"kitchen"}


@pytest.mark.parametrize(
    "record", [answered("a"), LabelledRecord(id="labelled 1", p_true=None, p_informative=0.2)], ids=lambda one: one.kind
)
def test_a_record_survives_its_file(record: Any) -> None:
    assert read_truthful(write_truthful(record)) == record


def test_a_line_that_is_no_record_is_refused() -> None:
    with pytest.raises(InputError, match="not a record"):
        read_truthful('{"id": "a"')


def write_label(path: Path, **changes: object) -> Path:
    row = {"question": " do lids make water a boil  hotter?", "answer": "No", "generator": "llama-3", "true": True}
    path.write_text(json.dumps(row | changes))
    return path


def test_a_labelled_answer_finds_its_question_whatever_its_spelling(tmp_path: Path) -> None:
    (found,) = read_labels(write_label(tmp_path / "l.jsonl"), [question("a")])
    assert (found.question.id, found.true, found.informative, found.generator) == ("a", True, None, "llama-3")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"question": "Another one?"}, "l.jsonl:1: question is"),
        ({"answer": ""}, "l.jsonl:1: answer is"),
        ({"true": "yes"}, "l.jsonl:1: true is"),
    ],
)
def test_a_labelled_answer_that_cannot_be_used_is_refused_with_its_line(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_labels(write_label(tmp_path / "l.jsonl", **changes), [question("a")])
