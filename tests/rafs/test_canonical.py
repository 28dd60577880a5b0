"""Order, grouping, names and wording are not difference; numbers and operations are."""

import pytest

from rafs.canonical import canonical_claims
from rafs.outcomes import Measured
from rafs.reading import read_text
from rafs.stability import CanonicalClaim, Stability, exact_weight, reasoning_stability

PROBLEM = "Lea has 3 packs of 12 pens and 5 single pens. She gives 25% of 80 cards away. How many pens does she have?"


def claims(text: str, problem: str = PROBLEM) -> tuple[CanonicalClaim, ...]:
    return canonical_claims(read_text(problem, text, None))


def first(text: str) -> CanonicalClaim:
    return claims(text)[0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("3 * 12 = 36", "12 * 3 = 36", True, id="factors"),
        pytest.param("3 * 12 + 5 = 41", "5 + 12 * 3 = 41", True, id="terms of products"),
        pytest.param("1 + (2 + 3) = 6", "3 + 2 + 1 = 6", True, id="nested sums"),
        pytest.param("8 - 3 - 2 = 3", "8 - 2 - 3 = 3", True, id="subtrahends"),
        pytest.param("8 / 2 * 3 = 12", "3 * 8 / 2 = 12", True, id="divisors"),
        pytest.param("36 pens + 5 pens = 41 pens", "5 + 36 = 41", True, id="units that only one writes"),
        pytest.param("0.5 * 8 = 4", "8 / 2 = 4", True, id="half of it and divided by 2"),
        pytest.param("25% * 80 = 20", "0.25 * 80 = 20", True, id="a percentage and a share"),
        pytest.param("3 * 1 * 12 = 36", "12 * 3 = 36", True, id="times one"),
        pytest.param("12 + 12 + 12 = 36", "3 * 12 = 36", True, id="one function of the problem's numbers"),
        pytest.param("12 / 9 = 1.33", "12 / 9 = 1.3333", True, id="one result, rounded twice"),
        pytest.param("2x + 30 = 110", "30 + 2n = 110", True, id="names of unknowns"),
        pytest.param("x = 40", "n = 40", True, id="a solution under two names"),
        pytest.param("30 minutes + 60 minutes = 1.5 hours", "30 + 60 = 90", True, id="a result in another unit"),
        pytest.param("a - b = 3", "b - a = 3", True, id="two unknowns that change places"),
        pytest.param("8 - 3 = 5", "3 - 8 = -5", False, id="a difference has an order"),
        pytest.param("8 / 2 = 4", "2 / 8 = 0.25", False, id="a quotient too"),
        pytest.param("3 * 12 = 36", "18 + 18 = 36", False, id="the value alone is not the calculation"),
        pytest.param("2 + 2 = 4", "2 * 2 = 4", False, id="another operation on numbers that the problem lacks"),
        pytest.param("2x + 30 = 110", "2x - 30 = 110", False, id="another equation"),
        pytest.param("12 + 5 = 17 km", "12 + 5 = 17 m", False, id="units that convert"),
        pytest.param("12 + 5 = 17 km", "12 + 5 = 17 kg", False, id="units that measure different things"),
        pytest.param("12 + 5 = 17 pens", "12 + 5 = 17 items", True, id="two words for what is counted"),
        pytest.param("12 + 5 < 18", "12 + 5 > 16", False, id="two bounds"),
        pytest.param("x > 3", "3 < n", True, id="a bound from either side"),
        pytest.param("x >= 3", "3 > n", False, id="a bound and a strict one"),
    ],
)
def test_two_ways_to_write_a_claim(one: str, other: str, same: bool) -> None:
    assert exact_weight(first(one), first(other)) == (1.0 if same else 0.0)


def test_two_bounds_do_not_contradict_each_other() -> None:
    assert exact_weight(first("12 + 5 < 18"), first("12 + 5 < 20")) == 0.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("x = 4", "y = 4", False, id="one value of two unknowns"),
        pytest.param("x + 6 = 10", "6 + x = 10", True, id="one unknown"),
        pytest.param("2n = 12", "2k = 12", True, id="unknowns of the traces alone"),
    ],
)
def test_unknowns_that_the_problem_tells_apart_keep_their_names(one: str, other: str, same: bool) -> None:
    problem = "A pen costs x and a pad y coins, where x + y = 10 and 3x + 2y = 24. Find them."
    assert exact_weight(claims(one, problem)[0], claims(other, problem)[0]) == (1.0 if same else 0.0)


def test_the_only_unknown_of_a_problem_may_have_any_name() -> None:
    problem = "Solve 2x + 30 = 110."
    assert exact_weight(claims("2x = 80", problem)[0], claims("2n = 80", problem)[0]) == 1.0


def test_numbers_of_one_hash_have_origins_of_their_own() -> None:
    far = 15 + 2**61 - 1
    problem = f"One counter stands at 15, another at {far}."
    one, other = claims("15 * 3 = 46.", problem), claims(f"{far} * 3 = {far * 3}.", problem)
    assert exact_weight(one[0], other[0]) == 0.0


def test_one_calculation_with_two_results_contradicts_itself() -> None:
    assert exact_weight(first("3 * 12 = 36"), first("12 * 3 = 35")) == -1.0


