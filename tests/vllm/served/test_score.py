"""`rafs score`, as a user runs it, with a judge and a writer behind real vLLM servers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rafs.wire import MemberOut, ScoreResponse
from tests.vllm.models_file import PROBLEM, TRACE, served, write_models
from tests.vllm.served.conftest import Servers


@pytest.fixture(scope="module")
def response(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> ScoreResponse:
    folder = tmp_path_factory.mktemp("score")
    judge = served(servers.judge.name, "smollm", "judge", servers.judge.url)
    writer = served(servers.writer.name, "qwen", "generator", servers.writer.url)
    roles = {"judge": [judge["id"]], "nli": ["all-minilm-l6-v2"], "generator": [writer["id"]]}
    models = write_models(folder / "models.yaml", [judge, writer], roles)
    request = {"problem": PROBLEM, "trace": TRACE, "generator": {"model": writer["id"]}}
    (folder / "request.json").write_text(json.dumps(request))
    rafs = Path(sys.executable).parent / "rafs"
    command = [str(rafs), "score", str(folder / "request.json"), "--json", "--models-file", str(models)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return ScoreResponse.model_validate_json(done.stdout)


def member(response: ScoreResponse, name: str) -> MemberOut:
    (found,) = [each for each in response.members if each.member == name]
    return found


def test_the_served_judge_is_heard(response: ScoreResponse) -> None:
    judge = member(response, "judge:smollm2-served")
    assert judge.judged == judge.asked > 0


def test_judge_and_writer_are_named_with_their_families(response: ScoreResponse) -> None:
    used = {(model.role, model.id, model.family) for model in response.provenance.models}
    assert {("judge", "smollm2-served", "smollm"), ("generator", "qwen-served", "qwen")} <= used


def test_judge_and_writer_are_independent(response: ScoreResponse) -> None:
    assert response.independence == "independent"


def test_as_many_samples_are_drawn_as_the_preset_wants(response: ScoreResponse) -> None:
    assert response.samples == 3


def test_support_is_measured_by_what_the_writer_wrote_after_an_edit(response: ScoreResponse) -> None:
    assert response.interventions.method == "continuation"
    assert response.interventions.valid > 0


@pytest.mark.parametrize("stage", ["verify", "sample", "counterfactual"])
def test_every_stage_says_what_it_cost(response: ScoreResponse, stage: str) -> None:
    (usage,) = [each for each in response.usage if each.stage == stage]
    assert usage.calls > 0
    assert usage.tokens > usage.calls
