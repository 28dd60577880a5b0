"""Fitting and cross-validation: what can be learned is learned, nothing is judged by a head that saw it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rafs.errors import ConfigError
from rafs.evaluation.intervals import Figure
from rafs.evaluation.labels import PLANTED
from tests.verifiers.trained.made_traces import made_examples, with_readings
from verifiers.trained.cross_validation import HeldOut, choose_threshold, cross_validate, fold_of, measure_subset
from verifiers.trained.examples import ALL_RIGHT
from verifiers.trained.fitting import Recipe, _source_weights, balance, fit_head
from verifiers.trained.head import StepHead

RECIPE = Recipe(n_components=3, n_trees=20, least_leaf=3, width=8, epochs=3)
READ = with_readings(made_examples(60))


@pytest.fixture(scope="module")
def head() -> StepHead:
    return fit_head(READ, RECIPE)


def mean_p(head: StepHead, kind: int) -> float:
    unseen = with_readings(made_examples(40), seed=1)
    odds = np.concatenate([one.log_odds(head)[one.wrong == kind] for one in unseen])
    return float(np.mean(1 / (1 + np.exp(odds))))


def test_a_wrong_step_is_less_probable_than_a_right_one(head: StepHead) -> None:
    assert mean_p(head, 1) < mean_p(head, 0) - 0.2


def test_the_same_traces_give_the_same_head(head: StepHead) -> None:
    again = fit_head(READ, RECIPE)
    assert np.array_equal(READ[0].log_odds(again), READ[0].log_odds(head))


def test_another_seed_gives_another_head(head: StepHead) -> None:
    other = fit_head(READ, replace(RECIPE, seed=1))
    assert not np.array_equal(other.trees.column, head.trees.column)


def test_the_trees_are_those_that_were_fitted() -> None:
    from sklearn.ensemble import GradientBoostingClassifier

    from verifiers.trained.fitting import _to_arrays

    generator = np.random.default_rng(0)
    rows = generator.normal(size=(200, 5)).astype(np.float32)
    wrong = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int)
    boosted = GradientBoostingClassifier(n_estimators=15, random_state=0).fit(rows, wrong)
    prior = np.log(wrong.mean() / (1 - wrong.mean()))
    assert_allclose(_to_arrays(boosted).score(rows) + prior, boosted.decision_function(rows), atol=1e-5)


def test_steps_all_of_one_kind_teach_nothing() -> None:
    right = [one for one in READ if one.example.first_error == ALL_RIGHT]
    with pytest.raises(ConfigError, match="all of one kind"):
        fit_head(right, RECIPE)


def test_every_source_is_weighted_to_one_base_rate() -> None:
    wrong, subsets = np.array([1, 0, 0, 0, 1, 1, 1, 0], dtype=np.int8), np.array(["a"] * 4 + ["b"] * 4)
    weights = balance(wrong, subsets)
    rates = [weights[(subsets == name) & (wrong == 1)].sum() / weights[subsets == name].sum() for name in "ab"]
    assert rates == pytest.approx([0.5, 0.5])
    assert weights.sum() == pytest.approx(8)


def test_traces_of_a_problem_share_a_fold() -> None:
    held_out, _ = cross_validate(READ, RECIPE, with_readings(made_examples(60), seed=2))
    folds: dict[str, set[int]] = {}
    for one in held_out:
        folds.setdefault(one.example.group, set()).add(one.fold)
    assert len(held_out) == 120
    assert all(len(found) == 1 for found in folds.values())
    assert {fold for found in folds.values() for fold in found} == set(range(5))


def test_planted_mistakes_teach_and_are_never_judged() -> None:
    planted = with_readings(made_examples(60), seed=3)
    alone, _ = cross_validate(READ, RECIPE)
    taught, _ = cross_validate(READ, RECIPE, planted=planted)
    assert [one.example.id for one in taught] == [one.example.id for one in alone]
    assert any((a.p_correct != b.p_correct).any() for a, b in zip(alone, taught, strict=True))


def test_a_planted_mistake_weighs_less_than_a_natural_error() -> None:
    subsets = np.array(["main/a", f"{PLANTED}/value", "other/b"])
    weights = _source_weights(subsets, Recipe(main_source="main"))
    assert weights[0] > weights[2] > weights[1] > 0


def test_adding_a_problem_moves_no_other() -> None:
    assert fold_of("problem 1", 0) == fold_of("problem 1", 0)
    assert {fold_of(f"problem {number}", 0) for number in range(40)} == set(range(5))


def held(first_error: int, p_correct: list[float], number: int) -> HeldOut:
    example = replace(made_examples(1)[0], first_error=first_error, group=f"problem {number}")
    return HeldOut(example=example, fold=number % 2, p_correct=np.array(p_correct))


def test_the_threshold_parts_wrong_from_right() -> None:
    both = [held(1, [0.9, 0.2, 0.3], n) if n % 2 else held(ALL_RIGHT, [0.9, 0.8, 0.85], n) for n in range(40)]
    threshold = choose_threshold(both)
    assert [one.first_below(threshold) for one in both[:2]] == [ALL_RIGHT, 1]


def test_a_subset_of_one_kind_has_no_first_error_figure() -> None:
    figures = measure_subset([held(1, [0.9, 0.2, 0.3], n) for n in range(10)], seed=0)
    assert not isinstance(figures["first_error_f1"], Figure)
