"""On planted traces, replay tells the steps that carry the answer from those that do not."""

import pytest

from benchmarks.planted import KINDS, SIZES, dependence, plant


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_load_bearing_steps_are_told_from_decoration(kind: str, size: str) -> None:
    planted = plant(kind, size, 1)
    known = [carries for _, carries in planted.steps(1) if carries is not None]
    found = dependence(planted, 1, 1)
    assert None not in found
    assert [value is not None and value > 0 for value in found] == known


def test_a_planted_trace_is_the_same_again() -> None:
    assert plant("mixed", "large", 5).steps(2) == plant("mixed", "large", 5).steps(2)
