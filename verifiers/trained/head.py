"""The trained head: from what is known of a step to the probability that it is right."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rafs.engines.token_pooler import Weights
from rafs.step_reading import StepReading
from verifiers.trained.trees import Trees

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projection:
    """Hidden states in few numbers: principal components of the standardised states."""

    mean: NDArray[np.float32]
    """Shape (n_states,), likewise `scale`."""
    scale: NDArray[np.float32]
    directions: NDArray[np.float16]
    """Shape (n_states, n_components), each divided by the deviation along the first one."""

    def apply(self, states: Rows) -> Rows:
        """Return the components of states (n_rows, n_states), shape (n_rows, n_components)."""
        return ((states - self.mean) / self.scale) @ self.directions.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepHead:
    """A linear model and boosted trees on the same columns, and a network over the tokens that the reader runs.

    logit P(wrong) = intercept + slope * ((1 - s) (linear + pooled) + s trees): log-odds of being the first wrong
    step, given that those before are right. The network (pooled) was trained on top of the linear model; (intercept,
    slope) fit the mix to steps that it was not trained on (Platt 1999). The columns are exact features, surprisal, and
    components of the states.
    """

    projection: Projection
    mean: NDArray[np.float32]
    """Of the columns, shape (n_columns,), likewise `scale` and `weights`."""
    scale: NDArray[np.float32]
    weights: NDArray[np.float32]
    bias: float
    trees: Trees
    trees_bias: float
    pooler: Weights
    """Of the network."""
    trees_share: float
    """s, in [0, 1]."""
    intercept: float = 0.0
    slope: float = 1.0

    def columns(self, features: Rows, readings: Sequence[StepReading]) -> Rows:
        """Put together what the head looks at, shape (n_steps, n_columns).

        Args:
            features: Of `step_features`, a row per step.
            readings: Of the same steps.
        """
        surprisal = np.stack([reading.surprisal for reading in readings])
        states = np.stack([reading.states.reshape(-1) for reading in readings]).astype(np.float32)
        return np.concatenate([features, surprisal, self.projection.apply(states)], axis=1)

    def log_odds(self, columns: Rows, pooled: Sequence[float]) -> NDArray[np.float64]:
        """Return the uncalibrated log-odds of being wrong, shape (n_steps,).

        Args:
            columns: Of `columns`.
            pooled: What the network says of the same steps.
        """
        standard = np.clip((columns - self.mean) / self.scale, -STANDARD_LIMIT, STANDARD_LIMIT)
        neural = standard @ self.weights + self.bias + np.asarray(pooled)
        trees = self.trees.score(columns) + self.trees_bias
        mixed: NDArray[np.float64] = (1 - self.trees_share) * neural + self.trees_share * trees
        return mixed

    def p_correct(self, columns: Rows, pooled: Sequence[float]) -> NDArray[np.float64]:
        """Return P(step is right | problem, earlier steps), shape (n_steps,), each in (0, 1)."""
        wrong = self.intercept + self.slope * self.log_odds(columns, pooled)
        found: NDArray[np.float64] = 1 / (1 + np.exp(np.clip(wrong, -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT)))
        return found


STANDARD_LIMIT = 5.0
"""Deviations beyond which a column is read as that many: no single one decides."""
LOG_ODDS_LIMIT = 20.0
