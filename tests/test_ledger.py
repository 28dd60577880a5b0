"""Who decided what, who was silent and why, and what no model was ever sent."""

from collections.abc import Sequence
from typing import Any

import pytest

from rafs.engines.scripted import Script, ScriptedGenerator
from rafs.errors import BackendError
from rafs.model_entry import ModelEntry, Role
from rafs.record import Record
from rafs.types import BlindTrace, Judged, ModelIdentity, Verdict
from rafs.usage import Meter, Priority
from rafs.wire import MemberOut, ScoreResponse
from service.scorer import replay
from service.wiring import build_replay
from tests.test_flow import LLAMA, REGISTRY, SAMPLES, SMOL, STEPS, LengthJudge, content, request, scorer

GEMMA = ModelIdentity(id="gemma-2", family="gemma", revision="1")
FALSE = "She has 4 * 15 = 70 nuts.\nAfter eating 10 she has 70 - 10 = 60 nuts.\nThe answer is 60."
PHI = ModelIdentity(id="phi-4", family="phi", revision="1")
GONE = BackendError("gone")


class Firm(LengthJudge):
    """Finds every step equally probable."""

    def __init__(self, identity: ModelIdentity, p_correct: float) -> None:
        super().__init__(identity)
        self.p_correct = p_correct

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        return [Judged(p_correct=self.p_correct)] * len(ask)


class Prm(LengthJudge):
    """The same opinions, as a reward model."""

    def __init__(self, identity: ModelIdentity) -> None:
        super().__init__(identity)
        self.name = f"prm:{identity.id}"


def member(response: ScoreResponse, name: str) -> MemberOut:
    return next(row for row in response.members if row.member == name)


async def test_counts_of_every_member_add_up_to_the_steps() -> None:
    judges = [LengthJudge(error=GONE), LengthJudge(LLAMA), LengthJudge(GEMMA)]
    response = await scorer(*judges).score(request(FALSE))
    assert member(response, "symbolic") == MemberOut(member="symbolic", family=None, asked=2, judged=2, silent={})
    decided = {"decided_by_checker": 1}
    assert member(response, "judge:smollm2").silent == decided | {"backend_down": 1}
    assert member(response, "judge:llama-3") == MemberOut(
        member="judge:llama-3", family="llama", asked=1, judged=1, silent=decided
    )
    assert member(response, "judge:gemma-2").silent == {"not_needed": 2}
    assert all(row.judged + sum(row.silent.values()) == 2 for row in response.members)


async def test_a_step_says_who_decided_it_and_which_models_were_sent_it() -> None:
    response = await scorer(LengthJudge(), LengthJudge(LLAMA)).score(request(FALSE))
    refuted, judged, answer = response.steps
    assert refuted.decided_by == ["symbolic"]
    assert judged.decided_by == ["symbolic", "judge:smollm2"]
    assert answer.decided_by == []
    assert [step.shown_to for step in (refuted, judged, answer)] == [["judge:smollm2"], ["judge:smollm2"], []]


async def test_what_lies_behind_the_last_step_in_question_is_sent_to_nobody() -> None:
    response = await scorer().score(request("She has 4 * 15 = 60 nuts.\nShe has 60 - 10 = 55 nuts.\nThe answer is 55."))
    assert [step.shown_to for step in response.steps] == [["judge:smollm2"], [], []]


@pytest.mark.parametrize(
    ("said", "disagree"),
    [pytest.param((0.99, 0.45), True, id="far apart"), pytest.param((0.99, 0.55), False, id="near enough")],
)
async def test_judges_that_are_far_apart_are_a_reason_to_review(said: tuple[float, float], disagree: bool) -> None:
    judges = [Firm(GEMMA, said[0]), Firm(PHI, said[1])]
    response = await scorer(*judges, n_judges=2).score(request(samples=SAMPLES[:2]))
    assert [step.disagreement for step in response.steps] == [*[pytest.approx(said[0] - said[1])] * 2, None]
    expected = ("Review", ["judges_disagree"]) if disagree else ("Accept", ["all_checks_passed"])
    assert (response.status, response.reasons) == expected


