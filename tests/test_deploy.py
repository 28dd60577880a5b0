"""What an operator copies: it may name nothing that RAFS does not have. Nothing is built, started or applied here."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rafs import __version__
from rafs.registry import Registry, load_registry
from service.admission import Admission
from service.metrics import Metrics
from service.server import CLOSING_S
from service.settings import PREFIX, VARIABLES, Settings

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
REGISTRY = DEPLOY / "models.yaml"
KUSTOMIZATION = DEPLOY / "kustomization.yaml"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
GUIDE = ROOT / "docs" / "deploy.md"
DOCKERFILE = ROOT / "Dockerfile"
TEXTS = [DOCKERFILE, GUIDE, *(path for path in sorted(DEPLOY.rglob("*")) if path.is_file())]
OF_CLIENTS = {"RAFS_URL", "RAFS_API_KEY"}
SPARE_S = 5
"""What a stop takes beyond draining and closing: connections, jobs, models."""


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def find(tree: Any, key: str) -> Iterator[Any]:
    """Yield every value of a key, however deep."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from find(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from find(value, key)


def seconds(text: str) -> int:
    assert text.endswith("s"), text
    return int(text.removesuffix("s"))


def test_the_compose_file_is_one() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_variable_is_a_setting_or_the_key_of_a_model(path: Path) -> None:
    settings = {VARIABLES.get(name, PREFIX + name.upper()) for name in Settings.model_fields}
    keys = {entry.api_key_env for entry in load_registry(REGISTRY).models}
    named = set(re.findall(r"\bRAFS_[A-Z_]+\b", path.read_text("utf-8")))
    assert named - settings - keys - OF_CLIENTS == set()


def test_the_guide_names_only_metrics_that_exist() -> None:
    exported = set(re.findall(r"^# TYPE (\w+)", Metrics(Admission(1, 1)).render().decode(), re.MULTILINE))
    named = set(re.findall(r"`((?:rafs|process)_[a-z_]+)", GUIDE.read_text("utf-8")))
    assert named
    assert {name for name in named if name.removesuffix("_count").removesuffix("_bucket") not in exported} == set()


@pytest.mark.parametrize("path", [COMPOSE, *MANIFESTS], ids=lambda path: path.name)
def test_every_image_is_pinned_to_a_version(path: Path) -> None:
    for image in find(read(path), "image"):
        if image == "rafs":  # the kustomization says which
            assert [entry["newTag"] for entry in read(KUSTOMIZATION)["images"]] == [__version__]
        elif image.startswith("rafs:"):
            assert image == f"rafs:{__version__}"
        else:
            assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+[\w.-]*", image), image


def test_every_port_is_published_on_the_loopback_alone() -> None:
    published = list(find(read(COMPOSE), "ports"))
    assert published == [["127.0.0.1:8000:8000"]]


def test_every_container_of_ours_is_read_only_and_has_no_capability() -> None:
    ours = [read(COMPOSE)["services"]["rafs"]]
    assert [(one["read_only"], one["cap_drop"]) for one in ours] == [(True, ["ALL"])]
    contexts = [each for path in MANIFESTS for each in find(read(path), "securityContext")]
    pods = [context for context in contexts if "runAsNonRoot" in context]
    containers = [context for context in contexts if "capabilities" in context]
    assert len(pods) == len(containers) == 2
    assert all(context["runAsNonRoot"] and context["runAsUser"] == 10001 for context in pods)
    assert all(context["readOnlyRootFilesystem"] for context in containers)


def test_a_stop_waits_for_what_is_in_flight() -> None:
    needed_s = Settings().drain_s + CLOSING_S + SPARE_S
    assert seconds(read(COMPOSE)["services"]["rafs"]["stop_grace_period"]) >= needed_s
    pod = read(DEPLOY / "kubernetes" / "deployment.yaml")["spec"]["template"]["spec"]
    asleep_s = int(pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= needed_s + asleep_s


def test_a_service_of_the_cluster_does_not_set_our_port() -> None:
    specs = [spec for path in MANIFESTS for spec in find(read(path), "spec") if "containers" in spec]
    assert [spec["enableServiceLinks"] for spec in specs] == [False, False]


def test_every_file_that_is_named_exists() -> None:
    kustomization = read(KUSTOMIZATION)
    named = [DEPLOY / name for name in kustomization["resources"]]
    named += [DEPLOY / name for maps in kustomization["configMapGenerator"] for name in maps.get("files", [])]
    mounts = [mount.split(":")[0] for mounts in find(read(COMPOSE), "volumes") if mounts for mount in mounts]
    named += [DEPLOY / mount for mount in mounts if mount.startswith(".")]
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    named += [ROOT / name for line in copied for name in line.split()]
    assert [str(path) for path in named if not path.exists()] == []
    assert len(named) > 10


def test_every_config_map_that_a_pod_wants_is_made() -> None:
    made = {maps["name"] for maps in read(KUSTOMIZATION)["configMapGenerator"]}
    deployment = read(DEPLOY / "kubernetes" / "deployment.yaml")
    wanted = {one["name"] for key in ("configMapRef", "configMap") for one in find(deployment, key)}
    assert wanted == made


def test_the_image_has_the_extras_of_the_project_and_the_example_has_those_of_the_image() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    default = re.findall(r"^ARG EXTRAS=(\S+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    assert [read(COMPOSE)["services"]["rafs"]["build"]["args"]["EXTRAS"]] == default
    assert set(default[0].split(",")) <= set(extras)


def rules_of(registry: Registry, preset: str, *left_out: str) -> dict[str, Any]:
    return registry.presets.by_name()[preset].model_dump(exclude=set(left_out))


def test_the_registry_differs_from_ours_by_a_served_judge_alone() -> None:
    ours, theirs = load_registry(), load_registry(REGISTRY)
    assert theirs.families == ours.families
    assert theirs.policy == ours.policy
    assert rules_of(theirs, "gate") == rules_of(ours, "gate")
    for preset in ("standard", "deep"):
        assert rules_of(theirs, preset, "models", "calibration") == rules_of(ours, preset, "models", "calibration")
    served = [entry.id for entry in theirs.models if entry not in ours.models]
    assert served == ["olmo-3-7b-instruct"]


def test_the_judge_is_served_under_the_name_by_which_it_is_asked() -> None:
    vllm = read(COMPOSE)["services"]["vllm"]
    judge = load_registry(REGISTRY).model("olmo-3-7b-instruct")
    assert judge.location == "http://vllm:8000/v1"
    assert vllm["command"][0] == judge.model
    assert f"${{{judge.api_key_env}:-}}" == vllm["environment"]["VLLM_API_KEY"]
