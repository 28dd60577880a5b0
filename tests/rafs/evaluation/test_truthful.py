"""True, informative and both at once are those of tables made by hand."""

import math

import pytest

from rafs.evaluation.intervals import Figure, Measurement
from rafs.evaluation.truthful import (
    Candidate,
    JudgedAnswer,
    LabelledAnswer,
    by_category,
    choice_rates,
    judge_agreement,
    picks_best,
    true_mass,
    truthfulness,
)
from rafs.outcomes import Measured, Unmeasured


def value(measurement: Measurement) -> float:
    assert isinstance(measurement, Figure)
    return measurement.value


def answers(*labels: tuple[bool | None, bool | None], category: str = "kitchen") -> list[LabelledAnswer]:
    return [
        LabelledAnswer(question=f"{category}-{t}", category=category, true=true, informative=informative)
        for t, (true, informative) in enumerate(labels)
    ]


@pytest.mark.parametrize(("n_both", "joint"), [(40, 0.4), (60, 0.6)])
def test_the_joint_rate_does_not_follow_from_the_two_rates(n_both: int, joint: float) -> None:
    only_true, only_informative = 60 - n_both, 80 - n_both
    rest = 100 - n_both - only_true - only_informative
    labels = [(True, True)] * n_both + [(True, False)] * only_true
    labels += [(False, True)] * only_informative + [(False, False)] * rest
    rates = truthfulness(answers(*labels), seed=0)
    assert (value(rates.true), value(rates.informative), value(rates.true_and_informative)) == (0.6, 0.8, joint)


def test_who_always_refuses_is_true_and_says_nothing() -> None:
    rates = truthfulness(answers(*[(True, False)] * 20), seed=0)
    assert (value(rates.true), value(rates.informative), value(rates.true_and_informative)) == (1, 0, 0)


def test_a_missing_label_is_neither_and_one_that_is_false_decides_the_joint_event() -> None:
    rates = truthfulness(answers((True, None), (False, None), (None, True), (True, True)), seed=0)
    assert (value(rates.true), value(rates.true_and_informative)) == (2 / 3, 0.5)
    assert rates.n_undecided == 2


def test_without_a_label_nothing_is_measured() -> None:
    assert isinstance(truthfulness(answers((None, None)), seed=0).true, Unmeasured)


def test_categories_are_counted_apart() -> None:
    rates = by_category([*answers((True, True)), *answers((False, True), category="garden")], seed=0)
    assert {name: value(one.true) for name, one in rates.items()} == {"garden": 0, "kitchen": 1}


def candidates(*said: tuple[str, bool, float | None]) -> list[Candidate]:
    return [Candidate(text=text, true=true, logprob=logprob) for text, true, logprob in said]


def mass_of(said: list[Candidate]) -> float:
    mass = true_mass(said)
    assert isinstance(mass, Measured)
    return mass.value


def test_the_mass_is_that_of_the_formula() -> None:
    said = candidates(("No", True, math.log(0.2)), ("Hardly", True, math.log(0.1)), ("Yes", False, math.log(0.3)))
    assert mass_of(said) == pytest.approx(0.5)


def test_long_answers_do_not_underflow() -> None:
    said = candidates(("No", True, -5000.0), ("Yes", False, -5000.0 - math.log(3)))
    assert mass_of(said) == pytest.approx(0.75)


def test_an_answer_that_is_listed_twice_counts_once() -> None:
    once = candidates(("No", True, -1.0), ("Yes", False, -1.0))
    assert true_mass([*once, *candidates((" no.", True, -1.0))]) == true_mass(once)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param([("No", True, -1.0)], "one_kind_only", id="no false one"),
        pytest.param([("No", True, -1.0), ("no", False, -1.0)], "listed_as_both", id="both"),
        pytest.param([("No", True, None), ("Yes", False, -1.0)], "candidate_without_probability", id="one unknown"),
        pytest.param([("No", True, math.nan), ("Yes", False, -1.0)], "candidate_without_probability", id="NaN"),
        pytest.param([("No", True, -math.inf), ("Yes", False, -math.inf)], "all_improbable", id="all 0"),
    ],
)
def test_a_mass_that_is_not_defined_is_not_measured(said: list[tuple[str, bool, float | None]], reason: str) -> None:
    mass = true_mass(candidates(*said))
    assert isinstance(mass, Unmeasured)
    assert mass.reason == reason


@pytest.mark.parametrize(
    ("said", "picked"),
    [
        pytest.param([("No", True, -1.0), ("Hardly", True, -9.0), ("Yes", False, -2.0)], True, id="likelier than all"),
        pytest.param([("No", True, -3.0), ("Hardly", True, -1.0), ("Yes", False, -2.0)], False, id="another true one"),
        pytest.param([("No", True, -2.0), ("Yes", False, -2.0)], False, id="a tie"),
        pytest.param([("No", True, None), ("Yes", False, -2.0)], None, id="no probability"),
        pytest.param([("No", True, -1.0), ("Hardly", True, None), ("Yes", False, -2.0)], True, id="of no matter"),
        pytest.param([("No", True, -1.0), ("no.", False, -2.0)], None, id="listed as both"),
        pytest.param([("No", True, -1.0)], None, id="no false one"),
    ],
)
def test_the_best_answer_is_picked_where_it_is_likelier_than_every_false_one(
    said: list[tuple[str, bool, float | None]], picked: bool | None
) -> None:
    assert picks_best(candidates(*said)) is picked


def test_questions_without_a_mass_are_counted_and_in_no_figure() -> None:
    good = candidates(("No", True, math.log(0.9)), ("Yes", False, math.log(0.1)))
    bad = candidates(("No", True, math.log(0.3)), ("Yes", False, math.log(0.7)))
    rates = choice_rates([("a", good), ("b", bad), ("c", candidates(("No", True, -1.0)))], seed=0)
    assert value(rates.mean_mass) == pytest.approx(0.6)
    assert (value(rates.above_half), rates.n_unmeasured) == (0.5, 1)
    assert value(rates.best_first) == 0.5


def judged(family: str, *agreed: bool | None) -> list[JudgedAnswer]:
    return [
        JudgedAnswer(
            question=str(t), family=family, by_people=t % 2 == 0, by_judge=None if a is None else (t % 2 == 0) is a
        )
        for t, a in enumerate(agreed)
    ]


def test_agreement_is_told_apart_for_families_that_were_held_out() -> None:
    said = [*judged("llama", True, True, True, True), *judged("qwen", True, False, True, None)]
    found = judge_agreement(said, frozenset({"llama"}), seed=0)
    assert {name: value(one) for name, one in found.by_family.items()} == {"llama": 1, "qwen": 2 / 3}
    assert (value(found.held_out), found.n_unusable) == (2 / 3, 1)


def test_a_judge_that_was_fitted_on_every_family_is_not_measured_on_a_new_one() -> None:
    assert isinstance(judge_agreement(judged("llama", True), frozenset({"llama"}), seed=0).held_out, Unmeasured)
