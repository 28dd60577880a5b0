"""In the gate no model is asked once the score cannot reach the smallest accepted one any more."""

from collections.abc import Sequence

import pytest

from rafs.record import Record
from rafs.types import BlindTrace, Judged, ModelIdentity, Verdict
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import replay
from service.wiring import build_replay
from tests.test_cascade import TOKENS, Validator, tokens, unmeasured
from tests.test_flow import STEPS, LengthJudge, content, request, scorer

WRONG_END = STEPS + "The answer is 51."
SAMPLES = [STEPS + "So some are left.\nThe answer is 50.", STEPS + "Some nuts are left.\nThe answer is 50."]


STERN = ModelIdentity(id="stern", family="stern", revision="1")


class Stern(LengthJudge):
    """A judge of full weight to whom no step is right."""

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        meter.add("verify", calls=1, tokens=TOKENS)
        return [Judged(p_correct=0.001) for _ in ask]


async def score(trace: str, preset: str = "gate", **fields: object) -> ScoreResponse:
    return await scorer(Stern(STERN), nli=Validator()).score(request(trace, preset=preset, **fields))


async def test_an_answer_that_the_derivation_does_not_end_in_costs_no_token() -> None:
    response = await score(WRONG_END, samples=SAMPLES)
    assert tokens(response) == {}
    assert (response.status, unmeasured(response)) == ("Review", {"D": "not_evaluated"})
    assert response.score is not None and response.score < 70
    assert {"answer_differs_from_derivation", "score_below_threshold"} <= set(response.reasons)


async def test_what_was_measured_without_a_model_stays_in_the_score() -> None:
    response = await score(WRONG_END)
    assert {part.name for part in response.components if part.value is not None} == {"P", "S"}


async def test_steps_that_the_verifier_doubts_leave_the_validator_unasked() -> None:
    response = await score(STEPS + "So some are left.\nThe answer is 50.", samples=SAMPLES)
    assert set(tokens(response)) == {"verify"}
    assert unmeasured(response)["D"] == "not_evaluated"


@pytest.mark.parametrize("preset", ["standard", "deep"])
async def test_other_presets_ask_on(preset: str) -> None:
    assert "verify" in tokens(await score(WRONG_END, preset))


async def test_a_decision_out_of_reach_replays() -> None:
    response = await score(WRONG_END, samples=SAMPLES, include=["record"])
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("score", "status", "reasons", "components", "members", "steps", "outcome"):
        assert content(again)[part] == content(response)[part]
