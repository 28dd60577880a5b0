"""Numbers are read as written, and another one is written in the same manner."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfactuals.numerals import mentions, nearby_value, read_numeral, write_like


@pytest.mark.parametrize(
    ("model", "value"),
    [
        pytest.param("1,250", 1250, id="thousands"),
        pytest.param("1{,}250", 1250, id="LaTeX thousands"),
        pytest.param("-$5", -5, id="sign and currency"),
        pytest.param("20%", 20, id="percent"),
        pytest.param("\\$4.50", Fraction(9, 2), id="escaped currency"),
        pytest.param("1/2", None, id="fraction"),
        pytest.param("20 + 4", None, id="expression"),
        pytest.param("1.234,56", None, id="decimal comma"),
        pytest.param("twelve", None, id="word"),
        pytest.param("", None, id="empty"),
    ],
)
def test_only_a_plain_number_is_a_numeral(model: str, value: Fraction | None) -> None:
    numeral = read_numeral(model)
    assert (None if numeral is None else numeral.value) == value


@pytest.mark.parametrize(
    ("value", "model", "written"),
    [
        pytest.param(Fraction(1234), "1,250", "1,234", id="thousands comma"),
        pytest.param(Fraction(1234), "1250", "1234", id="no comma"),
        pytest.param(Fraction(-5, 2), "3", "-2.5", id="negative decimal"),
        pytest.param(Fraction(1, 20), "3", "0.05", id="leading zeros of the fraction"),
        pytest.param(Fraction(1, 3), "3", None, id="no short decimal"),
        pytest.param(Fraction(10) ** 4700, "1,250", None, id="too long"),
        pytest.param(Fraction(5), "$4.50", "$5.00", id="decimals and currency stay"),
        pytest.param(Fraction(-5), "−$4", "−$5", id="minus sign stays"),
        pytest.param(Fraction(25), "20 %", "25 %", id="percent sign stays"),
        pytest.param(Fraction(40), "0.333333333", "40", id="no row of zeros"),
        pytest.param(Fraction(78), "5.5", "78", id="no single zero"),
        pytest.param(Fraction(78), "5.0", "78.0", id="a zero where there was one"),
        pytest.param(Fraction(7, 2), "$28", "$3.50", id="cents have two digits"),
    ],
)
def test_numbers_are_written_like_the_one_they_replace(value: Fraction, model: str, written: str | None) -> None:
    numeral = read_numeral(model)
    assert numeral is not None
    assert write_like(value, numeral) == written


@given(st.integers(-(10**9), 10**9), st.integers(0, 4), st.integers(1, 9), st.integers(0, 2**40))
def test_a_nearby_value_is_another_one_of_the_same_sign_size_and_last_digit(
    digits: int, decimals: int, bottom: int, seed: int
) -> None:
    unit = Fraction(1, bottom * 10**decimals)
    value = digits * unit
    other = nearby_value(value, unit, random.Random(seed))
    if other is None:
        assert 0 < abs(value) <= 2 * unit
        return
    assert other not in (value, 0, 1, -1)
    assert other * value >= 0
    assert (other / unit).denominator == 1
    assert abs(other - value) <= max(abs(value) * Fraction(3, 10), 2 * unit)
    assert abs(other) < 1 or not 0 < abs(value) < 1


def test_a_sign_belongs_to_a_number_only_where_nothing_is_subtracted() -> None:
    text = "5 - 16 = -11, so -3 cats - 4"
    assert [(text[at.start : at.end], int(value)) for at, value in mentions(text)] == [
        ("5", 5),
        ("16", 16),
        ("-11", -11),
        ("-3", -3),
        ("4", 4),
    ]
