"""Drawing stops only where no completion of the samples changes the vote: tried with every one there is."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.consensus import Equivalence, answer_consensus, consensus_value
from rafs.outcomes import Measured
from rafs.rounds import (
    LIKELY_ERROR,
    StopRule,
    chance_of_change,
    consensus_bounds,
    is_vote_settled,
    next_round,
)
from rafs.types import Truth

MOST = 7
ALPHABET = ("7", "7 kg", "8", "7 g", None)
"""`7` agrees with `7 kg` and `7 g`, which differ: classes come apart and join."""


def same(a: str, b: str) -> Truth:
    (one, unit), (other, other_unit) = ([*text.split(), ""][:2] for text in (a, b))
    return Truth.TRUE if one == other and (unit == other_unit or "" in (unit, other_unit)) else Truth.FALSE


def splits(n: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to write n as an ordered sum of `kinds` counts."""
    if kinds == 1:
        yield (n,)
        return
    for first in range(n + 1):
        yield from ((first, *rest) for rest in splits(n - first, kinds - 1))


def spelled(counts: Sequence[int]) -> list[str | None]:
    return [answer for answer, count in zip(ALPHABET, counts, strict=True) for _ in range(count)]


def verdict(answers: Sequence[str | None], stated: str, equivalent: Equivalence = same) -> bool | None:
    return answer_consensus(answers, stated, equivalent).answer_is_modal


@pytest.mark.parametrize("k", range(2, MOST + 1))
@pytest.mark.parametrize("stated", ["7", "7 kg", "8"])
def test_no_completion_changes_a_settled_vote(k: int, stated: str) -> None:
    n_settled = 0
    for drawn in range(1, k):
        for counts in splits(drawn, len(ALPHABET)):
            so_far = spelled(counts)
            if not is_vote_settled(so_far, stated, same, k - drawn):
                continue
            n_settled += 1
            for n_cut in range(k - drawn + 1):  # a sample that is cut does not vote
                ends = {verdict(so_far + spelled(rest), stated) for rest in splits(k - drawn - n_cut, len(ALPHABET))}
                assert len(ends) == 1
    assert n_settled or k < 3


TRUTHS = st.sampled_from(list(Truth))


@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=5),
    st.lists(st.sampled_from("abcde"), max_size=3),
    st.lists(TRUTHS, min_size=15, max_size=15),
    st.integers(0, 3),
)
@settings(max_examples=500, deadline=None)
def test_no_completion_changes_a_settled_vote_however_answers_compare(
    so_far: list[str], rest: list[str], truths: list[Truth], n_cut: int
) -> None:
    texts = "abcdeS"  # S is the stated answer
    pairs = {frozenset((a, b)): truths[n] for n, (a, b) in enumerate((a, b) for a in texts for b in texts if a < b)}
    compare = lambda a, b: Truth.TRUE if a == b else pairs[frozenset((a, b))]  # noqa: E731
    left = len(rest) + n_cut
    if left and is_vote_settled(so_far, "S", compare, left):
        assert verdict([*so_far, *rest], "S", compare) is verdict(so_far, "S", compare) is not None
    bounds = consensus_bounds(so_far, compare, left)
    component = answer_consensus([*so_far, *rest], None, compare).component
    assert bounds is not None and isinstance(component, Measured)
    assert bounds[0] - 1e-12 <= component.value <= bounds[1] + 1e-12


@pytest.mark.parametrize(
    ("answers", "stated", "left", "settled"),
    [
        pytest.param(["7", "7", "7"], "7", 2, True, id="three of five agree"),
        pytest.param(["8", "8", "8"], "7", 2, True, id="three of five say something else"),
        pytest.param(["7", "7"], "7", 2, False, id="two of four may be a tie"),
        pytest.param(["7", "7", "7 kg"], "7", 2, False, id="spellings may come apart"),
        pytest.param(["7", "7", "7", "8"], "7", 1, True, id="three to one of five"),
        pytest.param(["7", "7", "7", "8"], "7", 2, False, id="three to one of six"),
        pytest.param([None, None, None], "7", 2, False, id="missing answers lead nowhere"),
        pytest.param(["8"], None, 4, True, id="nothing is stated"),
        pytest.param(["7", "8"], "7", 0, True, id="nothing is left"),
    ],
)
def test_a_vote_is_settled_when_it_is_certain(
    answers: list[str | None], stated: str | None, left: int, settled: bool
) -> None:
    assert is_vote_settled(answers, stated, same, left) is settled


