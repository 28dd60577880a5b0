"""What importing the package costs."""

import json
import subprocess
import sys

import pytest

import rafs

HEAVY = ("httpx", "pydantic", "tenacity", "rafs.client")


def loaded_after(statement: str) -> list[str]:
    code = f"import json, sys\n{statement}\nprint(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def test_the_package_alone_loads_no_client() -> None:
    assert loaded_after("import rafs; rafs.__version__") == []


def test_the_client_is_loaded_when_it_is_asked_for() -> None:
    assert loaded_after("import rafs; rafs.Client") == list(HEAVY)


@pytest.mark.parametrize("name", sorted(rafs.__all__))
def test_every_name_of_the_package_is_there(name: str) -> None:
    assert getattr(rafs, name) is not None


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="module 'rafs' has no attribute 'scores'"):
        rafs.scores  # type: ignore[attr-defined]  # noqa: B018
