"""P follows its formula and its properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.outcomes import Measured, Unmeasured
from rafs.types import Abstained, Judged, Verdict, Why
from rafs.validity import step_validity, suspect_positions

probabilities = st.floats(0, 1)
judged = probabilities.map(lambda p: Judged(p_correct=p))
ABSTAINED = Abstained(why=Why.TIMEOUT)


def inferences(n: int) -> list[bool]:
    return [True] * n


def value(verdicts: list[Verdict], infers: list[bool] | None = None) -> float:
    part = step_validity(verdicts, infers or inferences(len(verdicts)), 0.5)
    assert isinstance(part, Measured)
    return part.value


def test_it_is_half_the_geometric_mean_and_half_the_weakest_step() -> None:
    verdicts: list[Verdict] = [Judged(p_correct=0.9), Judged(p_correct=0.4)]
    assert value(verdicts) == pytest.approx(0.5 * math.sqrt(0.9 * 0.4) + 0.5 * 0.4)


@given(st.lists(judged, min_size=1), st.integers(0, 30), st.floats(0, 1))
def test_a_better_step_never_lowers_it(verdicts: list[Verdict], position: int, better: float) -> None:
    t = position % len(verdicts)
    old = verdicts[t]
    assert isinstance(old, Judged)
    raised = [*verdicts[:t], Judged(p_correct=max(old.p_correct, better)), *verdicts[t + 1 :]]
    assert value(raised) >= value(verdicts) - 1e-12


@given(st.lists(judged, min_size=1))
def test_abstentions_change_coverage_and_not_the_value(verdicts: list[Verdict]) -> None:
    padded = step_validity([ABSTAINED, *verdicts], inferences(len(verdicts) + 1), 0.5)
    assert isinstance(padded, Measured)
    assert padded.value == value(verdicts)
    assert padded.coverage == len(verdicts) / (len(verdicts) + 1)


def test_a_heading_that_nobody_judged_costs_no_coverage() -> None:
    part = step_validity([ABSTAINED, Judged(p_correct=0.9)], [False, True], 0.5)
    assert part == Measured(value=0.9, coverage=1.0)


@given(st.lists(judged, min_size=1), st.integers(1, 20))
def test_padding_with_true_trivialities_does_not_raise_it(verdicts: list[Verdict], n: int) -> None:
    padding: list[Verdict] = [Judged(p_correct=1.0)] * n
    infers = [False] * n + inferences(len(verdicts))
    assert value([*padding, *verdicts], infers) == pytest.approx(value(verdicts))


@given(st.integers(1, 50))
def test_a_perfect_derivation_is_worth_one(n: int) -> None:
    assert value([Judged(p_correct=1.0)] * n) == 1.0


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [
        pytest.param([], "no_steps", id="no steps"),
        pytest.param([ABSTAINED], "no_step_judged", id="nobody judged"),
    ],
)
def test_without_a_verdict_it_is_unmeasured(verdicts: list[Verdict], reason: str) -> None:
    assert step_validity(verdicts, inferences(len(verdicts)), 0.5) == Unmeasured(reason=reason)


def test_the_suspect_is_the_earliest_step_below_the_threshold() -> None:
    verdicts: list[Verdict] = [Judged(p_correct=0.8), ABSTAINED, Judged(p_correct=0.49), Judged(p_correct=0.1)]
    assert suspect_positions(verdicts, 0.5) == [2, 3]
    assert suspect_positions(verdicts[:2], 0.5) == []
