"""Probabilities of outcomes, and when there are none."""

import pytest

from rafs.outcome_model import OutcomeModel, outcome_features
from rafs.outcomes import Component, ComponentName, Measured

MODEL = OutcomeModel(
    intercepts={"faithful_success": 0.5, "overt_failure": -0.5},
    weights={
        "faithful_success": {"score": 0.1, "P": 0.4, "C": 0.0, "C_measured": 0.0},
        "overt_failure": {"score": -0.1, "P": -0.4, "C": 0.0, "C_measured": 0.0},
    },
)
VALIDITY: dict[ComponentName, Component] = {ComponentName.VALIDITY: Measured(value=0.8, coverage=1.0)}
CONSENSUS: dict[ComponentName, Component] = {ComponentName.CONSENSUS: Measured(value=1.0, coverage=1.0)}


def test_probabilities_share_one() -> None:
    assert sum(MODEL.probabilities(outcome_features(80, VALIDITY, [0.8])).values()) == pytest.approx(1)


def test_a_component_that_the_fit_saw_is_covered() -> None:
    assert MODEL.covers(outcome_features(80, VALIDITY, [0.8]))


def test_a_component_that_the_fit_never_saw_is_not() -> None:
    assert not MODEL.covers(outcome_features(80, VALIDITY | CONSENSUS, [0.8]))
