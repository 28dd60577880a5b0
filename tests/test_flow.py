"""The whole flow on scripted models: blindness, independence, reproducibility, deadlines, replay."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rafs.calibration import AT_CHANCE, DEFAULT_CALIBRATION, Scale
from rafs.contracts import Generator, Nli, Verifier
from rafs.engines.scripted import ScriptedAlgebra
from rafs.errors import BackendError, OverloadedError
from rafs.pipeline import Pipeline
from rafs.registry import Registry, load_registry
from rafs.request import ScoreRequest
from rafs.types import Abstained, BlindTrace, Entailment, Judged, ModelIdentity, Verdict
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import Scorer
from service.wiring import assemble
from verifiers.symbolic import SymbolicVerifier

PROBLEM = "Ana has 4 bags of 15 nuts and eats 10 nuts. How many are left?"
STEPS = "She has 4 * 15 = 60 nuts.\nAfter eating 10 she has 60 - 10 = 50 nuts.\n"
SMOL = ModelIdentity(id="smollm2", family="smollm", revision="1")
LLAMA = ModelIdentity(id="llama-3", family="llama", revision="1")


class LengthJudge:
    """A judge whose opinion is a function of all it was shown, so that a leak shows."""

    def __init__(self, identity: ModelIdentity = SMOL, error: Exception | None = None, delay_s: float = 0.0) -> None:
        self.identity = identity
        self.name = f"judge:{identity.id}"
        self.error = error
        self.delay_s = delay_s

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        if self.error is not None:
            raise self.error
        await asyncio.sleep(self.delay_s)
        shown = [trace.problem + "".join(step.text for step in trace.steps[: t + 1]) for t in ask]
        return [Judged(p_correct=(sum(map(ord, text)) % 97) / 97) for text in shown]


class WordNli:
    """A validator that counts shared words."""

    identity = ModelIdentity(id="words", family="words", revision="1")

    def __init__(self, delay_s: float = 0.0) -> None:
        self.delay_s = delay_s

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        await asyncio.sleep(self.delay_s)
        shared = [len(set(a.split()) & set(b.split())) / max(1, len(set(b.split()))) for a, b in pairs]
        return [Entailment(entails=share, neutral=1 - share, contradicts=0.0) for share in shared]


REGISTRY = load_registry()
WEAK = Scale(intercept=2.0, slope=0.1)
CALIBRATION = replace(
    DEFAULT_CALIBRATION, scales={"judge:smollm2": WEAK, "judge:llama-3": WEAK, "judge:coin": AT_CHANCE}
)


async def nothing() -> None:
    return None


def scorer(
    *judges: Verifier,
    registry: Registry = REGISTRY,
    deadline_s: float | None = None,
    nli: Nli | None = None,
    generators: Mapping[str, Generator] | None = None,
    n_judges: int = 1,
) -> Scorer:
    changes = {"n_judges": n_judges} | ({} if deadline_s is None else {"deadline_s": deadline_s})
    presets = {name: entry.model_copy(update=changes) for name, entry in registry.presets.by_name().items()}
    registry = registry.model_copy(update={"presets": registry.presets.model_copy(update=presets)})

    def build(name: str) -> Pipeline:
        preset = presets[name].to_preset(name)
        return assemble(
            registry.policy.to_policy(),
            preset,
            CALIBRATION,
            algebra=ScriptedAlgebra({}),
            checkers=[SymbolicVerifier(DEFAULT_CALIBRATION.checker)],
            models=judges or (LengthJudge(),),
            validators=[nli or WordNli()],
            generators=generators or {},
        )

    return Scorer(
        registry=registry,
        build_pipeline=build,
        is_ready=lambda entry: True,
        close=nothing,
        calibration=CALIBRATION,
        default_preset="standard",
        edit_secret="secret",
    )


def request(trace: Any = STEPS + "The answer is 50.", **fields: Any) -> ScoreRequest:
    body = {"problem": PROBLEM, "trace": trace, "generator": {"model": "gpt-4o"}} | fields
    return ScoreRequest.model_validate_json(json.dumps(body))


def content(response: ScoreResponse) -> dict[str, Any]:
    """Everything but ids and times."""
    plain = response.model_dump(mode="json", exclude={"id"})
    for stage in plain["usage"]:
        del stage["milliseconds"]
    return plain


def verdicts(response: ScoreResponse) -> list[Any]:
    return [row.model_dump() for row in response.ledger] + [(step.p_correct, step.reason) for step in response.steps]


SAMPLES = [
    "4 * 15 = 60 and 60 - 10 = 50.\nThe answer is 50.",
    "60 - 10 = 50 remain, since 4 * 15 = 60.\n#### 50",
    "#### 40",
]
IN_WORDS = [STEPS + "So some nuts remain.\nThe answer is 50.", STEPS + "Hence nuts are left.\nThe answer is 50."]
"""Samples that only a validator can compare."""


async def test_a_faithful_trace_is_accepted() -> None:
    response = await scorer().score(request(samples=SAMPLES[:2]))
    assert (response.status, response.outcome.label) == ("Accept", "faithful_success")
    assert response.suspect_step is None


@pytest.mark.parametrize("statement", ["The answer is {}.", "#### {}", "Final answer: $\\boxed{{{}}}$"])
async def test_swapping_the_stated_answer_changes_no_verdict(statement: str) -> None:
    right, wrong = [await scorer().score(request(STEPS + statement.format(answer))) for answer in (50, 999)]
    assert verdicts(right) == verdicts(wrong)
    assert right.outcome.label == "faithful_success"
    assert wrong.outcome.label == "extraction_failure"


async def test_swapping_the_answer_field_changes_no_verdict() -> None:
    right, wrong = [await scorer().score(request(STEPS, answer=answer)) for answer in ("50", "999")]
    assert verdicts(right) == verdicts(wrong)


async def test_a_later_step_changes_no_earlier_verdict() -> None:
    short = await scorer().score(request(STEPS + "The answer is 50."))
    long = await scorer().score(request(STEPS + "Half of them are 50 / 2 = 25 nuts.\nThe answer is 50."))
    assert [step.p_correct for step in short.steps[:2]] == [step.p_correct for step in long.steps[:2]]


async def test_a_writer_of_the_judges_family_leaves_no_verifier() -> None:
    response = await scorer().score(request(generator={"model": "HuggingFaceTB/SmolLM2-1.7B-Instruct"}))
    assert (response.status, response.score) == ("Abstain", None)
    assert "no_independent_verifier" in response.reasons
    assert {row.reason.partition(":")[0] for row in response.ledger if row.member == "judge:smollm2"} == {"same_family"}


async def test_another_judge_is_chosen_where_there_is_one() -> None:
    response = await scorer(LengthJudge(), LengthJudge(LLAMA)).score(request(generator={"family": "smollm"}))
    assert response.independence == "independent"
    assert {row.member for row in response.ledger if row.p_correct is not None} == {"symbolic", "judge:llama-3"}


@pytest.mark.parametrize(
    "generator",
    [None, {}, {"model": "my-own-model"}, {"family": "nobody-knows-it"}],
    ids=["none", "empty", "id", "family"],
)
async def test_a_trace_of_unknown_writer_is_never_accepted(generator: dict[str, str] | None) -> None:
    response = await scorer().score(request(generator=generator, samples=SAMPLES[:2]))
    assert (response.status, response.independence) == ("Review", "unknown")
    assert "unknown_generator" in response.reasons


async def test_a_model_of_the_registry_has_the_family_that_the_registry_says() -> None:
    entry = REGISTRY.models[0].model_copy(update={"id": "house-model"})
    registry = REGISTRY.model_copy(update={"models": (entry, *REGISTRY.models[1:])})
    response = await scorer(registry=registry).score(request(generator={"model": "House-Model"}))
    assert response.independence == "none_left"


async def test_an_answer_that_is_no_number_is_not_held_against_the_steps() -> None:
    response = await scorer().score(request(STEPS + "The answer is (60, 50)."))
    assert "steps_do_not_carry_answer" not in response.reasons
    assert response.outcome.reasoning == "sound"
    support = next(part for part in response.components if part.name == "S")
    assert (support.value, support.unmeasured) == (None, "derivation_not_readable")


async def test_an_override_is_on_the_record() -> None:
    policy = REGISTRY.policy.model_copy(update={"independence_override": True})
    registry = REGISTRY.model_copy(update={"policy": policy})
    response = await scorer(registry=registry).score(request(generator={"family": "smollm"}))
    assert response.independence == "overridden"
    assert response.status != "Abstain"


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        pytest.param("The answer is 50.", "no_trace", id="only an answer"),
        pytest.param("She eats some of the nuts.\nSo fewer are left.", "no_answer", id="no answer anywhere"),
        pytest.param("<think>She has 4 * 15 = 60 nuts. Then", "no_answer", id="the thinking never ends"),
    ],
)
async def test_nothing_to_judge_abstains(trace: str, reason: str) -> None:
    response = await scorer().score(request(trace))
    assert (response.status, response.score) == ("Abstain", None)
    assert reason in response.reasons


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param([*STEPS.splitlines(), "The answer is 50."], id="list of steps"),
        pytest.param({"content": "The answer is 50.", "reasoning_content": STEPS}, id="reasoning channel"),
        pytest.param(
            {"content": [{"type": "thinking", "thinking": STEPS}, {"type": "text", "text": "The answer is 50."}]},
            id="blocks",
        ),
        pytest.param(f"<think>{STEPS}</think>The answer is 50.", id="think tags"),
    ],
)
async def test_every_shape_of_trace_is_read(trace: Any) -> None:
    response = await scorer().score(request(trace))
    assert response.outcome.label == "faithful_success"
    assert sum(step.p_correct is not None for step in response.steps) == 2


async def test_past_the_deadline_it_abstains_and_keeps_no_half_measured_number() -> None:
    response = await scorer(nli=WordNli(delay_s=30), deadline_s=0.5).score(request(samples=IN_WORDS))
    assert (response.status, response.score) == ("Abstain", None)
    assert "deadline" in response.reasons
    unmeasured = {part.name: part.unmeasured for part in response.components if part.value is None}
    assert unmeasured == {"C": "deadline", "D": "deadline"}


async def test_where_every_judge_is_down_nothing_is_accepted() -> None:
    response = await scorer(LengthJudge(error=BackendError("gone"))).score(request(samples=SAMPLES[:2]))
    assert response.status == "Review"
    assert "verifier_down" in response.reasons
    assert "judge" not in {model.role for model in response.provenance.models}


async def test_a_full_queue_is_passed_on() -> None:
    with pytest.raises(OverloadedError):
        await scorer(LengthJudge(error=OverloadedError("full", retry_after_s=1))).score(request())


async def test_components_that_were_not_measured_have_no_value() -> None:
    response = await scorer().score(request())
    for part in response.components:
        assert (part.value is None) == (part.log_contribution is None) == (part.unmeasured is not None)
    assert [part.name for part in response.components if part.value is None] == ["C", "D"]
    assert response.coverage == pytest.approx(0.65)


async def test_edits_are_shown_only_where_asked_for() -> None:
    hidden, shown = [await scorer().score(request(include=include)) for include in ([], ["interventions"])]
    assert hidden.interventions.effects is None
    assert shown.interventions.effects
    assert hidden.interventions.valid == shown.interventions.valid == len(shown.interventions.effects)


async def test_a_judge_at_chance_stands_in_for_no_other() -> None:
    coin = LengthJudge(ModelIdentity(id="coin", family="phi", revision="1"))
    panel = scorer(LengthJudge(error=BackendError("gone")), coin, n_judges=2)
    response = await panel.score(request(samples=SAMPLES[:2]))
    assert response.status == "Review"
    assert "verifier_down" in response.reasons


async def test_an_answer_stated_first_is_not_carried_by_steps_that_lead_elsewhere() -> None:
    trace = "The answer is 50.\n" + STEPS.splitlines()[0]
    response = await scorer().score(request(trace, samples=SAMPLES[:2]))
    assert "answer_differs_from_derivation" in response.reasons
