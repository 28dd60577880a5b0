"""What loading a model refuses, and how long its prompts may be."""

import json
from pathlib import Path
from typing import Any

import pytest

from rafs.engines.loading import load_model, window_tokens
from rafs.errors import BackendError
from tests.rafs.engines.tiny_models import tiny_llama


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {"quantization_config": {"quant_method": "gptq", "bits": 4}}, id="quantised for a missing library"
        ),
        pytest.param({"hidden_size": "wide"}, id="a word for a number"),
        pytest.param({"hidden_size": 64}, id="weights of another width"),
    ],
)
def test_a_model_that_cannot_be_read_is_a_backend_error(tmp_path: Path, changes: dict[str, Any]) -> None:
    tiny_llama().save_pretrained(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), **changes}))
    with pytest.raises(BackendError, match="cannot load a model"):
        load_model(tmp_path, "AutoModelForCausalLM")


def test_weights_cut_short_are_a_backend_error(tmp_path: Path) -> None:
    tiny_llama().save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(BackendError, match="cannot load a model"):
        load_model(tmp_path, "AutoModelForCausalLM")


def test_other_positions_for_long_prompts_bound_the_window() -> None:
    factors = {"short_factor": [1.0] * 4, "long_factor": [2.0] * 4, "original_max_position_embeddings": 64}
    long = tiny_llama(rope_parameters={"rope_type": "longrope", "rope_theta": 10000.0, **factors})
    assert (window_tokens(long), window_tokens(tiny_llama())) == (64, 512)
