"""A premise beyond a model's window: cut into overlapping pieces, their opinions put together."""

import math
from collections.abc import Sequence

from rafs.types import Abstained, Entailment, Why

MIN_PREMISE_SHARE = 0.25
"""Of the window, for a piece of the premise: less than a sentence or two says nothing of a long hypothesis."""
MAX_PIECES = 32
"""Of one premise, for time: 8000 tokens in pieces of 500."""
SEAM_TOKENS = 4
"""By which a piece may read longer alone than within the whole: its first and its last word may be cut."""

Span = tuple[int, int]
"""First and last character, exclusive, of a token."""


def too_long(window: int) -> Abstained:
    """Return the opinion on a pair that cannot be cut to fit."""
    return Abstained(why=Why.TOO_LONG, detail=f"the pair passes {window} tokens, and cannot be cut to fit")


def cut_premise(premise: str, tokens: Sequence[Span], n_hypothesis: int, n_special: int, window: int) -> list[str]:
    """Cut a premise into pieces that fit the window together with the hypothesis.

    Neighbours share half of their tokens, so a passage of up to half a piece stands whole in one of them.

    Args:
        premise: Untrusted.
        tokens: Where its tokens stand, in order.
        n_hypothesis: Tokens of the hypothesis, which is never cut: a part of it is another claim.
        n_special: Tokens that the model puts around a pair.
        window: The most tokens of a pair.

    Returns:
        The pieces in order; none where the hypothesis leaves too little room, or there would be too many.
    """
    room = window - n_hypothesis - n_special - SEAM_TOKENS
    if room < max(2, MIN_PREMISE_SHARE * window):
        return []
    step = room // 2
    n_pieces = 1 + max(0, math.ceil((len(tokens) - room) / step))
    if n_pieces > MAX_PIECES or not tokens:
        return []
    starts = range(0, n_pieces * step, step)
    return [premise[tokens[at][0] : tokens[min(at + room, len(tokens)) - 1][1]] for at in starts]


def join_opinions(opinions: Sequence[Entailment]) -> Entailment:
    """Return the opinion on a pair from those on the pieces of its premise.

    entails = max_w entails_w and contradicts = max_w contradicts_w, both divided by their sum where it passes 1;
    neutral is the rest. What a piece entails or contradicts, the whole premise does; a premise whose pieces do both
    is left undecided between the two.

    Args:
        opinions: At least one.

    Source:
        The maximum over pieces of the premise is that of Laban et al. 2022, "SummaC", arXiv:2111.09525; keeping it a
        distribution is ours.
    """
    entails = max(each.entails for each in opinions)
    contradicts = max(each.contradicts for each in opinions)
    total = max(1.0, entails + contradicts)
    entails, contradicts = entails / total, contradicts / total
    neutral = max(0.0, 1 - entails - contradicts)
    return Entailment(entails=entails, neutral=neutral, contradicts=contradicts, windowed=True)
