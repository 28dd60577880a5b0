"""The reward model's verifier hands on problem and steps, and nothing of the answer."""

from collections.abc import Sequence

import pytest

from rafs.reading import read_text
from rafs.types import Abstained, Judged, ModelIdentity, Verdict, Why
from rafs.usage import Meter
from verifiers.prm import PrmVerifier

PROBLEM = "Ana has 4 bags of 15 nuts and eats 10 nuts. How many are left?"
STEPS = "She has 4 * 15 = 60 nuts.\nAfter eating 10 she has 60 - 10 = 50 nuts.\n"


class Hears:
    """A rewarder that keeps what it read and gives a fixed score to every asked step but the first."""

    identity = ModelIdentity(id="m", family="f", revision="r")
    fingerprint = "hears"

    def __init__(self) -> None:
        self.read: list[tuple[str, tuple[str, ...]]] = []

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        self.read.append((problem, tuple(steps)))
        return [Judged(p_correct=0.25) if t else Abstained(why=Why.TOO_LONG) for t in ask]


async def verify(text: str, ask: Sequence[int] = (0, 1)) -> tuple[Sequence[Verdict], Hears]:
    hears = Hears()
    return await PrmVerifier(hears).verify(read_text(PROBLEM, text, None).blind(), ask, Meter()), hears


def test_it_is_named_after_its_model() -> None:
    verifier = PrmVerifier(Hears())
    assert (verifier.name, verifier.identity) == ("prm:m", Hears.identity)


async def test_the_verdicts_are_those_of_the_model() -> None:
    verdicts, _ = await verify(STEPS)
    assert list(verdicts) == [Abstained(why=Why.TOO_LONG), Judged(p_correct=0.25)]


@pytest.mark.parametrize("statement", ["The answer is {}.", "#### {}", "The final answer is $\\boxed{{{}}}$."])
async def test_swapping_the_stated_answer_changes_nothing_that_is_read(statement: str) -> None:
    (_, one), (_, other) = await verify(STEPS + statement.format(50)), await verify(STEPS + statement.format(51))
    assert one.read == other.read
    assert "60 - 10" in one.read[0][1][1]


async def test_invisible_characters_are_shown() -> None:
    _, hears = await verify("She has 4 * 15 = 60 nuts.\u200b\nThen 60 - 10 = 50.\n")
    assert "nuts.\\u{200b}" in hears.read[0][1][0]
