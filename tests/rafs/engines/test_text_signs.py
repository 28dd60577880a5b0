from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.text_signs import is_flipped, read_polarity, read_quantities


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        pytest.param("She has 1,200 coins.", ["1200"], id="thousands"),
        pytest.param("It is 2.50 dollars.", ["5/2"], id="decimal"),
        pytest.param("3/4 of the class", ["3/4"], id="fraction"),
        pytest.param("Five of the twelve eggs", ["5", "12"], id="words"),
        pytest.param("half as many, then twice 6", ["1/2", "2", "6"], id="half and twice"),
        pytest.param("Step 3: 4 + 5 = 9", ["4", "5", "9"], id="a step label is no number"),
        pytest.param("the one who ran", [], id="one as a pronoun"),
        pytest.param("5-3 = 2", ["5", "3", "2"], id="a minus between numbers is no sign"),
        pytest.param("it is -3 degrees", ["-3"], id="sign"),
        pytest.param("1/0", [], id="division by zero"),
        pytest.param("7 and 7", ["7", "7"], id="twice the same"),
    ],
)
def test_quantities_are_read_exactly(text: str, numbers: list[str]) -> None:
    assert read_quantities(text) == Counter(map(Fraction, numbers))


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        pytest.param("n is even", "n is odd", True, id="opposites"),
        pytest.param("n is not odd", "n is even", False, id="two flips cancel"),
        pytest.param("it is prime", "it isn't prime", True, id="contracted negation"),
        pytest.param("A has more than B", "A has fewer than B", True, id="comparison"),
        pytest.param("A is old", "A is tall", False, id="nothing opposed"),
        pytest.param("2 is even and 3 is odd", "3 is odd", False, id="both words in the premise"),
        pytest.param("the first is even", "the last is odd", False, id="two opposites cancel"),
    ],
)
def test_flips_are_counted(premise: str, hypothesis: str, expected: bool) -> None:
    assert is_flipped(read_polarity(premise), read_polarity(hypothesis)) is expected


@given(st.text(max_size=200), st.text(max_size=200))
def test_flips_do_not_depend_on_direction(one: str, other: str) -> None:
    first, second = read_polarity(one), read_polarity(other)
    assert is_flipped(first, second) == is_flipped(second, first)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert all(count > 0 for count in read_quantities(text).values())
