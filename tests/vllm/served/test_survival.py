"""A server that dies in the middle of a request is unmeasured, and heard again when it is back."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rafs.request import GeneratorInfo, ScoreRequest
from rafs.wire import ScoreResponse
from service.scorer import Scorer
from service.settings import Settings
from service.wiring import build_scorer
from tests.vllm.models_file import PROBLEM, TRACE, served, write_models
from tests.vllm.served.conftest import Servers
from tests.vllm.servers import VllmServer

PATIENCE_S = 120.0
PLACES = "cellar attic kitchen hallway garage office library workshop stable barn".split()
WORDY = "\n".join(
    f"The owner of the shop walks through the {a} and the {b} before she thinks about what bottles do to a crate."
    for a in PLACES[:6]
    for b in PLACES[6:]
)
"""Nothing that a checker could decide, so that the judge has seconds of work."""
JUDGE = "judge:smollm2-served"


@pytest.fixture
async def scorer(servers: Servers, tmp_path: Path) -> AsyncIterator[Scorer]:
    judge = served(servers.judge.name, "smollm", "judge", servers.judge.url)
    writer = served(servers.writer.name, "qwen", "generator", servers.writer.url)
    roles = {"judge": [judge["id"]], "generator": [writer["id"]]}
    scorer = build_scorer(Settings(models_file=write_models(tmp_path / "models.yaml", [judge, writer], roles)))
    await scorer.warm()
    yield scorer
    await scorer.close()


def request(trace: str, generator: str) -> ScoreRequest:
    return ScoreRequest(problem=PROBLEM, trace=trace, generator=GeneratorInfo(model=generator))


async def score_while_dying(scorer: Scorer, dying: VllmServer, asked: ScoreRequest) -> ScoreResponse:
    """Score, and kill the server as soon as it has begun to compute for that request."""
    async with asyncio.timeout(PATIENCE_S):
        before = await asyncio.to_thread(dying.seen)
        scoring = asyncio.create_task(scorer.score(asked))
        while await asyncio.to_thread(dying.seen) == before:
            assert not scoring.done(), "it was scored before the server could be killed"
        dying.kill()
        return await scoring


def silent(response: ScoreResponse, member: str) -> dict[str, int]:
    (found,) = [each.silent for each in response.members if each.member == member]
    return found


def judged(response: ScoreResponse, member: str) -> int:
    (found,) = [each.judged for each in response.members if each.member == member]
    return found


async def test_a_dead_writer_leaves_its_components_unmeasured_and_the_judge_heard(
    scorer: Scorer, servers: Servers
) -> None:
    response = await score_while_dying(scorer, servers.writer, request(TRACE, servers.writer.name))
    components = {each.name: each for each in response.components}
    assert judged(response, JUDGE) > 0
    assert components["C"].unmeasured == "generator_down"
    assert components["P"].value is not None


async def test_a_dead_judge_is_unmeasured_and_the_checker_heard_until_it_is_back(
    scorer: Scorer, servers: Servers
) -> None:
    asked = request(f"{WORDY}\n{TRACE}", "gpt-4o")
    response = await score_while_dying(scorer, servers.judge, asked)
    assert judged(response, JUDGE) == 0
    assert silent(response, JUDGE).get("backend_down", 0) > 0
    assert judged(response, "symbolic") > 0

    servers.judge.start()
    await asyncio.to_thread(servers.judge.wait)
    again = await scorer.score(asked)
    assert judged(again, JUDGE) > 0
    assert not silent(again, JUDGE).get("backend_down")
