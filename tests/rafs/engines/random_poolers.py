"""A network over token states with random weights."""

import numpy as np
from numpy.typing import NDArray

from rafs.engines.token_pooler import Weights, shapes


def random_weights(n_states: int, width: int) -> Weights:
    """Return weights that make every input count; scales are positive."""
    generator = np.random.default_rng(0)
    found: dict[str, NDArray[np.float32]] = {
        name: (generator.normal(size=shape) / 2).astype(np.float32) for name, shape in shapes(n_states, width).items()
    }
    return {**found, "state.scale": np.ones(n_states, dtype=np.float32)}
