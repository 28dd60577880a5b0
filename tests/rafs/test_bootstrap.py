"""Intervals are seeded, ordered and around what is resampled."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.bootstrap import bootstrap_interval, consensus_interval
from rafs.consensus import consensus_value

VALUES = [10.0, 20.0, 30.0, 90.0]


def mean_of_samples(samples: Sequence[int], effects: Sequence[int]) -> float:
    return sum(VALUES[i] for i in samples) / len(samples)


def test_the_same_seed_gives_the_same_interval() -> None:
    first, second = (bootstrap_interval(mean_of_samples, 4, 0, seed=3) for _ in range(2))
    assert first == second
    assert first != bootstrap_interval(mean_of_samples, 4, 0, seed=4)


def test_the_interval_holds_the_estimate() -> None:
    interval = bootstrap_interval(mean_of_samples, 4, 0, seed=0)
    assert interval is not None
    low, high = interval
    assert 10 <= low < sum(VALUES) / 4 < high <= 90


def test_nothing_to_resample_has_no_interval() -> None:
    assert bootstrap_interval(mean_of_samples, 0, 0, seed=0) is None


def test_effects_are_resampled_too() -> None:
    def mean_of_effects(samples: Sequence[int], effects: Sequence[int]) -> float:
        return sum(VALUES[i] for i in effects) / len(effects)

    assert bootstrap_interval(mean_of_effects, 0, 4, seed=0) is not None


def test_unmeasured_resamples_are_left_out() -> None:
    assert bootstrap_interval(lambda samples, effects: None, 4, 0, seed=0) is None


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6).filter(lambda sizes: sum(sizes) > 1))
def test_the_interval_of_c_holds_c(sizes: list[int]) -> None:
    low, high = consensus_interval(sizes)
    assert -1e-12 <= low - 1e-12 <= consensus_value(sizes) <= high + 1e-12 <= 1 + 1e-12


def test_samples_that_agree_leave_room_for_an_answer_that_nobody_gave() -> None:
    lows = [consensus_interval([k])[0] for k in (3, 5, 10, 32)]
    assert lows == sorted(lows)
    assert [consensus_interval([k])[1] for k in (3, 32)] == [1.0, 1.0]
    assert lows[1] == pytest.approx(consensus_value([3, 1, 1]), abs=0.2)
    assert lows[-1] > 0.8


def test_samples_that_differ_leave_room_for_agreement() -> None:
    low, high = consensus_interval([1] * 5)
    assert (low, high > 0.1) == (0.0, True)
