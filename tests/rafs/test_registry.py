import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rafs.errors import ConfigError
from rafs.model_entry import Role
from rafs.outcomes import ComponentName
from rafs.registry import Registry, config_hash, find_default, load_registry

Change = Callable[[dict[str, Any]], None]
EMBEDDED = load_registry()


def write(folder: Path, change: Change) -> Path:
    """Write the embedded registry with one change."""
    content = yaml.safe_load(find_default().read_text(encoding="utf-8"))
    change(content)
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def setting(value: object, *keys: str | int) -> Change:
    """Return the change that puts a value at a path."""

    def change(content: dict[str, Any]) -> None:
        here: Any = content
        for key in keys[:-1]:
            here = here[key]
        here[keys[-1]] = value

    return change


def adding(**model: object) -> Change:
    """Return the change that adds a model."""
    added = {"id": "mine", "family": "qwen", "roles": ["judge"], "licence": "MIT", **model}
    return lambda content: content["models"].append(added)


def removing(*keys: str | int) -> Change:
    """Return the change that takes a key away."""

    def change(content: dict[str, Any]) -> None:
        here: Any = content
        for key in keys[:-1]:
            here = here[key]
        del here[keys[-1]]

    return change


def complaint_of(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_registry(path)
    return str(caught.value)


def test_embedded_registry_is_valid_and_every_role_it_uses_has_a_model() -> None:
    for name, preset in EMBEDDED.presets.by_name().items():
        for role in preset.models:
            assert all(role in entry.roles for entry in EMBEDDED.candidates(name, role))


def test_embedded_registry_has_no_generator() -> None:
    assert all(EMBEDDED.candidates(name, Role.GENERATOR) == () for name in ("gate", "standard", "deep"))


HUB = "hub:Qwen/Qwen2.5-7B-Instruct"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        pytest.param(setting(1, "colour"), "colour", "unknown key 'colour'", id="unknown key at the top"),
        pytest.param(setting(1, "models", 0, "size"), "models[0].size", "unknown key", id="unknown key of a model"),
        pytest.param(setting(1, "presets", "huge"), "presets.huge", "unknown key", id="unknown preset"),
        pytest.param(removing("presets", "deep"), "presets.deep", "got nothing", id="preset left out"),
        pytest.param(
            setting(["jugde"], "models", 0, "roles"),
            "models[0].roles[0]",
            "got 'jugde', allowed 'generator', 'judge'",
            id="unknown role of a model",
        ),
        pytest.param(
            setting(["all-minilm-l6-v2"], "presets", "gate", "models", "critic"),
            "presets.gate.models.critic",
            "got 'critic', allowed 'generator', 'judge'",
            id="unknown role of a preset",
        ),
        pytest.param(setting([], "models", 0, "roles"), "models[0].roles", "at least 1 item", id="model without role"),
        pytest.param(
            setting([], "presets", "deep", "models", "judge"),
            "presets.deep.models.judge",
            "at least 1 item",
            id="role without a model",
        ),
        pytest.param(setting(2, "presets", "deep", "n_judges"), "presets.deep.n_judges", "at most 1", id="large panel"),
        pytest.param(
            setting("smolm", "models", 0, "family"),
            "models[0].family",
            "got 'smolm', allowed 'bert'",
            id="unknown family",
        ),
        pytest.param(
            setting("qwen", "models", 0, "family"),
            "models[0].family",
            "got 'qwen', allowed 'smollm'",
            id="family that the id denies",
        ),
        pytest.param(
            adding(id="judge-a", family="llama", source=HUB, revision=COMMIT),
            "models[3].family",
            "got 'llama', allowed 'qwen'",
            id="family that the source denies",
        ),
        pytest.param(
            setting("all-minilm-l6-v2", "models", 0, "id"),
            "models[2].id",
            "'all-minilm-l6-v2' twice",
            id="duplicate id",
        ),
        pytest.param(
            setting(["gpt-5"], "presets", "gate", "models", "judge"),
            "presets.gate.models.judge",
            "got 'gpt-5', which is not under models, allowed 'smollm2-135m-instruct'",
            id="preset names no model",
        ),
        pytest.param(
            setting(["all-minilm-l6-v2"], "presets", "gate", "models", "judge"),
            "presets.gate.models.judge",
            "got 'all-minilm-l6-v2', a model without this role, allowed 'smollm2-135m-instruct'",
            id="preset names a model without the role",
        ),
        pytest.param(setting(["*"], "families", "gpt"), "families.gpt[0]", "got '*'", id="family pattern fits all"),
        pytest.param(setting("latest", "models", 0, "source"), "models[0].source", "got 'latest'", id="unknown source"),
        pytest.param(adding(source=HUB), "models[3].revision", "got nothing", id="hub without revision"),
        pytest.param(
            adding(source=HUB, revision="main"), "models[3].revision", "allowed a commit of 40", id="hub with a branch"
        ),
        pytest.param(removing("models", 0, "sha256"), "models[0].sha256", "got nothing", id="package without hash"),
        pytest.param(removing("models", 0, "file"), "models[0].file", "got nothing", id="package without file"),
        pytest.param(
            adding(source="endpoint:http://127.0.0.1:1/v1"), "models[3].model", "got nothing", id="endpoint, no model"
        ),
        pytest.param(
            adding(source="path:/m", revision=COMMIT),
            "models[3].revision",
            "no such key: a path source takes",
            id="key of another source",
        ),
        pytest.param(removing("models", 0, "licence"), "models[0].licence", "got nothing", id="model without licence"),
        pytest.param(
            setting(["P"], "presets", "deep", "required"), "presets.deep.required", "exactly one", id="in neither list"
        ),
        pytest.param(
            setting(["P"], "presets", "gate", "accept_without"),
            "presets.gate.accept_without",
            "got 'P'",
            id="accept without a required component",
        ),
        pytest.param(setting(["deletion"] * 2, "presets", "deep", "probes"), "presets.deep.probes", "once", id="twice"),
        pytest.param(
            setting(1, "presets", "gate", "n_edits"),
            "presets.gate.n_edits",
            "at least policy.m_min = 2",
            id="too few edits to measure",
        ),
        pytest.param(
            setting(-1, "presets", "gate", "deadline_s"), "presets.gate.deadline_s", "greater than 0", id="deadline"
        ),
        pytest.param(setting(0.4, "policy", "weights", "P"), "policy.weights", "together 1", id="weights beyond one"),
        pytest.param(
            setting({"P": 0.9, "S": 0.05, "C": 0.03, "D": 0.02}, "policy", "weights"),
            "policy.weights",
            "got 0.02 for D, so a score of 66 with D at 0, allowed at least 0.145 each at epsilon 1e-09",
            id="weight that cannot sink the score",
        ),
        pytest.param(setting(1e-4, "policy", "epsilon"), "policy.weights", "at least 0.325", id="epsilon too large"),
        pytest.param(
            removing("presets", "deep", "models", "nli"),
            "presets.deep.models.embedder",
            "'nli'",
            id="an embedder with nobody to choose for",
        ),
        pytest.param(removing("policy", "weights", "D"), "policy.weights", "one weight for each", id="weight left out"),
        pytest.param(setting(".nan", "policy", "alpha"), "policy.alpha", "got '.nan'", id="no number"),
        pytest.param(
            setting("never", "policy", "unknown_generator"),
            "policy.unknown_generator",
            "got 'never', allowed 'review', 'allow'",
            id="unknown choice",
        ),
    ],
)
def test_a_wrong_registry_is_one_message_with_file_key_got_and_allowed(
    tmp_path: Path, change: Change, key: str, words: str
) -> None:
    path = write(tmp_path, change)
    message = complaint_of(path)
    assert message.startswith(f"{path}: {key}: got ")
    assert ", allowed " in message
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param({"api_key_env": "sk-1234secret", "source": "endpoint:http://h/v1"}, id="key for its variable"),
        pytest.param({"source": "endpoint:http://user:sk-1234secret@h/v1"}, id="password in the URL"),
        pytest.param({"source": "endpoint:http://h/v1?key=sk-1234secret"}, id="key in the query"),
    ],
)
def test_a_pasted_key_is_refused_and_never_shown(tmp_path: Path, secret: dict[str, str]) -> None:
    message = complaint_of(write(tmp_path, adding(model="qwen-max", **secret)))
    assert "models[3]." in message
    assert "secret" not in message


