"""D follows its formula; contradiction is worse than difference."""

import itertools
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.outcomes import Measured, Unmeasured
from rafs.stability import (
    MAX_CONTRADICTIONS,
    CanonicalClaim,
    Contradiction,
    exact_weight,
    match_weight,
    pairs_to_classify,
    reasoning_stability,
    soft_f1,
)
from rafs.types import Entailment


def equation(left: str, result: int, *, refuted: bool = False, is_partial: bool = False) -> CanonicalClaim:
    return CanonicalClaim(
        text=f"{left} = {result}",
        keys=frozenset([f"{left} = {result}"]),
        quantities=frozenset([left]),
        value=Fraction(result),
        refuted=refuted,
        is_partial=is_partial,
    )


def sentence(text: str) -> CanonicalClaim:
    return CanonicalClaim(text=text, keys=frozenset([text]), in_words=True)


A, B, C = equation("(+ 1 2)", 3), equation("(* 3 4)", 12), equation("(+ 2 2)", 4)
WRONG = equation("(+ 1 2)", 4, refuted=True)
AGREES = Entailment(entails=0.9, neutral=0.1, contradicts=0.0)
HALF = Entailment(entails=0.5, neutral=0.5, contradicts=0.0)
WITH_A = frozenset(product([A.text], "xy")) | frozenset(product("xy", [A.text]))
DENIES = Entailment(entails=0.1, neutral=0.2, contradicts=0.7)


@pytest.mark.parametrize(
    ("a", "b", "weight"),
    [
        pytest.param(A, A, 1.0, id="equal equations"),
        pytest.param(A, B, 0.0, id="two different calculations"),
        pytest.param(A, WRONG, -1.0, id="one calculation, two results"),
        pytest.param(equation("(/ 200 3)", 66), equation("(/ 200 3)", 67), 1.0, id="two roundings, none refuted"),
        pytest.param(A, equation("(+ 1 2)", 4), 0.0, id="two results, none refuted, further apart than a rounding"),
        pytest.param(sentence("x is prime"), sentence("x is prime"), 1.0, id="equal sentences"),
        pytest.param(sentence("x is prime"), sentence("x is odd"), None, id="words need a validator"),
        pytest.param(A, sentence("x is odd"), None, id="an equation against words needs a validator"),
    ],
)
def test_exact_weight(a: CanonicalClaim, b: CanonicalClaim, weight: float | None) -> None:
    assert exact_weight(a, b) == exact_weight(b, a) == weight


@pytest.mark.parametrize(
    ("forward", "backward", "weight"),
    [
        pytest.param(AGREES, HALF, 0.5, id="the weaker direction counts"),
        pytest.param(AGREES, DENIES, -1.0, id="a contradiction in one direction"),
    ],
)
def test_words_match_as_far_as_both_directions_entail(forward: Entailment, backward: Entailment, weight: float) -> None:
    a, b = sentence("a"), sentence("b")
    assert match_weight(a, b, {("a", "b"): forward, ("b", "a"): backward}) == weight


def test_a_missing_opinion_is_no_weight() -> None:
    assert match_weight(sentence("a"), sentence("b"), {("a", "b"): AGREES}) is None


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        pytest.param([[1, 0], [0, 1]], 1.0, id="perfect matching"),
        pytest.param([[0, 0], [0, 0]], 0.0, id="nothing matches"),
        pytest.param([[1, 0]], 2 * 1 * 0.5 / 1.5, id="one claim more on one side"),
        pytest.param([[1, 1]], 1.0, id="a repeated claim costs nothing"),
        pytest.param([[-1.0]], 0.0, id="a contradiction clips at 0"),
        pytest.param([[1, 0], [0, -1.0]], 0.0, id="a contradiction undoes a match"),
    ],
)
def test_soft_f1(weights: list[list[float]], expected: float) -> None:
    assert soft_f1(np.array(weights, dtype=float)) == pytest.approx(expected)


@given(st.permutations([A, B, C]), st.permutations([A, B, C]))
def test_order_is_not_difference(one: list[CanonicalClaim], other: list[CanonicalClaim]) -> None:
    assert reasoning_stability([one, other], {}).component == Measured(value=1.0, coverage=1.0)


@given(st.permutations([[A, B], [A, C], [A, B, C]]))
def test_the_order_of_traces_does_not_matter(traces: list[list[CanonicalClaim]]) -> None:
    expected = reasoning_stability([[A, B], [A, C], [A, B, C]], {}).component
    found = reasoning_stability(traces, {}).component
    assert isinstance(found, Measured)
    assert isinstance(expected, Measured)
    assert found.value == pytest.approx(expected.value)


