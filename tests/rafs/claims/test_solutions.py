"""What is said to solve an equation, and the lines between."""

import pytest

from rafs.claims.reader import read_claims
from rafs.types import BlindStep, StepKind, Truth

R, W, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


def verdict(text: str, problem: str = "") -> Truth:
    claims = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], problem)
    truths = {claim.truth for claim in claims}
    return W if W in truths else R if R in truths else U


ALL_SOLUTIONS = {
    "only": ("x^2 = 49 has the only solution x = 7.", U),
    "only_behind": ("x^2 = 6x, so x = 6 is the only solution.", U),
    "plural": ("The solutions of x^2 = 49 are x = 7.", U),
    "both": ("x^2 - 9x + 14 = 0, so the solutions are x = 2 and x = 7.", R),
    "linear": ("The only solution of 5x = 35 is x = 7.", R),
    "one_of_them": ("x^2 = 49, so x = 7.", R),
}


@pytest.mark.parametrize(("text", "expected"), ALL_SOLUTIONS.values(), ids=ALL_SOLUTIONS)
def test_a_solution_told_to_be_the_only_one_is_true_only_where_no_other_can_be(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


REWRITTEN = {
    "arrow": ("4y + 5 = 21 ⇒ 4y = 16 ⇒ y = 4", R),
    "arrow_wrong": ("4y + 5 = 21 ⇒ 4y = 26 ⇒ y = 6.5", W),
    "word_wrong": ("4y + 5 = 21, so 4y = 26.", W),
    "ascii_arrow_wrong": ("4y + 5 = 21 -> 4y = 26", W),
    "equivalence": (r"4y + 5 = 21 \Leftrightarrow 4y = 16", R),
    "equivalence_sign_wrong": ("4y + 5 = 21 ⇔ 4y = 26", W),
    "sentence_wrong": ("7n - 1 = 4n + 5. So 11n = 4 and n = 4/11.", W),
    "lines": ("4y + 5 = 21\n4y = 26\ny = 6.5", U),
    "lines_right_at_the_end": ("4y + 5 = 21\n4y = 26\ny = 4", U),
    "action": ("4y + 5 = 21. Subtracting 5: 4y = 28. Dividing by 4: y = 7.", U),
    "lines_right": ("4y + 5 = 21\n4y = 16\ny = 4", R),
    "factors": ("y^2 - 7y + 10 = 0\ny - 2 = 0\ny - 5 = 0\ny = 5", R),
    "other_sign": ("We discard n - 3 = -4. Therefore, n - 3 = 4, so n = 7.", U),
    "discarded": ("We discard 2n - 3 = -4. So 4n = 28, so n = 7.", U),
    "another_case": ("y - 3 = 2, y = 5. y - 3 = -2, y = 1.", R),
}


@pytest.mark.parametrize(("text", "expected"), REWRITTEN.values(), ids=REWRITTEN)
def test_a_solution_is_true_only_where_the_equations_before_it_are_one(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


def test_an_equation_of_another_case_leaves_a_solution_true() -> None:
    claims = read_claims([BlindStep(index=0, text=REWRITTEN["another_case"][0], kind=StepKind.INFERENCE)], "")
    assert [claim.truth for claim in claims if claim.left == "y"] == [R, R]


RUN_ON_EQUATIONS = {
    "concluded": "3x+5 = 20 - 5 = 15, so x = 5.",
    "announced": "3x + 5 = 20 - 5 = 15. Solving for x, we get x = 5.",
}


@pytest.mark.parametrize("text", RUN_ON_EQUATIONS.values(), ids=RUN_ON_EQUATIONS)
def test_a_run_on_is_no_equation_that_refutes_a_solution(text: str) -> None:
    assert verdict(text) is not W
    assert verdict(text.replace(" - 5 = 15", "").replace("x = 5.", "x = 6.")) is W
