"""D: do the traces that agree on the answer also agree on the way?"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rafs.grammar.units import factors, read_unit
from rafs.outcomes import Component, Measured, Unmeasured
from rafs.types import Entailment

CONTRADICTION = -1.0
"""Weight of a pair of claims that contradict each other."""
MAX_COMPARISONS = 50_000
"""Pairs of claims that are compared, 0.1 s of work and twice as many questions to a validator at most: 15 traces of 20
claims, or 5 of 70. Beyond it, no D."""
MAX_CONTRADICTIONS = 20
"""Contradictions that are kept as evidence; all are counted."""
ROUNDING = Fraction(1, 50)
"""Results of one calculation that differ by less, with no refuted step behind either, were rounded on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalClaim:
    """A claim reduced to what makes it the same claim in another trace."""

    text: str
    """As written; what a validator reads."""
    keys: frozenset[str]
    """Claims are the same when they share one: a calculation with its result, an equation, or bare words."""
    quantities: frozenset[str] = frozenset()
    """What was calculated, without the result: the operation on its numbers, and its origin in the problem's."""
    value: Fraction | None = None
    """The result, where it is a number."""
    unit: str = ""
    """Its unit as written."""
    refuted: bool = False
    """A checker refuted it, or a claim that it is computed from."""
    in_words: bool = False
    is_partial: bool = False
    """A longer sum or product of the same trace contains it: a counterpart for others, and no claim of its own."""


Pair = tuple[str, str]


def exact_weight(a: CanonicalClaim, b: CanonicalClaim) -> float | None:
    """Weight of a match that needs no model.

    Returns:
        1 for equal claims; -1 for one quantity with two results; 0 for two different calculations (text models are at
        chance on those); None where a validator has to read the words.
    """
    is_same = not a.keys.isdisjoint(b.keys)
    if is_same or (a.value is not None and b.value is not None and not a.quantities.isdisjoint(b.quantities)):
        if _clash(a.unit, b.unit):
            return 0.0
        return 1.0 if is_same else _weight_of_results(a, b)
    return None if a.in_words or b.in_words else 0.0


def _weight_of_results(a: CanonicalClaim, b: CanonicalClaim) -> float:
    """Weight of two different results of one quantity."""
    assert a.value is not None and b.value is not None
    if a.refuted or b.refuted:
        return CONTRADICTION
    return 1.0 if abs(a.value - b.value) <= ROUNDING * max(abs(a.value), abs(b.value)) else 0.0


def _clash(unit: str, other: str) -> bool:
    """Say whether two units are surely not the same, as km and m or kg; what is told with none may have any."""
    one, another = read_unit(unit), read_unit(other)
    if one is None or another is None or not (one.is_measure and another.is_measure):
        return False
    return not any(factor.low <= 1 <= factor.high for factor in factors(one, another))


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


def match_weight(
    a: CanonicalClaim, b: CanonicalClaim, opinions: Mapping[Pair, Entailment], unasked: Set[Pair] = frozenset()
) -> float | None:
    """Weight with which two claims match: exact where possible, else the bidirectional entailment probability.

    Bidirectional is the smaller of the two directions (ours): claims match when each follows from the other. A
    contradiction, where it is the likeliest of the three in either direction, weighs -1. What a prefilter left out as
    too far apart weighs 0.

    Returns:
        -1 or a number in [0, 1]; None when a needed opinion is missing.
    """
    exact = exact_weight(a, b)
    if exact is not None:
        return exact
    if (a.text, b.text) in unasked:
        return 0.0
    forward, backward = opinions.get((a.text, b.text)), opinions.get((b.text, a.text))
    if forward is None or backward is None:
        return None
    if any(opinion.contradicts > max(opinion.entails, opinion.neutral) for opinion in (forward, backward)):
        return CONTRADICTION
    return min(forward.entails, backward.entails)


def soft_f1(weights: NDArray[np.float64], counted: tuple[Sequence[bool], Sequence[bool]] | None = None) -> float:
    """Soft F1 of the best matching of two sets of claims.

    Each claim takes its best match in the other trace; a claim that contradicts one there, and is matched by none
    exactly, counts -1. Precision and recall are the means over rows and columns, clipped at 0; F1 is their harmonic
    mean. Taking the best match, instead of a one-to-one assignment, makes order and repetition cost nothing.

    Args:
        weights: Match weights, shape (n_claims_a, n_claims_b), both at least 1.
        counted: Rows and columns that the means run over, at least one of each; all unless given. The others are
            there to be matched.

    Returns:
        A number in [0, 1]; 1 when every claim has an exact match.

    Source:
        The greedy matching is that of Zhang et al. 2020, "BERTScore", arXiv:1904.09675; the penalty is ours.
    """
    rows, columns = counted or ([True] * weights.shape[0], [True] * weights.shape[1])
    precision = max(0.0, float(np.mean([_best(row) for row in weights[np.array(rows)]])))
    recall = max(0.0, float(np.mean([_best(column) for column in weights.T[np.array(columns)]])))
    return 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)


