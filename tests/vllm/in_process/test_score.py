"""`rafs score` with `engine: vllm` in models.yaml, where only `rafs[vllm]` is installed."""

import json
import subprocess
import sys
from pathlib import Path

from rafs.wire import ScoreResponse
from tests.vllm.models_file import PROBLEM, TRACE, write_models
from tests.vllm.weights import judge_folder


def test_the_judge_on_vllm_is_heard_and_the_output_is_json_alone(tmp_path: Path) -> None:
    judge = {"id": "smollm2-on-vllm", "family": "smollm", "roles": ["judge"], "licence": "Apache-2.0"}
    judge |= {"source": f"path:{judge_folder()}", "engine": "vllm"}
    models = write_models(tmp_path / "models.yaml", [judge], {"judge": ["smollm2-on-vllm"]})
    request = {"problem": PROBLEM, "trace": TRACE, "generator": {"model": "gpt-4o"}}
    (tmp_path / "request.json").write_text(json.dumps(request))
    rafs = Path(sys.executable).parent / "rafs"
    command = [str(rafs), "score", str(tmp_path / "request.json"), "--json", "--models-file", str(models)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    response = ScoreResponse.model_validate_json(done.stdout)
    (member,) = [each for each in response.members if each.member == "judge:smollm2-on-vllm"]
    assert member.judged == member.asked > 0
