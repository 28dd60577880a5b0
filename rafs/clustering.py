"""Texts grouped by what they mean to a validator. No score uses it: C merges only what is surely equal.

Two published rules say when two texts mean the same. STRICT: each entails the other; the definition of Kuhn et al., and
what the published code of Farquhar et al. does unless told otherwise. LAX: neither direction contradicts, and not both
are neutral, so one entails; the other choice of that code, by which a shorter and a longer answer still meet. What a
direction says is the likeliest of the three. Both papers put the question before each answer: so may whoever asks.

Source:
    Kuhn et al. 2023, "Semantic Uncertainty", arXiv:2302.09664; Farquhar et al. 2024, "Detecting hallucinations in
    large language models using semantic entropy", Nature 630.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import permutations

from rafs.consensus import group_answers
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


def pairs_of_meaning(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return every (premise, hypothesis) that grouping these texts looks up, each once."""
    return list(permutations(dict.fromkeys(texts), 2))


def cluster_texts(texts: Sequence[str], opinions: Opinions, rule: Rule) -> list[list[int]]:
    """Group texts by meaning, as `group_answers` groups answers: order does not matter, and unknown never merges.

    The published algorithm compares each text with the first of every group, which depends on their order; this is the
    transitive closure, out of which comes a text that agrees with two that contradict each other.

    Returns:
        Groups of indices, in order of first appearance.
    """
    return group_answers(texts, lambda one, other: same_meaning(one, other, opinions, rule))
