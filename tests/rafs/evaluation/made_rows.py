"""Rows in every format that is read, of our own invention, and files of them."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rafs.evaluation.datasets import read_traces
from rafs.evaluation.labels import LabelledTrace

STEPS = ["Each shelf holds 8 jars.", "Three shelves hold 3 * 8 = 25 jars.", "So there are 25 jars."]
PLAIN = {"id": "a", "problem": "Three shelves of 8 jars?", "steps": STEPS, "first_error": 1}
PROCESSBENCH = {
    "id": "jars-7",
    "generator": "some-model",
    "problem": "Three shelves of 8 jars?",
    "steps": STEPS,
    "final_answer_correct": False,
    "label": 1,
}
MR_GSM8K = {
    "uuid": "u-1",
    "question": "Three shelves of 8 jars?",
    "ground_truth_solution": "24",
    "ground_truth_answer": "24",
    "model_output_steps": STEPS,
    "model_output_answer_correctness": "wrong",
    "model_output_solution_correctness": "wrong",
    "model_output_solution_first_error_step": 2,
    "model_output_solution_first_error_reason": "3 * 8 is 24.",
    "question_type": "original",
}
MR_BEN = {
    "Question_UUID": "u-2",
    "Subject": "logic",
    "Question": "Three shelves of 8 jars?",
    "Options": "A: 24\nB: 25",
    "Ground_Truth_Answer": "B",
    "Ground_Truth_Answer_Modified": "A",
    "Sampled_Model": "some-model",
    "Model_Solution_Steps": STEPS,
    "Model_Solution_Correctness": "incorrect",
    "Model_Solution_First_Error_Step": "2",
    "Model_Solution_Error_Reason": "3 * 8 is 24.",
}
BIGBENCH = {"input": "3 * 8 =", "steps": STEPS, "answer": "25", "target": "24", "mistake_index": 1}
REASONEVAL = {
    "id": 4,
    "question": "Three shelves of 8 jars?",
    "ground_truth_answer": "24",
    "generator": "some-model",
    "model_output": "\n".join(STEPS),
    "model_output_step_format": [[step] for step in STEPS],
    "model_output_answer_correctness": "correct",
    "model_output_solution_correctness": "wrong",
    "model_output_solution_first_error_step": 2,
}
REDUNDANT = {
    "id": 5,
    "question": "Three shelves of 8 jars?",
    "ground_truth_answer": "24",
    "generator": "some-model",
    "model_output_step_format": [["Jars are made of glass."], ["3 * 8 = 24."]],
    "rating": [0, 1],
}
PERTURBED = {
    "id": 6,
    "rid": 0,
    "question": "Three shelves of 8 jars?",
    "ground_truth_answer": "24",
    "reference_steps": STEPS,
    "hypothesis_steps": STEPS,
    "error_type": "swap steps",
    "tags": [2, 1],
}


def rated(text: str, rating: int | None) -> dict[str, Any]:
    return {"text": text, "rating": rating, "flagged": None}


PRM800K = {
    "labeler": "l",
    "timestamp": "t",
    "generation": 9,
    "is_quality_control_question": False,
    "is_initial_screening_question": False,
    "question": {
        "problem": "Three shelves of 8 jars?",
        "ground_truth_answer": "24",
        "pre_generated_steps": STEPS,
        "pre_generated_answer": "25",
    },
    "label": {
        "steps": [
            {"completions": [rated(STEPS[0], 0)], "human_completion": None, "chosen_completion": 0},
            {
                "completions": [rated(STEPS[1], -1), rated("3 * 8 = 24.", 1)],
                "human_completion": None,
                "chosen_completion": None,
            },
        ],
        "total_time": 9,
        "finish_reason": "found_error",
    },
}


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def write_table(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)
    return path


def read(folder: Path, row: Mapping[str, object]) -> LabelledTrace:
    (trace,) = read_traces(write(folder / "jars.jsonl", [row]))
    return trace
