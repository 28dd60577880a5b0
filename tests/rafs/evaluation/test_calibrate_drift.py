"""Drift is named where there is some, and at most as often as the level says where there is none."""

import numpy as np
import pytest

from rafs.errors import InputError
from rafs.evaluation.calibrate_drift import Look, Shift, describe, find_drift

LEVEL, N_SIMULATIONS = 0.05, 200


def looks(generator: np.random.Generator, n: int, *, worse: float = 0.0, invented: float = 0.1) -> list[Look]:
    """Draw traces; `worse` lowers what is thought of their steps, `invented` is the share that a checker doubts."""
    found = []
    for _ in range(n):
        q = tuple(float(p) for p in np.clip(generator.beta(8, 2, size=generator.integers(2, 9)) - worse, 0.02, 1))
        word = "invented" if generator.random() < invented else "proven"
        is_scored = generator.random() < 0.9
        found.append(
            Look(
                score=100 * min(q) if is_scored else None,
                status="Review" if is_scored else "Abstain",
                coverage=1.0,
                q=q,
                checker=(word,) * len(q),
            )
        )
    return found


def compared(n: int, **changes: float) -> list[Shift]:
    generator = np.random.default_rng(7)
    reference = describe(looks(generator, 600), seed=0)
    return find_drift(reference, describe(looks(generator, n, **changes), seed=0), level=LEVEL)


def drifted(shifts: list[Shift]) -> set[str]:
    return {shift.name for shift in shifts if shift.drifted}


def test_the_same_traffic_is_called_drift_at_most_as_often_as_the_level_says() -> None:
    from scipy.stats import binom

    generator = np.random.default_rng(11)
    alarms = 0
    for _ in range(N_SIMULATIONS):
        reference, recent = (describe(looks(generator, n), seed=0) for n in (200, 100))
        alarms += bool(drifted(find_drift(reference, recent, level=LEVEL)))
    assert alarms <= binom.ppf(0.999, N_SIMULATIONS, LEVEL)


def test_steps_that_are_thought_less_of_are_drift() -> None:
    assert {"score", "mean_q", "lowest_q"} <= drifted(compared(200, worse=0.2))


def test_what_the_checker_doubts_more_often_is_drift() -> None:
    assert drifted(compared(200, invented=0.5)) == {"checker"}


def test_a_shift_is_measured_by_the_distance_of_the_shares() -> None:
    (shift,) = [one for one in compared(400, invented=0.5) if one.name == "checker"]
    assert shift.effect == pytest.approx(0.4, abs=0.07)


def test_a_negligible_shift_is_none_however_many_traces_prove_it() -> None:
    generator = np.random.default_rng(13)
    reference, recent = (describe(looks(generator, 8000, invented=share), seed=0) for share in (0.1, 0.15))
    shifts = find_drift(reference, recent, level=LEVEL)
    (shift,) = [one for one in shifts if one.name == "checker"]
    assert shift.p_value < LEVEL and not shift.drifted


def test_a_kind_that_the_calibration_set_never_had_is_drift() -> None:
    generator = np.random.default_rng(17)
    reference = describe(looks(generator, 300, invented=0.0), seed=0)
    recent = describe(looks(generator, 100, invented=0.4), seed=0)
    assert "checker" in drifted(find_drift(reference, recent, level=LEVEL))


def test_few_traces_tell_nothing() -> None:
    with pytest.raises(InputError, match="got 29 traces, at least 30"):
        compared(29)
