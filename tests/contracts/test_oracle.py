"""Every `Oracle` keeps the contract: any text gets one of three answers, the same again, in linear time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.limits import MAX_TRACE_CHARS
from rafs.types import Truth
from verifiers.oracles.arithmetic import ArithmeticOracle
from verifiers.oracles.citations import CitationOracle, Style
from verifiers.oracles.instructions import InstructionOracle, parse_rules
from verifiers.oracles.oracle import Oracle

RULES = parse_rules([{"rule": "sentences", "at_most": 2}, {"rule": "no_commas"}])
PROBLEM = "A box holds 12 jars. How many do 3 boxes hold?"
ORACLES: dict[str, Oracle] = {
    "arithmetic": ArithmeticOracle(),
    "citations": CitationOracle(["jar-12", "box-7"], Style.BRACKETED),
    "instructions": InstructionOracle(RULES),
}
SAID = {
    "arithmetic": ("3 * 12 = 36 jars.", "3 * 12 = 38 jars.", "It holds many jars."),
    "citations": ("Boxes stack [box-7].", "Boxes stack [box-8].", "Boxes stack."),
    "instructions": ("Boxes stack. Jars do not.", "Boxes stack, jars do not.", "Ask Dr. Jar. Or ask me."),
}
HOSTILE = ["\x00", "[" * 500, "\u202e12 = 13", "1" * 4000 + " = 2", "\ud800", "<<" * 400, "10.1/" * 100, "a. " * 900]
named = pytest.mark.parametrize("name", ORACLES)


@named
@pytest.mark.parametrize("truth", list(Truth))
def test_it_says_right_wrong_or_neither_and_why(name: str, truth: Truth) -> None:
    text = SAID[name][[Truth.TRUE, Truth.FALSE, Truth.UNKNOWN].index(truth)]
    decision = ORACLES[name].decide(PROBLEM, text)
    assert (decision.truth, bool(decision.reason)) == (truth, True)


@named
def test_its_name_says_what_it_decides(name: str) -> None:
    assert ORACLES[name].name == f"oracle:{name}"


@named
@given(text=st.text(max_size=300) | st.sampled_from(HOSTILE))
def test_any_text_gets_an_answer_and_the_same_again(name: str, text: str) -> None:
    assert ORACLES[name].decide(PROBLEM, text) == ORACLES[name].decide(PROBLEM, text)


@named
def test_a_text_beyond_the_limit_is_not_read(name: str) -> None:
    decision = ORACLES[name].decide(PROBLEM, SAID[name][1] + " " * MAX_TRACE_CHARS)
    assert decision.truth is Truth.UNKNOWN


@named
def test_it_does_not_take_the_problem_for_the_text(name: str) -> None:
    right, wrong, _ = SAID[name]
    assert ORACLES[name].decide(wrong, right).truth is Truth.TRUE
