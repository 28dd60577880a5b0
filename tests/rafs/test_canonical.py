"""Order and wording are not difference; numbers and operations are."""

import pytest

from rafs.canonical import canonical_claims, canonical_form
from rafs.grammar.expressions import parse_expression
from rafs.reading import read_text

PROBLEM = "Lea has 3 packs of 12 pens and 5 single pens. How many pens does she have?"


def form(text: str) -> str:
    expression = parse_expression(text)
    assert expression is not None
    return canonical_form(expression)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("3 * 12", "12 * 3", True, id="factors"),
        pytest.param("3 * 12 + 5", "5 + 12 * 3", True, id="terms of products"),
        pytest.param("1 + (2 + 3)", "3 + 2 + 1", True, id="nested sums"),
        pytest.param("8 - 3 - 2", "8 - 2 - 3", True, id="subtrahends"),
        pytest.param("8 / 2 * 3", "3 * 8 / 2", True, id="divisors"),
        pytest.param("$36 + 5 pens", "5 + 36", True, id="units"),
        pytest.param("0.5 * 8", "1/2 * 8", False, id="a decimal and a division are two ways"),
        pytest.param("8 - 3", "3 - 8", False, id="a difference has an order"),
        pytest.param("8 / 2", "2 / 8", False, id="a quotient too"),
        pytest.param("3 * 12", "3 + 12", False, id="another operation"),
        pytest.param("3 * 12", "36", False, id="the value alone is not the calculation"),
    ],
)
def test_canonical_form(one: str, other: str, same: bool) -> None:
    assert (form(one) == form(other)) is same


def claims(text: str) -> set[tuple[str | None, str]]:
    return {
        (claim.equation, "" if claim.equation else claim.text)
        for claim in canonical_claims(read_text(PROBLEM, text, None))
    }


def test_two_tellings_of_one_calculation_are_equal() -> None:
    one = claims("She has 3 * 12 = 36 pens in packs.\nTogether 36 + 5 = 41 pens.\nThe answer is 41.")
    other = claims("With the single ones it is 5 + 36 = 41, since the packs hold 12 * 3 = 36 pens.\n#### 41")
    assert one == other
    assert len(one) == 2


def test_an_inference_in_words_is_a_claim_of_its_own() -> None:
    assert (None, "So she can give a pen to everyone.") in claims(
        "3 * 12 = 36.\nSo she can give a pen to everyone.\n#### 36"
    )
