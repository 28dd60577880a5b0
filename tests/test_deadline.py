"""What is too slow for its deadline returns what it has, with its coverage and the reason: never a guess."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from rafs.limits import MAX_STEPS
from rafs.record import Record
from rafs.request import ScoreRequest
from rafs.types import BlindTrace, Judged, Sampled, Verdict
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import replay
from service.wiring import build_replay
from tests.test_flow import LengthJudge, content, request, scorer
from tests.test_generator_flow import Writer, component

SAID = ["So the pile keeps growing.", "Hence the pile is larger than before."]
HUGE = [*(f"One more makes {n} + 1 = {n + 1}." for n in range(1, MAX_STEPS - 10)), *SAID, "The answer is 390."]
PROBLEM = "Ana has 1 nut and gets one more 389 times. How many has she?"
SAMPLE = "She gets 389 * 1 = 389 more.\nSo 1 + 389 = 390.\n#### 390"
PATIENCE_S = 2.0


class Plods(Writer):
    """A writer that never finishes, or not after so many calls; what it says is that the answer stays."""

    def __init__(self, *, says: int) -> None:
        super().__init__(sample=SAMPLE, sticks_to="The answer is 390.")
        self.says = says

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        self.says -= 1
        if self.says < 0:
            await asyncio.Event().wait()
        return await super().continue_trace(problem, prefixes, n, seed, meter, max_tokens)


class Sure(LengthJudge):
    """A judge with whom nothing but support is open."""

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        return [Judged(p_correct=0.99)] * len(ask)


def huge(**fields: object) -> ScoreRequest:
    fields = {"problem": PROBLEM, "preset": "deep", "include": ["record", "interventions"], **fields}
    return request(HUGE, **fields)


async def late(writer: Plods, deadline_s: float = PATIENCE_S) -> ScoreResponse:
    return await scorer(Sure(), generators={"gpt-4o": writer}, deadline_s=deadline_s).score(huge())


SLOW: Mapping[str, tuple[int, float]] = {
    "nothing was said": (0, PATIENCE_S),
    "one round was said": (1, PATIENCE_S),
    "the ranking had hardly begun": (0, 0.4),
    "nothing had begun": (0, 0.05),
}


@pytest.fixture(scope="module", params=SLOW)
def slow(request: pytest.FixtureRequest) -> ScoreResponse:
    says, deadline_s = SLOW[request.param]
    return asyncio.run(late(Plods(says=says), deadline_s))


def test_it_abstains_without_a_score_and_says_that_time_ran_out(slow: ScoreResponse) -> None:
    assert (slow.status, slow.score, "deadline" in slow.reasons) == ("Abstain", None, True)
    assert slow.interventions.late


def test_what_was_not_measured_has_a_reason_and_no_number(slow: ScoreResponse) -> None:
    for part in slow.components:
        assert (part.value is None) == (part.unmeasured is not None) == (part.log_contribution is None)
        assert part.value is not None or part.coverage == 0.0


def test_support_is_what_was_observed_or_the_deadline(slow: ScoreResponse) -> None:
    support = component(slow, "S")
    assert slow.interventions.effects is not None
    said = [one for effect in slow.interventions.effects for one in effect.responses if one != "not_run"]
    assert (support.value is None) == (not said)
    assert support.unmeasured == ("deadline" if not said else None)
    assert support.coverage < 1


async def test_it_replays_to_the_same_response(slow: ScoreResponse) -> None:
    assert slow.record is not None
    again = await replay(Record.model_validate_json(slow.record.model_dump_json()), build_replay)
    for part in ("status", "reasons", "components", "interventions", "support", "outcome"):
        assert content(again)[part] == content(slow)[part]


async def test_a_writer_in_time_leaves_nothing_out() -> None:
    response = await late(Plods(says=9), 60)
    assert not response.interventions.late
    assert component(response, "S").coverage == 1.0
