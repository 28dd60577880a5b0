"""Numbers written in digits: groups, decimals, bases, powers of ten, magnitudes, repeating decimals."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.grammar.lexing import lex
from rafs.grammar.literals import MAX_DIGITS, read_literal
from rafs.grammar.tokens import Kind

VALUES = {
    "commas": ("2,345,678", "2345678"),
    "apostrophe": ("2'345", "2345"),
    "underscore": ("2_345", "2345"),
    "latex_comma": ("2{,}345", "2345"),
    "latex_thin_space": (r"2\,345", "2345"),
    "latex_negative_space": (r"2,\!345", "2345"),
    "no_break_space": ("2\u00a0345", "2345"),
    "indian": ("23,45,678", "2345678"),
    "full_width_comma": ("2，345", "2345"),
    "leading_point": (".75", "3/4"),
    "trailing_point": ("6. + 1", "6"),
    "latex_decimal_comma": ("2{,}75", "11/4"),
    "european": ("2.345,50", "4691/2"),
    "vulgar": ("6½", "13/2"),
    "vulgar_spaced": ("6 ½", "13/2"),
    "mixed": ("6 1/2", "13/2"),
    "and_a_half": ("6 and a half", "13/2"),
    "octal_subscript": ("57₈", "47"),
    "octal_index": ("57_8", "47"),
    "binary_braces": ("1101_{2}", "13"),
    "base_in_words": (r"1101_{\text{two}}", "13"),
    "hexadecimal_index": ("1C_{16}", "28"),
    "hexadecimal_letters": ("BE_{16}", "190"),
    "hexadecimal_prefix": ("0x2F", "47"),
    "binary_prefix": ("0b1101", "13"),
    "octal_prefix": ("0o57", "47"),
    "exponent": ("4.5e3", "4500"),
    "exponent_at_the_end": ("4.5e3.", "4500"),
    "negative_exponent": ("4.5E−2", "9/200"),
    "million": ("2.5 million", "2500000"),
    "tight_magnitude": ("4bn", "4000000000"),
    "lakh": ("3 lakh", "300000"),
    "money_thousands": ("$7k", "7000"),
    "money_millions": ("€1.5M", "1500000"),
    "no_money": ("7k", "7"),
    "money_in_a_formula": ("$7k + 5 = 2$", "7"),
    "percent": ("45%", "9/20"),
    "percent_word": ("45 per cent", "9/20"),
    "percentage_points": ("45 percentage points", "9/20"),
    "per_mille": ("45‰", "9/200"),
    "basis_points": ("45 basis points", "9/2000"),
    "mixed_percent": ("12 1/2%", "1/8"),
    "overline": (r"0.1\overline{6}", "1/6"),
    "repeated_in_brackets": ("0.(27)", "3/11"),
    "dotted": ("0.333...", "1/3"),
    "dotted_behind_digits": ("0.41666…", "5/12"),
    "dotted_block": ("0.2727...", "3/11"),
    "dotted_unfinished_block": (r"0.142857142\ldots", "142857142/1000000000"),
    "two_turns_behind_digits_prove_nothing": ("2.718281828...", "2718281828/1000000000"),
    "product_with_a_bracket": ("2.5(4)", "5/2"),
}


@pytest.mark.parametrize(("text", "value"), VALUES.values(), ids=VALUES.keys())
def test_a_literal_has_its_exact_value(text: str, value: str) -> None:
    first = next(token for token in lex(text) if token.kind is not Kind.BREAK)
    assert (first.kind, first.value) == (Kind.NUMBER, Fraction(value))


UNREADABLE = {
    "digit_beyond_the_base": "58_8",
    "base_or_conversion": "57 in base 8",
    "nought_or_hexadecimal": "0x10 + 1",
    "too_long": "9" * (MAX_DIGITS + 1),
    "huge_exponent": "1e999",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_digits_that_may_be_another_number_are_none(text: str) -> None:
    assert lex(text)[0].kind is Kind.JUNK


@pytest.mark.parametrize(("text", "value"), [("0x10 = 16", 16), ("0x10 = 0", 0), ("0x1F + 0x10", 31)])
def test_what_stands_around_tells_hexadecimal_from_nought_times(text: str, value: int) -> None:
    assert lex(text)[0].value == value


def test_a_label_takes_no_fraction_but_a_verb_does() -> None:
    assert [token.value for token in lex("step 2 1/2") if token.kind is Kind.NUMBER] == [2, 1, 2]
    assert [token.value for token in lex("used 2 1/2") if token.kind is Kind.NUMBER] == [Fraction(5, 2)]


def test_an_ordinal_counts_a_place_and_is_a_word() -> None:
    assert [(token.kind, token.text) for token in lex("3rd")] == [(Kind.WORD, "3rd")]


DECIMALS = {
    "plain": ("2.50", 2),
    "percent": ("2.5%", 3),
    "negative_exponent": ("2.5e-2", 3),
    "magnitude": ("2.5 million", -5),
    "whole_magnitude": ("2 million", 0),
    "result_in_powers_of_ten": ("x = 2.5 × 10^4", -3),
    "result_in_superscripts": (r"\approx 2.5 \times 10^{-4}", 5),
}


@pytest.mark.parametrize(("text", "decimals"), DECIMALS.values(), ids=DECIMALS.keys())
def test_decimals_say_which_place_was_rounded(text: str, decimals: int) -> None:
    assert lex(text)[-1].decimals == decimals


def test_a_factor_of_a_calculation_keeps_its_power_of_ten_apart() -> None:
    assert [token.value for token in lex("2.5 × 10^4 = 25000") if token.kind is Kind.NUMBER] == [
        Fraction(5, 2),
        *[10, 4, 25000],
    ]


@given(st.integers(0, 10**12), st.integers(0, 6))
def test_grouped_digits_are_read_back(value: int, decimals: int) -> None:
    text = f"{value / 10**6:,.{decimals}f}"
    assert read_literal(text, 0).value == Fraction(text.replace(",", ""))


@given(st.integers(0, 10**9), st.integers(2, 16))
def test_every_base_is_read_back(value: int, base: int) -> None:
    digits, rest = "", value
    while rest or not digits:
        digits, rest = "0123456789ABCDEF"[rest % base] + digits, rest // base
    token = lex(f"{digits}_{{{base}}}")[0]
    if digits[0].isdecimal():
        assert token.value == value
