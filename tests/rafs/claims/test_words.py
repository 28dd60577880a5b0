"""Claims told in words: values, relations, facts, changes and roundings; each right, wrong, or left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.claims.links import find_links, stands_in_claim
from rafs.claims.properties import is_prime
from rafs.claims.reader import read_claims
from rafs.types import BlindStep, StepKind, Truth


def verdict(text: str) -> Truth:
    truths = [claim.truth for claim in read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], "")]
    return next((truth for truth in (Truth.FALSE, Truth.TRUE) if truth in truths), Truth.UNKNOWN)


RIGHT = {
    "half": "Half of 14 is 7.",
    "third": "A third of 21 equals 7.",
    "the_share_of_the_things": "Half of the 18 rolls is 9 rolls.",
    "capitals": "TWICE 19 IS 38.",
    "times_as_many": "Four times as many as 6 is 24.",
    "more_than": "6 more than 11 is 17.",
    "fewer_than": "6 fewer than 11 equals 5.",
    "sum": "The sum of 7, 8 and 9 is 24.",
    "nested": "Half of the sum of 3, 5 and 8 is 8.",
    "median": "The median of 9, 2 and 5 is 5.",
    "geometric_mean": "The geometric mean of 3 and 27 is 9.",
    "harmonic_mean": "The harmonic mean of 4, 12 and 6 is 6.",
    "grouped_digits": "The average of 1,000 and 3,000 is 2,000.",
    "share_in_math_mode": "$35\\%$ of 60 equals 21.",
    "off": "30% off 90 is 63.",
    "increased": "A price of 80 increased by 15% becomes 92.",
    "action": "Dividing 91 by 7 gives 13.",
    "action_before_comma": "Adding 16 and 27, we get 43.",
    "action_in_a_condition": "If we add 16 and 27 we get 43.",
    "remainder": "The remainder when 29 is divided by 6 is 5.",
    "leaves": "29 divided by 6 leaves a remainder of 5.",
    "power": "3 to the fourth power is 81.",
    "reversed": "21 is 35% of 60.",
    "ratio": "The ratio of 9 to 12 is 3:4.",
    "reduces": "The ratio 9:12 reduces to 3:4.",
    "comparison": "7*8 is greater than 55.",
    "inequality": "6*6 does not equal 35.",
    "multiple": "84 is a multiple of 7.",
    "divides": "7 divides 84, so it fits.",
    "does_not_divide": "5 does not divide 84.",
    "prime": "53 is prime.",
    "listed_primes": "5, 7 and 11 are prime.",
    "goes_into": "6 goes into 40 six times.",
    "fell": "It fell from 80 to 60, a decrease of 25%.",
    "told_before": "Sales rose by 25% from 60 to 75.",
    "rounded": "138 rounded to the nearest ten is 140.",
    "rounds": "2.71828 rounds to 2.72.",
    "rounding_to_decimals": "Rounding 5.678 to one decimal place gives 5.7.",
    "rounded_to_digits": "43,961 rounded to 2 significant figures is 44,000.",
    "rounded_down": "8.9 rounded down to the nearest whole number is 8.",
    "conversion": "4 hours is 240 minutes.",
}
WRONG = {
    "half": "Half of 14 is 8.",
    "spelled": "Six times nine is fifty-six.",
    "times_as_many": "28 is four times as many as 6.",
    "less_than": "6 less than 11 is 6.",
    "product": "The product of 7 and 8 is 54.",
    "mean_that_is_not_whole": "The average of 5, 6 and 9 is 7.",
    "geometric_mean": "The geometric mean of 3 and 27 is 15.",
    "share": "0.5% of 600 is 300.",
    "decreased": "90 decreased by 30% is 60.",
    "action": "Subtracting 8 from 30 gives 21.",
    "remainder": "29 divided by 6 leaves a remainder of 4.",
    "comparison": "7*8 is at most 55.",
    "two_numbers": "12 is less than 9.",
    "multiple": "86 is divisible by 7.",
    "listed_primes": "7, 9 and 11 are prime.",
    "even": "37 is even.",
    "rose": "It rose from 60 to 75, an increase of 20%.",
    "rounded": "138 rounded to the nearest ten is 130.",
    "rounded_to_decimals": "5.678 rounded to two decimals is 5.67.",
    "goes_into": "6 goes into 40 seven times.",
    "in_table": "| 7*8 = 54 |",
    "bold": "**7*8 = 54**",
    "bold_result": "7*8 = **54**",
    "ticked": "7*8 = 54 ✓✓ checked, surely right",
    "quoted": "So 7*8 = `54`.",
    "numbered": "2) 7*8 = 54",
    "dots": "We get 7*8 = 54…",
    "spaced_sign": "5 - -3 = 2",
    "annotation_shown_otherwise": "<<3*4=12>>14 eggs",
    "in_brackets_nothing_runs_on": "(27 + 7 + 4) = (38 + 4) = 42",
}
OPEN = {
    "weighted_mean": "The weighted average of 60 and 80 is 75.",
    "common_ratio": "The common ratio of 5 and 15 is 3.",
    "action_on_a_mixed_number": "Add 6 and 1/4 = 6.25",
    "share_of_something_unsaid": "2/3 of the number minus 10 is equal to the sum of 40 and 1/3 of the number.",
    "class": "Half of the class is 12.",
    "grouping": "The sum of 3 and 4 times 2 = 20",
    "unread_operand": "4*5 is 3 more than the rest.",
    "object": "The largest number that divides 4 * 15 is 60 and not 30.",
    "property": "The last digit of 12*12 is 4.",
    "label": "Day 3 is 2 more than 4.",
    "chance": "The chance to draw a 6 is 1/6.",
    "chained_inequality": "So x < 8, which is 4 <= x.",
    "counted_list": "The sum of the two numbers, 4 and 5, is 9.",
    "times_more": "5 times more than 4 is 20.",
    "unknown_left": "? + 46 = 60",
    "continued_line": "9\n+ 1\n= 10",
    "question": "Is 51 prime?",
    "whether": "We ask whether 51 is prime.",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_right_claim_in_words_is_true(text: str) -> None:
    assert verdict(text) is Truth.TRUE


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_wrong_claim_in_words_is_false(text: str) -> None:
    assert verdict(text) is Truth.FALSE


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN.keys())
def test_words_that_may_mean_something_else_are_never_false(text: str) -> None:
    assert verdict(text) is not Truth.FALSE


@given(st.integers(2, 999), st.integers(2, 99), st.integers(-3, 3))
def test_operations_in_words_are_decided_exactly(a: int, b: int, off: int) -> None:
    expected = Truth.FALSE if off else Truth.TRUE
    assert verdict(f"The product of {a} and {b} is {a * b + off}.") is expected
    assert verdict(f"{b} more than {a} is {a + b + off}.") is expected
    assert verdict(f"Twice {a} equals {2 * a + off}.") is expected


@given(st.integers(0, 5000))
def test_prime_test_agrees_with_trial_division(number: int) -> None:
    assert is_prime(number) == (number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1)))


@pytest.mark.parametrize(("before", "after"), [("Half of 10 is ", "."), ("30 is divisible by ", ", so it fits.")])
def test_number_of_a_claim_in_words_is_no_mere_answer(before: str, after: str) -> None:
    assert stands_in_claim(before, "5", after)
    assert stands_in_claim(before, "7", after)


def test_number_of_a_plain_statement_is_none_of_a_claim() -> None:
    assert not stands_in_claim("So the total is ", "42", ".")


def test_words_around_a_relation_are_not_in_its_sides() -> None:
    text = "First, 6 more than 11 is 17 birds."
    (link,) = find_links(text).links
    assert text[link.left_span.start : link.left_span.end] == "6 more than 11"
    assert text[link.right_span.start : link.right_span.end] == "17"
