"""Every `StepReader` keeps the contract: one reading per asked step, in order, blind to what comes later."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rafs.engines.step_reader import TransformersStepReader
from rafs.engines.surprisal import SURPRISAL
from rafs.step_reading import StepReader, StepReading
from rafs.types import Abstained, Why
from rafs.usage import Meter
from tests.rafs.engines.random_poolers import random_weights
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer

PROBLEM = "Tom has 3 apples and buys 4 more. How many has he?"
STEPS = ["Tom has 3 apples.", "He buys 4 more,\nso 3 + 4 = 7.", "Half of 12 is 6.", "No box is red"]


@pytest.fixture(scope="module")
def reader() -> Iterator[StepReader]:
    weights = random_weights(32, 8)
    local = TransformersStepReader(tiny_llama(), tiny_tokenizer(), TINY, [1, 2], pooler=weights, window=160)
    yield local
    local.close()


def readings(found: Sequence[StepReading | Abstained]) -> list[StepReading]:
    read = [one for one in found if isinstance(one, StepReading)]
    assert len(read) == len(found)
    return read


async def read(reader: StepReader, steps: Sequence[str], ask: Sequence[int]) -> list[StepReading]:
    return readings(await reader.read(PROBLEM, steps, ask, Meter()))


async def test_there_is_one_reading_per_asked_step(reader: StepReader) -> None:
    assert len(await read(reader, STEPS, [0, 2, 3])) == 3


async def test_nothing_asked_is_nothing_read(reader: StepReader) -> None:
    assert list(await reader.read(PROBLEM, STEPS, [], Meter())) == []


async def test_a_reading_has_the_promised_shapes(reader: StepReader) -> None:
    (one,) = await read(reader, STEPS, [1])
    assert one.states.shape[:2] == (2, 2)
    assert one.surprisal.shape == (len(SURPRISAL),)


async def test_later_steps_change_nothing(reader: StepReader) -> None:
    alone = await read(reader, STEPS[:2], [0, 1])
    among = await read(reader, [*STEPS[:2], "It is 9.", "So 8."], [0, 1, 3])
    for one, other in zip(alone, among, strict=False):
        assert_allclose(one.states, other.states, atol=1e-5)
        assert_allclose(one.surprisal, other.surprisal, atol=1e-4)
        assert one.pooled == pytest.approx(other.pooled, abs=1e-2)  # token states are kept in half precision


async def test_earlier_steps_are_read(reader: StepReader) -> None:
    (after_one,), (after_other,) = await read(reader, STEPS, [1]), await read(reader, [STEPS[2], *STEPS[1:]], [1])
    assert np.abs(after_one.states - after_other.states).max() > 1e-4


async def test_a_line_feed_in_a_step_ends_no_step(reader: StepReader) -> None:
    (broken,), (whole,) = (
        await read(reader, [STEPS[1]], [0]),
        await read(reader, [STEPS[1].replace("\n", " ")], [0]),
    )
    assert_allclose(broken.states, whole.states, atol=1e-5)


async def test_a_blank_step_is_not_applicable(reader: StepReader) -> None:
    before, blank, after = await reader.read(PROBLEM, [STEPS[0], "\n", STEPS[1]], range(3), Meter())
    assert isinstance(blank, Abstained)
    assert blank.why is Why.NOT_APPLICABLE
    for one, other in zip(readings([before, after]), await read(reader, STEPS[:2], [0, 1]), strict=True):
        assert_allclose(one.states, other.states, atol=1e-5)


async def test_a_step_past_the_window_is_too_long(reader: StepReader) -> None:
    first, late = await reader.read(PROBLEM, [STEPS[0], "six " * 200], [0, 1], Meter())
    assert isinstance(first, StepReading)
    assert isinstance(late, Abstained)
    assert late.why is Why.TOO_LONG


async def test_every_token_runs_once(reader: StepReader) -> None:
    one, two = Meter(), Meter()
    await reader.read(PROBLEM, STEPS[:1], [0], one)
    await reader.read(PROBLEM, [STEPS[0], STEPS[0]], [0, 1], two)
    problem_alone = 2 * one.stages["verify"].tokens - two.stages["verify"].tokens
    assert 0 < problem_alone < one.stages["verify"].tokens


async def test_it_says_which_model_it_is(reader: StepReader) -> None:
    assert reader.identity == TINY
