"""Replay changes one result and recomputes what hangs on it: claims, names, units, numbers worked out in words."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.quantities.graph import read_graph
from rafs.quantities.replaying import leading_to, replay, replay_told
from rafs.types import BlindStep, QuantityGraph, StepKind

PROBLEM = "A stall sells 8 melons at $3 each and a third as many pumpkins at $5 each, for 4 weeks. What does it earn?"


def graph_of(*texts: str, problem: str = PROBLEM) -> QuantityGraph:
    steps = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(texts)]
    return read_graph(problem, steps)


CHAIN = ("8 * 3 = 24", "24 * 4 = 96", "96 + 5 = 101")


def test_replay_recomputes_everything_downstream() -> None:
    graph = graph_of(*CHAIN)
    assert replay(graph, 0, Fraction(30)) == {1: 120, 2: 125}
    assert replay(graph, 1, Fraction(10)) == {2: 15}
    assert replay(graph, 2, Fraction(0)) == {}


def test_replay_follows_chains_percentages_units_and_names() -> None:
    chain = graph_of("8 * 3 = 24", "24 + 24 * 4 = 24 + 96 = 120")
    assert replay(chain, 0, Fraction(10)) == {1: 50, 2: 50}
    share = graph_of("12 / 48 = 25%", "25% * 80 = 20", problem="12 of 48, and 80.")
    assert replay(share, 0, Fraction(1, 2)) == {1: 40}
    hours = graph_of("2 + 1 = 3", "3 hours = 180 minutes", problem="2 hours and 1 hour")
    assert replay(hours, 0, Fraction(5)) == {1: 300}
    name = graph_of("8 * 3 = 24", "Let k = 24. Then k * 4 = 96.")
    assert replay(name, 0, Fraction(2)) == {1: 8}


def test_replay_leaves_out_what_becomes_undefined() -> None:
    graph = graph_of("8 - 3 = 5", "40 / 5 = 8", "8 + 4 = 12", problem="8, 3, 40 and 4")
    assert replay(graph, 0, Fraction(0)) == {}


@given(st.integers(-500, 500))
def test_replay_with_the_old_result_changes_nothing(start: int) -> None:
    graph = graph_of(
        f"{start} + 3 = {start + 3}", f"({start + 3}) * 4 = {4 * (start + 3)}", problem=f"{start}, 3 and 4"
    )
    for index, claim in enumerate(graph.claims):
        assert claim.result is not None
        assert all(graph.claims[later].result == value for later, value in replay(graph, index, claim.result).items())


def test_replay_goes_through_numbers_worked_out_in_words() -> None:
    graph = graph_of("8 * 3 = 24", "Half of the 24 are sold, so 12 are left.", "12 + 5 = 17")
    assert replay(graph, 0, Fraction(30)) == {1: 20}
    assert leading_to(graph, 1) == {0, 1}
    assert graph.unused == ()


def test_an_end_in_words_is_computed_again() -> None:
    graph = graph_of("8 * 3 = 24", "24 * 4 = 96", "So in total it earns $120.")
    assert graph.derived_implied is not None
    end = graph.implied[graph.derived_implied]
    assert replay_told(graph, 1, Fraction(100), end) == 124
    assert replay_told(graph, 0, Fraction(20), end) == 100
    assert leading_to(graph, graph.derived_claim, graph.derived_implied) == {0, 1}


def test_a_number_in_words_whose_making_is_a_guess_is_not_computed_again() -> None:
    graph = graph_of(
        "8 * 3 = 24", "5 - 2 = 3", "There are 27 on the shelf.", r"$27 \cdot 2 = 54$", problem="8, 5 and 2"
    )
    assert [one.is_said for one in graph.implied] == [False]
    assert graph.claims[2].operands[0].implied == 0
    assert replay(graph, 0, Fraction(30)) == {}


def test_two_equal_operands_are_the_two_results_that_nothing_used_yet() -> None:
    graph = graph_of("20 - 4 = 16", "2 * 8 = 16", "16 + 16 = 32", problem="20, 4, 2 and 8")
    assert [operand.claim for operand in graph.claims[2].operands] == [0, 1]
    assert replay(graph, 0, Fraction(17)) == {2: 33}


def test_a_result_that_may_be_one_of_two_equal_operands_or_both_is_not_computed_again() -> None:
    graph = graph_of("60 / 3 = 20 feet wide", "20 * 20 = 400", problem="60 feet by 3, and 20 feet high")
    assert replay(graph, 0, Fraction(30)) == {}
    square = graph_of("63 / 3 = 21 feet wide", "21 * 21 = 441", problem="63 feet by 3; the area of a square")
    assert replay(square, 0, Fraction(30)) == {1: 900}


def test_replay_follows_a_name_that_was_given_anew() -> None:
    graph = graph_of("x = 8 * 3 = 24", "x * 4 = 96", "x = 96 / 8 = 12", "x + 5 = 17")
    assert replay(graph, 0, Fraction(10)) == {1: 40, 2: 5, 3: 10}


def test_a_rounded_result_stays_as_written_where_its_value_stays() -> None:
    graph = graph_of("8 + 2 = 10", "10 / 3 = 3.33", "3.33 * 6 = 19.98", problem="8, 2, 3 and 6")
    assert replay(graph, 0, Fraction(10)) == {1: Fraction("3.33"), 2: Fraction("19.98")}
    assert replay(graph, 0, Fraction(12)) == {1: 4, 2: 24}


SENTENCES = (
    "8 * 3 = 24", "24 * 4 = 96", "96 + 5 = 101", "x = 24 / 8 = 3", "x * 4 = 12", "x = 12 / 4 = 3", "24 / 96 = 25%",
    "25% * 24 = 6", "101 / 3 = 33.67", "33.67 * 3 = 101.01", "So 72 are left.", "72 / 8 = 9", "In total that is 120.",
    "120 / 0 = 5", "9 hours = 540 minutes", "540 / 4 = 135", "8 * 3 = 25", "25 + 5 = 30",
)  # fmt: skip


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=14))
def test_replay_with_old_values_changes_nothing(texts: list[str]) -> None:
    graph = graph_of(*texts)
    for index, claim in enumerate(graph.claims):
        if claim.result is None:
            continue
        for later, value in replay(graph, index, claim.result).items():
            assert later > index
            assert graph.claims[later].result == value
        for told in graph.implied:
            assert replay_told(graph, index, claim.result, told) in (told.value, None)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=14), st.integers(-50, 50))
def test_only_what_hangs_on_the_change_is_computed_again(texts: list[str], new: int) -> None:
    graph = graph_of(*texts)
    for index in range(len(graph.claims)):
        assert all(index in leading_to(graph, later) for later in replay(graph, index, Fraction(new)))


@pytest.mark.parametrize("n", [200])
def test_a_long_chain_is_replayed_in_one_pass(n: int) -> None:
    graph = graph_of(*(f"{7 + at} + 1 = {8 + at}" for at in range(n)), problem="7 and 1")
    assert replay(graph, 0, Fraction(1000))[n - 1] == 1000 + n - 1
