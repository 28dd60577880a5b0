"""Pivotal steps come with the reasons for which they are edited."""

from fractions import Fraction

import pytest

from counterfactuals.pivotal import MAX_WEIGHED, rank_pivots, rank_text_pivots
from rafs.derivation import link_answer
from rafs.interventions import PivotReason, Target
from rafs.reading import read_text
from rafs.types import Reading

PROBLEM = "A press prints 15 pages a minute. It runs for 40 minutes, and 60 pages are spoilt. How many are good?"
PRINTED = "It prints 15 * 40 = 600 pages."
GOOD = "Of these 600 - 60 = 540 are good."
ASIDE = "By the way, 15 + 60 = 75."
SEED = 7


def read(*steps: str) -> Reading:
    return read_text(PROBLEM, [*steps, "That is all."], None)


def influences(reading: Reading, target: Target | None) -> dict[int | None, tuple[float | None, PivotReason]]:
    return {one.claim: (one.influence, one.reason) for one in rank_pivots(reading, target, {}, SEED)}


def test_influence_is_the_elasticity_of_the_answer_by_hand() -> None:
    assert influences(read(PRINTED, GOOD), 1) == {
        0: (float(Fraction(600, 540)), PivotReason.LEADS),
        1: (1.0, PivotReason.DERIVES),
    }


def test_influence_has_the_sign_in_which_the_answer_moves() -> None:
    reading = read("It wastes 7 * 10 = 70 pages.", "So 600 - 70 = 530 are good.")
    assert influences(reading, 1)[0] == (float(Fraction(-70, 530)), PivotReason.LEADS)


def test_every_path_counts() -> None:
    reading = read("It prints 15 * 40 = 600 pages.", "Twice that is 600 + 600 = 1200.", "In all, 1200 + 600 = 1800.")
    assert influences(reading, 2)[0] == (1.0, PivotReason.LEADS)


def test_a_path_that_ends_in_words_counts() -> None:
    reading = read_text(PROBLEM, [PRINTED, "Once 60 are spoilt, that leaves 540 pages.", "The answer is 540."], None)
    target = link_answer(reading.trace, reading.graph).target
    assert influences(reading, target) == {0: (float(Fraction(600, 540)), PivotReason.LEADS)}


def test_what_a_later_step_takes_back_changes_nothing() -> None:
    reading = read(PRINTED, "Then 600 - 600 = 0 are left.", "And 0 + 60 = 60.")
    assert influences(reading, 2)[0] == (0.0, PivotReason.INERT)


def test_a_zero_has_no_relative_change() -> None:
    reading = read("It has 60 - 60 = 0 spoilt pages.", "So 600 - 0 = 600 are good.")
    assert influences(reading, 1)[0] == (None, PivotReason.LEADS)


def test_only_what_leads_to_the_answer_is_pivotal() -> None:
    assert set(influences(read(PRINTED, ASIDE, GOOD), 2)) == {0, 2}


def test_without_a_target_every_claim_shows_that_it_is_decoration() -> None:
    assert influences(read(PRINTED, ASIDE), None) == dict.fromkeys([0, 1], (0.0, PivotReason.DECORATION))


@pytest.mark.parametrize(
    ("q_by_step", "order"),
    [
        pytest.param({0: 0.9, 1: 0.3}, [1, 0], id="the doubtful one first"),
        pytest.param({0: 0.2, 1: 0.3}, [0, 1], id="the other one"),
        pytest.param({0: 0.9}, [1, 0], id="nobody judged it"),
        pytest.param({0: 0.5, 1: 0.5}, [0, 1], id="of equal doubt, the influential one"),
        pytest.param({0: 1.0, 1: 1.0}, [0, 1], id="without any doubt too"),
    ],
)
def test_doubt_and_influence_rank_together(q_by_step: dict[int, float], order: list[int]) -> None:
    assert [one.claim for one in rank_pivots(read(PRINTED, GOOD), 1, q_by_step, SEED)] == order


def test_the_doubt_of_a_step_is_reported() -> None:
    assert {one.claim: one.doubt for one in rank_pivots(read(PRINTED, GOOD), 1, {0: 0.75}, SEED)} == {0: 0.25, 1: 1.0}


def test_ties_are_broken_by_the_seed() -> None:
    reading = read("It prints 15 * 40 = 600 pages.", "Half of them is 600 / 2 = 300.")
    assert {rank_pivots(reading, 1, {}, seed)[0].claim for seed in range(20)} == {0, 1}


def test_no_step_comes_twice_before_every_step_has_come_once() -> None:
    reading = read("It prints 15 * 40 = 600 pages, and 600 - 60 = 540 are good.", "Half of them is 540 / 2 = 270.")
    steps = [one.step for one in rank_pivots(reading, 2, {}, SEED)]
    assert (sorted(steps[:2]), steps[2:]) == ([0, 1], [0])


def test_the_influence_of_a_long_trace_is_measured_for_a_bounded_number_of_claims() -> None:
    steps = [f"One more makes {15 + i} + 1 = {16 + i}." for i in range(3 * MAX_WEIGHED)]
    assert len(rank_pivots(read(*steps), 3 * MAX_WEIGHED - 1, {}, SEED)) == MAX_WEIGHED


def test_inferences_in_words_are_listed_for_a_model_to_weigh() -> None:
    reading = read(PRINTED, "Therefore the press is faster than the other one.", "So it cannot be full.")
    pivots = rank_text_pivots(reading, {1: 0.9, 2: 0.4}, SEED)
    assert [(one.step, one.claim, one.influence, one.reason) for one in pivots] == [
        (2, None, None, PivotReason.TEXT),
        (1, None, None, PivotReason.TEXT),
    ]
