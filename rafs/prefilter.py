"""Which pairs of claims a validator is asked about: those whose words are near."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rafs.stability import CanonicalClaim, Pair, exact_weight, n_comparisons

MAX_SHARE = 0.3
"""Of the pairs of a full comparison, K (K - 1) C^2: at most so many are asked, those of equal texts counted once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """Two texts that only a validator can compare."""

    rank: int
    """0 where one is the nearest to the other among the claims of its trace; the least over all traces."""
    distance: float
    """1 - cosine."""
    texts: Pair
    """In the order of the alphabet."""


def nearest_pairs(
    traces: Sequence[Sequence[CanonicalClaim]],
    vectors: Mapping[str, NDArray[np.float32]],
    max_share: float = MAX_SHARE,
) -> list[Pair]:
    """Choose the pairs that a validator has to read, in both directions.

    A claim counts by its best match in the other trace, so every claim's nearest one comes first, then every second
    nearest, and so on; equal ranks by cosine. Claims that are compared exactly are no candidates, equal texts are
    asked once, and there is always room for one pair.

    Args:
        traces: Canonical claims of each trace.
        vectors: A unit vector of every text that needs a validator, shape (d,).
        max_share: Largest share of the pairs of a full comparison, in (0, 1].

    Returns:
        At most `most_pairs(traces, max_share)` of (premise, hypothesis), each followed by its reverse.
    """
    found: dict[Pair, _Candidate] = {}
    for one, other in combinations(traces, 2):
        for candidate in _candidates(one, other, vectors):
            known = found.get(candidate.texts)
            if known is None or candidate.rank < known.rank:
                found[candidate.texts] = candidate
    chosen = sorted(found.values(), key=lambda one: (one.rank, one.distance, one.texts))
    return [pair for one in chosen[: most_pairs(traces, max_share) // 2] for pair in (one.texts, one.texts[::-1])]


def most_pairs(traces: Sequence[Sequence[CanonicalClaim]], max_share: float = MAX_SHARE) -> int:
    """Return how many pairs are asked at most, both directions counted; an even number, 2 at least."""
    return 2 * max(1, int(max_share * n_comparisons(traces)))


def _candidates(
    one: Sequence[CanonicalClaim], other: Sequence[CanonicalClaim], vectors: Mapping[str, NDArray[np.float32]]
) -> list[_Candidate]:
    open_pairs = [(i, j) for i, a in enumerate(one) for j, b in enumerate(other) if exact_weight(a, b) is None]
    distances = np.full((len(one), len(other)), np.inf)
    for i, j in open_pairs:
        distances[i, j] = 1 - float(vectors[one[i].text] @ vectors[other[j].text])
    rows, columns = distances.argsort(axis=1).argsort(axis=1), distances.argsort(axis=0).argsort(axis=0)
    candidates = []
    for i, j in open_pairs:
        first, second = sorted((one[i].text, other[j].text))
        rank = int(min(rows[i, j], columns[i, j]))
        candidates.append(_Candidate(rank=rank, distance=float(distances[i, j]), texts=(first, second)))
    return candidates
