"""Random reward models of the published formats on vLLM in this process score as on transformers."""

import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from rafs.engines.vllm_prm import VllmRewarder
from rafs.errors import BackendError
from rafs.types import Abstained, Judged, Why
from rafs.usage import Meter
from tests.rafs.engines.tiny_models import TINY
from tests.rafs.engines.tiny_prms import QWEN, SHEPHERD, layout, load_tiny, save_tiny

pytestmark = pytest.mark.asyncio(loop_scope="session")
PROBLEM = "Tom has 3 apples and buys 4 more. How many has he?"
STEPS = ["He has 3 apples.", "3 + 4 = 7", "", "So he has eight apples."]
ASK = [3, 0, 1, 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    family: str
    folder: Path
    rewarder: VllmRewarder
    processes: frozenset[BaseProcess]


@pytest.fixture(scope="module", params=[QWEN, SHEPHERD], ids=["head", "two_tokens"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    family, folder = str(request.param), tmp_path_factory.mktemp("prm")
    save_tiny(family, folder, n_heads=1)  # vLLM's attention on a CPU takes no head below 32
    if family == QWEN:
        name_architecture(folder, "Qwen2ForProcessRewardModel")  # as the published configuration does
    before = frozenset(multiprocessing.active_children())
    rewarder = VllmRewarder.load(folder, TINY, layout(family))
    started = frozenset(multiprocessing.active_children()) - before
    yield Running(family=family, folder=folder, rewarder=rewarder, processes=started)
    rewarder.close()


def name_architecture(folder: Path, name: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": [name]}))


async def test_scores_are_those_of_transformers(running: Running) -> None:
    local = load_tiny(running.family, running.folder)
    expected = await local.reward(PROBLEM, STEPS, ASK, Meter())
    local.close()
    found = await running.rewarder.reward(PROBLEM, STEPS, ASK, Meter())
    assert [verdict.p_correct if isinstance(verdict, Judged) else verdict for verdict in found] == [
        pytest.approx(verdict.p_correct, abs=1e-4) if isinstance(verdict, Judged) else verdict for verdict in expected
    ]


async def test_a_step_past_the_window_is_too_long_and_those_before_it_are_scored(running: Running) -> None:
    first, last = await running.rewarder.reward(PROBLEM, [*STEPS, "six " * 600], [0, 4], Meter())
    assert isinstance(first, Judged)
    assert isinstance(last, Abstained)
    assert last.why is Why.TOO_LONG


async def test_an_engine_whose_process_dies_fails_at_once(running: Running) -> None:
    for process in running.processes:
        process.kill()
    async with asyncio.timeout(60):
        with pytest.raises(BackendError, match="vLLM failed"):
            await running.rewarder.reward(PROBLEM, [*STEPS, "He has 7."], ASK, Meter())
