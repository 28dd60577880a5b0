"""Where samples come from, in rounds or at once, and which of them are no more than copies."""

from collections.abc import Sequence

import pytest

from rafs.contracts import Generator
from rafs.engines.scripted import SampleKey, Script, ScriptedGenerator
from rafs.rounds import Stopped
from rafs.sampling import SHORT_TEXT_CHARS, Round, find_copies, gather_samples
from rafs.types import Sampled
from rafs.usage import Meter


def sampled(text: str, *, truncated: bool = False) -> Sampled:
    return Sampled(text=text, truncated=truncated)


TEXTS = tuple(sampled(f"2 + {n} = {2 + n}") for n in range(4))


def writer(*rounds: tuple[int, int], has: int = 4) -> ScriptedGenerator:
    """Has these rounds (first, n) on its script, and no text from `has` on."""
    samples = {
        SampleKey(problem="p", prefix=None, n=n, seed=0, first=first): TEXTS[first : min(has, first + n)]
        for first, n in rounds
    }
    return ScriptedGenerator(Script(samples=samples))


@pytest.mark.parametrize(
    ("generator", "n", "why"),
    [
        (None, 5, "none sent, and the writer is no generator of models.yaml"),
        (writer(), 0, "none sent, and this preset draws none"),
        (None, 0, "none sent, and this preset draws none"),
    ],
    ids=["another writer", "a preset without samples", "neither"],
)
async def test_without_samples_the_reason_is_true(generator: Generator | None, n: int, why: str) -> None:
    found = await gather_samples("p", [], generator, n, 0, Meter())
    assert found.missing is not None
    assert (found.missing.reason, found.missing.detail) == ("no_samples", why)


async def test_samples_that_were_sent_win_over_the_generator() -> None:
    found = await gather_samples("p", [sampled("mine")], writer((0, 1)), 1, 0, Meter())
    assert ([sample.text for sample in found.texts], found.drawn, found.stopped) == (["mine"], False, None)


async def test_samples_are_drawn_from_the_writer() -> None:
    found = await gather_samples("p", [], writer((0, 4)), 4, 0, Meter())
    assert (found.texts, found.drawn, found.n_planned, found.stopped) == (TEXTS, True, 4, Stopped.ALL_DRAWN)


async def test_a_generator_that_fails_is_named_as_the_reason() -> None:
    found = await gather_samples("p", [], writer(), 2, 0, Meter())
    assert found.missing is not None
    assert found.missing.reason == "generator_down"


async def two_at_a_time(texts: Sequence[Sampled]) -> Round:
    return 2, Stopped.VOTE_SETTLED


async def no_more_than_two(texts: Sequence[Sampled]) -> Round:
    return 2 - len(texts), Stopped.VOTE_SETTLED


@pytest.mark.parametrize(
    ("generator", "plan", "n", "stopped"),
    [
        pytest.param(writer((0, 2), (2, 2)), two_at_a_time, 4, Stopped.ALL_DRAWN, id="all"),
        pytest.param(writer((0, 2)), no_more_than_two, 2, Stopped.VOTE_SETTLED, id="settled"),
        pytest.param(writer((0, 2), (2, 2), has=3), two_at_a_time, 3, Stopped.NO_MORE, id="the writer has no more"),
        pytest.param(writer((0, 2), has=1), two_at_a_time, 1, Stopped.NO_MORE, id="greedy"),
        pytest.param(writer((0, 2)), two_at_a_time, 2, Stopped.FAILED, id="fails in the second round"),
    ],
)
async def test_drawing_in_rounds_ends_for_a_reason(
    generator: Generator, plan: object, n: int, stopped: Stopped
) -> None:
    found = await gather_samples("p", [], generator, 4, 0, Meter(), plan)  # type: ignore[arg-type]
    assert (found.texts, found.n_planned, found.stopped) == (TEXTS[:n], 4, stopped)


TRACE = "2 + 2 = 4\nThe answer is 4."
LONG = "So it goes on. " * (SHORT_TEXT_CHARS // 15 + 1) + "The answer is 4."
OTHER = "4 is 2 * 2.\nThe answer is 4."


@pytest.mark.parametrize(
    ("texts", "trace", "copies"),
    [
        pytest.param([TRACE, OTHER], TRACE, (0,), id="the trace itself"),
        pytest.param([OTHER, "2 + 2 = 4  The answer is 4.\n"], TRACE, (1,), id="the trace in other white space"),
        pytest.param([TRACE] * 3, TRACE, (0, 1, 2), id="nothing but the trace"),
        pytest.param([TRACE, TRACE, OTHER], TRACE, (0,), id="a short trace was drawn again"),
        pytest.param([LONG, LONG, OTHER], LONG, (0, 1), id="a long trace was not"),
        pytest.param([LONG, OTHER, LONG], TRACE, (2,), id="a long text twice"),
        pytest.param([OTHER, OTHER, LONG], TRACE, (), id="a short text twice"),
        pytest.param([OTHER] * 3, TRACE, (1, 2), id="one derivation, as greedy decoding gives it"),
        pytest.param(["4"] * 3, TRACE, (), id="one bare answer"),
        pytest.param([LONG, OTHER], TRACE, (), id="all differ"),
    ],
)
def test_copies_are_no_evidence_of_their_own(texts: list[str], trace: str, copies: tuple[int, ...]) -> None:
    bare = [i for i, text in enumerate(texts) if text == "4"]
    assert find_copies([sampled(text) for text in texts], trace, bare) == copies


def test_a_cut_text_is_never_called_a_copy() -> None:
    texts = [sampled(LONG, truncated=True), sampled(LONG), sampled(OTHER)]
    assert find_copies(texts, TRACE, []) == ()
