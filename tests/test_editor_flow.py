"""The flow with an editor: of another family than the writer, checked by the validator, on the record."""

from collections.abc import Sequence

import pytest

from rafs.contracts import Editor, Generator
from rafs.engines.scripted import ScriptedAlgebra
from rafs.errors import BackendError
from rafs.pipeline import Pipeline
from rafs.record import Record
from rafs.types import Abstained, Entailment, ModelIdentity
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import PROMPTS, Scorer, replay
from service.wiring import assemble, build_replay
from tests.test_flow import CALIBRATION, LengthJudge, content, nothing, request
from tests.test_generator_flow import REGISTRY, Writer
from verifiers.symbolic import SymbolicVerifier

PROBLEM = "Which of the two doors opens?"
IN_WORDS = "So the red key fits the lock.\nHence the guard sleeps by the door.\nThe answer is green."


class Turns:
    """An editor that turns round the two sentences of the trace."""

    def __init__(self, identity: ModelIdentity) -> None:
        self.identity = identity
        self.asked: list[str] = []

    async def propose(
        self, sentences: Sequence[str], k: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[str | Abstained]]:
        self.asked += sentences
        meter.add("edit", calls=k * len(sentences), tokens=k)
        return [[one.replace("fits", "jams").replace("sleeps", "waits")] * k for one in sentences]


class Opposes:
    """A validator that finds that different texts contradict one another."""

    identity = ModelIdentity(id="opposes", family="opposes", revision="1")

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        same = (Entailment(entails=float(a == b), neutral=0.0, contradicts=float(a != b)) for a, b in pairs)
        return list(same)


KIN, OTHER = [Turns(ModelIdentity(id=name, family=name, revision="1")) for name in ("gpt", "olmo")]


async def score(*editors: Editor, preset: str = "standard", generator: Generator | None = None) -> ScoreResponse:
    def build(name: str) -> Pipeline:
        return assemble(
            REGISTRY.policy.to_policy(),
            REGISTRY.presets.by_name()[name].to_preset(name),
            CALIBRATION,
            algebra=ScriptedAlgebra({}),
            checkers=[SymbolicVerifier(CALIBRATION.checker)],
            models=[LengthJudge()],
            validators=[Opposes()],
            generators={"gpt-4o": generator or Writer(sticks_to="The answer is green.")},
            editors=editors,
        )

    scorer = Scorer(
        registry=REGISTRY,
        build_pipeline=build,
        is_ready=lambda entry: True,
        close=nothing,
        calibration=CALIBRATION,
        default_preset="standard",
        edit_secret="secret",
    )
    include = ["record", "interventions"]
    return await scorer.score(request(IN_WORDS, problem=PROBLEM, include=include, preset=preset))


def families(response: ScoreResponse) -> set[str]:
    assert response.interventions.effects is not None
    return {effect.family for effect in response.interventions.effects}


async def test_without_an_editor_such_a_trace_has_no_edit() -> None:
    response = await score()
    assert (families(response), response.interventions.valid) == (set(), 0)


async def test_its_edits_are_tried_and_it_is_named_with_its_prompt() -> None:
    response = await score(OTHER)
    assert (families(response), response.interventions.valid) == ({"proposed"}, 2)
    assert [(model.id, model.family) for model in response.provenance.models if model.role == "editor"] == [
        ("olmo", "olmo")
    ]
    assert response.provenance.prompts["editor"] == PROMPTS["editor"]
    assert {use.stage: use.calls for use in response.usage}["edit"] > 0


async def test_an_editor_of_the_writers_family_is_passed_over() -> None:
    KIN.asked.clear()
    response = await score(KIN, OTHER)
    assert (KIN.asked, families(response)) == ([], {"proposed"})


async def test_where_only_an_editor_of_the_writers_family_is_left_none_is_asked() -> None:
    response = await score(KIN)
    assert (KIN.asked, families(response)) == ([], set())
    assert "editor" not in {model.role for model in response.provenance.models}


async def test_the_editor_never_sees_the_answer() -> None:
    OTHER.asked.clear()
    await score(OTHER)
    assert OTHER.asked
    assert not any("green" in sentence for sentence in OTHER.asked)


@pytest.mark.parametrize("preset", ["standard", "deep"])
async def test_what_it_proposed_replays_without_it(preset: str) -> None:
    response = await score(OTHER, preset=preset)
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("score", "status", "reasons", "components", "interventions", "support", "provenance"):
        assert content(again)[part] == content(response)[part]


class Fails(Turns):
    async def propose(
        self, sentences: Sequence[str], k: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[str | Abstained]]:
        raise BackendError("no connection to 10.0.0.2")


async def test_an_editor_that_fails_is_counted_and_replays() -> None:
    response = await score(Fails(OTHER.identity))
    assert response.interventions.discarded == {"no_proposal": 2}
    assert "editor" not in {model.role for model in response.provenance.models}
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    assert content(again)["interventions"] == content(response)["interventions"]


async def test_steps_without_claims_are_weighed_by_what_the_writer_answers_without_them() -> None:
    response = await score(OTHER, generator=Writer(sticks_to="green"))
    assert response.interventions.pivots is not None
    assert {(pivot.reason, pivot.influence) for pivot in response.interventions.pivots} == {("ablation", 0.0)}


async def test_the_gate_leaves_no_step_out() -> None:
    writer = Writer(sticks_to="green")
    response = await score(OTHER, preset="gate", generator=writer)
    assert response.interventions.pivots is not None
    assert {pivot.reason for pivot in response.interventions.pivots} <= {"said_in_words"}
    assert not any(prefix.endswith("The answer is") for prefix in writer.prefixes)