def test_a_distilled_model_keeps_both_families_whatever_was_declared(tmp_path: Path) -> None:
    change = adding(
        id="judge-a", family="deepseek", source="hub:deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", revision=COMMIT
    )
    registry = load_registry(write(tmp_path, change))
    assert registry.families_of_entry(registry.model("judge-a")) == {"deepseek", "qwen"}


def test_an_unknown_model_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ConfigError, match="no model 'gpt-5', allowed 'all-minilm-l6-v2', 'smollm2-135m-instruct'"):
        EMBEDDED.model("gpt-5")


def test_policy_and_presets_reach_the_formulas_as_written() -> None:
    policy, gate = EMBEDDED.policy.to_policy(), EMBEDDED.presets.gate.to_preset("gate")
    assert policy.weights == {"P": 0.35, "S": 0.30, "C": 0.20, "D": 0.15}
    assert (policy.mean_weight, policy.m_min, policy.accept_unknown_generator) == (0.5, 2, False)
    assert gate.name == "gate"
    assert gate.required == {ComponentName.VALIDITY}


def test_allow_lets_unknown_generators_through(tmp_path: Path) -> None:
    registry = load_registry(write(tmp_path, setting("allow", "policy", "unknown_generator")))
    assert registry.policy.to_policy().accept_unknown_generator


