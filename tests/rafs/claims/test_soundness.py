"""What is true, or open, by some reading is never refuted; the same with a slip in it is."""

import pytest

from rafs.claims.reader import read_claims
from rafs.types import BlindStep, StepKind, Truth

R, W, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


def verdict(text: str, problem: str = "") -> Truth:
    claims = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], problem)
    truths = {claim.truth for claim in claims}
    return W if W in truths else R if R in truths else U


OTHER_ARITHMETIC = {
    "residues": "Working modulo 9, 7 + 6 = 4.",
    "ring": "In Z_5, 3 * 4 = 2.",
    "field": "Over F_2 we have 1 + 1 = 0.",
    "clock": "On a 12-hour clock, 11 + 4 = 3.",
    "base": "In base 6, 5 + 2 = 11.",
    "base_behind": "4 + 4 = 13 in base 5",
    "binary": "11 + 1 = 100 (binary)",
    "boolean": "In Boolean algebra, 1 + 1 = 1.",
    "carry": "9 + 4 = 3, carry 1",
    "borrow": "3 - 8 = 5 (borrow)",
    "units_digit": "units digit of 8^2 = 4",
    "digit_behind": "6 * 7 = 2 in the units place",
    "exclusive_or": "6 ^ 3 = 5 (xor)",
    "strings": '"4" + "2" = "42"',
    "new_sign": "Define a * b = a + 3b. Then 2 * 4 = 14.",
    "new_sign_without_a_word": "If a * b = 2a + b, then 3 * 4 = 10.",
    "remainder_of_a_negative": "-9 % 4 = -1",
    "congruence": "23 = 3 mod 5",
}


@pytest.mark.parametrize("text", OTHER_ARITHMETIC.values(), ids=OTHER_ARITHMETIC)
def test_what_holds_by_rules_told_in_the_text_is_not_refuted(text: str) -> None:
    assert verdict(text) is not W


def test_a_sign_defined_in_the_problem_is_not_read_as_usual() -> None:
    problem = "The operation * is defined by a * b = ab + a. Find 3 * 5."
    assert verdict("3 * 5 = 18", problem) is U
    assert verdict("3 * 5 = 18", "Find the product.") is W


NOT_ASSERTED = {
    "cross": "✗ 4^2 = 8",
    "in_brackets": "4^2 = 8 (wrong!)",
    "common_error": "A common error is to write 1/3 + 1/4 = 2/7.",
    "students": "Many students get 4^2 = 8.",
    "failed_check": "Check: 3(4) + 1 = 14, so x = 4 is not a solution.",
    "contradiction": "Subtracting gives 0 = 6, so the lines never meet.",
}


@pytest.mark.parametrize("text", NOT_ASSERTED.values(), ids=NOT_ASSERTED)
def test_what_the_writer_does_not_hold_is_not_refuted(text: str) -> None:
    assert verdict(text) is not W


def test_a_false_end_of_a_chain_is_refuted_though_it_computes_nothing() -> None:
    assert verdict("4 + 5 = 9 = 10") is W


READINGS = {
    "range_counted": ("chapters 4-9 = 6 chapters", U),
    "sides_of_a_triangle": ("3-4-5 = 12", U),
    "difference": ("9-4 = 6", W),
    "digits": ("27 = 2 + 7 = 9", R),
    "full_turn": ("-45° = 315°", U),
    "no_turn": ("-45° = 225°", W),
    "bar_lost": ("√9 + 16 = 5", U),
    "no_bar": ("√9 + 16 = 20", W),
    "share_of_the_sum": ("10% of 70 + 30 = 10", U),
    "machine": ("0.1 + 0.7 = 0.7999999999999999", U),
    "short_pi": ("3.14 * 6^2 = 113.1", U),
    "short_pi_wrong": ("3.14 * 6^2 = 114.1", W),
    "two_decimals_of_a_third": ("0.67 = 2/3", U),
    "one_decimal_of_a_third": ("0.3 = 1/3", W),
    "decimals_of_pi": ("3.14 = π", R),
    "percentage_without_sign": ("7/8 = 0.875 = 87.5", R),
    "root_rounded": ("√3 = 1.732, so 10 * 1.732 = 17.3205", R),
    "scientific": ("8 × 10^6 / 2 × 10^3 = 4 × 10^3", U),
    "what_a_unit_is_worth": ("3 units = 42", U),
    "things_and_numbers": ("2 stars + 5 = 19", U),
    "dozens_priced": ("4 dozen * 12 = 48", R),
    "part_of_a_dozen": ("1/4 dozen = 3", R),
    "dozens_counted": ("4 dozen = 40", W),
    "several_arguments": ("max(3,700) = 700", U),
    "numbering": ("No. 7 = 12", U),
    "spaced_point": ("3 . 5 = 15", U),
    "assignments": ("depth=7 width=9", U),
    "equal_assignments": ("rows=3 cols=3", U),
    "assigned_decimals": ("rate=0.25 batch=16 epochs=3", U),
    "assigned_lengths": ("depth=7cm width=9cm", U),
    "length_in_two_units": ("Length = 300 cm = 3 m", R),
}


