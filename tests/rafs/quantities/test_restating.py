"""A result that is said before what it is made of is read as the result, and the numbers behind it as its operands."""

from fractions import Fraction
from typing import Any

import pytest

from counterfactuals.targets import replayed_answer
from rafs.derivation import E_DERIVED, E_REACHED, link_answer
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind, Token
from rafs.quantities.graph import read_graph
from rafs.quantities.restating import Restating
from rafs.reading import read_text
from rafs.support import AnswerEntailment
from rafs.types import BlindStep, QuantityGraph, StepKind

PROBLEM = "A depot holds 118 barrels. 26 more arrive, and then 37 barrels are sold. How many are there in the end?"
STOCK = "The depot has 118 + 26 = 144 barrels."
BEHIND = {
    "after": "So 107 barrels remain after 37 are sold.",
    "once": "That leaves 107 barrels once 37 are sold.",
    "when": "There are 107 barrels left when 37 are sold.",
    "since": "It has 107 barrels left, since 37 of them were sold.",
    "because": "The depot keeps 107 barrels because 37 of the 144 were sold.",
    "out_of": "So 107 barrels are left out of the 144, as 37 are sold.",
    "having": "The result is 107, having taken 37 from 144.",
    "of_the": "107 barrels are left of the 144 barrels after 37 go.",
    "fewer_than": "So 107 barrels remain, which is 37 fewer than before.",
    "fewer_than_result": "So 107 barrels remain, 37 fewer than the 144 from before.",
    "calculation_in_brackets": "So 107 barrels remain (144 - 37).",
    "calculation_behind": "The depot keeps 107 barrels, which is 144 - 37.",
    "said_twice": "It has 107 barrels after 37 are sold, so 107 is what remains.",
    "no_word_opens_it": "So 107 barrels remain: 37 are sold.",
    "with": "So 107 barrels remain with 37 sold.",
    "behind_a_claim": "So 144 - 37 = 107 barrels remain after 37 are sold.",
}


def graph_of(*texts: str, problem: str = PROBLEM) -> QuantityGraph:
    steps = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(texts)]
    return read_graph(problem, steps)


@pytest.mark.parametrize("sentence", BEHIND.values(), ids=BEHIND.keys())
def test_what_is_said_behind_a_result_is_no_result(sentence: str) -> None:
    reading = read_text(PROBLEM, [STOCK, sentence, "The answer is 107."], None)
    link = link_answer(reading.trace, reading.graph)
    assert reading.graph.derived == 107
    assert replayed_answer(reading.graph, 0, Fraction(150), link.target) == 113


@pytest.mark.parametrize("sentence", list(BEHIND.values())[:6], ids=list(BEHIND)[:6])
def test_an_earlier_result_said_behind_is_its_operand_too(sentence: str) -> None:
    problem = PROBLEM.replace("37 barrels are", "all of 5 loads of 7 and 2 single barrels are")
    graph = graph_of("They sell 5 * 7 + 2 = 37.", STOCK, sentence, problem=problem)
    assert graph.derived == 107
    assert graph.derived_implied is not None
    assert {operand.claim for operand in graph.implied[graph.derived_implied].operands} == {0, 1}


@pytest.mark.parametrize(
    ("sentence", "derived"),
    [
        pytest.param("The two of them have 144 after all.", 144, id="of them is no part of a result"),
        pytest.param("So it is filled to a level of 144 after 2 weeks.", 144, id="the value of a noun"),
        pytest.param("So 100 barrels remain after 37 are sold.", None, id="a result that nothing explains"),
        pytest.param("So 144 barrels remain of 37.", 144, id="a given number behind the old end"),
        pytest.param("After the sale, 107 barrels remain of 144.", None, id="a new result, and the old one again"),
    ],
)
def test_what_else_a_closing_sentence_says(sentence: str, derived: int | None) -> None:
    assert graph_of(STOCK, sentence).derived == derived


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("After 37 are sold, 107 barrels remain.", id="the operand first"),
        pytest.param("So 107 barrels remain after 37 are sold.", id="the result first"),
        pytest.param("With 37 sold, the answer is 107.", id="a marked answer"),
    ],
)
def test_the_sentence_of_the_answer_may_make_it_out_of_the_last_result(sentence: str) -> None:
    reading = read_text(PROBLEM, [STOCK, sentence], None)
    link = link_answer(reading.trace, reading.graph)
    assert link.matches is True
    assert link.derived(reading.graph) == 107
    assert reading.graph.derived == 144
    assert replayed_answer(reading.graph, 0, Fraction(150), link.target) == 113


@pytest.mark.parametrize(
    ("sentence", "matches", "p"),
    [
        pytest.param("After 37 are sold, 100 barrels remain.", False, None, id="another number"),
        pytest.param("As 41 go, the answer is 103.", False, None, id="a number from nowhere"),
        pytest.param("So the answer is \\frac{144}{118}.", True, E_DERIVED, id="a fraction of it"),
        pytest.param("For $x = 37$ the answer is 107.", False, None, id="a formula"),
    ],
)
def test_nothing_else_in_the_sentence_of_the_answer_makes_it_follow(
    sentence: str, matches: bool, p: float | None
) -> None:
    reading = read_text(PROBLEM, [STOCK, sentence], None)
    link = link_answer(reading.trace, reading.graph)
    assert link.matches is matches
    assert isinstance(link.entailment, AnswerEntailment)
    assert p in (None, link.entailment.p)


def test_a_size_in_the_sentence_of_the_answer_may_also_have_lost_its_minus() -> None:
    reading = read_text(PROBLEM, ["The change is 26 - 37 = -11.", "The answer is 11."], None)
    link = link_answer(reading.trace, reading.graph)
    assert link.matches is None
    assert isinstance(link.entailment, AnswerEntailment)
    assert link.entailment.p == E_REACHED


class Counted(list[Token]):
    """Tokens that count how often one is looked at."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return super().__getitem__(index)


@pytest.mark.parametrize("piece", ["1 + ", "the ", "1, "], ids=["signs", "articles", "commas"])
def test_no_number_looks_back_over_the_whole_text(piece: str) -> None:
    tokens = Counted(lex("3 are left " + piece * 2000 + "5"))
    restating = Restating(tokens=tokens)
    for position in [position for position, token in enumerate(list(tokens)) if token.kind is Kind.NUMBER]:
        restating.restates(position)
    assert tokens.looks < 100 * len(tokens)
