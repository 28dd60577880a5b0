"""Values in words: what they are worth, where their grouping is open, and what is none."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.grammar.expressions import evaluate, parse_expression
from rafs.grammar.lexing import lex
from rafs.grammar.parsing import parse_at

VALUES = {
    "half of 18": "9",
    "two thirds of 12": "8",
    "twice the sum of 3 and 5": "16",
    "Twice seven": "14",
    "treble 9": "27",
    "six plus two": "8",
    "twelve minus 3": "9",
    "minus four": "-4",
    "six times seven": "42",
    "6 multiplied by 7": "42",
    "Ninety divided by nine": "10",
    "12 plus minus 5": "7",
    "three times as much as 7": "21",
    "20 % off 60": "48",
    "25% more than 80": "100",
    "a 6": None,
    "4 less than 19": "15",
    "60 increased by 10%": "66",
    "60 reduced by half": "30",
    "the difference between 4 and 9": "5",
    "the quotient of 91 and 7": "13",
    "the mode of 2, 3, 3 and 5": "3",
    "the mode of 2, 3 and 5": None,
    "the range of 2, 9 and 4": "7",
    "the median of 1, 2, 3 and 8": "5/2",
    "the median of the numbers 7, 1, 3": "3",
    "the square root of 121": "11",
    "the cube root of 64": "4",
    "the reciprocal of 8": "1/8",
    "negative 6 plus 10": "4",
    "the least common multiple of 6 and 8": "24",
    "the greatest common divisor of 18 and 24": "6",
    "the remainder of 29 divided by 6": "5",
    "9 squared": "81",
    "2 raised to the power of 6": "64",
    "7 out of 28": "1/4",
    "10 subtracted from 25": "15",
    "percent increase from 40 to 50": "1/4",
    "multiplying 12 by 5": "60",
    "120 miles per 4 hours": "30",
    "5 more boys": "5",
    "half of half of 20": "5",
    "5 times more than 4": None,
    "the sum of 5": None,
    "the difference of 9, 4 and 1": None,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=VALUES.keys())
def test_phrase_has_its_value(text: str, value: str | None) -> None:
    expression = parse_expression(text)
    assert (None if expression is None else evaluate(expression)) == (None if value is None else Fraction(value))


@pytest.mark.parametrize(
    "text",
    ["the sum of 3 and 4 times 2", "the square root of 9 plus 7", "2 + 8 increased by 10%", "the mean of 3,1 and 2"],
)
def test_open_grouping_is_doubted(text: str) -> None:
    parsed = parse_at(lex(text), 0)
    assert parsed is not None and parsed.doubts


@given(st.text(alphabet="0123456789 ,.()%", max_size=20), st.sampled_from(sorted(VALUES)))
def test_no_phrase_among_noise_raises(noise: str, phrase: str) -> None:
    parse_expression(f"{phrase} {noise}")
    parse_expression(f"{noise} {phrase}")


def test_nested_phrases_are_bounded() -> None:
    assert parse_expression("twice " * 300 + "7") is None
