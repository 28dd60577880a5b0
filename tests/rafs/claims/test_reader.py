"""Claims in running text: what is found, what it is worth, and what is left alone."""

from fractions import Fraction
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.claims.reader import read_claims
from rafs.types import ANSWER_PLACEHOLDER, BlindStep, Claim, StepKind, Truth


def claims_of(*texts: str, problem: str = "") -> tuple[Claim, ...]:
    steps = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(texts)]
    return read_claims(steps, problem)


def verdict(*texts: str) -> Truth:
    truths = [claim.truth for claim in claims_of(*texts)]
    for truth in (Truth.FALSE, Truth.TRUE):
        if truth in truths:
            return truth
    return Truth.UNKNOWN


RIGHT = {
    "in_a_sentence": "He stacked 36/3 = 12 bricks on Monday.",
    "label": "Total price = 4 * 6 = 24 dollars.",
    "owner_label": "Anna's share = $150 + $50 = $200.",
    "label_in_words_with_signs": "Revenue = price per ticket * tickets = $4 * 30 = $120.",
    "latex": r"The area is \(3 \times 5 = 15\) square feet.",
    "display": "\\[ 14 \\text{ hours (first)} + 6 \\text{ hours (second)} = 20 \\text{ hours} \\]",
    "aligned": "\\[ 2 + 3 \\\\ = 5 \\]",
    "restated_label": "Cost = 7 * 3. Cost = 21.",
    "annotation": "She pays <<7*6=42>>42 dollars.",
    "annotation_after_text": "She pays 7*6=$<<7*6=42>>42.",
    "chain": "3*6 = 18 = 20 - 2",
    "run_on": "2*5 = 10 + 7 = 17",
    "run_on_from_a_fraction": "1/5 + 2/5 = 3/5 * 10 = 6",
    "run_on_from_a_latex_fraction": r"\frac15 + \frac25 = \frac35 \times 10 = 6",
    "run_on_from_a_negative": "4 - 9 = -5 * 3 = -15",
    "rounded": "100/3 = 33.33",
    "approximate": "22/7 ≈ 3.143",
    "surd": "√7 ≈ 2.6458",
    "percent": "12/48 = 25%",
    "loose_percent": "12/48 * 100 = 25%",
    "percent_of": "20% of 45 is 9.",
    "which_is": "He adds 12 + 30, which is 42.",
    "gives": "Multiplying 8 * 7 gives 56.",
    "words": "Twice 16 is 32.",
    "named_operation": "The product of 8 and 9 is 72.",
    "cents": "30¢ + 80¢ = $1.10",
    "dozen": "4 dozen = 48 rolls",
    "hours": "3 hours = 180 minutes",
    "remainder": "23 ÷ 7 = 3 remainder 2",
    "congruence": "29 ≡ 5 (mod 8)",
    "inequality": "5/6 > 4/5",
    "name": "x = 5, so 3x + 2 = 17.",
    "long_names": "speed = 40 and hours = 3, so speed * hours = 120.",
    "solution": "5x = 35, so x = 7.",
    "exclamation": "So we need 4! = 24 seats.",
    "question_then_claim": "Is 7*8 = 54? No: 7*8 = 56.",
    "divided_by_a_function": "30/sqrt(36) = 5",
    "times_a_function": "4 x sqrt(49) = 28",
    "subscript_of_a_logarithm": "log₃ 81 = 4",
    "subscripts_of_names": "y₁ = 6 and y₂ = 8, so y₁ + y₂ = 14.",
    "remark_without_a_blank": "共有48÷6=8（人）",
    "korean_ending": "19 + 23 = 42입니다",
    "modulus_without_a_bracket": "38 ≡ 3 mod 5",
    "modulo": "38 modulo 5 equals 3",
    "tight_remainder": "45 ÷ 7 = 6 R3",
}
WRONG = {
    "behind_a_parted_remark": "[checked: yes] 7 * 8 = 54",
    "behind_a_parted_remark_with_numbers": "[Round 3: sum, then go on] 7 + 8 = 16",
    "behind_a_parted_remark_in_round_brackets": "(hint: easy) 7 * 8 = 54",
    "in_a_comment": "% 7 * 8 = 54",
    "in_a_later_comment": "We go on.\n% 7 * 8 = 54",
    "in_colour": "\x1b[31m7 * 8 = 54\x1b[0m",
    "before_a_control_character": "7 * 8 = 54\x07\x00",
    "before_the_end_of_a_proof": "7 * 8 = 54 ∎",
    "before_the_end_of_a_proof_in_latex": r"7 * 8 = 54 \blacksquare",
    "sum": "Together that is 17 + 26 = 45 coins.",
    "label": "Profit = 90 - 35 = 65.",
    "latex": r"We get \(\frac{3}{4} \times 20 = 16\).",
    "restated_label": "Cost = 7 * 3. Cost = 24.",
    "annotation": "It takes <<9*4=32>>32 days.",
    "chain": "4 + 5 = 9 = 8",
    "run_on": "3*5 = 16 + 2 = 18",
    "run_on_from_a_fraction": "1/5 + 2/5 = 3/7 * 14 = 6",
    "run_on_in_brackets": "4 - 9 = (-5 * 3) = -15",
    "rounding": "10/4 = 2.6",
    "large": "2,000,000 * 4 = 8,000,001",
    "root": r"\sqrt{16+9} = 6",
    "zero_division": "7/0 = 0",
    "dots": "1 + 2 + ... + 9 = 12",
    "remainder": "23 ÷ 7 = 3 R 4",
    "congruence": "29 ≡ 4 (mod 8)",
    "inequality": "1 < 2 < 2",
    "name": "x = 5, so 3x + 2 = 18.",
    "solution": "5x = 35, so x = 8.",
    "divided_by_a_function": "30/gcd(12, 18) = 6",
    "subscript_of_a_logarithm": "log₃ 81 = 27",
    "remark_without_a_blank": "共有48÷6=7（人）",
    "modulus_without_a_bracket": r"$38 \equiv 2 \mod 5$",
    "tight_remainder": "45 ÷ 7 = 6 R2",
}
OPEN = {
    "ambiguous_division": "8/2(2+2) = 16",
    "percent_added": "50 + 20% = 60",
    "free_name": "So 4x + 1 = 9.",
    "degrees": "sin 30 = 0.5",
    "conditional": "If 3*4 = 13 we are lost.",
    "denied": "It is not true that 3 + 3 = 7.",
    "contradiction": "Then 5 = 6, which is a contradiction.",
    "question": "Is 3*5 = 16?",
    "dates": "We open 24/7 until 10/12/2031.",
    "phone": "Call 555-0199 about pages 12-18.",
    "plain_statement": "The answer is 7.",
    "unclosed": "(4-9)(7-12 = -5",
    "dots": "1 + 2 + ... + 8 = 15",
    "times_as_many": "He has 3 times as many as 5 = 15",
    "rest_of_a_product": "5 bags of 3 * 4 = 60",
    "difference": "the difference between 5 * 3 and 2 * 4 = 7",
    "proportion": "3 small stones = 1 large stone",
    "different_things": "2 pens + 1 ruler = 90 cents",
    "share": "1/3 = 20 students",
    "whole_number": "17/4 = 4 full boxes",
    "function": r"f\left(3\right) = 10",
    "last_digit": "The last digit of 7^2 is 9.",
    "norm": "60 = 30 + 20 + 40 - |A|",
    "equation_of_names": r"84 = \frac{1}{2} \cdot 7 \cdot h_a",
    "cosine": r"36 = 50 - 50 \cos x",
    "negative_bullet": "- 4 boxes: see above",
    "code": "__import__('os').system('true') = 0",
    "repeated_string": "'a'*10**10 = 1",
    "parted_brackets_that_are_applied": "4 [of: two] 3 + 5 = 9",
    "remainder_of_a_bracket": "(17) % 3 = 3",
    "square_as_an_operation": r"7 * 8 = 54 \square 2",
    "rate_of_nothing": "A seat costs 9 per.",
    "rate_of_nothing_in_a_product": "12 per * 4 = 50",
    "rate_of_nothing_with_a_slash": "We pay 15/per = 2",
    "in_residues": "8^2 = 9 and so on, all modulo 11: 8^2 ≡ 9 (mod 11)",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_right_claim_is_true(text: str) -> None:
    assert verdict(text) is Truth.TRUE


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_wrong_claim_is_false(text: str) -> None:
    assert verdict(text) is Truth.FALSE


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN.keys())
def test_what_is_not_asserted_or_not_certain_is_never_false(text: str) -> None:
    assert verdict(text) is not Truth.FALSE


