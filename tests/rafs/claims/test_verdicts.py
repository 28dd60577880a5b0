"""What mathematical notation of every kind comes to: right, wrong, or open where a convention decides."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.claims.reader import read_claims
from rafs.types import BlindStep, StepKind, Truth

R, W, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


def verdict(text: str) -> Truth:
    claims = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], "")
    truths = {claim.truth for claim in claims}
    return W if W in truths else R if R in truths else U


LOGARITHMS = {
    "subscript": (r"\log_3 81 = 4", R),
    "wrong": (r"\log_3 81 = 3", W),
    "underscore": ("log_5(25) = 2", R),
    "glued_base": ("log2(64) = 5", W),
    "braced_base": (r"\log_{10} 10000 = 4", R),
    "no_base": (r"\log 1000 = 3", U),
    "no_base_but_one": (r"\log 1 = 0", R),
    "no_base_cancels": (r"\log 6 - \log 2 = \log 3", R),
    "no_base_cancels_wrong": (r"\log 6 - \log 2 = \log 4", W),
    "rational": (r"\log_9 27 = \frac{3}{2}", R),
    "natural": (r"\ln(e^4) = 4", R),
    "natural_wrong": (r"\ln(e^4) = 5", W),
    "of_powers": (r"\ln 32 = 5 \ln 2", R),
    "shown_digits": (r"\ln 3 ≈ 1.099", R),
    "shown_digits_wrong": (r"\ln 3 ≈ 1.2", W),
    "of_zero": (r"\log_2 0 = 0", W),
    "in_the_exponent": (r"3^{\log_3 7} = 7", R),
}
ANGLES = {
    "degrees": (r"\sin 150^\circ = \frac{1}{2}", R),
    "degrees_wrong": (r"\cos 30^\circ = \frac{1}{2}", W),
    "degree_sign": ("tan 60° = √3", R),
    "radians": (r"\cos(π/3) = 1/2", R),
    "bare_fits_degrees": ("cos 60 = 0.5", U),
    "bare_fits_nothing": ("cos 60 = 0.75", W),
    "bare_fits_radians": ("sin(1.2) ≈ 0.932", R),
    "zero": ("cos(0) = 1", R),
    "squares": (r"\sin^2 15^\circ + \cos^2 15^\circ = 1", R),
    "inverse": (r"\arcsin(1/2) = 30^\circ", R),
    "inverse_power": (r"\tan^{-1}(1) = \frac{\pi}{4}", R),
    "inverse_wrong": (r"\arccos(1/2) = 45°", W),
    "inverse_bare": ("arctan(1) = 45", U),
    "no_value": (r"\tan 90^\circ = 1", W),
    "half_turn": ("180° = π", R),
    "sum_of_angles": (r"180^\circ - 50^\circ - 60^\circ = 80^\circ", W),
    "shown_digits": (r"\sin 50^\circ ≈ 0.766", R),
}
COMPLEX = {
    "product": ("(1+2i)(1-2i) = 5", R),
    "product_wrong": ("(1+2i)(1-2i) = 3", W),
    "square": ("i^2 = -1", R),
    "power_wrong": ("i^3 = i", W),
    "length": ("|5+12i| = 13", R),
    "length_surd": ("|1+i| = √2", R),
    "length_wrong": ("|5+12i| = 17", W),
    "quotient": (r"\frac{1+i}{1-i} = i", R),
    "conjugate": (r"\overline{2-5i} = 2+5i", R),
    "root": (r"\sqrt{-25} = 5i", R),
    "root_wrong": (r"\sqrt{-25} = 5", W),
    "euler": (r"e^{i\pi} = -1", R),
    "index_of_a_loop": ("2i + 1 = 9", U),
}
SETS = {
    "union": ("{1,4} ∪ {4,9} = {1,4,9}", R),
    "union_wrong": ("{1,4} ∪ {4,9} = {1,9}", W),
    "latex": (r"\{1, 4\} \cap \{4, 9\} = \{4\}", R),
    "one_member": ("{5, 6} ∩ {6, 7} = {5}", W),
    "difference": (r"\{1,2,3\} \setminus \{1,3\} = \{2\}", R),
    "empty": ("{1, 2} ∩ {3, 5} = ∅", R),
    "size": ("|{2, 4, 6, 8}| = 4", R),
    "order": ("{7, 2} = {2, 7}", R),
    "member": ("4 ∈ {1, 4}", R),
    "no_member": (r"5 \in \{1, 4\}", W),
    "denied_member": (r"5 \notin \{1, 4\}", R),
    "part": ("{4} ⊆ {1, 4}", R),
    "letters": (r"\{p, q\} \cup \{q, r\} = \{p, q, r\}", R),
    "pairs": ("{1, 2} × {3} = {(1,3), (2,3)}", R),
    "intervals": ("[1, 4] ∩ (2, 6) = (2, 4]", R),
    "intervals_wrong": ("(1, 3) ∪ (3, 5) = (1, 5)", W),
    "half_lines": (r"(-\infty, 5] \cap [2, \infty) = [2, 5]", R),
    "in_interval": (r"3 \in [1, 3)", W),
    "unknown_set": ("A ∪ B = {1, 2}", U),
}
MATRICES = {
    "determinant": (r"\det\begin{pmatrix}2&1\\5&4\end{pmatrix} = 3", R),
    "determinant_wrong": (r"\begin{vmatrix}2&1\\5&4\end{vmatrix} = 13", W),
    "sum": ("[[1,2],[3,4]] + [[4,3],[2,1]] = [[5,5],[5,5]]", R),
    "product": (r"\begin{bmatrix}1&2\\0&1\end{bmatrix}\begin{bmatrix}3\\4\end{bmatrix} = [[11], [4]]", R),
    "product_wrong": ("[[1,2],[0,1]] * [[3],[4]] = [[11],[5]]", W),
    "negative_cells": (r"2\begin{pmatrix}1&-3\\0&2\end{pmatrix} = \begin{pmatrix}2&-6\\0&4\end{pmatrix}", R),
    "inverse": (r"\begin{pmatrix}2&0\\0&4\end{pmatrix}^{-1} = \begin{pmatrix}1/2&0\\0&1/4\end{pmatrix}", R),
    "dot": ("(2, 5) · (3, 1) = 11", R),
    "dot_wrong": (r"\langle 2, 5 \rangle \cdot \langle 3, 1 \rangle = 12", W),
    "cross": ("(0,1,0) × (0,0,1) = (1,0,0)", R),
    "vectors": ("(2, 5) - (1, 1) = (1, 4)", R),
    "length": ("|(5, 12)| = 13", R),
}  # fmt: skip
SERIES = {
    "sum": (r"\sum_{k=1}^{6} k = 21", R),
    "sum_wrong": (r"\sum_{k=1}^{6} k^2 = 90", W),
    "unicode": ("∑_{i=0}^{3} 3^i = 40", R),
    "product": (r"\prod_{j=2}^{4} j = 24", R),
    "arithmetic": ("3 + 6 + ... + 30 = 165", R),
    "arithmetic_wrong": ("3 + 6 + ... + 30 = 39", W),
    "geometric": (r"1 + 3 + 9 + \cdots + 81 = 121", R),
    "squares": ("1 + 4 + 9 + … + 36 = 91", R),
    "for_ever": ("1/3 + 1/9 + 1/27 + ... = 1/2", R),
    "two_progressions": ("1 + 2 + ... + 8 = 15", U),
    "no_progression": ("2 + 7 + ... + 31 = 100", U),
    "two_squares": ("1^2 + 2^2 + ... + 6^2 = 91", R),
    "two_squares_wrong": ("1^2 + 2^2 + ... + 6^2 = 92", W),
    "odd_squares": ("1² + 3² + ... + 7² = 84", R),
    "two_products": ("2·3 + 3·4 + ... + 7·8 = 166", R),
    "two_factorials": ("1! + 2! + ... + 5! = 153", R),
    "two_fractions": (r"\frac{1}{2} + \frac{1}{3} + \dots + \frac{1}{6} = 1.45", R),
    "fractions_of_two_kinds": ("1/2 + 1/4 + ... + 1/16 = 15/16", U),
    "no_even_step": ("1 + 2^2 + ... + 7^2 = 40", U),
    "far_too_long": (r"\sum_{k=1}^{10^{15}} k^k = 5", U),
}
COUNTING = {
    "choose": ("7C3 = 35", R),
    "raised": (r"^7C_3 = 35", R),
    "binom": (r"\binom73 = 34", W),
    "permutations": ("7P2 = 42", R),
    "named": ("P(7, 2) = 49", W),
    "subfactorial": ("!5 = 44", R),
    "quotient": (r"\binom{6}{3} = \frac{6!}{3!3!}", R),
    "floor": ("⌊-1.2⌋ = -1", W),
    "ceiling": (r"\lceil 6.1 \rceil = 7", R),
    "floor_of_root": (r"\lfloor \sqrt{30} \rfloor = 5", R),
    "bars": ("|3 - 11| = 8", R),
    "bars_latex": (r"\lvert -6 \rvert = -6", W),
    "cube_root": ("∛125 = 5", R),
    "fourth_root": (r"\sqrt[4]{81} = 3", R),
    "lists": ("max(4, 9, 6) = 6", W),
    "percent_sign_as_modulo": ("38 % 7 = 3", R),
    "modulo_wrong": ("38 mod 7 = 4", W),
    "congruence": (r"38 \equiv 3 \pmod 7", R),
    "congruence_wrong": ("38 ≡ 4 (mod 7)", W),
    "remainder": ("38 ÷ 7 = 5 R 4", W),
}
REALS = {
    "surds": (r"\sqrt{3} + \sqrt{12} = 3\sqrt{3}", R),
    "surds_wrong": (r"\sqrt{3} + \sqrt{5} = \sqrt{8}", W),
    "rationalised": (r"\frac{6}{\sqrt{3}} = 2\sqrt{3}", R),
    "power": ("32^{2/5} = 4", R),
    "pi_digits": ("π ≈ 3.142", R),
    "pi_digits_wrong": ("π ≈ 3.16", W),
    "pi_cut_off": ("π ≈ 3.141", U),
    "pi_by_schoolbook": ("15π ≈ 47.1", R),
    "pi_multiple_wrong": ("3π ≈ 9.52", W),
    "e_digits": ("e ≈ 2.7183", R),
    "compare": (r"\sqrt{11} > \pi", R),
    "compare_wrong": ("22/7 < π", W),
    "mixed": ("2¾ + 1½ = 4¼", R),
    "mixed_wrong": ("2¾ + 1½ = 4", W),
    "ratio": ("9:15 = 3:5", R),
    "ratio_of_fractions": ("1/4 : 1/6 = 3:2", R),
    "ratio_or_quotient": ("10 : 5/2 = 1", U),
    "ratio_of_three": ("2:3:5 = 4:6:10", R),
    "ratio_of_three_wrong": ("2:3:5 = 4:6:9", W),
    "zero_to_zero": ("0^0 = 1", U),
    "by_zero": ("7/0 = 7", W),
    "infinity": ("1/0 = ∞", U),
    "ambiguous": ("12/3(1+1) = 8", U),
    "name_given_before_a_bracket": ("P = 200 and r = 0.5, so P(1 + r) = 300.", R),
}
MEASURES = {
    "smaller_unit": ("3 km = 3000 m", R),
    "smaller_unit_wrong": ("3 km = 300 m", W),
    "rate": ("150 km / 3 h = 50 km/h", R),
    "rate_wrong": ("150 km / 3 h = 45 km/h", W),
    "rate_converted": ("30 km / 20 min = 90 km/h", R),
    "coins": ("$3 + 40 cents = $3.40", R),
    "coins_multiplied": ("6 × 45¢ = $270", U),
    "hours_of_days": ("6 days × 8 = 48 hours", R),
    "coins_wrong": ("$3 + 40 cents = $43", W),
    "currencies": ("£8 = $8", W),
    "two_units": ("1 hour 20 minutes = 80 minutes", R),
    "two_units_wrong": ("1 hour 20 minutes = 1.2 hours", W),
    "dozens": ("3 dozen + 2 = 38", R),
    "dozens_wrong": ("3 dozen = 30 rolls", W),
    "mass_for_length": ("4 kg = 4 m", W),
    "what_comes_with_what": ("6 hours = $90", U),
    "plain_noun": ("4 bags = 20 apples", U),
    "clock": ("10:40 am + 35 min = 11:15 am", R),
    "clock_wrong": ("10:40 am + 35 min = 10:75 am", U),
    "clock_over_noon": ("11:40 am + 35 min = 12:15 am", W),
    "clock_over_midnight": ("10:30 pm + 3 hours = 1:30 am", R),
    "clock_difference": ("4:15 pm - 1:45 pm = 2.5 hours", R),
    "clock_difference_wrong": ("4:15 pm - 1:45 pm = 3 hours", W),
}
NAMED_UNITS = {
    "degrees": ("β = 150°, so sin β = 1/2", R),
    "degrees_wrong": ("β = 60°, so sin β = 1/2", W),
    "degrees_in_a_formula": ("γ = 60° and b = 10, so b cos γ = 5", R),
    "degrees_computed": ("β = 180° - 60°, so cos β = -1/2", R),
    "radians": ("β = 1.2, so sin β ≈ 0.932", R),
    "bare_fits_degrees": ("y = 60, so cos y = 0.5", U),
    "bare_fits_nothing": ("y = 60, so cos y = 0.75", W),
    "share_of_a_circle": ("β = 90°, so β/360 * 8π = 2π", R),
    "dozens": ("k = 4 dozen, so 3k = 144", R),
    "rate_times_time": ("u = 40 km/h, h = 90 minutes, so u*h = 60 km", R),
    "rate_times_time_unconverted": ("u = 40 km/h, h = 90 minutes, so u*h = 3600 km", U),
    "coins": ("p = 35¢, so 4p = $1.40", R),
    "coins_unconverted": ("p = 35¢, so 4p = $140", U),
    "wrong": ("d = 7 km, so 3d = 22 km", W),
}
TABLES = {
    "log": LOGARITHMS, "angle": ANGLES, "complex": COMPLEX, "set": SETS, "matrix": MATRICES, "series": SERIES,
    "count": COUNTING, "real": REALS, "measure": MEASURES,
    "named-unit": NAMED_UNITS,
}  # fmt: skip
CASES = {f"{table}-{name}": case for table, cases in TABLES.items() for name, case in cases.items()}


@pytest.mark.parametrize(("text", "truth"), CASES.values(), ids=CASES.keys())
def test_notation_is_read_and_decided(text: str, truth: Truth) -> None:
    assert verdict(text) is truth


@pytest.mark.parametrize(("text", "truth"), CASES.values(), ids=CASES.keys())
def test_a_sentence_around_it_changes_nothing(text: str, truth: Truth) -> None:
    assert verdict(f"Therefore {text}, as we wanted.") is truth


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-20, 20), st.integers(-20, 20))
def test_complex_products_agree_with_the_formula(a: int, b: int, c: int, d: int) -> None:
    real, imaginary = a * c - b * d, a * d + b * c
    text = f"({a} + {b}i)({c} + {d}i) = {real} + {imaginary}i"
    assert verdict(text.replace("+ -", "- ")) is R
    assert verdict(text.replace("+ -", "- ").replace(f"= {real}", f"= {real + 1}")) is not R


@given(st.sets(st.integers(0, 30), min_size=2), st.sets(st.integers(0, 30), min_size=2))
def test_unions_agree_with_sets(a: set[int], b: set[int]) -> None:
    shown = [json.dumps(sorted(each)).replace("[", "{").replace("]", "}") for each in (a, b, a | b)]
    assert verdict(f"{shown[0]} ∪ {shown[1]} = {shown[2]}") is R


@given(st.integers(0, 23), st.integers(0, 59), st.integers(1, 720))
def test_clocks_go_round(hour: int, minute: int, minutes: int) -> None:
    def shown(total: int) -> str:
        hours, rest = divmod(total % 1440, 60)
        return f"{hours % 12 or 12}:{rest:02d} {'am' if hours < 12 else 'pm'}"

    start = 60 * hour + minute
    assert verdict(f"{shown(start)} + {minutes} minutes = {shown(start + minutes)}") is R
    assert verdict(f"{shown(start)} + {minutes} minutes = {shown(start + minutes + 1)}") is W
