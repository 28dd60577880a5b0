"""A text within the limits is read; one beyond them is refused by name, never cut."""

import pytest

from rafs.errors import InputError
from rafs.limits import MAX_STEP_CHARS, MAX_STEPS
from rafs.reading import read_text


def test_as_many_steps_as_allowed_are_read() -> None:
    assert len(read_text("p", "It is so.\n" * MAX_STEPS, None).trace.steps) == MAX_STEPS


def test_too_many_steps_are_refused() -> None:
    with pytest.raises(InputError, match="401 steps, at most 400") as refused:
        read_text("p", "It is so.\n" * (MAX_STEPS + 1), None, "samples.3")
    assert (refused.value.field, refused.value.got) == ("samples.3", "401 steps")


def test_a_step_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="step 1 has") as refused:
        read_text("p", "Short.\n" + "word " * (MAX_STEP_CHARS // 5 + 1), None)
    assert refused.value.field == "trace"
    assert str(MAX_STEP_CHARS) in refused.value.allowed
