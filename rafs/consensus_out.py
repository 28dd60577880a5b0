"""The vote of the samples as JSON."""

from rafs.agreement import Agreement
from rafs.ballot import Ballot
from rafs.consensus import entropy
from rafs.consensus_wire import AnswerClassOut, ConsensusOut, WeightedOut, WeightedVoteOut
from rafs.outcomes import Measured, Unmeasured
from rafs.types import Truth
from rafs.weighted_vote import WeightedVote

HOLDS = {Truth.TRUE: True, Truth.FALSE: False, Truth.UNKNOWN: None}


def show_consensus(agreement: Agreement) -> ConsensusOut | None:
    """Return who voted for what; None where there are no samples."""
    gathered, ballot = agreement.gathered, agreement.ballot
    if ballot is None:
        return None
    consensus, k = ballot.consensus, len(ballot.voters)
    shares = [len(members) / k for members in consensus.classes]
    return ConsensusOut(
        k=k,
        k_sent=0 if gathered.drawn else len(gathered.texts),
        k_planned=gathered.n_planned,
        k_drawn=len(gathered.texts) if gathered.drawn else 0,
        k_distinct=len(gathered.texts) - len(ballot.copies),
        stopped_because=None if gathered.stopped is None else gathered.stopped.value,
        copies=list(ballot.copies),
        truncated=list(ballot.truncated),
        missing=list(consensus.missing),
        value=consensus.component.value if isinstance(consensus.component, Measured) else None,
        entropy=entropy(shares) if k else None,
        interval=ballot.interval,
        bounds=ballot.bounds,
        classes=_classes(ballot),
        weighted=_weighted(ballot),
    )


def _classes(ballot: Ballot) -> list[AnswerClassOut]:
    consensus, k = ballot.consensus, len(ballot.voters)
    groups = [members for members in consensus.classes if members != consensus.missing]
    standing = consensus.standing or [Truth.UNKNOWN] * len(groups)
    return [
        AnswerClassOut(
            answers=list(dict.fromkeys(answer for i in members if (answer := ballot.answers[i]) is not None)),
            samples=list(members),
            size=len(members),
            share=len(members) / k,
            holds_stated=HOLDS[truth],
        )
        for members, truth in zip(groups, standing, strict=True)
    ]


def _weighted(ballot: Ballot) -> WeightedOut:
    votes = ballot.weighted
    if isinstance(votes, Unmeasured):
        return WeightedOut(by_sequence=None, by_token=None, unmeasured=votes.reason, detail=votes.detail)
    return WeightedOut(by_sequence=_vote(votes.by_sequence), by_token=_vote(votes.by_token), unmeasured=None, detail="")


def _vote(vote: WeightedVote) -> WeightedVoteOut:
    return WeightedVoteOut(shares=list(vote.shares), entropy=vote.entropy, value=vote.value)
