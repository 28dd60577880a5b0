"""When a request's tokens are spent no model is asked any more, and what was cut off is named as by a deadline."""

from collections.abc import Sequence
from typing import Any

import pytest

from rafs.record import Record
from rafs.types import Abstained, BlindTrace, Entailment, Sampled, Verdict
from rafs.usage import Caller, Meter, Priority
from rafs.wire import ScoreResponse
from service.scorer import replay
from service.terms import Terms
from service.wiring import build_replay
from tests.test_flow import IN_WORDS, SAMPLES, LengthJudge, WordNli, content, request, scorer
from tests.test_generator_flow import Writer, component

COST = 100
"""Tokens of every call of these models."""


class Costly(LengthJudge):
    """A judge whose calls cost tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.callers: list[Caller] = []

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        self.callers.append(meter.caller)
        meter.add("verify", calls=1, tokens=COST)
        return await super().verify(trace, ask, meter)


class CostlyNli(WordNli):
    """A validator whose calls cost tokens."""

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        meter.add("nli", calls=1, tokens=COST)
        return await super().classify(pairs, meter)


class CostlyWriter(Writer):
    """A writer whose every text costs tokens."""

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        meter.add("sample", calls=n, tokens=n * COST)
        return await super().sample(problem, n, seed, meter, first)

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        meter.add("counterfactual", calls=n, tokens=n * COST)
        return await super().continue_trace(problem, prefixes, n, seed, meter, max_tokens)


RECORDED = {"include": ["record", "interventions"]}


async def with_writer(budget: int | None, **fields: Any) -> ScoreResponse:
    built = scorer(Costly(), nli=CostlyNli(), generators={"gpt-4o": CostlyWriter(sample=IN_WORDS[0])})
    return await built.score(request(preset="deep", **RECORDED, **fields), Terms(token_budget=budget))


def tokens(response: ScoreResponse) -> int:
    return sum(stage.tokens for stage in response.usage)


def silences(response: ScoreResponse) -> set[str]:
    return {reason for member in response.members if member.member.startswith("judge") for reason in member.silent}


async def test_a_budget_of_nothing_asks_no_model() -> None:
    response = await with_writer(0)
    assert tokens(response) == 0
    assert (response.status, "deadline" in response.reasons) == ("Abstain", True)


async def test_what_was_paid_for_is_kept() -> None:
    response = await scorer(Costly(), nli=CostlyNli()).score(request(samples=IN_WORDS), Terms(token_budget=1))
    assert [row.member for row in response.ledger if row.p_correct is not None and "judge" in row.member]
    assert component(response, "P").value is not None


async def test_a_component_whose_models_were_not_asked_says_deadline() -> None:
    response = await with_writer(1)
    assert {part.name: part.unmeasured for part in response.components if part.value is None} == {
        "S": "deadline",
        "C": "deadline",
        "D": "deadline",
    }


async def test_what_needs_no_model_is_measured_without_tokens() -> None:
    response = await scorer(Costly()).score(request(), Terms(token_budget=COST))
    assert component(response, "S").value is not None
    assert "deadline" not in response.reasons


async def test_a_budget_that_suffices_changes_nothing() -> None:
    free = await with_writer(None)
    assert content(await with_writer(tokens(free) + 1)) == content(free)


@pytest.mark.parametrize("budget", [0, 1, 2 * COST, 5 * COST, 9 * COST, 15 * COST])
async def test_a_score_that_was_cut_off_replays_to_the_same(budget: int) -> None:
    response = await with_writer(budget)
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("status", "reasons", "components", "interventions", "support", "outcome", "steps"):
        assert content(again)[part] == content(response)[part]


@pytest.mark.parametrize("budget", [1, 3 * COST, 8 * COST])
async def test_no_call_begins_once_the_budget_is_spent(budget: int) -> None:
    response = await with_writer(budget)
    largest_call = max(COST, 16 * COST)
    assert tokens(response) < budget + largest_call
    assert response.status == "Abstain"


async def test_a_shorter_deadline_of_the_request_holds() -> None:
    response = await scorer(LengthJudge(delay_s=30)).score(request(), Terms(deadline_s=0.2))
    assert silences(response) == {"timeout"}


async def test_a_longer_deadline_of_the_request_does_not() -> None:
    slow = scorer(LengthJudge(delay_s=30), deadline_s=0.2)
    response = await slow.score(request(), Terms(deadline_s=60))
    assert silences(response) == {"timeout"}


@pytest.mark.parametrize(
    ("preset", "asked", "served"),
    [
        ("standard", Priority.SCORE, Priority.SCORE),
        ("gate", Priority.SCORE, Priority.GATE),
        ("gate", Priority.BATCH, Priority.BATCH),
        ("standard", Priority.GATE, Priority.GATE),
    ],
)
async def test_priority_and_tenant_reach_the_models(preset: str, asked: Priority, served: Priority) -> None:
    judge = Costly()
    await scorer(judge).score(request(preset=preset, samples=SAMPLES), Terms(priority=asked, tenant="t-1"))
    assert {(caller.tenant, caller.priority) for caller in judge.callers} == {("t-1", served)}
