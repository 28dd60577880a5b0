import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

PACKAGES = ("rafs", "verifiers", "counterfactuals", "service")
SLOW = (
    "torch",
    "transformers",
    "vllm",
    "sympy",
    "sentence_transformers",
    "gguf",
    "huggingface_hub",
    "pint",
    "scipy",
    "sklearn",
    "matplotlib",
)

IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
modules = []
for name in json.loads(sys.argv[1]):
    package = importlib.import_module(name)
    modules += [name] + [found.name for found in pkgutil.walk_packages(package.__path__, name + ".")]
modules = [name for name in modules if name != "rafs.algebra_worker"]
for name in modules:
    importlib.import_module(name)
loaded = sorted(set(json.loads(sys.argv[2])) & set(sys.modules))
print(json.dumps({"modules": modules, "slow": loaded}))
"""


def import_everything(slow: Sequence[str]) -> dict[str, list[str]]:
    """Import every module of the four packages, the sympy worker's own file excepted, in a fresh interpreter."""
    command = [sys.executable, "-c", IMPORT_EVERYTHING, json.dumps(PACKAGES), json.dumps(slow)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return seen


@pytest.fixture(scope="module")
def seen() -> dict[str, list[str]]:
    return import_everything(SLOW)


def test_importing_every_module_loads_no_slow_library(seen: dict[str, list[str]]) -> None:
    assert seen["slow"] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_was_imported(package: str, seen: dict[str, list[str]]) -> None:
    assert package in seen["modules"]


def test_a_loaded_library_would_be_seen() -> None:
    assert import_everything(["numpy", "torch"])["slow"] == ["numpy"]
