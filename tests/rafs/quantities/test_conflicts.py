"""Quantities that do not go together are found; conversions, counts and matching units are left alone."""

import pytest

from rafs.quantities.graph import read_graph
from rafs.types import BlindStep, StepKind

PROBLEM = "A rope is 6 feet long and a ribbon 5 inches. A tram makes 40 miles per hour. Ida has 9 beads and 14 more."


def conflict(text: str, problem: str = PROBLEM) -> str:
    step = BlindStep(index=0, text=text, kind=StepKind.INFERENCE)
    return "; ".join(claim.conflict for claim in read_graph(problem, [step]).claims if claim.conflict)


CONFLICTS = {
    "units_of_the_problem": "Together they are 6 + 5 = 11 feet.",
    "difference": "The rope is 6 - 5 = 1 foot longer.",
}


@pytest.mark.parametrize("text", CONFLICTS.values(), ids=CONFLICTS.keys())
def test_units_that_do_not_go_together_are_named(text: str) -> None:
    assert conflict(text)


FINE = {
    "same_unit": "6 feet + 5 feet = 11 feet",
    "converted": "6 * 12 = 72 inches, and 72 + 5 = 77 inches.",
    "counts": "She has 9 + 14 = 23 beads.",
    "rate_that_fits": "40 miles/hour * 3 hours = 120 miles",
    "two_rates": "40 miles/hour * 3 hours/day = 120 miles a day",
    "wrong_result": "6 + 5 = 12 feet",
    "one_unit_unknown": "6 + 9 = 15 pieces",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE.keys())
def test_units_that_go_together_are_left_alone(text: str) -> None:
    assert conflict(text) == ""


def test_a_number_with_two_units_in_the_problem_has_none() -> None:
    assert conflict("6 + 5 = 11", "6 feet and 6 hours, and 5 inches.") == ""


def test_a_dollar_sign_of_a_formula_is_no_money() -> None:
    assert conflict("$9 + 5 = 14$ minutes", "9 children walk for 5 minutes.") == ""
