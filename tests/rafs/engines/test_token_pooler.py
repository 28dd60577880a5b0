"""The network over token states: blind to what comes later, and able to learn."""

from dataclasses import replace

import numpy as np
import pytest

from rafs.engines.pooler_training import LabelledStates, PoolerRecipe, train_pooler
from rafs.engines.token_pooler import N_SIGNS, TokenStates, read_signs, score
from tests.rafs.engines.random_poolers import random_weights

WEIGHTS = random_weights(6, 8)


def trace(n_steps: int, seed: int = 0) -> TokenStates:
    """Three tokens of problem, then steps of two tokens and a mark."""
    generator = np.random.default_rng(seed)
    n = 3 + 3 * n_steps
    return TokenStates(
        states=generator.normal(size=(n, 6)).astype(np.float16),
        signs=generator.normal(size=(n, N_SIGNS)).astype(np.float32),
        body=3,
        ends=np.arange(5, n, 3, dtype=np.int32),
    )


def head_of(whole: TokenStates, n_steps: int) -> TokenStates:
    n = 3 + 3 * n_steps
    return replace(whole, states=whole.states[:n], signs=whole.signs[:n], ends=whole.ends[:n_steps])


def test_there_is_a_number_per_step() -> None:
    assert len(score(WEIGHTS, trace(4))) == 4


@pytest.mark.parametrize("n_steps", [1, 3])
def test_later_tokens_change_nothing(n_steps: int) -> None:
    whole = trace(4)
    assert score(WEIGHTS, head_of(whole, n_steps)) == pytest.approx(score(WEIGHTS, whole)[:n_steps], abs=1e-5)


@pytest.mark.parametrize("token", [0, 3, 7, 8], ids=["problem", "earlier step", "own token", "own mark"])
def test_every_token_up_to_its_mark_counts(token: int) -> None:
    one, states = trace(2), trace(2).states.copy()
    states[token] += 1
    assert abs(score(WEIGHTS, replace(one, states=states))[1] - score(WEIGHTS, one)[1]) > 1e-4


def labelled(seed: int) -> LabelledStates:
    """A step is wrong where the first state of its second token is high."""
    one = trace(4, seed)
    wrong = (one.states[one.ends - 1, 0] > 0.5).astype(np.int8)
    ones = np.ones(4, dtype=np.float32)
    return LabelledStates(trace=one, wrong=wrong, weights=ones, offset=0 * ones)


TRAINING = [labelled(seed) for seed in range(120)]
RECIPE = PoolerRecipe(width=8, epochs=10, rate=1e-2, dropout=0.1)


def test_it_learns_what_tells_wrong_from_right() -> None:
    weights = train_pooler(TRAINING, RECIPE)
    unseen = [labelled(seed) for seed in range(1000, 1040)]
    odds = np.array([score(weights, one.trace) for one in unseen])
    wrong = np.array([one.wrong for one in unseen])
    assert odds[wrong == 1].mean() - odds[wrong == 0].mean() > 1


def test_the_same_training_gives_the_same_weights() -> None:
    recipe = replace(RECIPE, epochs=1)
    one, other = train_pooler(TRAINING[:30], recipe), train_pooler(TRAINING[:30], recipe)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_what_is_known_already_is_not_learned_again() -> None:
    known = [replace(one, offset=np.where(one.wrong == 1, 20, -20).astype(np.float32)) for one in TRAINING]
    weights, from_nothing = train_pooler(known, RECIPE), train_pooler(TRAINING, RECIPE)
    spread, full = (np.std([score(each, labelled(7).trace)]) for each in (weights, from_nothing))
    assert spread < full / 2


def test_steps_that_nobody_looked_at_teach_nothing() -> None:
    recipe = replace(RECIPE, epochs=1)
    unknown = [replace(one, wrong=np.full(4, -1, dtype=np.int8)) for one in TRAINING[:5]]
    one, other = train_pooler(TRAINING[:30], recipe), train_pooler([*TRAINING[:30], *unknown], recipe)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_signs_are_of_unit_size() -> None:
    signs = read_signs(np.array([-4.0], np.float32), np.array([3.0], np.float32), np.array([True]))
    assert signs[0] == pytest.approx([-1, 1, -0.25, 1, -1])
