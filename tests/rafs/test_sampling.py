import pytest

from rafs.contracts import Generator
from rafs.engines.scripted import SampleKey, Script, ScriptedGenerator
from rafs.sampling import gather_samples
from rafs.types import Sampled
from rafs.usage import Meter

DRAWN = Sampled(text="2 + 2 = 4", truncated=False)
WRITER = ScriptedGenerator(Script(samples={SampleKey(problem="p", prefix=None, n=1, seed=0): (DRAWN,)}))


@pytest.mark.parametrize(
    ("generator", "n", "why"),
    [
        (None, 5, "none sent, and the writer is no generator of models.yaml"),
        (WRITER, 0, "none sent, and this preset draws none"),
        (None, 0, "none sent, and this preset draws none"),
    ],
    ids=["another writer", "a preset without samples", "neither"],
)
async def test_without_samples_the_reason_is_true(generator: Generator | None, n: int, why: str) -> None:
    found = await gather_samples("p", [], generator, n, 0, Meter())
    assert found.missing is not None
    assert (found.missing.reason, found.missing.detail) == ("no_samples", why)


async def test_samples_that_were_sent_win_over_the_generator() -> None:
    found = await gather_samples("p", ["mine"], WRITER, 1, 0, Meter())
    assert ([sample.text for sample in found.texts], found.drawn, found.missing) == (["mine"], False, None)


async def test_samples_are_drawn_from_the_writer() -> None:
    found = await gather_samples("p", [], WRITER, 1, 0, Meter())
    assert (found.texts, found.drawn) == ((DRAWN,), True)


async def test_a_generator_that_fails_is_named_as_the_reason() -> None:
    found = await gather_samples("p", [], WRITER, 2, 0, Meter())
    assert found.missing is not None
    assert found.missing.reason == "generator_down"
