"""Decimal commas and grouped thousands: read as one convention per trace, or left open, never cut in two."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.claims.reader import read_claims
from rafs.grammar.notation import Notation, read_notation
from rafs.reading import read_text
from rafs.types import BlindStep, Claim, StepKind, Truth


def claims_of(texts: Sequence[str], problem: str = "") -> tuple[Claim, ...]:
    steps = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(texts)]
    return read_claims(steps, problem)


READ = {
    "currency_behind": (["4 Brote kosten 4 · 1,75 € = 7,00 €."], 7),
    "times_sign": (["14.500 * 1,04 = 15.080"], 15080),
    "points_of_thousands": (["Der Lohn ist 2,5 · 1.600 = 4.000."], 4000),
    "both_signs": (["2.345,50 + 4,50 = 2.350,00"], 2350),
    "millions": (["3.400.000 + 6 = 3.400.006"], 3400006),
    "comma_and_zero": (["1,05 + 1 = 2,05"], Fraction(41, 20)),
    "brackets": (["(2,50 + 1,50) * 3 = 12,00 €"], 12),
    "another_step_shows_it": (["Ein Heft kostet 1,20 €.", "1.300 + 8 = 1.308"], 1308),
    "english_thousands": (["1,450 + 5 = 1,455"], 1455),
    "english_decimals": (["1.25 + 5 = 6.25, and the list 3,4 is short."], Fraction(25, 4)),
    "spaces": (["9 000 + 350 = 9 350"], 9350),
    "thin_spaces": (["9\u2009000 + 350 = 9\u202f350"], 9350),
    "sum_of_decimals": (["3,5 + 1,25 = 4,75"], Fraction(19, 4)),
    "tight_sum": (["0,5+0,25 = 0,75"], Fraction(3, 4)),
    "decimals_on_both_sides": (["7 - 2,5 = 4,5"], Fraction(9, 2)),
    "three_decimals_behind_a_zero": (["0,375 × 16 = 6"], 6),
    "spaces_and_comma": (["7 200,50 € + 1 € = 7 201,50 €"], Fraction(14403, 2)),
}


@pytest.mark.parametrize(("texts", "result"), READ.values(), ids=READ.keys())
def test_a_number_is_read_in_the_convention_of_its_trace(texts: list[str], result: Fraction) -> None:
    (claim,) = claims_of(texts)
    assert claim.truth is Truth.TRUE
    assert claim.result == result


def test_a_wrong_result_in_the_other_convention_is_false() -> None:
    (claim,) = claims_of(["Sie kosten 4 · 1,75 € = 7,50 €."])
    assert claim.truth is Truth.FALSE
    assert claim.reason == "the left side is 7, not 7.5"


def test_the_problem_shows_the_convention_too() -> None:
    (claim,) = claims_of(["1.300 + 8 = 1.308"], problem="Eine Fahrt kostet 2,40 €.")
    assert claim.truth is Truth.TRUE
    assert claim.value == 1308


def test_a_claim_keeps_its_text_as_submitted() -> None:
    (claim,) = claims_of(["Es sind 4 · 1,75 € = 7,00 €."])
    assert (claim.text, claim.left, claim.right) == ("4 · 1,75 € = 7,00", "4 · 1.75", "7.00")


OPEN = {
    "bare_list": ["So 5,6 = 11."],
    "list_behind_a_zero": ["So 0,375 + 2 = 377"],
    "pair": ["The point (2,50) = 7 is there."],
    "inside_brackets": ["It is so (see 5,6 = 11)."],
    "run": ["For 1,2,3 = 7 it fails."],
    "right_side": ["5 + 1 = 2,5"],
    "word_relation": ["12 * 5 is 3,4"],
    "points_beside_a_doubtful_comma": ["Es sind 2,5.", "1.200 + 5 = 1.205"],
    "commas_of_both_kinds": ["It is 3,4 cm wide.", "1,250 + 1 = 2,250"],
    "lists_side_by_side": ["The pairs (2,5) + 1,5 = 7 are odd."],
    "numbers_side_by_side": ["Step 1 250 * 2 = 300"],
    "three_numbers": ["The row 10 20 300 = 5 is odd."],
}


@pytest.mark.parametrize("texts", OPEN.values(), ids=OPEN.keys())
def test_what_may_be_read_in_two_ways_is_no_claim(texts: list[str]) -> None:
    assert claims_of(texts) == ()


KEPT = {
    "arguments": ("gcd(12,18) = 6", 6),
    "largest": ("max(2,5) = 5", 5),
    "list_before": ("Of 3,4,5 we take 3 + 4 = 7.", 7),
}


@pytest.mark.parametrize(("text", "result"), KEPT.values(), ids=KEPT.keys())
def test_commas_that_part_numbers_still_do(text: str, result: int) -> None:
    (claim,) = claims_of([text])
    assert claim.truth is Truth.TRUE
    assert claim.result == result


ANSWERS = {
    "decimal_comma": ("4 · 1,75 € = 7,00 €.\nAnswer: 7,00 €", "7.00 €"),
    "spaces": ("The answer is 9 350.", "9,350"),
    "no_break_spaces": ("The answer is 9\u00a0350.", "9,350"),
    "millions": ("Answer: 2 345 678", "2,345,678"),
    "hashes": ("It is so.\n#### 9 350", "9,350"),
    "boxed": (r"It is \boxed{9 350}.", "9,350"),
    "closing_sentence": ("Thus there are 9 350 people.", "9,350"),
    "equation": ("9 000 + 350 = 9 350", "9,350"),
}


@pytest.mark.parametrize(("text", "answer"), ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_is_the_whole_number(text: str, answer: str) -> None:
    read = read_text("", text, None).trace.answer
    assert read is not None
    assert (read.text, read.ambiguous) == (answer, False)


def test_an_answer_in_its_own_field_is_in_the_convention_of_the_trace() -> None:
    answer = read_text("", "4 · 1,75 € = 7,00 €.\nAnswer: 7,00 €", "7,00 €").trace.answer
    assert answer is not None
    assert (answer.text, answer.ambiguous) == ("7.00 €", False)


def test_a_trace_with_decimal_commas_ends_in_its_answer() -> None:
    assert read_text("Ein Brot kostet 1,75 €.", "4 · 1,75 € = 7,00 €.", None).graph.derived == 7


NOTATION = st.text(alphabet="0123456789,., \u00a0\u2009€(){}*=abx\n", max_size=80)


@given(NOTATION, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_no_character_is_added_or_dropped(text: str, comma: bool, points: bool, commas: bool, spaces: bool) -> None:
    notation = Notation(decimal_comma=comma, open_points=points, open_commas=commas, spaced_thousands=spaces)
    for written in (notation.in_english(text), notation.readable(text), read_notation([text]).readable(text)):
        assert [one.isdigit() for one in written] == [one.isdigit() for one in text]


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_sum_in_german_notation_is_decided_exactly(a: int, b: int) -> None:
    def german(cents: int) -> str:
        return f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,"))

    (claim,) = claims_of([f"{german(a)} € + {german(b)} € = {german(a + b)} €"])
    assert claim.truth is Truth.TRUE
    assert claim.result == Fraction(a + b, 100)


@pytest.mark.parametrize(
    "later",
    [
        pytest.param("So 2.5 * 2 = 5 are left.", id="a decimal point"),
        pytest.param("Das sind 1.234,56 € im Jahr.", id="a decimal comma"),
        pytest.param("Together 1,200 of them.", id="thousands"),
        pytest.param("It holds 8 250 litres.", id="spaced thousands"),
    ],
)
@pytest.mark.parametrize("first", ["Drei kosten 3 · 2,50 = 7,50.", "So 1.200 * 2 = 2.400.", "It is 1,200 + 1 = 1,201."])
def test_a_later_step_changes_nothing_in_what_an_earlier_one_says(first: str, later: str) -> None:
    alone, followed = (
        [BlindStep(index=i, text=text, kind=StepKind.INFERENCE) for i, text in enumerate(texts)]
        for texts in ([first], [first, later])
    )
    expected = read_claims(alone, "Was kostet das?")
    assert tuple(claim for claim in read_claims(followed, "Was kostet das?") if claim.step == 0) == expected
