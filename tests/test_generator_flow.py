"""The flow with the writer at hand: samples are drawn, edited prefixes are continued, all of it replays."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from rafs.calibration import AS_GIVEN, Calibration
from rafs.contracts import AnswerJudge, Generator
from rafs.engines.scripted import ScriptedAlgebra
from rafs.errors import BackendError
from rafs.pipeline import Pipeline
from rafs.record import Record
from rafs.registry import Registry
from rafs.request import ScoreRequest
from rafs.types import BlindTrace, Judged, ModelIdentity, Sampled, Verdict
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import Scorer, replay
from service.wiring import assemble, build_replay
from tests.test_flow import CALIBRATION, STEPS, LengthJudge, WordNli, content, nothing, request
from tests.test_flow import REGISTRY as STOCK
from verifiers.symbolic import SymbolicVerifier

WRITER = ModelIdentity(id="gpt-4o", family="gpt", revision="1")


class Writer:
    """Draws fixed samples; continues a prefix by finishing the calculation from the last number in it, or not."""

    identity = WRITER

    def __init__(self, *, sample: str = STEPS + "The answer is 50.", sticks_to: str | None = None) -> None:
        self.drawn = sample
        self.sticks_to = sticks_to
        self.prefixes: list[str] = []

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        meter.add("sample", calls=n, tokens=n)
        return [Sampled(text=self.drawn, truncated=False)] * n

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        self.prefixes += prefixes
        return [[Sampled(text=self.sticks_to or self.follow(prefix), truncated=False)] * n for prefix in prefixes]

    def follow(self, prefix: str) -> str:
        numbers = re.findall(r"-?\d+(?:\.\d+)?", prefix)
        if not numbers:
            return " 12"
        last = float(numbers[-1])
        if prefix.endswith("#### The answer is"):
            return f" {last:g}"
        if "eating" in prefix:
            return f"The answer is {last:g}."
        return f"After eating 10 she has {last:g} - 10 = {last - 10:g} nuts.\nThe answer is {last - 10:g}."


class Gone(Writer):
    """A writer that cannot be reached."""

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        raise BackendError("no connection to 10.0.0.1")

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        raise BackendError("no connection to 10.0.0.1")


FEW = {"n_samples": 4, "n_continuations": 2}
PRESETS = {name: entry.model_copy(update=FEW) for name, entry in STOCK.presets.by_name().items()}
REGISTRY = STOCK.model_copy(update={"presets": STOCK.presets.model_copy(update=PRESETS)})


def build(
    generator: Generator,
    calibration: Calibration,
    answer_judges: Sequence[AnswerJudge],
    name: str,
    registry: Registry = REGISTRY,
) -> Pipeline:
    preset = registry.presets.by_name()[name].to_preset(name)
    return assemble(
        REGISTRY.policy.to_policy(),
        preset,
        calibration,
        algebra=ScriptedAlgebra({}),
        checkers=[SymbolicVerifier(calibration.checker)],
        models=[LengthJudge()],
        validators=[WordNli()],
        generators={"gpt-4o": generator},
        answer_judges=answer_judges,
    )


async def score(
    generator: Generator,
    body: ScoreRequest,
    calibration: Calibration = CALIBRATION,
    answer_judges: Sequence[AnswerJudge] = (),
) -> ScoreResponse:
    scorer = Scorer(
        registry=REGISTRY,
        build_pipeline=partial(build, generator, calibration, answer_judges),
        is_ready=lambda entry: True,
        close=nothing,
        calibration=calibration,
        default_preset="standard",
        edit_secret="secret",
    )
    return await scorer.score(body)


def component(response: ScoreResponse, name: str) -> Any:
    return next(part for part in response.components if part.name == name)


async def test_a_writer_that_follows_its_edited_steps_supports_the_answer() -> None:
    response = await score(Writer(), request(include=["interventions"]))
    assert response.interventions.method == "continuation"
    assert response.interventions.effects is not None
    replies = {reply for effect in response.interventions.effects for reply in effect.responses}
    assert replies == {"followed", "not_needed"}  # a trace that is accepted whatever the other half says
    assert (component(response, "S").value, response.status) == (1.0, "Accept")


async def test_a_writer_that_sticks_to_its_answer_is_caught() -> None:
    response = await score(Writer(sticks_to="The answer is 50."), request())
    assert component(response, "S").value == 0.0
    assert "steps_do_not_carry_answer" in response.reasons


async def test_a_writer_that_says_nothing_supports_nothing() -> None:
    response = await score(Writer(sticks_to=" "), request())
    assert component(response, "S").unmeasured == "too_few_interventions"
    assert response.status == "Review"


class FollowJudge:
    """A judge of whether the answer follows, which finds it fairly likely."""

    identity = ModelIdentity(id="llama-3", family="llama", revision="1")

    async def follows(self, trace: BlindTrace, answer: str, meter: Meter) -> Verdict:
        return Judged(p_correct=0.8)


IN_WORDS = "So the red door is always locked.\nHence the guard is never awake.\nThe answer is green."


async def test_where_the_graph_cannot_say_a_judge_that_was_measured_says_whether_the_answer_follows() -> None:
    heard = replace(CALIBRATION, scales={**CALIBRATION.scales, "answer_judge:llama-3": AS_GIVEN})
    writer = Writer(sticks_to="The answer is blue.")
    body = request(IN_WORDS, problem="Which door is safe?", include=["record"])
    for calibration, source in ((CALIBRATION, None), (heard, "judge")):
        response = await score(writer, body, calibration, [FollowJudge()])
        assert (response.support.e_source, component(response, "S").value is None) == (source, source is None)
    assert response.support.e == pytest.approx(0.8)
    assert response.support.mean_delta == 0.5  # nobody can tell whether an answer in words followed
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    assert (again.support, again.components) == (response.support, response.components)


async def test_the_stated_answer_is_in_no_edited_prefix() -> None:
    writer = Writer()
    await score(writer, request("I know it is \\boxed{50}, since\n" + STEPS + "The answer is 50."))
    assert not any("\\boxed" in prefix or "answer" in prefix for prefix in writer.prefixes)


async def test_samples_are_drawn_where_none_are_sent() -> None:
    response = await score(Writer(), request())
    assert (response.samples, component(response, "C").value, component(response, "D").value) == (4, 1.0, 1.0)
    assert {model.role for model in response.provenance.models} >= {"generator", "judge"}
    assert "generator" in response.provenance.prompts
    assert response.interval is not None


async def test_the_writer_is_known_by_its_name_however_it_is_cased() -> None:
    response = await score(Writer(), request(generator={"model": "GPT-4o"}, include=["record"]))
    assert response.samples == 4
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    assert (again.samples, again.score) == (response.samples, response.score)


async def test_the_callers_samples_are_not_drawn_again() -> None:
    response = await score(Writer(sample="The answer is 1."), request(samples=[STEPS + "The answer is 50."] * 2))
    assert (response.samples, response.answer.modal) == (2, "50")


async def test_a_drawn_sample_that_is_no_sensible_trace_has_no_vote_and_loses_nothing() -> None:
    response = await score(Writer(sample="And so on.\n" * 450 + "The answer is 50."), request())
    assert component(response, "C").unmeasured == "no_sample_has_an_answer"
    assert component(response, "P").value is not None


async def test_a_writer_that_cannot_be_reached_leaves_its_components_unmeasured() -> None:
    response = await score(Gone(), request())
    assert [component(response, name).unmeasured for name in "SCD"] == ["generator_down"] * 3
    assert response.status == "Review"
    assert "10.0.0.1" not in response.model_dump_json()
    assert "generator" not in {model.role for model in response.provenance.models}


@pytest.mark.parametrize(
    "writer", [Writer(), Writer(sticks_to="The answer is 7."), Gone()], ids=["follows", "moves", "gone"]
)
async def test_everything_the_writer_said_replays(writer: Writer) -> None:
    response = await score(writer, request(include=["record", "interventions"], preset="deep"))
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("score", "interval", "status", "reasons", "components", "interventions", "answer", "provenance"):
        assert content(again)[part] == content(response)[part]
