"""The tables of FindTheFlaws and TruthfulQA are read as their authors meant them."""

from pathlib import Path

import pytest

from rafs.errors import InputError
from rafs.evaluation.datasets import read_questions, read_traces
from rafs.evaluation.labels import LabelLevel
from tests.rafs.evaluation.made_rows import write_table

PAIR = {
    "problem_id": "q1",
    "problem_text": "Three shelves of 8 jars?",
    "correct_final_answer": "24",
    "correct_solution": "1. A shelf holds 8.\n2. 3 * 8 = 24.",
    "flawed_solution": "1. A shelf holds 8.\n2. 3 * 8 = 25.\n3. So 25.",
    "flawed_final_answer": "25",
    "step_of_injected_flaw": "Step 2",
    "flaw_explanation": "3 * 8 is 24.",
    "flag_unreliable_data": "False",
}
ARGUED = {
    "problem_id": "q2",
    "problem_text": "Which holds more?",
    "correct_final_answer": "B",
    "llm_final_answer": "B",
    "llm_solution": "1. A jar holds 2 litres.\n2. A crate holds 1.\n3. So B.",
    "comments_on_llm_solution": "Sentence 1: CORRECT -- Sentence 2: AMBIGUOUS -- unclear. Sentence 3: FLAWED -- why?",
    "flag_unreliable_data": "False",
}
PROGRAM = {
    "problem_id": "q3",
    "problem_text": "Print the sum.",
    "proposed_solution": "print(a + b)",
    "correct_final_answer": "CORRECT",
    "correct_llm_explanation": "It adds both.",
    "flawed_llm_explanation": "It forgets b.",
    "flawed_final_answer": "FLAWED",
    "flaw_explanation": "b is added.",
    "flag_unreliable_data": "False",
    "flag_unreliable_correct_explanation": "True",
}


def test_a_pair_of_findtheflaws_is_a_right_and_a_flawed_trace_of_one_problem(tmp_path: Path) -> None:
    right, flawed = read_traces(write_table(tmp_path / "theorems.csv", [PAIR]))
    assert (right.solution_correct, right.first_error, len(right.steps)) == (True, None, 2)
    assert (flawed.solution_correct, flawed.first_error, flawed.steps[1]) == (False, 1, "2. 3 * 8 = 25.")
    assert (flawed.natural, flawed.error_note, flawed.group == right.group) == (False, "3 * 8 is 24.", True)


def test_a_flaw_at_a_number_that_the_solution_does_not_have_is_flawed_somewhere(tmp_path: Path) -> None:
    _, flawed = read_traces(write_table(tmp_path / "theorems.csv", [PAIR | {"step_of_injected_flaw": "Step 9"}]))
    assert (flawed.solution_correct, flawed.first_error, flawed.located) == (False, None, False)


def test_an_argument_of_findtheflaws_is_labelled_sentence_by_sentence(tmp_path: Path) -> None:
    (trace,) = read_traces(write_table(tmp_path / "cels.csv", [ARGUED]))
    assert trace.step_labels == (True, None, False)
    assert (trace.first_error, trace.silent_failure, trace.label_level) == (2, True, LabelLevel.STEP)


def test_a_solution_of_findtheflaws_without_sentences_is_labelled_by_its_answer_alone(tmp_path: Path) -> None:
    (trace,) = read_traces(write_table(tmp_path / "med.csv", [ARGUED | {"comments_on_llm_solution": "Fine."}]))
    assert (trace.solution_correct, trace.label_level, trace.faithful) == (True, LabelLevel.ANSWER_ONLY, None)


def test_verdicts_on_other_sentences_than_there_are_are_refused(tmp_path: Path) -> None:
    row = ARGUED | {"comments_on_llm_solution": "Sentence 1: CORRECT"}
    with pytest.raises(InputError, match="a verdict on sentences 1 to 3"):
        list(read_traces(write_table(tmp_path / "cels.csv", [row])))


def test_what_findtheflaws_flags_is_read_without_a_label(tmp_path: Path) -> None:
    pair = list(read_traces(write_table(tmp_path / "theorems.csv", [PAIR | {"flag_unreliable_data": "True"}])))
    explained = list(read_traces(write_table(tmp_path / "programs.csv", [PROGRAM])))
    assert [(trace.solution_correct, trace.located) for trace in pair] == [(None, False)] * 2
    assert [trace.solution_correct for trace in explained] == [None, False]


def test_truthfulqa_lists_its_reference_answers(tmp_path: Path) -> None:
    row = {
        "Type": "Adversarial",
        "Category": "Kitchen",
        "Question": "Do lids make water boil hotter?",
        "Best Answer": "No",
        "Best Incorrect Answer": "Yes",
        "Correct Answers": "No; Hardly at all",
        "Incorrect Answers": "Yes; Twice as hot; ",
        "Source": "a book",
    }
    (question,) = read_questions(write_table(tmp_path / "truth.csv", [row]))
    assert question.correct_answers == ("No", "Hardly at all")
    assert question.incorrect_answers == ("Yes", "Twice as hot")


def test_what_the_first_annotator_said_of_a_sentence_is_the_note_on_it(tmp_path: Path) -> None:
    said = (
        "Sentence 1: CORRECT -- Annotator 1 comment: No problem. -- Annotator 2 comment: Fine.\n"
        "Sentence 2: AMBIGUOUS -- Annotator 1 comment: Says which? -- Annotator 2 comment: No problem.\n"
        "Sentence 3: FLAWED -- Annotator 1 comment: A holds more - by 1. -- Annotator 2 comment: Not B."
    )
    (trace,) = read_traces(write_table(tmp_path / "cels.csv", [ARGUED | {"comments_on_llm_solution": said}]))
    assert trace.step_notes == ("No problem.", "Says which?", "A holds more - by 1.")


def test_sentences_without_a_word_on_them_have_no_note(tmp_path: Path) -> None:
    (trace,) = read_traces(write_table(tmp_path / "cels.csv", [ARGUED]))
    assert trace.step_notes == (None, "unclear.", "why?")
