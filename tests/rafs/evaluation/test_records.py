"""A record keeps what is measured, survives its file, and a line that was cut short is no record."""

from dataclasses import replace

import pytest

from rafs.errors import InputError
from rafs.evaluation.records import read_record, record_failure, submitted, write_record
from rafs.outcomes import Component, ComponentName, Measured, Status, Unmeasured
from tests.rafs.evaluation.made import record, trace

COMPONENTS: dict[ComponentName, Component] = {
    ComponentName.VALIDITY: Measured(value=0.9, coverage=0.5),
    ComponentName.CONSENSUS: Unmeasured(reason="too_few_samples", detail="1 sample"),
}
FULL = replace(
    record("a", score=None, q=(0.9, None), suspect=1, status=Status.ABSTAIN),
    components=COMPONENTS,
    members={"symbolic": (0.02, None)},
)


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(record("a"), id="scored"),
        pytest.param(FULL, id="with components and members"),
        pytest.param(record_failure(trace("a"), "the judge is down"), id="failed"),
    ],
)
def test_a_record_is_read_back_as_it_was(kept: object) -> None:
    line = write_record(kept)  # type: ignore[arg-type]
    assert "\n" not in line
    assert read_record(line) == kept


def test_a_line_that_was_cut_short_is_no_record() -> None:
    with pytest.raises(InputError, match="not a record"):
        read_record(write_record(FULL)[:-20])


def test_a_failure_says_why_and_judges_nothing() -> None:
    failed = record_failure(trace("a"), "the judge is down")
    assert (failed.error, failed.status, failed.judged) == ("the judge is down", None, False)


def test_steps_are_sent_as_they_were_labelled_and_an_uncut_text_as_text() -> None:
    assert submitted(trace("a")) == trace("a").steps
    assert submitted(trace("a", steps=("All of it.",))) == "All of it."