def test_what_is_computed_from_a_wrong_result_contradicts_what_is_computed_from_the_right_one() -> None:
    right, wrong = claims("3 * 12 = 36.\n36 + 5 = 41."), claims("3 * 12 = 35.\n35 + 5 = 40.")
    assert exact_weight(right[1], wrong[1]) == -1.0


def test_a_part_of_a_claim_that_stands_on_a_wrong_result_contradicts_too() -> None:
    right, wrong = claims("12 * 20 = 240.\n(240 + 5) * 2 = 490."), claims("12 * 20 = 241.\n(241 + 5) * 2 = 492.")
    assert (right[2].text, wrong[2].text) == ("240 + 5 = 245", "241 + 5 = 246")
    assert exact_weight(right[2], wrong[2]) == -1.0


def side_by_side(one: str, other: str) -> Stability:
    return reasoning_stability([claims(one), claims(other)], {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "3 * 12 = 36 pens in packs.\nTogether 36 + 5 = 41 pens.\n#### 41",
            "It is 5 + 36 = 41, since the packs hold 12 * 3 = 36 pens.\n#### 41",
            id="the order of the steps",
        ),
        pytest.param("3 * 12 = 36.\n36 + 5 = 41.", "12 * 3 + 5 = 41.", id="two steps or one"),
        pytest.param("12 * 3 + 5 = 36 + 5 = 41.", "12 * 3 = 36.\n36 + 5 = 41.", id="a chain"),
        pytest.param("3 + 12 = 15.\n15 + 5 = 20.", "12 + 5 = 17.\n3 + 17 = 20.", id="partial sums"),
        pytest.param("3 + 12 + 5 = 20.", "3 + 12 = 15.\n15 + 5 = 20.", id="a sum at once"),
        pytest.param("3 * 12 = 36.", "3 * 12 = 36.\nTo check: 12 * 3 = 36.", id="a repetition"),
        pytest.param("x + 5 = 41.\nx = 36.", "n + 5 = 41.\nn = 36.", id="another name"),
    ],
)
def test_another_telling_is_as_near_as_can_be(one: str, other: str) -> None:
    assert side_by_side(one, other).component == Measured(value=1.0, coverage=1.0)


def test_another_method_is_diverse_and_no_contradiction() -> None:
    found = side_by_side("12 + 5 = 17.\n17 * 3 = 51.", "12 * 3 = 36.\n5 * 3 = 15.\n36 + 15 = 51.")
    assert (found.contradiction, found.method_diversity) == (0.0, 3 / 5)


def test_another_method_shares_its_end_with_the_first() -> None:
    # By the first way 1 of 2 calculations matches, by the second 1 of 3: F1 = 2 * (1/2) * (1/3) / (5/6).
    found = side_by_side("12 + 5 = 17.\n17 * 3 = 51.", "12 * 3 = 36.\n5 * 3 = 15.\n36 + 15 = 51.").component
    assert isinstance(found, Measured)
    assert found.value == pytest.approx(0.4)


def test_a_sum_that_is_bounded_later_is_no_part_of_a_longer_one() -> None:
    # 1 of 2 claims matches, and all of the other trace: F1 = 2 * (1/2) * 1 / (3/2).
    found = side_by_side("12 + 5 = 17.\n17 + 3 < 25.", "5 + 12 = 17.").component
    assert isinstance(found, Measured)
    assert found.value == pytest.approx(2 / 3)


def test_a_contradicting_chain_is_no_method() -> None:
    found = side_by_side("3 * 12 = 36.\n36 + 5 = 41.", "3 * 12 = 35.\n35 + 5 = 40.")
    assert (found.contradiction, found.method_diversity) == (1.0, 0.0)


def test_an_inference_in_words_is_a_claim_of_its_own() -> None:
    found = claims("3 * 12 = 36.\nSo she can give a pen to everyone.\n#### 36")
    assert [claim.text for claim in found if claim.in_words] == ["So she can give a pen to everyone."]


@pytest.mark.parametrize(
    ("sentence", "weight"),
    [
        pytest.param("With the 5 single pens, that makes 41 pens.", 1.0, id="a calculation in words"),
        pytest.param("With the 5 single pens, that makes 41 pens for 82 children.", None, id="and more than that"),
    ],
)
def test_a_sentence_is_the_calculation_that_it_says_and_no_more(sentence: str, weight: float | None) -> None:
    _, said = claims(f"3 * 12 = 36.\n{sentence}\n#### 41")
    assert exact_weight(said, first("36 + 5 = 41.")) == weight


def test_a_calculation_that_is_guessed_at_is_not_said() -> None:
    problem = "Tom has 2 cats and 3 dogs."
    assert exact_weight(claims("So x = 4.", problem)[0], claims("2 + 2 = 4.", problem)[0]) is None


def test_dress_makes_no_other_sentence() -> None:
    one, other = first("1. **So she can give a pen to everyone.**"), first("so she can give a pen to everyone")
    assert exact_weight(one, other) == 1.0


def test_a_sum_that_doubles_itself_without_end_is_read() -> None:
    doubling = "\n".join(f"{2**n} + {2**n} = {2 ** (n + 1)}." for n in range(1, 60))
    assert len(claims(doubling)) == 59
