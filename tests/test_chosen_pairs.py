"""An embedder chooses what the validator is asked; the response says how much, and a replay needs neither."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rafs.calibration import DEFAULT_CALIBRATION
from rafs.contracts import Embedder
from rafs.engines.scripted import ScriptedAlgebra
from rafs.errors import BackendError
from rafs.pipeline import Pipeline
from rafs.registry import load_registry
from rafs.request import ScoreRequest
from rafs.types import Abstained, Entailment, ModelIdentity
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import Scorer, replay
from service.wiring import assemble, build_replay
from verifiers.symbolic import SymbolicVerifier

PROBLEM = "Ana has 4 bags of 15 nuts and eats 10 nuts. How many are left?"
WORDS = ("So the bags are full at first.", "Hence nothing is lost on the way.", "Therefore some nuts remain.")
CALCULATIONS = "4 * 15 = 60.\n60 - 10 = 50.\n"
TRACE = f"{CALCULATIONS}{' '.join(WORDS)}\nThe answer is 50."
SAMPLES = [
    f"{CALCULATIONS}{' '.join(f'{word[:-1]}, as sample {i} says.' for word in WORDS)}\nThe answer is 50." for i in "abc"
]


class CountingNli:
    """A validator that counts what it is asked, and finds everything rather alike."""

    identity = ModelIdentity(id="counting", family="words", revision="1")

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        self.asked += pairs
        return [Entailment(entails=0.6, neutral=0.4, contradicts=0.0) for _ in pairs]


class FirstWordEmbedder:
    """An embedder for which texts with one beginning are near."""

    def __init__(self, family: str = "vectors", error: BackendError | None = None) -> None:
        self.identity = ModelIdentity(id="first-word", family=family, revision="1")
        self.error = error

    async def embed(self, texts: Sequence[str], meter: Meter) -> NDArray[np.float32]:
        if self.error is not None:
            raise self.error
        words = sorted({text.split()[0] for text in texts})
        return np.eye(len(words), dtype=np.float32)[[words.index(text.split()[0]) for text in texts]]


async def nothing() -> None:
    return None


async def score(nli: CountingNli, *embedders: Embedder) -> ScoreResponse:
    registry = load_registry()

    def build(name: str) -> Pipeline:
        return assemble(
            registry.policy.to_policy(),
            registry.presets.by_name()[name].to_preset(name),
            DEFAULT_CALIBRATION,
            algebra=ScriptedAlgebra({}),
            checkers=[SymbolicVerifier(DEFAULT_CALIBRATION.checker)],
            models=[],
            validators=[nli],
            generators={},
            embedders=embedders,
        )

    scorer = Scorer(
        registry=registry,
        build_pipeline=build,
        is_ready=lambda entry: True,
        close=nothing,
        calibration=DEFAULT_CALIBRATION,
        default_preset="standard",
        edit_secret="secret",
    )
    fields = {"samples": SAMPLES, "generator": {"model": "gpt-4o"}, "include": ["record"]}
    return await scorer.score(ScoreRequest.model_validate({"problem": PROBLEM, "trace": TRACE} | fields))


def stability_of(response: ScoreResponse) -> float | None:
    return next(component.value for component in response.components if component.name == "D")


async def test_the_validator_is_asked_about_near_words_only() -> None:
    nli = CountingNli()
    await score(nli, FirstWordEmbedder())
    beginnings = [(premise.split()[0], hypothesis.split()[0]) for premise, hypothesis in nli.asked]
    assert {("So", "So"), ("Hence", "Hence"), ("Therefore", "Therefore")} <= set(beginnings)


async def test_the_response_says_how_many_pairs_were_asked() -> None:
    nli = CountingNli()
    found = (await score(nli, FirstWordEmbedder())).stability
    assert found.pairs_asked == len(nli.asked)
    assert found.pairs_asked <= 0.3 * found.pairs_full
    assert found.pairs_canonical > 0


async def test_the_response_names_the_embedder() -> None:
    response = await score(CountingNli(), FirstWordEmbedder())
    assert ("first-word", "embedder") in [(model.id, model.role) for model in response.provenance.models]


@pytest.mark.parametrize(
    "embedders",
    [
        pytest.param([], id="none"),
        pytest.param([FirstWordEmbedder(error=BackendError("down"))], id="one that is down"),
        pytest.param([FirstWordEmbedder(family="gpt")], id="one of the writer's family"),
    ],
)
async def test_without_an_embedder_every_pair_is_asked(embedders: list[Embedder]) -> None:
    chosen, every = CountingNli(), CountingNli()
    await score(chosen, FirstWordEmbedder())
    response = await score(every, *embedders)
    assert set(chosen.asked) < set(every.asked)
    assert [model.role for model in response.provenance.models] == ["nli"]


async def test_a_record_is_replayed_without_the_embedder() -> None:
    response = await score(CountingNli(), FirstWordEmbedder())
    assert response.record is not None
    again = await replay(response.record, build_replay)
    assert stability_of(response) is not None
    assert (again.score, stability_of(again), again.stability) == (
        response.score,
        stability_of(response),
        response.stability,
    )


async def test_the_record_holds_only_what_was_asked() -> None:
    nli = CountingNli()
    response = await score(nli, FirstWordEmbedder())
    assert response.record is not None
    assert [(premise, hypothesis) for premise, hypothesis, _ in response.record.tape.entailments] == nli.asked
