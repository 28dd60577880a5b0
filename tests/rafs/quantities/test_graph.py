"""The quantity graph: sources of operands, the derived value, replay."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.quantities.graph import read_graph
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


def test_a_fee_that_two_far_numbers_happen_to_give_is_invented_all_the_same() -> None:
    graph = graph_of("They bring 8 * 3 = 24.", "There are 13 in 5 days.", "With a fee of 65, it is 24 - 65 = -41.")
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
    "list_of_names": ("30 / 3 = 10", "Ana, Ben and Cleo share 30 euros", SourceKind.COUNT),
    "assumed_whole": ("Let there be 60 pupils. 0.35 * 60 = 21", "35% of the pupils are ill.", SourceKind.ASSIGNED),
    "assumed_for_thirds": ("Say there are 45. 1/3 * 45 = 15", "A third of them left.", SourceKind.ASSIGNED),
    "solved_name": ("So 6n = 90 and n = 15. 6 * 15 = 90", "Each of 6 pays the same of 90.", SourceKind.RESULT),
    "other_heads": ("30 / 5 = 6", "Ana and her 4 sisters share 30.", SourceKind.PROBLEM),
    "ordinal": ("30 / 17 = 30/17", "The 17th of 30 digits.", SourceKind.PROBLEM),
    "rounded_up": ("30 / 7 = 30/7 boxes. In whole ones: 7 * 5 = 35", "Boxes of 7 for 30.", SourceKind.BYPRODUCT),
    "rest_of_a_choice": ("9! / (3! * 6!) = 84", "Choose 3 of 9.", SourceKind.BYPRODUCT),
    "prime_factor": ("Its prime factors: 91 / 13 = 7", "Split 91.", SourceKind.BYPRODUCT),
    "digit": ("Add the ones digits: 4 + 9 = 13", "Add 314 to 29.", SourceKind.BYPRODUCT),
    "cents_as_dollars": ("6 * 0.35 = 2.10", "6 pens at 35 cents each.", SourceKind.PROBLEM),
    "percent_as_factor": ("60 * 0.001 = 0.06", "One in a hundred of the 60.", SourceKind.UNIT_CONSTANT),
    "clock_times": ("9 - 5 = 4", "Open from 9 am to 5 pm, i.e. 5 PM.", SourceKind.PROBLEM),
    "clock_in_24_hours": ("9 + 17 = 26", "Open from 9 am until 5 pm.", SourceKind.PROBLEM),
    "minutes_of_hours": ("45 + 180 = 225", "45 minutes and then 3 hours.", SourceKind.UNIT_CONSTANT),
    "days_of_weeks": ("2 * 21 = 42", "2 a day for 3 weeks.", SourceKind.UNIT_CONSTANT),
    "days_of_a_month": ("2 * 30 = 60", "2 a day in the month of June.", SourceKind.UNIT_CONSTANT),
    "terms": ("Sum: 14 + 20 + 26 = 60. Mean: 60 / 3 = 20.", "Scores of 14 then 20 then 26.", SourceKind.COUNT),
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


def test_a_month_that_is_named_has_its_own_days() -> None:
    graph = graph_of("2 * 30 = 60", problem="2 a day.")
    assert sources(graph_of("In May that is 2 * 30 = 60", problem="2 a day."))[-1] is SourceKind.UNGROUNDED
    assert (
        sources(graph_of("In a day of May: assume 30. 2 * 30 = 60", problem="2 a day."))[-1] is SourceKind.UNIT_CONSTANT
    )
    assert sources(graph)[-1] is SourceKind.UNIT_CONSTANT


def test_a_name_points_at_the_result_it_was_given_last() -> None:
    graph = graph_of("a = 8 * 3 = 24.", "b = 4 * 6 = 24.", "a * 5 = 120.", "a = 24 / 8 = 3.", "a + 4 = 7.")
    by_left = {claim.left: claim for claim in graph.claims}
    assert by_left["a * 5"].operands[0].claim == 0
    assert graph.claims[by_left["a + 4"].operands[0].claim or 0].left == "24 / 8"


def test_units_and_names_are_kept_where_the_text_gives_them() -> None:
    (claim,) = graph_of("Money for melons = 8 melons * $3 = $24").claims
    assert [operand.unit for operand in claim.operands] == ["melons", "$"]
    assert (claim.unit, claim.entity) == ("$", "Money for melons")
    graph = graph_of("Ann's age: 24 - 5 = 19 years", "In 4 years: 19 + 4 = 23 years")
    assert (graph.claims[0].unit, graph.claims[0].entity) == ("years", "Ann's age")


@given(st.lists(st.sampled_from(["8 * 3 = 24", "x = 24", "x = 5 + 19 = 24", "x * 4 = 96", "24 = 24", "So 96 are left.",
                                 "96 / 4 = 24", "That leaves 72.", "72 + x = 96"]), max_size=12))  # fmt: skip
def test_an_operand_never_points_at_its_own_claim_or_a_later_one(texts: list[str]) -> None:
    graph = graph_of(*texts)
    places = [(one.step, one.span.start) for one in graph.implied]
    for index, claim in enumerate(graph.claims):
        assert all(operand.claim is None or operand.claim < index for operand in claim.operands)
        assert all(
            operand.implied is None or places[operand.implied] <= (claim.step, operand.span.start)
            for operand in claim.operands
        )
    for index, one in enumerate(graph.implied):
        assert all(operand.implied is None or operand.implied < index for operand in one.operands)


DERIVED = {
    "last_claim": (["8 * 3 = 24", "24 * 4 = 96"], 96),
    "repeated_after": (["24 * 4 = 96", "So it earns $96 in 4 weeks."], 96),
    "answer_sentence_with_givens": (["24 * 4 = 96", f"In 4 weeks the 8 melons bring {ANSWER_PLACEHOLDER}."], 96),
    "open_claim": ([f"24 * 4 = {ANSWER_PLACEHOLDER}"], 96),
    "other_result_named": (["8 * 3 = 24", "24 * 4 = 96", "So the stall earns 24."], 24),
    "other_number_named": (["24 * 4 = 96", "So the stall earns 90."], None),
    "check_at_the_end": (["24 * 4 = 96", "To verify: 96 / 4 = 24."], None),
    "said_in_words": (["24 * 4 = 96", "After 6 are given back, 90 are left."], 90),
    "said_total": (["8 * 3 = 24", "24 * 4 = 96", "So in total it earns $120."], 120),
    "size_of_a_negative": (["24 - 96 = -72", "So the stall lost $72."], 72),
    "wanted_in_whole_things": (["24 / 5 = 4.8", "So 11 crates are needed."], None),
    "digit_of_it": (["24 * 4 = 96", "The last digit of 96 is 6."], None),
    "one_case": (["24 * 4 = 96", "If k = 2, then 2 * 5 = 10"], None),
    "question_after": (["24 * 4 = 96", "How much is that in 8 weeks?"], 96),
    "fraction_repeated": (["3 / 8 = 3/8", "So the share is 3/8 of it."], Fraction(3, 8)),
    "ratio_goes_on": (["24 * 4 = 96 : x"], None),
    "percentage": (["24 / 96 = 0.25", "That is 25%."], Fraction(1, 4)),
    "solved_name": (["3x = 96", "x = 32"], 32),
    "unread_end": (["24 * 4 = 96", "Then 5 + |y| = 7"], None),
    "no_claim": (["It earns a lot."], None),
}


@pytest.mark.parametrize(("texts", "derived"), DERIVED.values(), ids=DERIVED.keys())
def test_derived_value_is_what_the_derivation_ends_in(texts: list[str], derived: Fraction | int | None) -> None:
    assert graph_of(*texts).derived == derived


WORDS_ALONE = {
    "two_parts": (["The first half earns $300.", "The second brings $150.", "In total it earns $450."], 450),
    "three_parts": (["One brings 70.", "Another brings 80.", "The last brings 90.", "All in all it is 240."], 240),
    "from_the_problem": (["The melons at 3 each.", "So they bring 24."], 24),
    "a_list_is_no_end": (["They are 1, 2, 3, 4 and 6 in all."], None),
    "nothing_gives_it": (["So they bring 77."], None),
    "given_again_at_the_end": (["So they bring 24.", "There are 5 of them."], None),
}


@pytest.mark.parametrize(("texts", "derived"), WORDS_ALONE.values(), ids=WORDS_ALONE.keys())
def test_a_derivation_in_words_ends_in_what_its_last_sentence_makes_of_the_numbers(
    texts: list[str], derived: int | None
) -> None:
    graph = graph_of(*texts)
    assert graph.derived == derived
    assert (graph.derived_implied is None) == (derived is None)


NO_NUMBER = {
    "pair": "Find the ordered pair (a, b) with a = 8 and b = 3.",
    "expression": "Simplify $8x + 3x$.",
    "date": "It is 8 days after the 3rd. What is the date?",
}


@pytest.mark.parametrize("problem", NO_NUMBER.values(), ids=NO_NUMBER.keys())
def test_where_no_single_number_is_asked_for_none_is_the_end(problem: str) -> None:
    assert graph_of("8 + 3 = 11", problem=problem).derived is None


def test_result_that_nothing_uses_is_listed() -> None:
    graph = graph_of("8 * 3 = 24", "5 * 4 = 20", "24 * 4 = 96")
    assert graph.unused == (1,)


def test_graph_is_complete_only_when_every_number_was_read() -> None:
    assert graph_of("Melons bring 8 * 3 = 24.", "That makes 24 * 4 = 96.").complete
    assert not graph_of("Melons bring 8 * 3 = 24.", "Some 77 people come.").complete
    assert not graph_of("8 * 3 = 24", "5 § 24 = 24").complete


CHAIN = ("8 * 3 = 24", "24 * 4 = 96", "96 + 5 = 101")


def test_sources_of_a_step_do_not_hang_on_later_steps() -> None:
    early = graph_of(*CHAIN[:2]).claims
    late = graph_of(*CHAIN, "Assume 17 more. 17 + 3 = 20").claims
    assert late[: len(early)] == early


@given(st.lists(st.text(max_size=80) | st.text("0123456789 .=+-/*x%$\n", max_size=60), max_size=4))
def test_no_derivation_raises(texts: list[str]) -> None:
    graph_of(*texts, problem=" ".join(texts))
