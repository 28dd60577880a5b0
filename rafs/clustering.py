"""Texts grouped by what they mean to a validator, and the entropy of the groups: for answers in words.

Two published rules say when two texts mean the same. STRICT: each entails the other; the definition of Kuhn et al., and
what the published code of Farquhar et al. does unless told otherwise. LAX: neither direction contradicts, and not both
are neutral, so one entails; the other choice of that code, by which a shorter and a longer answer still meet. What a
direction says is the likeliest of the three. Both papers put the question before each answer: so may whoever asks.

Source:
    Kuhn et al. 2023, "Semantic Uncertainty", arXiv:2302.09664; Farquhar et al. 2024, "Detecting hallucinations in
    large language models using semantic entropy", Nature 630.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import permutations

from rafs.consensus import Equivalence, group_answers, same_answer
from rafs.types import Entailment, Truth

Opinions = Mapping[tuple[str, str], Entailment]
"""By (premise, hypothesis)."""


class Rule(StrEnum):
    """When two texts mean the same."""

    STRICT = "strict"
    """Each entails the other."""
    LAX = "lax"
    """Neither direction contradicts, and at least one entails."""


def same_meaning(one: str, other: str, opinions: Opinions, rule: Rule) -> Truth:
    """Say whether two texts mean the same.

    Returns:
        TRUE by the rule; FALSE where a direction contradicts; UNKNOWN where neither, and where a direction that could
        decide is missing: what was not measured never merges. Equal texts mean the same.
    """
    if one == other:
        return Truth.TRUE
    forward, backward = opinions.get((one, other)), opinions.get((other, one))
    if any(said is not None and _says(said) == "contradicts" for said in (forward, backward)):
        return Truth.FALSE
    if forward is None or backward is None:
        return Truth.UNKNOWN
    entailing = [_says(forward), _says(backward)].count("entails")
    return Truth.TRUE if entailing >= (2 if rule is Rule.STRICT else 1) else Truth.UNKNOWN


def _says(opinion: Entailment) -> str:
    """Return the likeliest of the three; on a tie the one that merges less."""
    return max(("contradicts", "neutral", "entails"), key=lambda name: float(getattr(opinion, name)))


def pairs_of_meaning(texts: Sequence[str], exact: Equivalence | None = None) -> list[tuple[str, str]]:
    """Return every (premise, hypothesis) that grouping these texts looks up, each once.

    Args:
        texts: Equal ones are looked at once.
        exact: Leaves out the pairs that it can tell; see `settle_unknown`.
    """
    pairs = permutations(dict.fromkeys(texts), 2)
    return [pair for pair in pairs if exact is None or same_answer(*pair, exact) is Truth.UNKNOWN]


def cluster_texts(texts: Sequence[str], opinions: Opinions, rule: Rule) -> list[list[int]]:
    """Group texts by meaning, as `group_answers` groups answers: order does not matter, and unknown never merges.

    The published algorithm compares each text with the first of every group, which depends on their order; this is the
    transitive closure, out of which comes a text that agrees with two that contradict each other.

    Returns:
        Groups of indices, in order of first appearance.
    """
    return group_answers(texts, lambda one, other: same_meaning(one, other, opinions, rule))


def settle_unknown(exact: Equivalence, opinions: Opinions, rule: Rule) -> Equivalence:
    """Return an equivalence that asks the opinions only where the exact one cannot say, in both argument orders."""

    def compare(one: str, other: str) -> Truth:
        known = same_answer(one, other, exact)
        return same_meaning(one, other, opinions, rule) if known is Truth.UNKNOWN else known

    return compare


def semantic_entropy(masses: Sequence[float]) -> float:
    """H = -sum_c p_c log p_c with the natural logarithm, p_c = m_c / sum m.

    Args:
        masses: Of the groups, shape (n_groups,), none negative and one positive: their sizes, or the summed
            probabilities of their texts.

    Returns:
        A number in [0, log n_groups].

    Source:
        Farquhar et al. 2024, Nature 630; with sizes it is their discrete form.
    """
    total = sum(masses)
    return max(0.0, -sum(mass / total * math.log(mass / total) for mass in masses if mass > 0))


def semantic_negentropy(masses: Sequence[float], n_texts: int) -> float:
    """1 - H / log K: 1 where all texts mean the same, 0 where no two do.

    Args:
        masses: See `semantic_entropy`.
        n_texts: K, at least 2; one text agrees with nobody.

    Returns:
        A number in [0, 1]. With sizes it is C_A of these groups (`consensus_value`).

    Source:
        Bouchard and Chauhan 2025, "Uncertainty Quantification for Language Models", arXiv:2504.19254.
    """
    return min(1.0, max(0.0, 1 - semantic_entropy(masses) / math.log(n_texts)))
