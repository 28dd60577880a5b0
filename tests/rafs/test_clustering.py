"""Groups by meaning, against tables worked out by hand."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.clustering import (
    Opinions,
    Rule,
    cluster_texts,
    pairs_of_meaning,
    same_meaning,
)
from rafs.types import Entailment, Truth

E = Entailment(entails=0.6, neutral=0.3, contradicts=0.1)
N = Entailment(entails=0.2, neutral=0.5, contradicts=0.3)
C = Entailment(entails=0.1, neutral=0.2, contradicts=0.7)
TIE = Entailment(entails=0.4, neutral=0.2, contradicts=0.4)

TRUE, FALSE, UNKNOWN = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("forward", "backward", "strict", "lax"),
    [
        pytest.param(E, E, TRUE, TRUE, id="each entails"),
        pytest.param(E, N, UNKNOWN, TRUE, id="one entails"),
        pytest.param(N, N, UNKNOWN, UNKNOWN, id="both neutral"),
        pytest.param(E, C, FALSE, FALSE, id="one contradicts"),
        pytest.param(C, C, FALSE, FALSE, id="both contradict"),
        pytest.param(E, None, UNKNOWN, UNKNOWN, id="one is missing"),
        pytest.param(C, None, FALSE, FALSE, id="one contradicts, the other is missing"),
        pytest.param(None, None, UNKNOWN, UNKNOWN, id="both are missing"),
        pytest.param(TIE, E, FALSE, FALSE, id="a tie does not merge"),
    ],
)
@pytest.mark.parametrize("is_swapped", [False, True], ids=["in order", "swapped"])
def test_two_texts_mean_the_same_by_the_rule(
    forward: Entailment | None, backward: Entailment | None, strict: Truth, lax: Truth, is_swapped: bool
) -> None:
    told = {("a", "b"): forward, ("b", "a"): backward}
    opinions = {pair: said for pair, said in told.items() if said is not None}
    texts = ("b", "a") if is_swapped else ("a", "b")
    assert same_meaning(*texts, opinions, Rule.STRICT) is strict
    assert same_meaning(*texts, opinions, Rule.LAX) is lax


def both_ways(table: dict[str, Entailment]) -> Opinions:
    """Opinions by two letters, `ab`."""
    return {(pair[0], pair[1]): said for pair, said in table.items()}


OPINIONS = both_ways(
    {"ab": E, "ba": E, "ac": N, "ca": E, "ad": C, "da": C, "bc": N, "cb": N, "bd": C, "db": C, "cd": N, "dc": N}
)


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        pytest.param(Rule.STRICT, [[0, 1, 4], [2], [3]], id="strict"),
        pytest.param(Rule.LAX, [[0, 1, 2, 4], [3]], id="lax"),
    ],
)
def test_texts_are_grouped_by_the_rule(rule: Rule, groups: list[list[int]]) -> None:
    assert cluster_texts(["a", "b", "c", "d", "a"], OPINIONS, rule) == groups


def test_a_text_that_agrees_with_two_that_contradict_each_other_joins_neither() -> None:
    opinions = both_ways({"ab": E, "ba": E, "bc": E, "cb": E, "ac": C, "ca": C})
    assert cluster_texts(["a", "b", "c"], opinions, Rule.STRICT) == [[0], [1], [2]]


def test_without_opinions_only_equal_texts_meet() -> None:
    assert cluster_texts(["x", "y", "x"], {}, Rule.LAX) == [[0, 2], [1]]


opinion = st.sampled_from([E, N, C, None])


@given(st.lists(opinion, min_size=12, max_size=12), st.permutations("abcd"), st.sampled_from(Rule))
def test_groups_do_not_depend_on_the_order(told: list[Entailment | None], order: Sequence[str], rule: Rule) -> None:
    pairs = list(permutations("abcd", 2))
    opinions = {pair: said for pair, said in zip(pairs, told, strict=True) if said is not None}
    found = [
        {frozenset(texts[at] for at in members) for members in cluster_texts(texts, opinions, rule)}
        for texts in ("abcd", order)
    ]
    assert found[0] == found[1]


@given(st.lists(opinion, min_size=12, max_size=12))
def test_what_is_strictly_the_same_is_so_laxly(told: list[Entailment | None]) -> None:
    pairs = list(permutations("abcd", 2))
    opinions = {pair: said for pair, said in zip(pairs, told, strict=True) if said is not None}
    for pair in pairs:
        if same_meaning(*pair, opinions, Rule.STRICT) is TRUE:
            assert same_meaning(*pair, opinions, Rule.LAX) is TRUE


def test_every_direction_that_is_looked_up_is_asked_for_once() -> None:
    assert pairs_of_meaning(["a", "b", "a"]) == [("a", "b"), ("b", "a")]
    assert len(pairs_of_meaning(list("abcd"))) == 12
