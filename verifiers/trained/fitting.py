"""Fitting a head to labelled steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rafs.engines.pooler_training import LabelledStates, PoolerRecipe, train_pooler
from rafs.engines.token_pooler import TokenStates, Weights, score
from rafs.errors import ConfigError
from rafs.evaluation.labels import PLANTED
from rafs.step_reading import StepReading
from verifiers.trained.examples import Example
from verifiers.trained.head import STANDARD_LIMIT, Projection, Rows, StepHead
from verifiers.trained.trees import Trees

if TYPE_CHECKING:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

LEAST_SCALE = 1e-3
"""A column that hardly varies is not blown up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of a fit; the defaults are those of the head that ships, chosen by cross-validation."""

    seed: int = 0
    main_source: str = ""
    """Source that the head is made for; empty weighs all alike."""
    weight_elsewhere: float = 0.4
    """Of a step of another source: it teaches less of how errors look in the main one."""
    weight_planted: float = 0.2
    """Of the step with a mistake that was planted: it is no writer's own."""
    n_components: int = 8
    penalty: float = 0.003
    """C of the logistic regression: its weights have a Gaussian prior of variance C."""
    n_trees: int = 250
    depth: int = 3
    rate: float = 0.04
    """What each tree adds."""
    subsample: float = 0.5
    """Share of the steps that a tree sees."""
    columns_tried: float = 0.2
    """Share of the columns that a split chooses from."""
    least_leaf: int = 15
    """Fewest steps in a leaf."""
    trees_share: float = 0.3
    """Of the trees; the rest is the linear model with the network on top."""
    epochs: int = 6
    """Of the network."""
    width: int = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadExample:
    """A trace with the readings of its first steps."""

    example: Example
    readings: Sequence[StepReading]
    """Of as many steps as were read; fewer than there are where the trace passes the model's window."""
    tokens: TokenStates
    """What they were read off."""

    @property
    def wrong(self) -> NDArray[np.int8]:
        """Labels of the steps that were read."""
        return self.example.wrong[: len(self.readings)]

    def columns(self, head: StepHead) -> Rows:
        """Return what the head looks at, a row per step that was read."""
        return head.columns(self.example.features[: len(self.readings)], self.readings)

    def log_odds(self, head: StepHead) -> NDArray[np.float64]:
        """Return what a head makes of the steps that were read, before calibration."""
        return head.log_odds(self.columns(head), score(head.pooler, self.tokens))


def fit_head(traces: Sequence[ReadExample], recipe: Recipe) -> StepHead:
    """Fit a head to the labelled steps of some traces; not yet calibrated.

    Every source is weighted to one base rate of errors: sources of flawed traces alone would else teach the head their
    style. The same traces and recipe give the same head.

    Raises:
        ConfigError: No step is labelled wrong, or none right.
    """
    wrong = np.concatenate([np.zeros(0, dtype=np.int8), *(one.wrong for one in traces)])
    kept = wrong >= 0
    wrong = wrong[kept]
    if len(set(wrong.tolist())) < 2:
        raise ConfigError(f"{len(wrong)} labelled steps, all of one kind: a verifier learns from right and wrong ones")
    subsets = np.concatenate([np.full(len(one.wrong), one.example.subset) for one in traces])[kept]
    weights = balance(wrong, subsets) * _source_weights(subsets, recipe)
    projection = _fit_projection(traces, recipe)
    features = np.concatenate([one.example.features[: len(one.readings)] for one in traces])[kept]
    surprisal = np.stack([reading.surprisal for one in traces for reading in one.readings])[kept]
    states = np.concatenate([_states(one) for one in traces])[kept]
    columns = np.concatenate([features, surprisal, projection.apply(states)], axis=1)
    mean, scale = columns.mean(axis=0), columns.std(axis=0) + LEAST_SCALE
    standard = np.clip((columns - mean) / scale, -STANDARD_LIMIT, STANDARD_LIMIT)
    linear = _sklearn_linear(recipe).fit(standard, wrong, sample_weight=weights)
    boosted = _sklearn_trees(recipe).fit(columns, wrong, sample_weight=weights)
    base_rate = float((weights * wrong).sum() / weights.sum())
    return StepHead(
        projection=projection,
        mean=mean,
        scale=scale,
        weights=linear.coef_[0].astype(np.float32),
        bias=float(linear.intercept_[0]),
        trees=_to_arrays(boosted),
        trees_bias=float(np.log(base_rate / (1 - base_rate))),
        pooler=_fit_pooler(traces, kept, weights, linear.decision_function(standard), recipe),
        trees_share=recipe.trees_share,
    )