@pytest.mark.parametrize(("text", "expected"), READINGS.values(), ids=READINGS)
def test_an_equation_is_refuted_only_where_no_reading_saves_it(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


LONG = {
    "powers": ("10^6100 = 10^6099", W),
    "powers_of_others": ("3^15500 = 7^8700", W),
    "same": ("2^16000 * 5^16000 = 10^16000", R),
    "small": ("10^{-5200} = 1", U),
    "digits_added": ("10^5500 = 1 + 0", W),
    "root": (r"\sqrt{10^{4703}} = 6.5", U),
    "root_kept": (r"\sqrt{10^{4703}} = \sqrt{10^{4703}}", R),
    "significant": ("10^5100 rounded to 2 significant figures is 10^5100", R),
    "exponent": ("e^{10^{-5000}} = 1", U),
}


@pytest.mark.parametrize(("text", "expected"), LONG.values(), ids=LONG)
def test_numbers_of_more_digits_than_python_prints_are_compared(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


AMOUNTS = {
    "working_week": ("2 weeks = 10 days", U),
    "working_day": ("4 days = 32 hours", U),
    "week": ("2 weeks = 12 days", W),
    "map": ("1 cm = 4 km", U),
    "no_map": ("4 cm = 1 m", W),
    "celsius": ("30 °C = 86 °F", R),
    "celsius_wrong": ("30 °C = 80 °F", W),
    "latex_degrees": (r"15^\circ C = 59^\circ F", R),
    "one_scale": ("35 °C - 12 °C = 22 °C", W),
    "two_scales": ("90 °C - 20 °C = 80 K", U),
    "thirds": ("2 thirds of 12 = 8", R),
    "tenths": ("9 tenths = 0.09", W),
    "places": ("5 tens + 6 ones = 56", R),
}


@pytest.mark.parametrize(("text", "expected"), AMOUNTS.values(), ids=AMOUNTS)
def test_amounts_are_compared_by_what_they_may_mean(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


BASES = {
    "read_in_it": ("34 in base 5 is 19.", R),
    "written_in_it": ("34 in base 5 is 114.", R),
    "neither": ("34 in base 5 is 20.", W),
    "target": ("34 in base 5 = 114 in base 10", W),
    "binary": ("1101 in binary equals 13", R),
    "binary_number": ("The binary number 1101 equals 14", W),
    "letters": ("200 in hexadecimal is C8", R),
    "no_digits_of_it": ("92 in base 8 = 79", U),
    "triangle": ("a triangle with base 8 and height 3", U),
}


@pytest.mark.parametrize(("text", "expected"), BASES.values(), ids=BASES)
def test_a_conversion_between_bases_holds_in_either_direction(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


NUMBER_SETS = {
    "whole": ("7 ∈ ℤ", R),
    "no_whole": (r"\frac{3}{4} \in \mathbb{Z}", W),
    "negative": ("-2 ∈ ℕ", W),
    "nought": ("0 ∈ ℕ", U),
    "irrational": (r"\sqrt{5} \notin \mathbb{Q}", R),
    "pi": ("π ∈ ℚ", W),
    "contained": ("ℤ ⊂ ℝ", R),
    "not_contained": ("ℝ ⊆ ℚ", W),
    "members": ("{1, 2} ⊂ ℕ", R),
    "name": ("n ∈ ℤ", U),
}


@pytest.mark.parametrize(("text", "expected"), NUMBER_SETS.values(), ids=NUMBER_SETS)
def test_membership_in_the_number_sets(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


BARS = {
    "spaced": ("| -8 | = 8", R),
    "spaced_wrong": ("| 2 - 10 | = -8", W),
    "row_of_a_table": ("| 2 - 10 | = -8 |", U),
}


@pytest.mark.parametrize(("text", "expected"), BARS.values(), ids=BARS)
def test_spaced_bars_hold_an_absolute_value_outside_of_tables(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


RESIDUES = {
    "inverse": (r"3^{-1} \equiv 4 \pmod{11}", R),
    "fraction": (r"\frac{1}{5} ≡ 9 (mod 11)", R),
    "numerator": ("4/3 ≡ 5 (mod 11)", R),
    "no_residue_of_it": ("4/3 ≡ 6 (mod 11)", W),
    "no_inverse": ("1/6 ≡ 5 (mod 9)", U),
    "remainder": ("3^{-1} mod 11 = 4", U),
    "no_remainder_of_it": ("3^{-1} mod 11 = 5", W),
    "whole": ("25 ≡ 4 (mod 11)", W),
}


@pytest.mark.parametrize(("text", "expected"), RESIDUES.values(), ids=RESIDUES)
def test_a_fraction_is_congruent_to_its_residue(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


REASSIGNED = {
    "comma": ("t = 8, t = t + 3 = 11.", R),
    "twice": ("k = 4; k = k + 3 = 7; k = k * 2 = 14.", R),
    "word": ("stock = 40. stock = stock - 15 = 25.", R),
    "wrong": ("t = 8, t = t + 3 = 12.", W),
    "told_again": ("t = 8, t = t + 3 = 11, so t = 11.", R),
    "no_equation_of_it": ("t = 8, t = t * 3, so t = 24.", U),
    "no_value_before": ("t counts the rows. t = t + 3 = 11, so t = 11.", U),
    "used_behind": ("t = 8, t = t + 3 = 11, 2t = 22", R),
}


@pytest.mark.parametrize(("text", "expected"), REASSIGNED.values(), ids=REASSIGNED)
def test_a_name_keeps_its_old_value_until_the_new_one_is_computed(text: str, expected: Truth) -> None:
    assert verdict(text) is expected


SPOKEN = {
    "half_of_a_sum": ("Half of 12 plus 4 is 8.", U),
    "half_and_a_sum": ("Half of 12 plus 4 is 10.", R),
    "half_neither": ("Half of 12 plus 4 is 9.", W),
    "twice_a_sum": ("Twice 5 plus 6 is 22.", U),
    "left_to_right": ("20 minus 4 times 3 is 48.", U),
    "usual": ("20 minus 4 times 3 is 8.", R),
    "neither": ("20 minus 4 times 3 is 12.", W),
    "turned_round": ("6 less than 5 times 4 is -4.", U),
    "on_the_right": ("48 equals 20 minus 4 times 3.", U),
    "in_signs": ("20 - 4 * 3 is 48.", W),
    "ordered": ("The difference of 4 and 9 is -5.", U),
    "unordered": ("The difference of 4 and 9 is 5.", R),
    "mixed_number": ("4 and 1/3 plus 2/3 is 5.", U),
    "mixed_number_in_signs": ("So 4 and 1/3 + 2 = 19/3.", U),
    "mixed_number_added": ("We add 4 and 1/2 × 10 = 5.", U),
    "no_difference": ("The difference of 4 and 9 is 6.", W),
    "positive": ("The positive difference of 4 and 9 is -5.", W),
}


@pytest.mark.parametrize(("text", "expected"), SPOKEN.values(), ids=SPOKEN)
def test_spoken_calculations_are_refuted_only_under_every_grouping(text: str, expected: Truth) -> None:
    assert verdict(text) is expected
