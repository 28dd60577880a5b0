import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rafs import __version__
from rafs.algebra import AlgebraWorker
from rafs.calibration import DEFAULT_CALIBRATION
from rafs.pipeline import Pipeline
from rafs.registry import load_registry
from rafs.request import ScoreRequest
from rafs.types import BlindTrace, Judged, ModelIdentity, Verdict
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.cli import app
from service.scorer import Scorer
from service.wiring import assemble
from verifiers.symbolic import SymbolicVerifier

TRACE = "Tom has 55 - 40 = 15 apples left.\nHe buys 3 * 4 = 12 apples.\nHe has 15 + 12 = 27. The answer is 27."
PROBLEM = "Tom has 55 apples and gives 40 away. He buys 3 bags of 4 apples. How many has he?"


class Confident:
    """A `Verifier` that finds every step fairly good."""

    name = "judge:confident"
    identity: ModelIdentity | None = ModelIdentity(id="confident", family="smollm", revision="1")

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        return [Judged(p_correct=0.8 + t / 100) for t in ask]


async def score_once() -> ScoreResponse:
    registry = load_registry()
    algebra = AlgebraWorker()

    def build(name: str) -> Pipeline:
        return assemble(
            registry.policy.to_policy(),
            registry.presets.by_name()[name].to_preset(name),
            DEFAULT_CALIBRATION,
            algebra=algebra,
            checkers=[SymbolicVerifier(DEFAULT_CALIBRATION.checker)],
            models=[Confident()],
            validators=[],
            generators={},
        )

    scorer = Scorer(
        registry=registry,
        build_pipeline=build,
        is_ready=lambda entry: False,
        close=algebra.close,
        calibration=DEFAULT_CALIBRATION,
        default_preset="standard",
        edit_secret="",
    )
    try:
        return await scorer.score(ScoreRequest(problem=PROBLEM, trace=TRACE, include=["record"]))
    finally:
        await scorer.close()


@pytest.fixture
async def response() -> ScoreResponse:
    return await score_once()


def replay(path: Path, content: str, *options: str) -> Result:
    path.write_text(content, encoding="utf-8")
    return CliRunner().invoke(app, ["replay", str(path), *options])


def test_a_response_is_replayed_to_the_same_score(response: ScoreResponse, tmp_path: Path) -> None:
    done = replay(tmp_path / "r.json", response.model_dump_json())
    assert done.exit_code == 0, done.output
    assert response.score is not None
    assert f"score {response.score!r}, status {response.status}" in done.stdout
    assert "equal to the recorded score" in done.stdout


def test_a_record_alone_is_replayed_with_nothing_to_compare(response: ScoreResponse, tmp_path: Path) -> None:
    assert response.record is not None
    done = replay(tmp_path / "r.json", response.record.model_dump_json())
    assert done.exit_code == 0, done.output
    assert "nothing to compare with" in done.stdout


def test_a_score_that_was_changed_afterwards_is_found_out(response: ScoreResponse, tmp_path: Path) -> None:
    changed = json.loads(response.model_dump_json()) | {"score": 99.0}
    done = replay(tmp_path / "r.json", json.dumps(changed))
    assert (done.exit_code, "DIFFERENT: recorded were score 99.0" in done.stdout) == (1, True)


def test_replaying_loads_no_model_library(response: ScoreResponse, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(response.model_dump_json(), encoding="utf-8")
    program = (
        "import sys; from service.cli import app\n"
        "try: app(['replay', sys.argv[1]])\n"
        "except SystemExit as end: print(end.code, sorted({'torch', 'transformers', 'sympy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_a_comparison_is_one_json_object(response: ScoreResponse, tmp_path: Path) -> None:
    done = replay(tmp_path / "r.json", response.model_dump_json(), "--json")
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    outcome = {"score": response.score, "status": response.status}
    versions = {"replayed_by": __version__, "recorded_by": __version__}
    assert json.loads(done.stdout) == {"replayed": outcome, "recorded": outcome, "equal": True} | versions


def test_a_difference_in_json_has_the_exit_code_too(response: ScoreResponse, tmp_path: Path) -> None:
    changed = json.loads(response.model_dump_json()) | {"score": 99.0}
    done = replay(tmp_path / "r.json", json.dumps(changed), "--json")
    assert (done.exit_code, json.loads(done.stdout)["equal"]) == (1, False)


def test_a_record_of_another_version_says_so_and_one_of_this_version_nothing(
    response: ScoreResponse, tmp_path: Path
) -> None:
    old = json.loads(response.model_dump_json())
    old["record"]["provenance"]["rafs_version"] = "0.0.1"
    line = f"recorded by rafs 0.0.1, replayed by rafs {__version__}"
    assert line in replay(tmp_path / "old.json", json.dumps(old)).stdout
    assert "recorded by" not in replay(tmp_path / "r.json", response.model_dump_json()).stdout
