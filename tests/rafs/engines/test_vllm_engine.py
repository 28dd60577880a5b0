"""vLLM in this process, where it is not installed; where it is, `make test-vllm` runs it."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from pydantic import ValidationError

from rafs.engines.vllm_engine import VllmEngine
from rafs.engines.vllm_prm import VllmRewarder
from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry
from tests.rafs.engines.tiny_models import TINY
from tests.rafs.engines.tiny_prms import SKYWORK, layout

ENTRY = {"id": "judge", "family": "smollm", "roles": ["judge"], "licence": "MIT"}


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed here")
def test_without_vllm_the_error_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match=r"rafs\[vllm\].*environment of its own"):
        VllmEngine.start(Path("nowhere"), "judge")


def test_a_model_on_this_machine_may_name_vllm_as_its_engine() -> None:
    assert ModelEntry.model_validate({**ENTRY, "source": "path:models/judge", "engine": "vllm"}).engine == "vllm"


def test_an_endpoint_names_no_engine() -> None:
    served = {**ENTRY, "source": "endpoint:http://127.0.0.1:8001/v1", "model": "judge", "engine": "vllm"}
    with pytest.raises(ValidationError, match="engine"):
        ModelEntry.model_validate(served)


def test_a_head_that_vllm_does_not_run_is_refused_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["Qwen2ForCausalLM"]}')
    with pytest.raises(ConfigError, match=r"v_head\.summary.*engine: transformers"):
        VllmRewarder.load(tmp_path, TINY, layout(SKYWORK))
