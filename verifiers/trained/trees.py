"""Boosted regression trees as arrays: a look-up per level, no library."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trees:
    """Trees of at most n_nodes nodes; node 0 is the root, a leaf its own child. All arrays: (n_trees, n_nodes)."""

    column: NDArray[np.int16]
    """Column that a node looks at."""
    threshold: NDArray[np.float32]
    """At most that: left, else right."""
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float32]
    """What a leaf adds."""

    def score(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sum over the trees of the leaf that each row falls into, shape (n_rows,)."""
        trees = np.arange(len(self.column))
        node = np.zeros((len(rows), len(trees)), dtype=np.intp)  # (n_rows, n_trees)
        while True:
            seen = np.take_along_axis(rows, self.column[trees, node].astype(np.intp), axis=1)
            below = np.where(seen <= self.threshold[trees, node], self.left[trees, node], self.right[trees, node])
            if np.array_equal(below, node):
                total: NDArray[np.float64] = self.value[trees, node].sum(axis=1, dtype=np.float64)
                return total
            node = below.astype(np.intp)

    def check(self, n_columns: int) -> bool:
        """Say whether every node leads further down and looks at a column that there is, so that `score` ends."""
        shape = self.column.shape
        if len(shape) != 2 or any(
            array.shape != shape for array in (self.threshold, self.left, self.right, self.value)
        ):
            return False
        place = np.arange(shape[1])
        children = np.stack([self.left, self.right])
        leads_on = (children > place) & (children < shape[1])
        is_leaf = (self.left == place) & (self.right == place)
        in_range = (self.column >= 0) & (self.column < n_columns)
        return bool((leads_on.all(axis=0) | is_leaf).all() and in_range.all())
