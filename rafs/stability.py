"""D: do the traces that agree on the answer also agree on the way?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rafs.outcomes import Component, Measured, Unmeasured
from rafs.types import Entailment

CONTRADICTION = -1.0
"""Weight of a pair of claims that contradict each other."""
MAX_COMPARISONS = 50_000
"""Pairs of claims that are compared, a second of work: 16 traces of 20 claims, or 5 of 70. Beyond it, no D."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalClaim:
    """A claim reduced to what makes it the same claim in another trace."""

    text: str
    """As written; what a validator reads."""
    equation: str | None = None
    """Canonical equation (commutative order, exact numbers); None for a claim in words."""
    left: str | None = None
    """Canonical left side: two equations with one left side and two results contradict each other."""


Pair = tuple[str, str]


def exact_weight(a: CanonicalClaim, b: CanonicalClaim) -> float | None:
    """Weight of a match that needs no model.

    Returns:
        1 for equal claims; -1 for one calculation with two results; 0 for two different equations (text models are at
        chance on those); None where a validator has to read the words.
    """
    if a.equation is not None and b.equation is not None:
        if a.equation == b.equation:
            return 1.0
        return CONTRADICTION if a.left == b.left else 0.0
    if a.equation is None and b.equation is None and a.text == b.text:
        return 1.0
    return None


def n_comparisons(traces: Sequence[Sequence[CanonicalClaim]]) -> int:
    """Return how many pairs of claims a full comparison of the traces looks at."""
    return sum(len(one) * len(other) for one, other in combinations(traces, 2))


def pairs_to_classify(traces: Sequence[Sequence[CanonicalClaim]]) -> list[Pair]:
    """Return every (premise, hypothesis) that a validator has to read, in both directions, each text pair once."""
    needed: dict[Pair, None] = {}
    for one, other in combinations(traces, 2):
        for a in one:
            for b in other:
                if exact_weight(a, b) is None:
                    needed[a.text, b.text] = None
                    needed[b.text, a.text] = None
    return list(needed)


def match_weight(a: CanonicalClaim, b: CanonicalClaim, opinions: Mapping[Pair, Entailment]) -> float | None:
    """Weight with which two claims match: exact where possible, else the bidirectional entailment probability.

    Bidirectional is the smaller of the two directions (ours): claims match when each follows from the other. A
    contradiction, where it is the likeliest of the three in either direction, weighs -1.

    Returns:
        -1 or a number in [0, 1]; None when a needed opinion is missing.
    """
    exact = exact_weight(a, b)
    if exact is not None:
        return exact
    forward, backward = opinions.get((a.text, b.text)), opinions.get((b.text, a.text))
    if forward is None or backward is None:
        return None
    if any(opinion.contradicts > max(opinion.entails, opinion.neutral) for opinion in (forward, backward)):
        return CONTRADICTION
    return min(forward.entails, backward.entails)


def soft_f1(weights: NDArray[np.float64]) -> float:
    """Soft F1 of the best matching of two sets of claims.

    Each claim takes its best match in the other trace; a claim that contradicts one there, and is matched by none
    exactly, counts -1. Precision and recall are the means over rows and columns, clipped at 0; F1 is their harmonic
    mean. Taking the best match, instead of a one-to-one assignment, makes order and repetition cost nothing.

    Args:
        weights: Match weights, shape (n_claims_a, n_claims_b), both at least 1.

    Returns:
        A number in [0, 1]; 1 when every claim has an exact match.

    Source:
        The greedy matching is that of Zhang et al. 2020, "BERTScore", arXiv:1904.09675; the penalty is ours.
    """
    precision = max(0.0, float(np.mean([_best(row) for row in weights])))
    recall = max(0.0, float(np.mean([_best(column) for column in weights.T])))
    return 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)


def _best(weights: NDArray[np.float64]) -> float:
    best = float(weights.max())
    return CONTRADICTION if best < 1.0 and float(weights.min()) == CONTRADICTION else best


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Agreement of the derivations behind the modal answer."""

    component: Component
    distances: NDArray[np.float64] | None
    """Pairwise distances, shape (n_traces, n_traces), NaN where two could not be compared; None if unmeasured."""
    contradictions: tuple[tuple[int, int, str, str], ...] = ()
    """(trace, trace, claim, claim) of every contradicting pair."""


def reasoning_stability(traces: Sequence[Sequence[CanonicalClaim]], opinions: Mapping[Pair, Entailment]) -> Stability:
    """D_R = 1 - mean pairwise distance of traces with the modal answer; distance = 1 - soft F1 of their claims.

    Args:
        traces: Canonical claims of each trace whose answer is the modal one.
        opinions: A validator's opinions on the pairs of `pairs_to_classify(traces)`; missing ones leave the affected
            pairs of traces out and reduce coverage.

    Returns:
        The component, Unmeasured where fewer than two traces have claims, they have too many, or no pair could be
        compared.

    Source:
        Shukla et al. 2026, arXiv:2607.26102.
    """
    with_claims = [index for index, claims in enumerate(traces) if claims]
    if len(with_claims) < 2:
        return Stability(
            component=Unmeasured(reason="too_few_modal_traces", detail=f"{len(with_claims)} traces, 2 are needed"),
            distances=None,
        )
    if n_comparisons(traces) > MAX_COMPARISONS:
        detail = f"{n_comparisons(traces)} pairs of claims, at most {MAX_COMPARISONS} are compared"
        return Stability(component=Unmeasured(reason="too_many_claims", detail=detail), distances=None)
    distances = np.full((len(traces), len(traces)), np.nan)
    contradictions: list[tuple[int, int, str, str]] = []
    for i, j in combinations(with_claims, 2):
        weights = [[match_weight(a, b, opinions) for b in traces[j]] for a in traces[i]]
        known = np.array([[np.nan if weight is None else weight for weight in row] for row in weights], dtype=float)
        if np.isnan(known).any():
            continue
        distances[i, j] = distances[j, i] = 1 - soft_f1(known)
        contradictions += [
            (i, j, traces[i][a].text, traces[j][b].text) for a, b in np.argwhere(known == CONTRADICTION).tolist()
        ]
    upper = distances[np.triu_indices(len(traces), 1)]
    compared = upper[~np.isnan(upper)]
    if compared.size == 0:
        return Stability(component=Unmeasured(reason="no_validator_opinion"), distances=None)
    return Stability(
        component=Measured(value=1 - float(compared.mean()), coverage=float(compared.size / upper.size)),
        distances=distances,
        contradictions=tuple(contradictions),
    )