@pytest.mark.parametrize(
    ("generator", "asked"),
    [
        pytest.param({"model": "gpt-4o"}, {"judge:smollm2", "prm:llama-3"}, id="a stranger"),
        pytest.param({"model": "Llama-3-8B-abliterated"}, {"judge:smollm2"}, id="kin of the reward model"),
        pytest.param({"model": "smollm2:135m"}, {"prm:llama-3"}, id="kin of the judge"),
    ],
)
async def test_judge_and_reward_model_are_both_asked_unless_they_are_kin(
    generator: dict[str, str], asked: set[str]
) -> None:
    response = await scorer(LengthJudge(), Prm(LLAMA)).score(request(generator=generator))
    assert {row.member for row in response.members if row.asked and row.family} == asked
    assert response.independence == "independent"


@pytest.mark.parametrize("model", ["llama-3", "llama-3.1-70b", None], ids=["another writer", "kin", "unknown writer"])
async def test_only_the_writer_itself_is_asked_for_samples(model: str | None) -> None:
    never = ScriptedGenerator(Script(), ModelIdentity(id="gpt-4o", family="gpt", revision="1"))
    generator = None if model is None else {"model": model}
    response = await scorer(generators={"gpt-4o": never}).score(request(generator=generator))
    assert component(response, "C").unmeasured == "no_samples"


async def test_a_declared_family_is_known_however_it_is_cased() -> None:
    titan = LengthJudge(ModelIdentity(id="titan-x", family="titan", revision="1"))
    response = await scorer(titan, LengthJudge()).score(request(generator={"model": "gpt-4o", "family": "Titan"}))
    assert {row.member for row in response.members if row.asked and row.family} == {"judge:smollm2"}


async def test_the_writer_is_known_by_the_folder_that_its_weights_lie_in() -> None:
    tune = ModelEntry(id="house", family="llama", roles=(Role.JUDGE,), source="path:/srv/models/tune-7", licence="L")
    registry = REGISTRY.model_copy(update={"models": (*REGISTRY.models, tune)})
    judged = scorer(LengthJudge(ModelIdentity(id="house", family="llama", revision="1")), registry=registry)
    response = await judged.score(request(generator={"model": "Tune-7"}))
    assert response.independence == "none_left"


def component(response: ScoreResponse, name: str) -> Any:
    return next(part for part in response.components if part.name == name)


async def test_a_judge_that_hangs_is_replaced_within_the_request() -> None:
    response = await scorer(LengthJudge(delay_s=3600), LengthJudge(LLAMA), deadline_s=2).score(request())
    assert member(response, "judge:smollm2").silent == {"timeout": 2}
    assert member(response, "judge:llama-3").judged == 2
    assert not {"deadline", "verifier_down"} & set(response.reasons)


@pytest.mark.parametrize(
    "judges",
    [
        pytest.param([LengthJudge(error=GONE), LengthJudge(LLAMA), LengthJudge(GEMMA)], id="one is replaced"),
        pytest.param([LengthJudge(), Prm(LLAMA), LengthJudge(GEMMA, error=ValueError())], id="one fails for good"),
        pytest.param([LengthJudge(SMOL, error=GONE), LengthJudge(LLAMA, error=GONE)], id="nobody is left"),
    ],
)
async def test_a_panel_with_failures_replays(judges: list[LengthJudge]) -> None:
    response = await scorer(*judges, n_judges=2).score(request(STEPS + "The answer is 50.", include=["record"]))
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("score", "status", "reasons", "independence", "members", "ledger", "steps"):
        assert content(again)[part] == content(response)[part]


class Noting(LengthJudge):
    """Notes how urgent its callers are."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Priority] = []

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        self.seen.append(meter.caller.priority)
        return await super().verify(trace, ask, meter)


async def test_the_gate_is_served_before_other_presets() -> None:
    judge = Noting()
    for preset in ("gate", "standard", "deep"):
        await scorer(judge).score(request(preset=preset))
    assert judge.seen == [Priority.GATE, Priority.SCORE, Priority.SCORE]
