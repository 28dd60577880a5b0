"""The vote of samples that are read: their order does not matter, and what cannot be compared is never merged."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.ballot import Ballot, SampleReader
from rafs.errors import InputError
from rafs.outcomes import Measured
from rafs.reading import read_text
from rafs.rounds import Stopped, StopRule
from rafs.sampling import Samples
from rafs.types import Sampled

PROBLEM = "What is 40 + 2?"
TRACE = "40 + 2 = 42.\nThe answer is 42."
TEXTS = {
    "right": "2 + 40 = 42.\nThe answer is 42.",
    "right in other clothes": "40 and 2 more.\nThe answer is 42.0.",
    "wrong": "40 - 2 = 38.\nThe answer is 38.",
    "in words": "I would say so.\nThe answer is rather large.",
    "no answer": "They are to be added.",
    "cut": "40 + 2 is",
}


async def vote(names: Sequence[str], *, drawn: bool = True) -> Ballot:
    reader = SampleReader(read_text(PROBLEM, TRACE, None))
    texts = tuple(Sampled(text=TEXTS[name], truncated=name == "cut") for name in names)
    samples = Samples(texts=texts, drawn=drawn)
    return await reader.count(samples, await reader.read(samples))


def told(ballot: Ballot, names: Sequence[str]) -> object:
    """What the vote says, with the samples by their names instead of their places."""
    consensus = ballot.consensus
    groups = sorted(sorted(names[i] for i in members) for members in consensus.classes)
    value = consensus.component.value if isinstance(consensus.component, Measured) else consensus.component
    return groups, value, consensus.share_of_stated, consensus.answer_is_modal, ballot.interval, len(ballot.voters)


NAMES = st.lists(st.sampled_from(list(TEXTS)), min_size=1, max_size=7)


@given(NAMES, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
async def test_the_order_of_samples_does_not_matter(names: list[str], random: object) -> None:
    shuffled = list(names)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert told(await vote(names), names) == told(await vote(shuffled), shuffled)


@given(NAMES)
@settings(max_examples=40, deadline=None)
async def test_c_and_its_bounds_lie_between_0_and_1(names: list[str]) -> None:
    ballot = await vote(names)
    if isinstance(ballot.consensus.component, Measured):
        assert 0 <= ballot.consensus.component.value <= 1
        assert ballot.interval is not None
        assert 0 <= ballot.interval[0] <= ballot.interval[1] <= 1


@given(NAMES)
@settings(max_examples=40, deadline=None)
async def test_an_answer_that_cannot_be_compared_joins_no_others(names: list[str]) -> None:
    before, after = await vote(names), await vote([*names, "in words"])
    kept = [members for members in before.consensus.classes if names[members[0]] != "in words"]
    assert set(kept) <= set(after.consensus.classes)


async def test_who_voted_for_what_is_kept() -> None:
    names = ["right", "cut", "wrong", "right in other clothes", "no answer"]
    ballot = await vote(names)
    assert (ballot.voters, ballot.truncated, ballot.consensus.missing) == ((0, 2, 3, 4), (1,), (4,))
    assert ballot.consensus.classes == ((0, 3), (2,), (4,))
    assert isinstance(ballot.consensus.component, Measured)
    assert ballot.consensus.component.coverage == 4 / 5


async def test_a_bare_answer_that_was_sent_twice_counts_twice() -> None:
    reader = SampleReader(read_text(PROBLEM, TRACE, None))
    samples = Samples(texts=(Sampled(text="The answer is 42.", truncated=False),) * 3)
    assert (await reader.count(samples, await reader.read(samples))).voters == (0, 1, 2)


async def test_a_sample_with_too_many_steps_is_refused_where_it_was_sent_and_has_no_vote_where_it_was_drawn() -> None:
    text = Sampled(text="And so on.\n" * 450, truncated=False)
    reader = SampleReader(read_text(PROBLEM, TRACE, None))
    assert await reader.read(Samples(texts=(text,), drawn=True)) == [None]
    with pytest.raises(InputError) as refused:
        await SampleReader(read_text(PROBLEM, TRACE, None)).read(Samples(texts=(text,)))
    assert refused.value.field == "samples.0"


@pytest.mark.parametrize(
    ("names", "rule", "least", "wanted"),
    [
        pytest.param([], StopRule.VOTE, 0.2, 3, id="at first a majority of five"),
        pytest.param(["right"] * 3, StopRule.VOTE, 0.2, 0, id="settled, and C is at least 0.41"),
        pytest.param(["right"] * 3, StopRule.VOTE, 0.5, 1, id="settled, but C may be on either side"),
        pytest.param(["right"] * 3, StopRule.DECISION, None, 0, id="settled, whatever C is"),
        pytest.param(["right"] * 3, StopRule.NEVER, None, 2, id="never"),
        pytest.param(["right", "wrong", "right"], StopRule.DECISION, None, 1, id="open"),
        pytest.param(["right", "cut", "right"], StopRule.DECISION, None, 1, id="a cut one has no vote"),
        pytest.param(["in words"] * 3, StopRule.DECISION, None, 1, id="cannot be compared"),
    ],
)
async def test_the_next_round_is_planned_from_what_was_drawn(
    names: list[str], rule: StopRule, least: float | None, wanted: int
) -> None:
    reader = SampleReader(read_text(PROBLEM, TRACE, None))
    texts = [Sampled(text=TEXTS[name], truncated=name == "cut") for name in names]
    n, because = await reader.plan(5, rule, least, texts)
    assert n == wanted
    assert isinstance(because, Stopped)
