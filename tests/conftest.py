"""What every test shares: no network, one thread a model, and properties without a stopwatch."""

import os
from itertools import count

import pytest
from hypothesis import settings

# Two workers on two cores: torch with more threads than free cores waits at its barriers, 5 times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RAFS_TORCH_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"

# A deadline measures the neighbours' load, not our code. In CI the same examples every time: red means broken.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded as their `summary`: figures that a green dot would hide."""
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, [])]
    for line in [value for one in reports for name, value in one.user_properties if name == "summary"]:
        terminalreporter.write_line(str(line))


_DATABASES = count()


@pytest.fixture(autouse=True)
def _own_database(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a database of its own; there is a file only where one is opened."""
    path = tmp_path_factory.getbasetemp() / f"databases-{next(_DATABASES)}" / "rafs.db"
    monkeypatch.setenv("RAFS_DATABASE", f"sqlite:///{path}")
