"""Claims told in a clause of their own, and equations that are rewritten: each right, wrong, or left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.claims.links import find_links, is_calculation
from rafs.claims.reader import read_claims
from rafs.claims.verdicts import FOR_EVERY
from rafs.types import BlindStep, StepKind, Truth


def verdict(*steps: str) -> Truth:
    """Return the verdict on the last of some steps."""
    blind = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(steps)]
    truths = [claim.truth for claim in read_claims(blind, "") if claim.step == len(steps) - 1]
    return next((truth for truth in (Truth.FALSE, Truth.TRUE) if truth in truths), Truth.UNKNOWN)


RIGHT = {
    "passive_condition": "If 150 is reduced by 30%, the result is 105.",
    "we_get": "When 17 is added to 26, we get 43.",
    "remainder": "When 61 is divided by 7, the remainder is 5.",
    "quotient_and_remainder": "When we divide 61 by 7, we get a quotient of 8 and a remainder of 5.",
    "passive_to_get": "9 is subtracted from 31 to get 22.",
    "sum_multiplied": "The sum of 4 and 5 is multiplied by 3 to get 27.",
    "discount": "A 25% discount on $60 leaves $45.",
    "rise_as_a_new_value": "A 30% increase on 40 is 52.",
    "rise_as_its_size": "A 30% increase on 40 is 12.",
    "share_of_a_drop": "A decrease of 15% of 60 is 9.",
    "mode_of_a_list": "For 4, 4, 7, 9 the mode is 4.",
    "between_times": "From 1:25 pm to 3:05 pm is 100 minutes.",
    "worded_ratio": "A ratio of 12 : 20 is equivalent to 3 : 5.",
    "ratio_becomes": "Simplifying, 18:12 becomes 3:2.",
    "logarithm": "Log base 3 of 81 is 4.",
    "less": "23 less 9 is 14.",
    "by_a_third": "60 decreased by a third is 40.",
    "negative_reciprocal": "The negative reciprocal of 4 is -1/4.",
    "bar": "$6 \\mid 42$",
    "over": "${3 \\over 8} + {1 \\over 8} = {1 \\over 2}$",
    "vulgar_with_slash": "5⁄6 − 1⁄6 = ⅔",
    "excited": "So 8 + 6 = 14!",
    "in_a_box": "So $\\boxed{8 + 6 = 14}$.",
    "after_a_tag": "[/INST] 8 + 6 = 14</s>",
    "in_a_template": "{% if ok %}8 + 6 = 14{% endif %}",
    "printed": "{name} {0} 8 + 6 = 14 %s",
    "divisible_by_both": "66 is divisible by both 6 and 11.",
    "tip": "$60 plus a 15% tip is $69.",
    "unit_before_a_colon": "12 km : 4 = 3 km",
    "two_facts": "14 is divisible by 7 and 27 is divisible by 9.",
    "sign_of_no_width": "1\u200b4 - 8\u2060 = 6",
    "compound": "30 hours = 1 day and 6 hours",
    "dot_of_columns": "\\begin{pmatrix} 2 \\\\ 3 \\end{pmatrix} \\cdot \\begin{pmatrix} 4 \\\\ 1 \\end{pmatrix} = 11",
}
WRONG = {
    "passive_condition": "If 150 is reduced by 30%, the result is 120.",
    "remainder": "When 61 is divided by 7, the remainder is 4.",
    "discount": "A 25% discount on $60 leaves $40.",
    "rise": "A 30% increase on 40 is 55.",
    "mode_of_a_list": "For 4, 4, 7, 9 the median is 4.",
    "between_times": "From 1:25 pm to 3:05 pm is 110 minutes.",
    "worded_ratio": "A ratio of 12 : 20 is equivalent to 2 : 5.",
    "not_the_factorial_either": "Clearly 9 - 2 = 6!",
    "bound_a_sentence_before": "Let K = 9. Then K + 2 = 12.",
    "imaginary_unit": "\\frac{1}{i} = i",
    "with_a_verdict_behind": "✅ 7*7 = 48 (symbolic: right)",
    "annotation_shown_otherwise": "<<9*4=36>>37 bolts",
}
OPEN = {
    "unclosed_bracket": "(2+5)(9-3 = 42",
    "pretended": "Let's pretend for a minute that 3 + 9 = 13.",
    "said_for_argument": "Say, for argument, that 3 + 9 = 13.",
    "undefined": "If a = 4, then a/(a - 4) = 4/0, which is undefined.",
    "off": "20% off $30 is $6.",
    "rate": "One mark is equal to $\\frac{3}{500}$ dollars.",
    "modular_inverse": "The multiplicative inverse of 3 mod 7 is 5.",
    "made_equal": "Find the exponent that makes 3 equal to 81.",
    "binary": "1011 = 8 + 2 + 1",
    "begun_sum": "4 + 9 + 7 = 4 + 9 = 13, plus 7 is 20.",
    "unlike_units": "15 minutes + 3 hours = 15 + 180",
    "total_things": "7 = 21 ÷ total distance",
    "unit_that_is_a_name": "3 \\text{side}^2 = \\frac{3}{4}",
    "digit_groups": "$1101_{2} = 11\\ 01_{2}$",
    "out_of_a_product": "3 good cases out of the 5*5=25 pairs",
    "crossed_out": "7*7 = 48 ❌",
    "image_of_a_point": "The image of the point $(1, 2)$ is $(3, 4)$.",
    "exponents_of_both": "The exponents of both 5 and 7 are even.",
    "one_of_them": "Here one is even while the other is odd.",
    "two_solutions": "So x + 4 = 0, so x = -4, and x - 1 = 0, so x = 1.",
    "percent_added": "60 plus 10% is 66.",
    "made_of": "Ann uses 4 less than 9 eggs to make 1 less than 4 cakes.",
    "rough": "512^2 ≈ 500^2",
    "denied": "You cannot say that 6 + 6 = 13.",
    "equation": "Expanding, 3(x + 1) = 2x + 9",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_right_result_is_true(text: str) -> None:
    assert verdict(text) is Truth.TRUE


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_wrong_result_is_false(text: str) -> None:
    assert verdict(text) is Truth.FALSE


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN.keys())
def test_what_may_mean_something_else_is_never_false(text: str) -> None:
    assert verdict(text) is not Truth.FALSE


REWRITTEN = {
    "for_all_behind": "(a + b)^2 = a^2 + b^2 for all a and b.",
    "for_all_before": "For every number x, (x + 3)^2 = x^2 + 9.",
    "expanded": "Expanding, (x + 4)(x + 5) = x^2 + 9x + 18.",
    "factored": "Factoring, x^2 + 7x + 12 = (x + 3)(x + 5).",
    "no_solution_at_all": "Simplifying, 5(x - 1) + x = 6x - 4.",
}


@pytest.mark.parametrize("text", REWRITTEN.values(), ids=REWRITTEN.keys())
def test_announced_rewriting_is_left_to_algebra_as_an_identity(text: str) -> None:
    (claim,) = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], "")
    assert FOR_EVERY in claim.reason


@pytest.mark.parametrize("text", ["Hence a_k^2 = Q for all k.", "To stay so for all tilings, it needs d^2 = 4."])
def test_equation_is_no_identity_in_names_that_nothing_quantifies(text: str) -> None:
    (claim,) = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], "")
    assert FOR_EVERY not in claim.reason


SOLVED = {
    "next_step": (("70 - 4x = 18", "Solving for x, we get: x = {}."), 13),
    "same_step": (("70 - 4x = 18. Solving for x, we get: x = {}.",), 13),
    "both_sides": (("3x + 12 = 30", "Dividing both sides by 3: x + 4 = {}."), 10),
    "concluded": (("6y = 78, and thus y = {}.",), 13),
    "like_terms": (("2y + 3y - 4 = 21", "Combining like terms, we have 5y - 4 = {}."), 21),
}


@pytest.mark.parametrize(("steps", "right"), SOLVED.values(), ids=SOLVED.keys())
@given(off=st.integers(-20, 20))
def test_announced_rewriting_must_keep_the_solution(steps: tuple[str, ...], right: int, off: int) -> None:
    written = [step.format(right + off) for step in steps]
    assert verdict(*written) is (Truth.FALSE if off else Truth.TRUE)


NOT_REWRITTEN = {
    "unannounced": ("70 - 4x = 18", "We know that x = 12."),
    "second_equation": ("70 - 4x = 18", "Solving the second equation, x = 12."),
    "substituted": ("70 - 4x = 18", "Substituting and solving, we get x = 12."),
    "cases": ("5 - x = 3 or 5 - x = -3", "Solving for x, we get x = 2 and x = 8."),
    "steps_in_between": ("70 - 4x = 18", "There are two sides.", "Solving for x, we get x = 12."),
    "another_unknown": ("70 - 4x = 18", "Solving for y, we get y = 12."),
    "not_linear": ("x^2 = 9", "Solving for x, we get x = 3."),
    "rounded": ("3x = 10", "Dividing both sides by 3, x = 3.3"),
    "rounded_up": ("3x = 10", "Solving for x, we get x = 4."),
}


@pytest.mark.parametrize("steps", NOT_REWRITTEN.values(), ids=NOT_REWRITTEN.keys())
def test_other_equations_with_the_unknown_are_never_false(steps: tuple[str, ...]) -> None:
    assert verdict(*steps) is not Truth.FALSE


def test_chain_over_the_cap_says_nothing_of_its_end() -> None:
    assert not find_links("1 = " * 1000 + "2").links


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8 + 6 = 14", True), ("8 + 6 = 15", True), ("x = 14", False), ("y = 2x + 3", False), ("14", False)],
)
def test_calculation_is_told_by_its_form(text: str, expected: bool) -> None:
    assert is_calculation(text) is expected


@given(st.integers(2, 999), st.integers(2, 99), st.integers(-3, 3))
def test_results_in_clauses_are_decided_exactly(a: int, b: int, off: int) -> None:
    expected = Truth.FALSE if off else Truth.TRUE
    assert verdict(f"If {a} is multiplied by {b}, the product is {a * b + off}.") is expected
    assert verdict(f"When {a} is divided by {b}, the remainder is {a % b + abs(off)}.") is expected