def _best(weights: NDArray[np.float64]) -> float:
    best = float(weights.max())
    return CONTRADICTION if best < 1.0 and float(weights.min()) == CONTRADICTION else best


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A claim of one trace that a claim of another contradicts."""

    traces: tuple[int, int]
    claims: tuple[str, str]
    by_arithmetic: bool
    """One quantity with two results; else it is a validator's opinion of the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Agreement of the derivations behind the modal answer."""

    component: Component
    distances: NDArray[np.float64] | None
    """Pairwise distances, shape (n_traces, n_traces), NaN where two could not be compared; None if unmeasured."""
    contradictions: tuple[Contradiction, ...] = ()
    """At most MAX_CONTRADICTIONS, those by arithmetic first."""
    n_contradictions: int = 0
    contradiction: float | None = None
    """Share of the compared pairs of traces that give one quantity two results; None where no pair was compared."""
    method_diversity: float | None = None
    """Share of the calculations and equations of two traces that neither match nor contradict one of the other, over
    all compared pairs; None where they write none. Two right methods are diverse, and do not contradict each other."""
    n_pairs: int = 0
    """Pairs of claims, in both directions, of the traces that were to be compared: K (K - 1) C^2."""
    n_canonical: int = 0
    """Those of them that were decided without a model."""


def reasoning_stability(
    traces: Sequence[Sequence[CanonicalClaim]],
    opinions: Mapping[Pair, Entailment],
    unasked: Set[Pair] = frozenset(),
) -> Stability:
    """D_R = 1 - mean pairwise distance of traces with the modal answer; distance = 1 - soft F1 of their claims.

    Args:
        traces: Canonical claims of each trace whose answer is the modal one.
        opinions: A validator's opinions on the pairs of `pairs_to_classify(traces)`; missing ones leave the affected
            pairs of traces out and reduce coverage.
        unasked: Pairs that a prefilter left out, which weigh 0.

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
    pairs = {(i, j): _compare(traces[i], traces[j], opinions, unasked) for i, j in combinations(with_claims, 2)}
    n_canonical = 2 * sum(pair.n_canonical for pair in pairs.values())
    compared = {at: pair for at, pair in pairs.items() if pair.distance is not None}
    return replace(_agreement(compared, len(traces)), n_pairs=2 * n_comparisons(traces), n_canonical=n_canonical)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TracePair:
    """Two traces side by side."""

    distance: float | None
    """None where an opinion is missing."""
    contradicting: tuple[tuple[CanonicalClaim, CanonicalClaim], ...]
    n_canonical: int
    n_calculations: int
    n_alone: int
    """Calculations and equations that neither match nor contradict anything in the other trace."""


def _agreement(compared: Mapping[tuple[int, int], _TracePair], n_traces: int) -> Stability:
    """Sum up the pairs of traces that could be compared."""
    if not compared:
        return Stability(component=Unmeasured(reason="no_validator_opinion"), distances=None)
    distances = np.full((n_traces, n_traces), np.nan)
    for (i, j), pair in compared.items():
        distances[i, j] = distances[j, i] = pair.distance
    found = [
        Contradiction(traces=at, claims=(a.text, b.text), by_arithmetic=exact_weight(a, b) is not None)
        for at, pair in compared.items()
        for a, b in pair.contradicting
    ]
    found.sort(key=lambda one: not one.by_arithmetic)
    n_calculations = sum(pair.n_calculations for pair in compared.values())
    n_alone = sum(pair.n_alone for pair in compared.values())
    total = math.fsum(pair.distance for pair in compared.values() if pair.distance is not None)
    return Stability(
        component=Measured(value=1 - total / len(compared), coverage=len(compared) / (n_traces * (n_traces - 1) / 2)),
        distances=distances,
        contradictions=tuple(found[:MAX_CONTRADICTIONS]),
        n_contradictions=len(found),
        contradiction=len({one.traces for one in found if one.by_arithmetic}) / len(compared),
        method_diversity=n_alone / n_calculations if n_calculations else None,
    )


def _compare(
    one: Sequence[CanonicalClaim],
    other: Sequence[CanonicalClaim],
    opinions: Mapping[Pair, Entailment],
    unasked: Set[Pair],
) -> _TracePair:
    exact = [[exact_weight(a, b) for b in other] for a in one]
    weights = np.array(
        [[_or_nan(match_weight(a, b, opinions, unasked)) for b in other] for a in one]
    )  # (n_claims_one, n_claims_other)
    counted = tuple([not claim.is_partial for claim in claims] for claims in (one, other))
    written = [
        any(weight in (1.0, CONTRADICTION) for weight in weights_of_claim)
        for claims, rows in ((one, exact), (other, zip(*exact, strict=True)))
        for claim, weights_of_claim in zip(claims, rows, strict=True)
        if not claim.in_words and not claim.is_partial
    ]
    return _TracePair(
        distance=None if np.isnan(weights).any() else 1 - soft_f1(weights, (counted[0], counted[1])),
        contradicting=tuple((one[a], other[b]) for a, b in np.argwhere(weights == CONTRADICTION).tolist()),
        n_canonical=sum(weight is not None for row in exact for weight in row),
        n_calculations=len(written),
        n_alone=written.count(False),
    )


def _or_nan(weight: float | None) -> float:
    return np.nan if weight is None else weight
