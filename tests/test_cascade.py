"""In the gate a refuted step settles the decision: not one token goes through a model."""

from collections.abc import Sequence
from typing import Any

import pytest

from rafs.record import Record
from rafs.types import Abstained, BlindTrace, Entailment, Sampled, Verdict
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import replay
from service.wiring import build_replay
from tests.test_flow import STEPS, LengthJudge, WordNli, content, request, scorer
from tests.test_generator_flow import Writer

FALSE = "She has 4 * 15 = 70 nuts.\nAfter eating 10 she has 70 - 10 = 60 nuts.\nSo some are left.\nThe answer is 60."
SAMPLES = [
    FALSE.replace("So some", "Some"),
    "Some are left, for 4 * 15 = 70 and 70 - 10 = 60.\nThe answer is 60.",
    "#### 50",
]
TOKENS = 7
"""That each stand-in claims to cost for a call."""


class Judge(LengthJudge):
    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        meter.add("verify", calls=1, tokens=TOKENS)
        return await super().verify(trace, ask, meter)


class Validator(WordNli):
    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        meter.add("agree", calls=1, tokens=TOKENS)
        return await super().classify(pairs, meter)


class Solver(Writer):
    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        meter.add("intervene", calls=1, tokens=TOKENS)
        return await super().continue_trace(problem, prefixes, n, seed, meter)


async def score(trace: str, preset: str, **fields: Any) -> ScoreResponse:
    judged = scorer(Judge(), nli=Validator(), generators={"gpt-4o": Solver()})
    return await judged.score(request(trace, preset=preset, **fields))


def tokens(response: ScoreResponse) -> dict[str, int]:
    return {use.stage: use.tokens for use in response.usage if use.tokens}


def unmeasured(response: ScoreResponse) -> dict[str, str]:
    return {part.name: part.unmeasured for part in response.components if part.unmeasured}


async def test_a_refuted_trace_costs_no_token() -> None:
    response = await score(FALSE, "gate", samples=SAMPLES)
    assert tokens(response) == {}
    assert all(step.shown_to == [] for step in response.steps)
    assert {row.member: row.asked for row in response.members} == {"symbolic": 3, "judge:smollm2": 0}


@pytest.mark.parametrize(
    ("trace", "preset"),
    [
        pytest.param(STEPS + "So some are left.\nThe answer is 50.", "gate", id="nothing is refuted"),
        pytest.param(FALSE, "standard", id="a preset that looks at everything"),
    ],
)
async def test_otherwise_the_models_are_asked(trace: str, preset: str) -> None:
    assert "verify" in tokens(await score(trace, preset, samples=SAMPLES))


async def test_what_was_not_run_is_not_evaluated_and_the_refuted_step_decides() -> None:
    response = await score(FALSE, "gate")
    assert response.status == "Review"
    assert "refuted_step" in response.reasons
    assert not any("unmeasured" in reason or reason == "only_arithmetic_was_checked" for reason in response.reasons)
    assert unmeasured(response) == dict.fromkeys("SCD", "not_evaluated")
    assert response.outcome.reasoning == "flawed"
    assert response.suspect_step is not None
    assert response.suspect_step.index == 0
    assert response.score is not None  # of what the checkers measured, with the coverage that it has
    assert response.coverage < 0.35


async def test_the_votes_of_the_callers_samples_take_no_model_and_are_counted() -> None:
    response = await score(FALSE, "gate", samples=SAMPLES)
    assert unmeasured(response) == dict.fromkeys("SD", "not_evaluated")
    assert (response.answer.modal, response.outcome.label) == ("60", "silent_failure")


async def test_without_a_stated_answer_it_still_abstains() -> None:
    response = await score("<think>She has 4 * 15 = 70 nuts. Then", "gate")
    assert response.status == "Abstain"
    assert tokens(response) == {}


async def test_a_settled_decision_replays() -> None:
    response = await score(FALSE, "gate", samples=SAMPLES, include=["record"])
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("score", "status", "reasons", "components", "members", "steps", "outcome"):
        assert content(again)[part] == content(response)[part]