def test_name_keeps_its_value_in_later_steps() -> None:
    claims = claims_of("Let k = 6.", "Then 2k + 1 = 13.")
    assert [claim.truth for claim in claims] == [Truth.TRUE]


def test_contradiction_with_a_name_of_an_earlier_step_stays_open() -> None:
    claims = claims_of("Let k = 6.", "For another case, 2k = 20.")
    assert [claim.truth for claim in claims] == [Truth.UNKNOWN]


def test_result_of_an_earlier_rounding_may_be_carried_on_exactly() -> None:
    claims = claims_of("Each gets 100/3 = 33.33.", "Three get 33.33 * 3 = 100.")
    assert Truth.FALSE not in {claim.truth for claim in claims}


def test_spans_give_back_the_written_characters() -> None:
    text = "First, 12 pens * $3/pen = $36, then more."
    (claim,) = claims_of(text)
    assert text[claim.span.start : claim.span.end] == claim.text
    assert claim.result_span is not None
    assert text[claim.result_span.start : claim.result_span.end] == "36"
    assert text[claim.span.start :].startswith(claim.left)


def test_annotation_counts_once_and_its_result_is_the_visible_number() -> None:
    text = "He buys 7*6=$<<7*6=42>>42 of fruit."
    (claim,) = claims_of(text)
    assert claim.result == 42
    assert claim.result_span is not None
    assert claim.result_span.start == text.index(">>") + 2


