"""The artefact survives its file, and a changed one is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rafs.calibration import AT_CHANCE, CheckerRates, Scale
from rafs.calibration_file import AcceptThreshold, Artefact, Pin, Reference, load_artefact, save_artefact, scoring_hash
from rafs.errors import ConfigError
from rafs.outcome_model import OutcomeModel
from rafs.registry import load_registry

REGISTRY = load_registry()
POLICY = REGISTRY.policy.to_policy()


def artefact(tau_accept: float | None = 61.5) -> Artefact:
    return Artefact(
        date="2026-01-01",
        rafs_version="0.1.0",
        preset="gate",
        config_hash="0123456789abcdef",
        scoring=scoring_hash(REGISTRY, "gate"),
        models=[Pin(id="m", role="judge", revision="1")],
        data=[],
        licences="CC0",
        seed=0,
        splits={},
        prior=0.8,
        checker=CheckerRates(proven=0.9, ungrounded=0.8, invented=0.4),
        scales={"judge:m": Scale(intercept=0.25, slope=1.5), "judge:n": AT_CHANCE},
        tau_step=0.45,
        tau_accept=AcceptThreshold(
            value=tau_accept, guarantee="in words", alpha=0.1, delta=0.1, n=100, n_accepted=40, n_failures=1
        ),
        outcomes=OutcomeModel(intercepts={"faithful_success": 0.1}, weights={"faithful_success": {"score": 0.3}}),
        metrics={},
        reference={"score": Reference(values=[1.5, 2.25])},
        notes=[],
    ).signed()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "calibration.json"
    save_artefact(artefact(), made)
    return made


def test_an_artefact_survives_its_file(path: Path) -> None:
    assert load_artefact(path) == artefact()


def test_a_number_changed_by_hand_is_refused(path: Path) -> None:
    content = json.loads(path.read_text())
    content["tau_accept"]["value"] = 50.0
    path.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match="was changed after it was made"):
        load_artefact(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[1]", "schema 1", id="no object"),
        pytest.param('{"schema_version": 2}', "schema_version", id="another schema"),
        pytest.param("{", "Invalid JSON", id="no JSON"),
        pytest.param(" " * (4 << 20) + "{}", "at most", id="too long"),
    ],
)
def test_what_is_no_artefact_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_artefact(path)


def test_a_file_that_is_not_there_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_artefact(tmp_path / "none.json")


def test_the_thresholds_of_the_policy_are_replaced_and_nothing_else() -> None:
    assert artefact().to_policy(POLICY) == replace(POLICY, tau_step=0.45, tau_accept=61.5)


def test_a_threshold_that_could_not_be_proven_is_none_in_the_policy() -> None:
    assert artefact(tau_accept=None).to_policy(POLICY).tau_accept is None


def test_the_numbers_of_the_pool_carry_the_id() -> None:
    made = artefact()
    calibration = made.to_calibration()
    assert calibration.id == made.id
    assert not calibration.hears("judge:n") and calibration.scale_of("judge:m").slope == 1.5


def test_the_hash_of_what_scores_hang_on_ignores_thresholds_and_nothing_else() -> None:
    other = {
        name: REGISTRY.model_copy(update={"policy": REGISTRY.policy.model_copy(update={name: value})})
        for name, value in (("tau_accept", 20.0), ("tau_step", 0.1), ("alpha", 0.3), ("q_refuted", 0.1))
    }
    same = {name: scoring_hash(one, "gate") == scoring_hash(REGISTRY, "gate") for name, one in other.items()}
    assert same == {"tau_accept": True, "tau_step": True, "alpha": False, "q_refuted": False}
