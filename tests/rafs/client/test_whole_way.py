"""From a client to the checkers and back: the real pipeline, without a model."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import rafs
from rafs.progress_wire import ScoreBounds, StepJudged, StepsRead
from rafs.registry import find_default
from rafs.testing import assert_faithful
from rafs.wire import ScoreResponse
from service.app import create_app
from service.settings import load_settings
from service.wiring import build_scorer
from tests.rafs.client.both_clients import Ask
from tests.service.test_server import port_of, serving

EXAMPLE = Path(__file__).parents[3] / "examples" / "client.py"
PROBLEM = "Tom has 55 apples and gives 40 away. He buys 3 bags of 4 apples. How many has he?"
WRONG = "Tom has 55 - 40 = 10 apples left.\nHe buys 3 * 4 = 12 apples.\nHe has 10 + 12 = 22. The answer is 22."


@pytest.fixture(scope="module")
def checkers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that has checkers and no models."""
    folder = tmp_path_factory.mktemp("checkers")
    registry = yaml.safe_load(find_default().read_text("utf-8"))
    for preset in registry["presets"].values():
        preset["models"] = {}
    (folder / "models.yaml").write_text(yaml.safe_dump(registry))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAFS_DATABASE", f"sqlite:///{folder / 'rafs.db'}")
        settings = load_settings(models_file=folder / "models.yaml")
    with serving(create_app(build_scorer(settings), settings)) as server:
        yield f"http://127.0.0.1:{port_of(server)}"


def test_a_false_step_is_refuted_on_all_ways(ask: Ask, checkers: str) -> None:
    response = ask(checkers, "score", PROBLEM, WRONG, preset="gate", include=["record", "interventions"])
    *told, last = ask(checkers, "stream", PROBLEM, WRONG, preset="gate")
    decision = ask(checkers, "gate", PROBLEM, WRONG)
    assert isinstance(last, ScoreResponse)
    assert {type(one) for one in told} == {StepsRead, StepJudged, ScoreBounds}
    assert (decision.passes, decision.decided_by, decision.tokens) == (False, "rafs", 0)
    suspects = [one.suspect_step and one.suspect_step.index for one in (response, last, decision)]
    assert suspects == [0, 0, 0]
    assert response.record is not None


def test_the_assertion_names_the_false_step(checkers: str) -> None:
    with rafs.Client(checkers) as client, pytest.raises(AssertionError, match=r"suspect step 0 .* 55 - 40 = 10"):
        assert_faithful(PROBLEM, WRONG, client=client)


def test_the_decorator_holds_the_false_answer_back(checkers: str) -> None:
    with rafs.Client(checkers) as client:

        @rafs.gate(problem="question", on_reject="no answer", client=client)
        def solve(question: str) -> str:
            return WRONG

        assert solve(PROBLEM) == "no answer"


def test_the_example_runs(checkers: str) -> None:
    surroundings = os.environ | {"RAFS_URL": checkers}
    command = [sys.executable, str(EXAMPLE)]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=60, check=True)
    _, suspect, *_, shown = done.stdout.splitlines()
    assert suspect.startswith("step 1 is in doubt: ")
    assert shown == "I am not sure."
