import pytest

from rafs.types import Truth
from verifiers.oracles.arithmetic import ArithmeticOracle

PROBLEM = "A baker fills 14 trays with 6 rolls each and sells 30. How many are left?"


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        pytest.param("14 * 6 = 84, so 84 - 30 = 54 are left.", Truth.TRUE, id="every claim holds"),
        pytest.param("14 * 6 = 84, so 84 - 30 = 56 are left.", Truth.FALSE, id="one is false"),
        pytest.param("14 * 6 = 84.\n84 - 30 = 54.\nThe answer is 61.", Truth.UNKNOWN, id="the answer is another"),
        pytest.param("14 * 6 = 84.\nSo it is 84 - 30 = \\boxed{56}.", Truth.UNKNOWN, id="the end is set apart"),
        pytest.param("14 * 6 = 84.\nThen x^2 - 5x + 6 = 0.", Truth.UNKNOWN, id="algebra beside it"),
        pytest.param("Most are sold.", Truth.UNKNOWN, id="words alone"),
    ],
)
def test_it_decides_by_exact_claims_alone(text: str, truth: Truth) -> None:
    assert ArithmeticOracle().decide(PROBLEM, text).truth is truth


def test_it_names_the_false_claim() -> None:
    assert "84" in ArithmeticOracle().decide(PROBLEM, "The trays hold 14 * 6 = 74 rolls.").reason
