"""Weighted votes follow their formula, which is checked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.consensus import entropy
from rafs.outcomes import Unmeasured
from rafs.types import Sampled
from rafs.weighted_vote import WeightedVotes, weigh_votes, weighted_vote


def sample(logprob: float | None, n_tokens: int | None = 1) -> Sampled:
    return Sampled(text="", truncated=False, logprob=logprob, n_tokens=n_tokens)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        pytest.param([1.0], 0.0, id="certain"),
        pytest.param([0.5, 0.5], math.log(2), id="even: log 2"),
        pytest.param([0.5, 0.25, 0.25], 1.5 * math.log(2), id="1/2, 1/4, 1/4: 1.5 log 2"),
        pytest.param([1.0, 0.0], 0.0, id="a share of nothing adds nothing"),
        pytest.param([0.75, 0.25], 0.5623351446188083, id="3/4 and 1/4"),
    ],
)
def test_entropy_is_in_nats(shares: list[float], expected: float) -> None:
    assert entropy(shares) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("probabilities", "shares", "value"),
    [
        pytest.param([[0.2, 0.1], [0.1]], [0.75, 0.25], 1 - 0.5623351446188083 / math.log(3), id="3 to 1"),
        pytest.param([[0.5], [0.5]], [0.5, 0.5], 0.0, id="two that differ"),
        pytest.param([[0.1, 0.3]], [1.0], 1.0, id="one class"),
    ],
)
def test_a_class_has_the_probability_of_its_samples(
    probabilities: list[list[float]], shares: list[float], value: float
) -> None:
    vote = weighted_vote([[math.log(one) for one in members] for members in probabilities])
    assert vote.shares == pytest.approx(shares)
    assert vote.value == pytest.approx(value, abs=1e-12)


def test_texts_too_improbable_for_a_float_still_have_shares() -> None:
    assert weighted_vote([[-5000.0], [-5000.0 - math.log(3)]]).shares == pytest.approx([0.75, 0.25])


@given(st.lists(st.lists(st.floats(-1e4, 0), min_size=1, max_size=4), min_size=2, max_size=5), st.floats(-100, 0))
def test_only_the_ratios_of_probabilities_count(logprobs: list[list[float]], shift: float) -> None:
    one, other = weighted_vote(logprobs), weighted_vote([[each + shift for each in members] for members in logprobs])
    assert one.shares == pytest.approx(other.shares, abs=1e-9)
    assert 0 <= one.value <= 1


def test_the_whole_text_and_its_tokens_weigh_differently() -> None:
    votes = weigh_votes([(0,), (1,)], [sample(-2.0, 2), sample(-4.0, 4)])
    assert isinstance(votes, WeightedVotes)
    assert votes.by_token.shares == (0.5, 0.5)
    assert votes.by_sequence.shares == pytest.approx([math.exp(2) / (1 + math.exp(2)), 1 / (1 + math.exp(2))])


@pytest.mark.parametrize(
    ("samples", "reason", "detail"),
    [
        pytest.param([sample(-1.0), sample(None, None)], "no_logprobs", "known of 1 of 2 voters", id="one unknown"),
        pytest.param([sample(-1.0), sample(-1.0, None)], "no_logprobs", "known of 1 of 2 voters", id="no length"),
        pytest.param([sample(-math.inf)] * 2, "no_logprobs", "known of 0 of 2 voters", id="probabilities of 0"),
        pytest.param([sample(-1.0), sample(math.nan)], "no_logprobs", "known of 1 of 2 voters", id="no number"),
        pytest.param([sample(-1.0)], "too_few_samples", "1 that can vote, at least 2 are needed", id="one voter"),
    ],
)
def test_an_unknown_probability_is_no_number(samples: list[Sampled], reason: str, detail: str) -> None:
    classes = [tuple(range(len(samples)))]
    assert weigh_votes(classes, samples) == Unmeasured(reason=reason, detail=detail)


def test_a_sample_without_a_vote_needs_no_probability() -> None:
    assert isinstance(weigh_votes([(0, 2)], [sample(-1.0), sample(None, None), sample(-2.0)]), WeightedVotes)
