"""The vote weighted by how probable each sample was: reported beside C, never instead of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rafs.consensus import agreement_of, entropy
from rafs.outcomes import Unmeasured
from rafs.types import Sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedVote:
    """Shares of the answer classes where every sample counts by its probability."""

    shares: tuple[float, ...]
    """By answer class, the one of missing answers included; they sum to 1."""
    entropy: float
    """In nats."""
    value: float
    """1 - entropy / log K, in [0, 1], with K the number of voters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedVotes:
    """Two readings of how probable a sample is; samples that were drawn have been weighted by it once already."""

    by_sequence: WeightedVote
    """By the probability of the whole text; short texts then outweigh long ones by far."""
    by_token: WeightedVote
    """By the geometric mean of the probabilities of its tokens, as semantic entropy often is."""


def weigh_votes(classes: Sequence[Sequence[int]], samples: Sequence[Sampled]) -> WeightedVotes | Unmeasured:
    """Weigh every voter by its probability.

    Args:
        classes: Sample indices by answer class, as in `Consensus.classes`.
        samples: All samples; those in no class have no vote.

    Returns:
        The weighted votes; Unmeasured for fewer than 2 voters, and where the log-probability of some voter is not
        known.

    Source:
        Kuhn et al. 2023, "Semantic Uncertainty", arXiv:2302.09664.
    """
    voters = [i for members in classes for i in members]
    if len(voters) < 2:
        return Unmeasured(reason="too_few_samples", detail=f"{len(voters)} that can vote, at least 2 are needed")
    totals = {i: total for i in voters if (total := samples[i].logprob) is not None}
    means = {i: mean for i in voters if (mean := samples[i].mean_logprob) is not None and math.isfinite(mean)}
    if len(means) < len(voters):
        return Unmeasured(reason="no_logprobs", detail=f"known of {len(means)} of {len(voters)} voters")
    return WeightedVotes(
        by_sequence=weighted_vote([[totals[i] for i in members] for members in classes]),
        by_token=weighted_vote([[means[i] for i in members] for members in classes]),
    )


def weighted_vote(logprobs: Sequence[Sequence[float]]) -> WeightedVote:
    """Share of class c = sum over its samples of exp(l_i), over the same sum of all samples.

    Args:
        logprobs: l_i of every voter, by answer class; at least 2 voters, and no class is empty.
    """
    every = [one for members in logprobs for one in members]
    largest = max(every)  # of the exponents, so that nothing underflows to 0 / 0
    masses = [math.fsum(math.exp(one - largest) for one in members) for members in logprobs]
    total = math.fsum(masses)
    shares = tuple(mass / total for mass in masses)
    return WeightedVote(shares=shares, entropy=entropy(shares), value=agreement_of(shares, len(every)))