def test_stability_is_one_minus_the_mean_distance_by_hand() -> None:
    # A,B against A: precision 1/2 (B finds nothing), recall 1, F1 = 2/3.
    part = reasoning_stability([[A, B], [A], [A]], {}).component
    assert isinstance(part, Measured)
    assert part.value == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)


def test_a_partial_sum_is_matched_and_needs_no_match() -> None:
    part = reasoning_stability([[A, equation("(+ 1 1)", 2, is_partial=True)], [A]], {}).component
    assert part == Measured(value=1.0, coverage=1.0)


def test_contradictions_are_named() -> None:
    assert reasoning_stability([[A], [WRONG]], {}).contradictions == (
        Contradiction(traces=(0, 1), claims=(A.text, WRONG.text), by_arithmetic=True),
    )


def test_contradictions_of_words_are_named_as_a_validators() -> None:
    x, y = sentence("x"), sentence("y")
    (found,) = reasoning_stability([[x], [y]], {("x", "y"): DENIES, ("y", "x"): AGREES}).contradictions
    assert (found.claims, found.by_arithmetic) == (("x", "y"), False)


def test_all_contradictions_are_counted_and_the_first_shown() -> None:
    found = reasoning_stability([[A]] * 5 + [[WRONG]] * 5, {})
    assert (len(found.contradictions), found.n_contradictions) == (MAX_CONTRADICTIONS, 25)


def test_contradiction_is_the_share_of_pairs_of_traces_with_two_results() -> None:
    found = reasoning_stability([[A, B], [A], [WRONG, B]], {})
    assert found.contradiction == pytest.approx(2 / 3)


def test_diversity_is_the_share_of_calculations_that_stand_alone() -> None:
    # A,B against A: B alone, 1 of 3. A,B against A,C: B and C, 2 of 4. A against A,C: C, 1 of 3.
    assert reasoning_stability([[A, B], [A], [A, C]], {}).method_diversity == pytest.approx(4 / 10)


def test_words_have_no_method() -> None:
    x, y = sentence("x"), sentence("y")
    assert reasoning_stability([[x], [y]], {("x", "y"): AGREES, ("y", "x"): AGREES}).method_diversity is None


def test_a_pair_that_was_not_asked_weighs_nothing() -> None:
    x, y = sentence("x"), sentence("y")
    component = reasoning_stability([[A, x], [A, y]], {}, frozenset(product("xy", "xy")) | WITH_A).component
    assert component == Measured(value=0.5, coverage=1.0)


def test_pairs_are_counted() -> None:
    found = reasoning_stability([[A, sentence("x")], [A, B, sentence("x")]], {})
    assert (found.n_pairs, found.n_canonical) == (12, 6)


def test_each_text_pair_is_asked_once_in_each_direction() -> None:
    x, y = sentence("x"), sentence("y")
    assert pairs_to_classify([[x], [y], [y]]) == [("x", "y"), ("y", "x")]


def test_pairs_without_an_opinion_reduce_coverage() -> None:
    x, y = sentence("x"), sentence("y")
    part = reasoning_stability([[x], [x], [y]], {}).component
    assert isinstance(part, Measured)
    assert (part.value, part.coverage) == (1.0, 1 / 3)


@pytest.mark.parametrize(
    ("traces", "reason"),
    [
        pytest.param([[A]], "too_few_modal_traces", id="one trace"),
        pytest.param([[A], []], "too_few_modal_traces", id="one with claims"),
        pytest.param([[sentence("x")], [sentence("y")]], "no_validator_opinion", id="no validator"),
        pytest.param([[sentence(str(i)) for i in range(300)]] * 2, "too_many_claims", id="too many pairs of claims"),
    ],
)
def test_what_cannot_be_compared_is_unmeasured(traces: list[list[CanonicalClaim]], reason: str) -> None:
    part = reasoning_stability(traces, {}).component
    assert isinstance(part, Unmeasured)
    assert part.reason == reason


@given(st.lists(st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=4), min_size=2, max_size=4))
def test_stability_lies_between_0_and_1(traces: list[list[CanonicalClaim]]) -> None:
    part = reasoning_stability(traces, {}).component
    assert isinstance(part, Measured)
    assert 0 <= part.value <= 1
    assert part.value == 1 or any(set(a) != set(b) for a, b in itertools.combinations(traces, 2))
