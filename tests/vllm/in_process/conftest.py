"""The embedded judge on one vLLM engine of this process, which prober and generator share."""

from collections.abc import Iterator

import pytest

from rafs.engines.vllm_engine import VllmEngine
from tests.vllm.weights import judge_folder


@pytest.fixture(scope="session")
def engine() -> Iterator[VllmEngine]:
    engine = VllmEngine.start(judge_folder(), "smollm2-135m-instruct", window=2048)
    yield engine
    engine.close()
