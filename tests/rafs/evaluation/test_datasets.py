"""Every format is told from its fields, read as it was meant, and refused with the place where it is wrong."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from rafs.errors import ConfigError, InputError
from rafs.evaluation.datasets import read_traces
from rafs.evaluation.trace_building import problem_group
from tests.rafs.evaluation.made_rows import (
    BIGBENCH,
    MR_BEN,
    MR_GSM8K,
    PERTURBED,
    PLAIN,
    PRM800K,
    PROCESSBENCH,
    REASONEVAL,
    REDUNDANT,
    STEPS,
    rated,
    read,
    write,
)

FORMATS = [
    pytest.param(PLAIN, id="plain"),
    pytest.param(PROCESSBENCH, id="ProcessBench"),
    pytest.param(PRM800K, id="PRM800K"),
    pytest.param(MR_GSM8K, id="MR-GSM8K"),
    pytest.param(MR_BEN, id="MR-Ben"),
    pytest.param(BIGBENCH, id="BIG-Bench-Mistake"),
    pytest.param(REASONEVAL, id="ReasonEval"),
    pytest.param(PERTURBED, id="ReasonEval perturbation"),
]


@pytest.mark.parametrize("row", FORMATS)
def test_every_format_says_where_the_first_error_is(row: Mapping[str, object], tmp_path: Path) -> None:
    trace = read(tmp_path, row)
    assert (trace.steps, trace.first_error, trace.solution_correct) == (tuple(STEPS), 1, False)
    assert trace.right_steps() == (True, False, None)


@pytest.mark.parametrize("row", FORMATS)
def test_the_same_problem_is_the_same_group_in_another_spelling(row: Mapping[str, object], tmp_path: Path) -> None:
    text = json.dumps(row).replace("Three shelves of 8 jars?", "three shelves, of 8 jars").replace("3 * 8 =", "3 *  8=")
    assert read(tmp_path, json.loads(text)).group == read(tmp_path, row).group


def test_another_sign_makes_another_problem() -> None:
    assert problem_group("3 * 8 =") != problem_group("3 + 8 =")


ALL_RIGHT = [
    pytest.param(PLAIN | {"first_error": None, "solution_correct": True}, id="plain"),
    pytest.param(PROCESSBENCH | {"label": -1, "final_answer_correct": True}, id="ProcessBench"),
    pytest.param(
        MR_GSM8K
        | {
            "model_output_solution_correctness": "correct",
            "model_output_solution_first_error_step": "N/A",
        },
        id="MR-GSM8K",
    ),
    pytest.param(
        MR_BEN | {"Model_Solution_Correctness": "correct", "Model_Solution_First_Error_Step": "N/A"}, id="MR-Ben"
    ),
    pytest.param(BIGBENCH | {"mistake_index": None, "answer": "24"}, id="BIG-Bench-Mistake"),
    pytest.param(REDUNDANT, id="ReasonEval redundant"),
    pytest.param(PERTURBED | {"error_type": "repeat step", "tags": 1}, id="ReasonEval repeated step"),
]


@pytest.mark.parametrize("row", ALL_RIGHT)
def test_every_format_says_that_there_is_no_error(row: Mapping[str, object], tmp_path: Path) -> None:
    trace = read(tmp_path, row)
    assert trace.located and trace.first_error is None
    assert trace.right_steps() == (True,) * len(trace.steps)


def test_of_prm800k_the_steps_behind_the_error_are_there_and_unlabelled(tmp_path: Path) -> None:
    trace = read(tmp_path, PRM800K)
    assert trace.step_labels == (True, False, None)
    assert (trace.final_answer, trace.gold_answer, trace.answer_correct) == ("25", "24", None)


def test_of_prm800k_a_finished_solution_takes_the_chosen_and_the_written_steps(tmp_path: Path) -> None:
    steps = [
        {"completions": [rated("No.", -1), rated("3 shelves.", 1)], "human_completion": None, "chosen_completion": 1},
        {"completions": [rated("25.", -1)], "human_completion": {"text": "24."}, "chosen_completion": None},
    ]
    question = {"problem": "Three shelves of 8 jars?", "ground_truth_answer": "24"}
    label = {"steps": steps, "finish_reason": "solution"}
    trace = read(tmp_path, PRM800K | {"question": question, "label": label})
    assert (trace.steps, trace.solution_correct, trace.answer_correct) == (("3 shelves.", "24."), True, True)


def test_of_prm800k_an_abandoned_problem_is_not_called_right(tmp_path: Path) -> None:
    steps = [{"completions": [rated(STEPS[0], 1)], "human_completion": None, "chosen_completion": 0}]
    trace = read(tmp_path, PRM800K | {"label": {"steps": steps, "finish_reason": "give_up"}})
    assert (trace.solution_correct, trace.located) == (None, False)


def test_of_prm800k_a_row_without_steps_is_no_trace(tmp_path: Path) -> None:
    empty = {"question": {"problem": "?"}, "label": {"steps": [], "finish_reason": "bad_problem"}}
    assert list(read_traces(write(tmp_path / "jars.jsonl", [PRM800K | empty]))) == []


def test_of_mr_ben_the_corrected_reference_goes_before_the_first_one(tmp_path: Path) -> None:
    assert read(tmp_path, MR_BEN).gold_answer == "A"


def test_of_bigbench_mistake_a_wrong_answer_without_a_mistake_is_doubted(tmp_path: Path) -> None:
    assert read(tmp_path, BIGBENCH | {"mistake_index": None}).label_suspect is not None


@pytest.mark.parametrize(
    ("kind", "tags", "step"),
    [
        pytest.param("random number", 2, 2, id="the changed step"),
        pytest.param("remove step", 3, 2, id="the last step where the one behind it is gone"),
        pytest.param("swap solutions", 17, 0, id="the first step of another problem's solution"),
    ],
)
def test_of_a_perturbed_solution_the_first_error_is(kind: str, tags: int, step: int, tmp_path: Path) -> None:
    trace = read(tmp_path, PERTURBED | {"error_type": kind, "tags": tags})
    assert (trace.first_error, trace.natural) == (step, False)


def test_a_json_array_is_read_like_lines(tmp_path: Path) -> None:
    path = tmp_path / "jars.json"
    path.write_text(json.dumps([MR_GSM8K, MR_GSM8K | {"uuid": "u-9"}], indent=1), "utf-8")
    assert [trace.id for trace in read_traces(path)] == ["u-1", "u-9"]


def test_formats_may_be_mixed_in_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "mixed.jsonl", [PLAIN, PROCESSBENCH, BIGBENCH])
    assert [trace.source for trace in read_traces(path)] == ["mixed", "ProcessBench", "BIG-Bench-Mistake"]


REFUSED = [
    pytest.param(PLAIN | {"first_error": 3}, "first_error is 3, allowed: a step of 0 to 2", id="behind the last step"),
    pytest.param(
        PLAIN | {"first_error": "1"}, 'first_error is "1", allowed: Input should be a valid integer', id="text"
    ),
    pytest.param(PLAIN | {"steps": []}, "steps is [], allowed: List should have at least 1 item", id="no steps"),
    pytest.param(PLAIN | {"solution_correct": True}, "first_error is 1, allowed: null", id="error in a right trace"),
    pytest.param(PLAIN | {"step_labels": [True]}, "step_labels is 1, allowed: one label", id="too few labels"),
    pytest.param(
        PLAIN | {"step_labels": [True, True, True]}, "step 1, the first error, not right", id="labels disagree"
    ),
    pytest.param(PROCESSBENCH | {"label": -2}, "label is -2, allowed", id="label below -1"),
    pytest.param(
        MR_GSM8K | {"model_output_solution_first_error_step": 0}, "counted from 1", id="step 0 of those from 1"
    ),
    pytest.param({"question": "?", "answer": "!"}, 'row is ["answer", "question"], allowed: the fields', id="unknown"),
]


@pytest.mark.parametrize(("row", "said"), REFUSED)
def test_a_wrong_row_is_refused_with_its_line_its_field_and_what_is_allowed(
    row: Mapping[str, object], said: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "jars.jsonl", [PLAIN, row])
    with pytest.raises(InputError) as error:
        list(read_traces(path))
    assert str(error.value).startswith("jars.jsonl:2: ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        pytest.param("a.jsonl", b'{"id": 1', "a.jsonl:1: got", id="broken JSON"),
        pytest.param("a.jsonl", b"\n\n7", "a.jsonl:3: got 7", id="no object"),
        pytest.param("a.json", b"[1]", "a.json, item 1: got 1", id="array of no objects"),
        pytest.param("a.csv", b"x,y\n1\n", "a.csv:2: got a row with another number of columns", id="short row"),
        pytest.param("a.txt", b"x", "a.txt: files of this kind are not read", id="another kind of file"),
        pytest.param("a.jsonl", b"\xff\xfe", "cannot be read", id="not UTF-8"),
        pytest.param("a.zip", b"x", "a.zip: got", id="no archive"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        list(read_traces(path))
    assert said in str(error.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_traces(tmp_path / "none.jsonl"))


def test_rows_stream_so_that_a_later_error_costs_no_earlier_trace(tmp_path: Path) -> None:
    rows = read_traces(write(tmp_path / "jars.jsonl", [PLAIN, {}]))
    assert next(rows).id == "a"
    with pytest.raises(InputError):
        next(rows)


def test_an_encrypted_archive_is_read_with_its_password_and_not_without(tmp_path: Path) -> None:
    import pyzipper

    path = tmp_path / "flaws.zip"
    with pyzipper.AESZipFile(path, "w", encryption=pyzipper.WZ_AES) as archive:
        archive.setpassword(b"jars")
        archive.writestr("folder/jars.jsonl", json.dumps(PLAIN))
        archive.writestr("README.txt", "not data")
    assert [trace.id for trace in read_traces(path, "jars")] == ["a"]
    for wrong in ("glass", None):
        with pytest.raises(ConfigError, match=r"flaws\.zip cannot be opened"):
            list(read_traces(path, wrong))
