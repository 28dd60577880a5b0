"""The quantity graph: sources of operands, the derived value, replay."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.quantities.graph import read_graph, replay
from rafs.types import ANSWER_PLACEHOLDER, BlindStep, QuantityGraph, SourceKind, StepKind

PROBLEM = "A stall sells 8 melons at $3 each and a third as many pumpkins at $5 each, for 4 weeks. What does it earn?"


def graph_of(*texts: str, problem: str = PROBLEM) -> QuantityGraph:
    steps = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(texts)]
    return read_graph(problem, steps)


def sources(graph: QuantityGraph, claim: int = -1) -> list[SourceKind]:
    return [operand.source for operand in graph.claims[claim].operands]


def test_operands_come_from_the_problem_and_from_earlier_results() -> None:
    graph = graph_of("Melons bring 8 * 3 = 24.", "In all that is 24 * 4 = 96.")
    assert sources(graph, 0) == [SourceKind.PROBLEM, SourceKind.PROBLEM]
    assert sources(graph, 1) == [SourceKind.RESULT, SourceKind.PROBLEM]
    assert graph.claims[1].operands[0].claim == 0


def test_most_recent_result_is_preferred() -> None:
    graph = graph_of("First 20 + 20 = 40.", "Then 50 - 10 = 40.", "Now 40 + 3 = 43.")
    assert graph.claims[2].operands[0].claim == 1


def test_invented_fee_is_ungrounded() -> None:
    graph = graph_of("Melons bring 8 * 3 = 24.", "With the permit of $17 it is 24 - 17 = 7.")
    assert sources(graph) == [SourceKind.RESULT, SourceKind.UNGROUNDED]


GROUNDED = {
    "week": ("That is 8 * 7 = 56 a week.", "Melons: 8 a day, every day of the week.", SourceKind.UNIT_CONSTANT),
    "minutes": ("3 * 60 = 180 minutes", "It takes 3 hours.", SourceKind.UNIT_CONSTANT),
    "hundred": ("20 / 100 = 0.2", "20 of them are red.", SourceKind.UNIT_CONSTANT),
    "average_of_two": ("(6 + 8) / 2 = 7", "The sides are 6 and 8.", SourceKind.UNIT_CONSTANT),
    "number_word": ("12 * 4 = 48", "Twelve boxes hold four each.", SourceKind.PROBLEM),
    "half": ("30 * 0.5 = 15", "Half of the 30 left.", SourceKind.PROBLEM),
    "twice": ("30 * 2 = 60", "Twice as many as 30.", SourceKind.PROBLEM),
    "dozen": ("5 * 12 = 60", "Five dozen eggs.", SourceKind.PROBLEM),
    "percent_as_number": ("60 * 35 = 2100", "35% of the 60.", SourceKind.PROBLEM),
    "what_a_percentage_leaves": ("60 * 0.65 = 39", "35% of the 60 leave.", SourceKind.PROBLEM),
    "what_a_percentage_adds": ("60 * 1.35 = 81", "A rise of 35% on 60.", SourceKind.PROBLEM),
    "somebody_and_friends": ("30 / 5 = 6", "Ana and four friends share 30.", SourceKind.PROBLEM),
    "list_of_names": ("30 / 3 = 10", "Ana, Ben and Cleo share 30 euros", SourceKind.PROBLEM),
    "assumed": ("Assume 19 sheets a book. 6 * 19 = 114", "There are 6 books.", SourceKind.ASSIGNED),
    "terms": ("Sum: 14 + 20 + 26 = 60. Mean: 60 / 3 = 20.", "Scores of 14 then 20 then 26.", SourceKind.NUMBER_WORD),
}


@pytest.mark.parametrize(("text", "problem", "source"), GROUNDED.values(), ids=GROUNDED.keys())
def test_second_operand_is_grounded(text: str, problem: str, source: SourceKind) -> None:
    assert sources(graph_of(text, problem=problem))[-1] is source


def test_number_worked_out_in_the_head_is_no_invention() -> None:
    graph = graph_of("Each of the 8 costs 3, so they bring 24.", "Four weeks: 24 * 4 = 96.")
    assert sources(graph)[0] is SourceKind.RESULT


def test_name_is_resolved_to_the_number_behind_it() -> None:
    graph = graph_of("Let m = 8. Then m * 3 = 24.")
    (operand, _) = graph.claims[0].operands
    assert (operand.text, operand.value, operand.source) == ("m", Fraction(8), SourceKind.PROBLEM)


def test_link_of_a_chain_hangs_on_the_link_before() -> None:
    graph = graph_of("8 * 3 + 5 * 4 = 24 + 20 = 44")
    (operand,) = graph.claims[1].operands
    assert (operand.text, operand.claim) == ("24 + 20", 0)


DERIVED = {
    "last_claim": (["8 * 3 = 24", "24 * 4 = 96"], 96),
    "repeated_after": (["24 * 4 = 96", "So it earns $96 in 4 weeks."], 96),
    "answer_sentence_with_givens": (["24 * 4 = 96", f"In 4 weeks the 8 melons bring {ANSWER_PLACEHOLDER}."], 96),
    "open_claim": ([f"24 * 4 = {ANSWER_PLACEHOLDER}"], 96),
    "other_result_named": (["8 * 3 = 24", "24 * 4 = 96", "So the stall earns 24."], 24),
    "other_number_named": (["24 * 4 = 96", "So the stall earns 90."], None),
    "check_at_the_end": (["24 * 4 = 96", "To verify: 96 / 4 = 24."], None),
    "solved_name": (["3x = 96", "x = 32"], 32),
    "unread_end": (["24 * 4 = 96", "Then 5 + |y| = 7"], None),
    "no_claim": (["It earns a lot."], None),
}


@pytest.mark.parametrize(("texts", "derived"), DERIVED.values(), ids=DERIVED.keys())
def test_derived_value_is_what_the_derivation_ends_in(texts: list[str], derived: int | None) -> None:
    assert graph_of(*texts).derived == derived


def test_result_that_nothing_uses_is_listed() -> None:
    graph = graph_of("8 * 3 = 24", "5 * 4 = 20", "24 * 4 = 96")
    assert graph.unused == (1,)


def test_graph_is_complete_only_when_every_number_was_read() -> None:
    assert graph_of("Melons bring 8 * 3 = 24.", "That makes 24 * 4 = 96.").complete
    assert not graph_of("Melons bring 8 * 3 = 24.", "Some 77 people come.").complete
    assert not graph_of("8 * 3 = 24", "| y | = 24").complete


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


def test_sources_of_a_step_do_not_hang_on_later_steps() -> None:
    early = graph_of(*CHAIN[:2]).claims
    late = graph_of(*CHAIN, "Assume 17 more. 17 + 3 = 20").claims
    assert late[: len(early)] == early


@given(st.lists(st.text(max_size=80), max_size=4))
def test_no_derivation_raises(texts: list[str]) -> None:
    graph_of(*texts, problem=" ".join(texts))