def test_an_answer_that_cannot_be_compared_never_settles_the_vote() -> None:
    assert not is_vote_settled(["7"] * 9, "?", lambda a, b: Truth.UNKNOWN, 1)


@pytest.mark.parametrize(
    ("answers", "left", "expected"),
    [
        pytest.param(["7", "7", "7"], 2, (consensus_value([3, 1, 1]), 1.0), id="unanimous so far"),
        pytest.param(["7", "8"], 1, (0.0, consensus_value([2, 1])), id="split so far"),
        pytest.param(["7", "7 kg"], 0, (1.0, 1.0), id="nothing left"),
        pytest.param(["7"], 1, (0.0, 1.0), id="one so far"),
        pytest.param(["7", None, None], 1, (consensus_value([1, 2, 1]), consensus_value([3, 1])), id="missing answers"),
        pytest.param(["7"], 0, None, id="one and no more"),
    ],
)
def test_c_of_all_samples_lies_within_its_bounds(
    answers: list[str | None], left: int, expected: tuple[float, float] | None
) -> None:
    assert consensus_bounds(answers, same, left) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("leader", "others", "left", "expected"),
    [
        pytest.param(0, 0, 5, 1.0, id="no leader"),
        pytest.param(1, 0, 1, 0.5, id="one more of a share known from nothing: ahead or tied"),
        pytest.param(3, 0, 2, 0.0, id="out of reach"),
        pytest.param(2, 0, 3, 0.1, id="all three must differ: B(2, 4) / B(2, 1) = (1/20) / (1/2)"),
    ],
)
def test_the_chance_that_the_leader_is_caught_up_with(leader: int, others: int, left: int, expected: float) -> None:
    assert chance_of_change(leader, others, left) == pytest.approx(expected)


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_the_chance_is_a_probability_and_falls_with_the_lead(leader: int, others: int, left: int) -> None:
    chance = chance_of_change(leader, others, left)
    assert -1e-12 <= chance_of_change(leader + 1, others, left) <= chance + 1e-12 <= 1 + 2e-12


@pytest.mark.parametrize(
    ("leader", "others", "left", "rule", "expected"),
    [
        pytest.param(0, 0, 5, StopRule.NEVER, 5, id="never: all at once"),
        pytest.param(0, 0, 5, StopRule.VOTE, 3, id="at first the majority"),
        pytest.param(2, 1, 2, StopRule.VOTE, 1, id="one more may do"),
        pytest.param(1, 3, 2, StopRule.DECISION, 2, id="out of reach: the rest at once"),
        pytest.param(0, 0, 20, StopRule.LIKELY, 4, id="likely: fewer at first"),
        pytest.param(0, 0, 1, StopRule.VOTE, 1, id="one"),
    ],
)
def test_a_round_is_as_small_as_could_settle_the_vote(
    leader: int, others: int, left: int, rule: StopRule, expected: int
) -> None:
    assert next_round(leader, others, left, rule) == expected


def test_the_likely_rule_keeps_its_error_under_its_own_prior() -> None:
    """Every sequence of 8 draws, weighed by a uniform prior on the share of the first answer: exact, no simulation."""
    k, wrong = 8, 0.0
    for tail in product((True, False), repeat=k - 1):
        draws = (True, *tail)
        lead = sum(draws)
        weight = 1.0
        for n in range(1, k):  # Polya's urn: the first draw names the answer, Beta(1, 1) from there on
            given_so_far = sum(draws[:n])
            share = given_so_far / (n + 1)
            weight *= share if draws[n] else 1 - share
        for n in range(2, k):
            lead_then = sum(draws[:n])
            if chance_of_change(lead_then, n - lead_then, k - n) <= LIKELY_ERROR:
                wrong += weight * (lead <= k - lead)
                break
    assert wrong <= LIKELY_ERROR
