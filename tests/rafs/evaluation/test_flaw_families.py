"""The families of FindTheFlaws are those of tables made by hand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from rafs.evaluation.families import Family, Item
from rafs.evaluation.flaw_families import FlawId, FlawProtocol, flaw_families, match_all
from rafs.evaluation.intervals import Figure, Measurement
from rafs.evaluation.labels import LabelLevel
from rafs.evaluation.records import NamedFlaw
from rafs.outcomes import Unmeasured
from tests.rafs.evaluation.made import record, trace

TAU = 0.6


def value(measurement: Measurement) -> float:
    assert isinstance(measurement, Figure)
    return measurement.value


def judged(id: str, labels: tuple[bool | None, ...], q: tuple[float | None, ...]) -> Item:
    made = trace(id, steps=("a",) * len(labels), step_labels=labels, label_level=LabelLevel.STEP, solution_correct=None)
    return Item(trace=made, record=record(id, q=q))


def named(id: str, *, step: int | None = None, **changes: Any) -> Item:
    flaw = {"flagged": True, "p_same": 0.9, "p_itself": None, "p_other": None, **changes}
    made = replace(record(id), flaws=(NamedFlaw(step=step, **flaw),))
    return Item(trace=trace(id, solution_correct=False, first_error=0), record=made)


def families(items: list[Item], people: Mapping[FlawId, bool] | None = None) -> dict[str, Family]:
    protocol = FlawProtocol(tau_step=TAU, graded=True, by_people=people or {})
    return flaw_families(items, protocol, 0, 50)


def test_every_labelled_step_is_an_item_with_right_as_the_positive_class() -> None:
    items = [
        judged("a", (True, False, None, True), (0.9, 0.2, 0.1, 0.5)),
        judged("b", (False, True), (0.7, 0.6)),
    ]
    family = match_all(items, TAU, 0, 50)
    # called right: a0 (is), b0 (is not), b1 (is); called wrong: a1 (is), a3 (is not); a2 was left open by people.
    assert (family.n, family.n_unscored) == (5, 0)
    shown = {name: value(family.figures[name]) for name in ("precision", "recall", "specificity", "accuracy")}
    assert shown == pytest.approx({"precision": 2 / 3, "recall": 2 / 3, "specificity": 1 / 2, "accuracy": 3 / 5})


def test_a_step_that_was_not_judged_is_left_out_and_counted() -> None:
    family = match_all([judged("a", (True, False), (None, 0.2))], TAU, 0, 50)
    assert (family.n, family.n_unscored, value(family.figures["accuracy"])) == (2, 1, 1)


def test_a_trace_without_labels_of_single_steps_has_no_item() -> None:
    assert match_all([Item(trace=trace("a"), record=record("a"))], TAU, 0, 50).n == 0


def test_a_flaw_counts_as_named_where_it_was_flagged_and_graded_the_same() -> None:
    items = [
        named("same"),
        named("other", p_same=0.2),
        named("missed", flagged=False, p_same=None),
        named("silent", flagged=None, p_same=None),
        named("ungraded", p_same=None),
    ]
    family = families(items)["error_grading"]
    assert (family.n, family.n_unscored) == (5, 2)
    assert value(family.figures["accuracy"]) == pytest.approx(1 / 3)


def test_flaws_of_whole_solutions_and_of_steps_are_counted_apart() -> None:
    found = families([named("whole"), named("one step", step=2, p_same=0.1)])
    assert (value(found["error_grading"].figures["accuracy"]), value(found["grade_all"].figures["accuracy"])) == (1, 0)


def test_the_grader_is_held_against_people_where_they_graded() -> None:
    items = [named("a"), named("b"), named("c", p_same=0.2), named("d")]
    people: dict[FlawId, bool] = {("a", None): True, ("b", None): False, ("c", None): False}
    figures = families(items, people)["error_grading"].figures
    assert value(figures["agreement"]) == pytest.approx(2 / 3)
    assert value(figures["by_people"]) == pytest.approx(1 / 3)


def test_the_controls_say_what_the_grader_passes_of_the_same_note_and_of_another() -> None:
    items = [named(id, p_itself=0.9, p_other=other) for id, other in (("a", 0.8), ("b", 0.1), ("c", 0.1), ("d", 0.1))]
    figures = families(items)["error_grading"].figures
    shown = [value(figures[name]) for name in ("control_itself", "control_other", "control_difference")]
    assert shown == [1, 0.25, 0.75]


def test_without_graded_flaws_nothing_is_measured() -> None:
    figures = families([Item(trace=trace("a"), record=record("a"))])["error_grading"].figures
    assert {type(figure) for figure in figures.values()} == {Unmeasured}


def test_grades_are_no_family_of_a_run_that_asked_for_none() -> None:
    assert set(flaw_families([named("a")], FlawProtocol(tau_step=TAU), 0, 50)) == {"match_all"}
