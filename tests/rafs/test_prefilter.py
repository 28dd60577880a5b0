"""The prefilter asks of every claim its nearest ones, and never more than its share."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rafs.prefilter import most_pairs, nearest_pairs
from rafs.stability import CanonicalClaim, Pair, pairs_to_classify


def sentence(text: str) -> CanonicalClaim:
    return CanonicalClaim(text=text, keys=frozenset([text]), in_words=True)


def calculation(text: str) -> CanonicalClaim:
    return CanonicalClaim(text=text, keys=frozenset([text]))


def at(degrees: float) -> NDArray[np.float32]:
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], dtype=np.float32)


def unordered(pairs: list[Pair]) -> list[set[str]]:
    return [set(pair) for pair in pairs[::2]]


K, C = 5, 8
WORST = [[sentence(f"trace {i} claim {j}") for j in range(C)] for i in range(K)]
"""No text stands twice, and no pair is decided by its form."""
SPREAD = {claim.text: at(97.0 * n) for n, claim in enumerate(itertools.chain(*WORST))}


def test_the_worst_case_is_asked_in_the_allowed_share() -> None:
    assert len(nearest_pairs(WORST, SPREAD)) == 384  # 30 % of K (K - 1) C^2 = 1280


def test_every_claim_is_asked_against_its_nearest_in_every_other_trace() -> None:
    asked = {frozenset(pair) for pair in nearest_pairs(WORST, SPREAD)}
    for one, other in itertools.permutations(WORST, 2):
        for claim in one:
            nearest = max(other, key=lambda far: float(SPREAD[claim.text] @ SPREAD[far.text]))
            assert {claim.text, nearest.text} in asked


def test_each_pair_is_followed_by_its_reverse() -> None:
    pairs = nearest_pairs(WORST, SPREAD)
    assert pairs[1::2] == [pair[::-1] for pair in pairs[::2]]


def test_the_nearest_of_a_lonely_claim_comes_before_a_closer_pair_that_is_nobodys_nearest() -> None:
    traces = [[sentence("a"), sentence("b"), sentence("c")], [sentence("x"), sentence("y")]]
    vectors = {"a": at(140), "b": at(0), "c": at(3), "x": at(1), "y": at(50)}
    asked = unordered(nearest_pairs(traces, vectors, max_share=0.67))
    assert asked == [{"b", "x"}, {"c", "x"}, {"c", "y"}, {"a", "y"}]  # and not b, y


def test_what_is_decided_by_its_form_needs_no_vector() -> None:
    traces = [[calculation("1 + 1 = 2"), sentence("a")], [calculation("1 + 1 = 2"), sentence("a")]]
    vectors = {"a": at(0), "1 + 1 = 2": at(90)}
    assert unordered(nearest_pairs(traces, vectors, max_share=1.0)) == [{"a", "1 + 1 = 2"}]


def test_one_pair_is_always_asked() -> None:
    assert nearest_pairs([[sentence("a")], [sentence("b")]], {"a": at(0), "b": at(90)}) == [("a", "b"), ("b", "a")]


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True), min_size=2, max_size=4),
    st.floats(0.05, 1.0),
)
def test_the_share_holds_and_only_open_pairs_are_asked(traces: list[list[int]], max_share: float) -> None:
    claims = [[sentence(str(number)) for number in trace] for trace in traces]
    asked = nearest_pairs(claims, {str(number): at(40.0 * number) for number in range(10)}, max_share)
    assert len(asked) <= most_pairs(claims, max_share)
    assert len(set(asked)) == len(asked)
    assert set(asked) <= set(pairs_to_classify(claims))


@given(st.permutations(range(K)))
def test_the_order_of_the_traces_does_not_matter(order: list[int]) -> None:
    shuffled = nearest_pairs([WORST[i] for i in order], SPREAD)
    assert {frozenset(pair) for pair in shuffled} == {frozenset(pair) for pair in nearest_pairs(WORST, SPREAD)}


def test_all_pairs_are_asked_where_the_share_is_one() -> None:
    assert set(nearest_pairs(WORST, SPREAD, max_share=1.0)) == set(pairs_to_classify(WORST))


@pytest.mark.parametrize(("share", "most"), [pytest.param(0.3, 2, id="one"), pytest.param(1.0, 2, id="all")])
def test_the_bound_of_a_single_pair(share: float, most: int) -> None:
    assert most_pairs([[sentence("a")], [sentence("b")]], share) == most
