"""Intervals are seeded, ordered and around what is resampled."""

from collections.abc import Sequence

from rafs.bootstrap import bootstrap_interval

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
