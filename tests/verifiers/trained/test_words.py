"""What cross-validation said of each trace stands in a file, by labelled step."""

import json
from pathlib import Path

import numpy as np

from tests.verifiers.trained.made_traces import made_examples
from verifiers.trained.cross_validation import HeldOut
from verifiers.trained.training import write_words


def test_a_step_that_was_not_read_has_no_word(tmp_path: Path) -> None:
    (example, *_) = made_examples(1)
    write_words(tmp_path / "words.jsonl", [HeldOut(example=example, fold=0, p_correct=np.array([0.25]))])
    row = json.loads((tmp_path / "words.jsonl").read_text())
    assert row["id"] == example.id
    assert len(row["p"]) == example.n_labelled
    assert row["p"][example.places[0]] == 0.25 and row["p"].count(None) == example.n_labelled - 1
