"""Exact values of every kind, and bounds of real numbers."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.grammar.computing import compute
from rafs.grammar.enclosure import enclose
from rafs.grammar.expressions import evaluate, parse_expression
from rafs.grammar.terms import Binary, Call, Number, variables
from rafs.grammar.values import FiniteSet, Matrix

RATIONAL = {
    "determinant": ("det([[3,1],[4,2]])", "2"),
    "three_rows": ("det([[1,2,3],[0,1,4],[5,6,0]])", "1"),
    "trace": ("tr([[3,1],[4,2]])", "5"),
    "dot_product": ("(1,4,2) * (3,0,5)", "13"),
    "length": ("|(8, 15)|", "17"),
    "nested_sum": (r"\sum_{a=1}^{3} \sum_{b=1}^{2} a \cdot b", "18"),
    "bound_name_outside": (r"\sum_{k=1}^{3} k^2", "14"),
    "sine": (r"4\sin 30^\circ", "2"),
    "surds_cancel": (r"(\sqrt{7} - \sqrt{3})(\sqrt{7} + \sqrt{3})", "4"),
    "modulus": ("|8 - 6i|".replace("i", "ⅈ"), "10"),
    "downwards": ("10 + 8 + 6 + ... + 2", "30"),
}


@pytest.mark.parametrize(("text", "value"), RATIONAL.values(), ids=RATIONAL.keys())
def test_value_is_rational(text: str, value: str) -> None:
    expression = parse_expression(text)
    assert expression is not None
    assert compute(expression, {}) == Fraction(value)


NOTHING = {
    "undefined_tangent": r"\tan 90^\circ",
    "huge_sum": r"\sum_{k=1}^{10^{9}} k",
    "sums_in_sums": r"\sum_{a=1}^{30} \sum_{b=1}^{30} \sum_{c=1}^{30} a",
    "shapes_differ": "[[1,2],[3,4]] + [[1,2,3],[4,5,6]]",
    "singular": "[[1,2],[2,4]]^{-1}",
    "tower_in_a_set": "{9^9^9, 1}",
    "two_progressions": "1 + 2 + ... + 16",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING.keys())
def test_what_has_no_value_or_is_over_a_cap_gives_none(text: str) -> None:
    expression = parse_expression(text)
    assert expression is not None
    assert compute(expression, {}) is None


NOT_READ = {
    "one_bar": "|3 + 4",
    "floor_without_end": "⌊3.5",
    "ragged_rows": r"\begin{pmatrix}1&2\\3\end{pmatrix}",
    "other_bracket": "(3 + 4]",
    "logarithm_of_two": "log(2, 8)",
    "integral_without_differential": r"\int x^2",
}


@pytest.mark.parametrize("text", NOT_READ.values(), ids=NOT_READ.keys())
def test_half_a_notation_is_not_read(text: str) -> None:
    assert parse_expression(text) is None


def test_a_bound_name_is_not_free() -> None:
    expression = parse_expression(r"\sum_{k=1}^{n} k + \int_0^1 t\,dt")
    assert expression is not None
    assert variables(expression) == {"n"}


REALS = {
    "sin": ("sin({})", math.sin, -50, 50),
    "cos": ("cos({})", math.cos, -50, 50),
    "arctan": ("arctan({})", math.atan, -50, 50),
    "exp": ("exp({})", math.exp, -20, 20),
    "ln": ("ln({})", math.log, 0.01, 50),
    "sqrt": ("sqrt({})", math.sqrt, 0, 50),
}


@pytest.mark.parametrize("name", REALS)
@given(st.fractions(0, 1, max_denominator=999))
def test_bounds_are_narrow_and_hold_the_value(name: str, share: Fraction) -> None:
    _, function, low, high = REALS[name]
    point = Fraction(low) + share * Fraction(high - low)
    bounds = enclose(Call(name=name, args=(Number(value=point),)), {})
    assert bounds is not None
    assert bounds[0] <= bounds[1]
    assert bounds[1] - bounds[0] < Fraction(1, 10**20)
    assert float(bounds[0]) == pytest.approx(function(float(point)), abs=1e-9, rel=1e-9)


@given(st.integers(2, 40), st.integers(1, 6), st.integers(1, 4))
def test_logarithm_is_the_inverse_of_the_power(base: int, top: int, bottom: int) -> None:
    power = Binary(op="^", left=Number(value=Fraction(base)), right=Number(value=Fraction(top)))
    root = Binary(op="^", left=Number(value=Fraction(base)), right=Number(value=Fraction(bottom)))
    assert evaluate(Call(name="log", args=(root, power))) == Fraction(top, bottom)


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_inverse_times_matrix_is_the_unit_matrix(rows: list[list[int]]) -> None:
    expression = parse_expression(f"{rows}^{{-1}} * {rows}")
    assert expression is not None
    value = compute(expression, {})
    unit = Matrix(tuple(tuple(Fraction(row == column) for column in range(3)) for row in range(3)))
    assert value in (None, unit)


def test_members_of_a_set_are_compared_by_value() -> None:
    expression = parse_expression(r"{2/4, 0.5, \sqrt{8}, 2\sqrt{2}}")
    assert expression is not None
    value = compute(expression, {})
    assert isinstance(value, FiniteSet)
    assert len(value.members) == 2
