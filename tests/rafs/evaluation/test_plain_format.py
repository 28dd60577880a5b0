"""Our own schema: what follows from its labels, what does not, and problems with samples."""

from pathlib import Path

import pytest

from rafs.errors import InputError
from rafs.evaluation.datasets import read_samples
from rafs.evaluation.labels import LabelLevel
from tests.rafs.evaluation.made_rows import PLAIN, read, write


def test_no_first_error_in_a_trace_that_is_flawed_somewhere_is_not_all_right(tmp_path: Path) -> None:
    trace = read(tmp_path, PLAIN | {"first_error": None, "solution_correct": False, "answer_correct": True})
    assert not trace.located
    assert trace.right_steps() == (None, None, None)
    assert (trace.silent_failure, trace.faithful, trace.label_level) == (True, False, LabelLevel.SOLUTION)


def test_a_right_answer_alone_says_nothing_of_the_reasoning(tmp_path: Path) -> None:
    answer_only = {"first_error": None, "solution_correct": None, "answer_correct": True, "label_level": "answer_only"}
    trace = read(tmp_path, PLAIN | answer_only)
    assert (trace.located, trace.faithful, trace.silent_failure) == (False, None, None)


@pytest.mark.parametrize(
    ("labels", "silent", "extraction"),
    [
        pytest.param({"answer_correct": True, "solution_correct": True}, False, False, id="faithful"),
        pytest.param({"answer_correct": True, "solution_correct": False}, True, False, id="silent"),
        pytest.param({"answer_correct": False, "solution_correct": True}, False, True, id="extraction"),
        pytest.param({"answer_correct": False, "solution_correct": False}, False, False, id="overt"),
        pytest.param({"answer_correct": True}, None, False, id="reasoning unknown"),
        pytest.param({"solution_correct": False}, None, False, id="answer unknown"),
        pytest.param(
            {"answer_correct": True, "solution_correct": False, "silent_failure": None}, None, False, id="given null"
        ),
        pytest.param(
            {"answer_correct": False, "solution_correct": True, "label_suspect": "missed?"}, None, None, id="doubted"
        ),
        pytest.param(
            {"answer_correct": False, "extraction_failure": None, "ef_label": True}, False, True, id="adjudicated"
        ),
    ],
)
def test_the_kind_of_failure_follows_from_the_two_labels_unless_it_is_given_or_doubted(
    labels: dict[str, object], silent: bool | None, extraction: bool | None, tmp_path: Path
) -> None:
    trace = read(tmp_path, PLAIN | {"first_error": None} | labels)
    assert (trace.silent_failure, trace.extraction_failure) == (silent, extraction)


@pytest.mark.parametrize(
    ("labels", "right"),
    [
        pytest.param([True, False, None], (True, False, None), id="truth values"),
        pytest.param(["CORRECT", "FLAWED", "AMBIGUOUS"], (True, False, None), id="words"),
        pytest.param([0, -1, 1], (True, False, True), id="ratings, of which 0 is right"),
    ],
)
def test_labels_of_steps_are_read_in_three_spellings(
    labels: list[object], right: tuple[bool | None, ...], tmp_path: Path
) -> None:
    assert read(tmp_path, PLAIN | {"step_labels": labels}).right_steps() == right


def test_a_step_that_is_none_is_refused_with_how_no_error_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"first_error is -1, allowed: .*null together with `solution_correct`: true"):
        read(tmp_path, PLAIN | {"first_error": -1})


SAMPLES = {
    "id": "s",
    "problem": "3 * 8?",
    "samples": ["24", "25"],
    "gold_answer": "24",
    "sample_correct": [True, False],
}


def test_samples_keep_what_is_known_of_each(tmp_path: Path) -> None:
    (problem,) = read_samples(write(tmp_path / "s.jsonl", [SAMPLES | {"generator": "some-model"}]))
    assert (problem.samples, problem.sample_correct) == (("24", "25"), (True, False))
    assert problem.sample_generators == ("some-model", "some-model")


def test_samples_without_labels_are_unknown(tmp_path: Path) -> None:
    row = {name: value for name, value in SAMPLES.items() if name != "sample_correct"}
    (problem,) = read_samples(write(tmp_path / "s.jsonl", [row]))
    assert problem.sample_correct == (None, None)


def test_labels_of_fewer_samples_than_there_are_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.jsonl:1: sample_correct is 1, allowed: one entry for each of the 2"):
        list(read_samples(write(tmp_path / "s.jsonl", [SAMPLES | {"sample_correct": [True]}])))