def _fit_pooler(
    traces: Sequence[ReadExample],
    kept: NDArray[np.bool_],
    weights: NDArray[np.float64],
    odds: NDArray[np.float64],
    recipe: Recipe,
) -> Weights:
    """Train the network on the same steps with the same weights, on top of the linear model's log-odds."""
    each, offset = (np.zeros(len(kept), dtype=np.float32) for _ in range(2))
    each[kept], offset[kept] = weights, odds
    cuts = np.cumsum([len(one.readings) for one in traces])[:-1]
    labelled = [
        LabelledStates(trace=one.tokens, wrong=one.wrong, weights=own, offset=known)
        for one, own, known in zip(traces, np.split(each, cuts), np.split(offset, cuts), strict=True)
    ]
    return train_pooler(labelled, PoolerRecipe(seed=recipe.seed, width=recipe.width, epochs=recipe.epochs))


def balance(wrong: NDArray[np.int8], subsets: NDArray[np.str_]) -> NDArray[np.float64]:
    """Return weights that give every source the base rate of all steps, shape (n_steps,); they sum to n_steps.

    A source with one kind of step alone keeps weight 1.
    """
    rate = wrong.mean()
    weights = np.ones(len(wrong))
    for name in np.unique(subsets):
        here = subsets == name
        own = wrong[here].mean()
        if 0 < own < 1:
            weights[here] = np.where(wrong[here] == 1, rate / own, (1 - rate) / (1 - own))
    balanced: NDArray[np.float64] = weights * (len(wrong) / weights.sum())
    return balanced


def _source_weights(subsets: NDArray[np.str_], recipe: Recipe) -> NDArray[np.float64]:
    is_main = np.char.startswith(subsets, f"{recipe.main_source}/" if recipe.main_source else "")
    is_planted = np.char.startswith(subsets, f"{PLANTED}/")
    return np.where(is_planted, recipe.weight_planted, np.where(is_main, 1.0, recipe.weight_elsewhere))


def _states(one: ReadExample) -> Rows:
    return np.stack([reading.states.reshape(-1) for reading in one.readings]).astype(np.float32)


def _fit_projection(traces: Sequence[ReadExample], recipe: Recipe) -> Projection:
    """Find the principal components of all steps read, labelled or not."""
    from sklearn.decomposition import PCA

    states = np.concatenate([_states(one) for one in traces])
    mean, scale = states.mean(axis=0), states.std(axis=0) + LEAST_SCALE
    components = min(recipe.n_components, *states.shape)
    found = PCA(components, svd_solver="randomized", random_state=recipe.seed).fit((states - mean) / scale)
    largest = float(np.sqrt(found.explained_variance_[0])) or 1.0
    directions = (found.components_.T / largest).astype(np.float16)
    return Projection(mean=mean, scale=scale, directions=directions)


def _sklearn_linear(recipe: Recipe) -> "LogisticRegression":
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=recipe.penalty, max_iter=1000)


def _sklearn_trees(recipe: Recipe) -> "GradientBoostingClassifier":
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(
        n_estimators=recipe.n_trees,
        learning_rate=recipe.rate,
        max_depth=recipe.depth,
        subsample=recipe.subsample,
        max_features=recipe.columns_tried,
        min_samples_leaf=recipe.least_leaf,
        random_state=recipe.seed,
    )


def _to_arrays(boosted: "GradientBoostingClassifier") -> Trees:
    """Copy fitted trees; a leaf becomes its own child, and unused nodes are leaves."""
    trees = [estimator.tree_ for estimator in boosted.estimators_[:, 0]]
    n_nodes = max(tree.node_count for tree in trees)
    own = np.arange(n_nodes)
    column, threshold, value = (np.zeros((len(trees), n_nodes)) for _ in range(3))
    left, right = (np.tile(own, (len(trees), 1)) for _ in range(2))
    for place, tree in enumerate(trees):
        n, is_leaf = tree.node_count, tree.children_left < 0
        column[place, :n] = np.where(is_leaf, 0, tree.feature)
        threshold[place, :n] = tree.threshold
        left[place, :n] = np.where(is_leaf, own[:n], tree.children_left)
        right[place, :n] = np.where(is_leaf, own[:n], tree.children_right)
        value[place, :n] = tree.value[:, 0, 0] * boosted.learning_rate
    return Trees(
        column=column.astype(np.int16),
        threshold=threshold.astype(np.float32),
        left=left.astype(np.int16),
        right=right.astype(np.int16),
        value=value.astype(np.float32),
    )