def test_two_annotations_are_two_claims() -> None:
    claims = claims_of("Rows hold <<8*7=56>>56 and then <<56+4=60>>60 seats.")
    assert [(claim.left, claim.result) for claim in claims] == [("8*7", Fraction(56)), ("56+4", Fraction(60))]


def test_placeholder_makes_an_open_claim_with_the_computed_value() -> None:
    (claim,) = claims_of(f"So 6 * 7 = {ANSWER_PLACEHOLDER}.")
    assert (claim.truth, claim.right) == (Truth.UNKNOWN, "")
    assert claim.value == claim.result == 42
    assert claim.result_span is None


def test_false_claim_says_what_is_right() -> None:
    (claim,) = claims_of("55 - 40 = 10")
    assert "15" in claim.reason and "10" in claim.reason


def test_verdict_does_not_hang_on_later_steps() -> None:
    first = ["Let n = 3.", "Then n + 4 = 7.", "5 * 5 = 26"]
    assert claims_of(*first) == claims_of(*first, "Now n = 9, so n + 1 = 11.")[: len(claims_of(*first))]


@given(st.integers(-999, 999), st.integers(1, 999), st.sampled_from("+-*"), st.integers(-50, 50))
def test_integer_arithmetic_is_decided_exactly(a: int, b: int, op: str, off: int) -> None:
    value = {"+": a + b, "-": a - b, "*": a * b}[op]
    (claim,) = claims_of(f"{a} {op} {b} = {value + off}")
    assert claim.truth is (Truth.FALSE if off else Truth.TRUE)
    assert claim.value == value


@given(st.integers(1, 10**6), st.integers(1, 999), st.integers(1, 4))
def test_correct_rounding_is_never_false(top: int, bottom: int, places: int) -> None:
    whole, part = divmod(round(Fraction(top, bottom) * 10**places), 10**places)
    assert verdict(f"{top}/{bottom} = {whole}.{part:0{places}d}") is Truth.TRUE


REPEATED = {
    "digit_commas": "1,",
    "equations": "1=1=",
    "lines": "1+1=2\n",
    "open_annotation": "<<1+",
    "annotations": "<<1=1>>1 ",
    "open_brackets": "(",
    "fractions": "\\frac{1}{",
    "number_words": "one hundred ",
    "units": "5 apples ",
    "minus": "-",
    "word_relations": "5+5 is ",
    "labels": "Total = 4*3. Total = 12. ",
    "definitions": "let x = 3. ",
    "subscripts": "a_",
    "spaces": "   ",
}


@pytest.mark.parametrize("piece", REPEATED.values(), ids=REPEATED.keys())
def test_long_repetition_is_read_in_linear_time(piece: str) -> None:
    started = monotonic()
    claims_of(piece * 4000 + "=1", problem=piece * 100)
    assert monotonic() - started < 5


@given(st.text(max_size=120))
def test_no_text_raises(text: str) -> None:
    claims_of(text, problem=text)


@given(st.text(alphabet="0123456789 =+-*/x().,$%<>≈\n\\{}abif!?", max_size=120))
def test_no_noise_raises_and_spans_stay_inside(text: str) -> None:
    for claim in claims_of(text):
        assert 0 <= claim.span.start <= claim.span.end <= len(text)
        assert text[claim.span.start : claim.span.end] == claim.text