def test_hash_ignores_layout_and_comments(tmp_path: Path) -> None:
    assert config_hash(load_registry(write(tmp_path, lambda _: None))) == config_hash(EMBEDDED)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(setting(0.4, "policy", "tau_step"), id="constant"),
        pytest.param(setting(["P", "S", "C"], "presets", "deep", "required"), id="component"),
        pytest.param(setting("0" * 64, "models", 0, "sha256"), id="weights"),
        pytest.param(setting(["yi*"], "families", "yi"), id="family"),
    ],
)
def test_hash_changes_with_every_meaning(tmp_path: Path, change: Change) -> None:
    def consistent(content: dict[str, Any]) -> None:
        change(content)
        if "C" in content["presets"]["deep"]["required"]:
            content["presets"]["deep"]["optional"] = ["D"]

    changed = config_hash(load_registry(write(tmp_path, consistent)))
    assert changed != config_hash(EMBEDDED)
    assert len(changed) == 16


def test_hash_does_not_depend_on_the_order_of_components(tmp_path: Path) -> None:
    registry = load_registry(write(tmp_path, setting(["D", "C", "S"], "presets", "gate", "optional")))
    assert config_hash(registry) == config_hash(EMBEDDED)


def test_a_registry_cannot_be_changed_after_it_was_checked() -> None:
    with pytest.raises(ValueError, match="frozen"):
        EMBEDDED.models[0].family = "qwen"  # type: ignore[misc]


def test_the_commented_examples_of_models_yaml_are_valid(tmp_path: Path) -> None:
    text = find_default().read_text(encoding="utf-8")
    lines = [
        line.replace("  # ", "  ", 1) if line.startswith(("  # - id:", "  #   ")) else line
        for line in text.splitlines()
    ]
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    kinds = {entry.kind.value for entry in load_registry(path).models}
    assert kinds == {"package", "hub", "path", "endpoint"}


def test_a_copy_of_the_embedded_file_is_the_embedded_registry(tmp_path: Path) -> None:
    copy: Registry = load_registry(Path(shutil.copy(find_default(), tmp_path / "copy.yaml")))
    assert copy == EMBEDDED
