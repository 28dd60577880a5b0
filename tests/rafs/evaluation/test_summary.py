"""A report counts what was not scored, keeps planted errors apart, and has no number for what was not measured."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from rafs.errors import InputError
from rafs.evaluation.families import Item, by_score, silent_failure_gain
from rafs.evaluation.intervals import Figure, Measurement, draw_resamples
from rafs.evaluation.labels import LabelLevel
from rafs.evaluation.records import record_failure
from rafs.evaluation.summary import Report, report_json, summarise
from rafs.outcomes import OutcomeLabel, Reasoning, Status, Unmeasured
from tests.rafs.evaluation.made import record, trace

TRACES = [
    trace("faithful 1"),
    trace("faithful 2"),
    trace("faithful 3", group="faithful 2"),
    trace("silent 1", solution_correct=False, first_error=1),
    trace("silent 2", solution_correct=False, first_error=0),
    trace("overt", solution_correct=False, first_error=1, answer_correct=False),
    trace("extraction", answer_correct=False, extraction_failure=True),
]
RECORDS = [
    record("faithful 1", status=Status.ACCEPT, score=95),
    record("faithful 2", score=70),
    record("faithful 3", status=None, score=None, q=(None, None), outcome=None, reasoning=None),
    record("silent 1", status=Status.ACCEPT, score=90),
    record("silent 2", score=20, suspect=0, reasoning=Reasoning.FLAWED),
    record("overt", status=Status.ABSTAIN, score=None, suspect=0, reasoning=Reasoning.FLAWED),
    record("extraction", score=60, outcome=OutcomeLabel.EXTRACTION_FAILURE),
]


@pytest.fixture(scope="module")
def report() -> Report:
    return summarise(RECORDS, TRACES, n_resamples=200)


def figures(report: Report, family: str, section: str = "pooled") -> Mapping[str, Measurement]:
    return report.sections[section].families[family].figures


def value(measured: Measurement) -> float:
    assert isinstance(measured, Figure)
    return measured.value


def counted(report: Report, family: str) -> tuple[int, int]:
    found = report.sections["pooled"].families[family]
    return found.n, found.n_unscored


@pytest.mark.parametrize(
    ("family", "n", "n_unscored"),
    [
        pytest.param("first_error", 7, 1, id="first errors"),
        pytest.param("silent_failure", 5, 1, id="silent failures"),
        pytest.param("extraction_failure", 7, 1, id="extraction failures"),
        pytest.param("match", 7, 1, id="match"),
        pytest.param("gate", 7, 2, id="gate"),
        pytest.param("steps", 13, 2, id="steps"),
    ],
)
def test_what_was_not_scored_is_counted(report: Report, family: str, n: int, n_unscored: int) -> None:
    assert counted(report, family) == (n, n_unscored)


@pytest.mark.parametrize(
    ("family", "name", "expected"),
    [
        # Erroneous: 1 of 3 found; right: 3 of 4, the unscored one counting as wrong.
        pytest.param("first_error", "accuracy_erroneous", 1 / 3, id="erroneous"),
        pytest.param("first_error", "accuracy_correct", 3 / 4, id="correct"),
        pytest.param("first_error", "processbench_f1", 2 * (1 / 3) * (3 / 4) / (1 / 3 + 3 / 4), id="processbench f1"),
        pytest.param("silent_failure", "prevalence", 2 / 4, id="prevalence"),
        # Suspicion: silent 2 80, faithful 2 30, silent 1 10, faithful 1 5.
        pytest.param("silent_failure", "auprc", (1 + 2 / 3) / 2, id="auprc"),
        pytest.param("silent_failure", "auroc", 3 / 4, id="auroc"),
        pytest.param("silent_failure", "length_auroc", 1 / 2, id="length"),
        pytest.param("extraction_failure", "precision", 1.0, id="extraction precision"),
        pytest.param("extraction_failure", "recall", 1.0, id="extraction recall"),
        # Said to be right: both faithful ones, silent 1 and extraction; silent 1 is not.
        pytest.param("match", "precision", 3 / 4, id="match precision"),
        pytest.param("match", "recall", 1.0, id="match recall"),
        pytest.param("match", "specificity", 2 / 3, id="match specificity"),
        pytest.param("match", "accuracy", 5 / 6, id="match accuracy"),
        pytest.param("gate", "accepted", 2 / 7, id="accepted"),
        pytest.param("gate", "faithful", 3 / 7, id="faithful"),
        pytest.param("gate", "accepted_and_faithful", 1 / 7, id="jointly"),
        pytest.param("gate", "abstained", 2 / 7, id="abstained"),
        pytest.param("gate", "accepted_risk", 1 / 2, id="accepted risk"),
        # Scores 95 right, 90 wrong, 70 right, 60 wrong, 20 wrong.
        pytest.param("gate", "aurc", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 5, id="aurc"),
        pytest.param("steps", "brier", (8 * 0.1**2 + 3 * 0.9**2) / 11, id="brier"),
    ],
)
def test_a_figure_is_that_of_the_table(report: Report, family: str, name: str, expected: float) -> None:
    assert value(figures(report, family)[name]) == pytest.approx(expected)


def test_statuses_are_counted_with_what_failed_and_what_was_not_run() -> None:
    counts = summarise(RECORDS[:-1], TRACES, n_resamples=10).sections["pooled"].status_counts
    assert counts == {"Accept": 2, "Review": 2, "Abstain": 1, "failed": 1, "missing": 1}


def test_planted_errors_stand_apart_with_the_right_traces_they_were_planted_in() -> None:
    planted = trace(
        "planted", natural=False, subset="swapped", group="faithful 1", solution_correct=False, first_error=1
    )
    report = summarise([*RECORDS, record("planted")], [*TRACES, planted], n_resamples=10)
    sizes = {name: section.n for name, section in report.sections.items()}
    assert sizes == {"pooled": 6, "planted": 2, "made/orchard": 7, "made/swapped": 1}


def test_one_kind_alone_has_no_ranking(report: Report) -> None:
    alone = summarise(RECORDS[:2], TRACES[:2], n_resamples=10)
    assert figures(alone, "silent_failure")["auprc"] == Unmeasured(reason="one_class_only", detail="2 items")


def test_nothing_at_all_is_a_report_of_unmeasured_figures() -> None:
    empty = report_json(summarise([], [], n_resamples=10))
    text = json.dumps(empty, allow_nan=False)
    assert '"value": 0' not in text and "no_items" in text


def test_a_report_is_json_without_nan_and_the_same_for_the_same_seed(report: Report) -> None:
    again = summarise(RECORDS[::-1], TRACES, n_resamples=200)
    assert json.dumps(report_json(again), allow_nan=False) == json.dumps(report_json(report), allow_nan=False)


def test_an_unmeasured_figure_is_null_with_its_reason() -> None:
    document: Any = report_json(summarise(RECORDS[:2], TRACES[:2], n_resamples=10))
    auprc = document["sections"]["pooled"]["silent_failure"]["auprc"]
    assert auprc == {"value": None, "reason": "one_class_only", "detail": "2 items"}


def test_traces_flawed_somewhere_count_for_silent_failures_and_not_for_first_errors() -> None:
    vague = trace("vague", solution_correct=False, first_error=None, label_level=LabelLevel.SOLUTION)
    report = summarise([record("vague")], [vague], n_resamples=10)
    assert (counted(report, "first_error"), counted(report, "silent_failure")) == ((0, 0), (1, 0))
    assert counted(report, "steps") == (0, 0)


def test_a_trace_that_failed_counts_against_the_score(report: Report) -> None:
    failed = summarise([record_failure(TRACES[0], "down")], TRACES[:1], n_resamples=10)
    assert value(figures(failed, "first_error")["accuracy_correct"]) == 0


@pytest.mark.parametrize(
    ("records", "traces", "said"),
    [
        pytest.param([record("x")], TRACES, "records of the traces given", id="record of no trace"),
        pytest.param(
            [record("faithful 1", q=(0.5,))], TRACES, "as many steps as the trace", id="another trace's steps"
        ),
        pytest.param([], [TRACES[0], TRACES[0]], "one trace for each id", id="id twice"),
    ],
)
def test_records_and_traces_that_do_not_match_are_refused(records: list[Any], traces: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        summarise(records, traces)


def test_two_scorers_are_compared_on_the_items_that_both_scored() -> None:
    items = [Item(trace=of, record=made) for of, made in zip(TRACES, RECORDS, strict=True)]
    drawn = draw_resamples([item.trace.group for item in items], seed=0)
    gain = silent_failure_gain(items, drawn, by_score, lambda trace, made: None if trace.id == "silent 1" else 1.0)
    assert isinstance(gain["auroc"], Figure)
    assert (gain["auroc"].value, gain["auroc"].n) == (0.5, 3)


def test_traces_whose_answer_alone_was_labelled_have_no_accepted_risk() -> None:
    wrong = trace("a", answer_correct=False, solution_correct=None, label_level=LabelLevel.ANSWER_ONLY)
    right = trace("b", answer_correct=True, solution_correct=None, label_level=LabelLevel.ANSWER_ONLY)
    records = [record(id, status=Status.ACCEPT) for id in "ab"]
    gate = summarise(records, [wrong, right], n_resamples=10).sections["pooled"].families["gate"]
    assert (gate.n, gate.figures["accepted_risk"]) == (0, Unmeasured(reason="no_items"))
