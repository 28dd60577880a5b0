"""Drawing in rounds: when the samples that are still to come cannot change what the vote says.

What a sample not yet drawn may say is anything: an answer that was given before, a new one that agrees with any of them
or with none, no answer, or a text that is cut and has no vote.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import combinations

from rafs.consensus import Equivalence, consensus_value, group_answers, same_answer
from rafs.types import Truth

LIKELY_ERROR = 0.05
"""Largest probability, by `chance_of_change`, with which rule `likely` stops though the vote would have changed."""


class StopRule(StrEnum):
    """When a preset draws no further sample."""

    NEVER = "never"
    """All are drawn."""
    DECISION = "decision"
    """When none of them can change status or outcome: the checkers rule an Accept out, and it is certain whether the
    stated answer is the modal one. Error 0."""
    VOTE = "vote"
    """When it is certain whether the stated answer is the modal one, and on which side of the least C that an Accept
    needs C lies. Error 0 for both; C itself, and the score, are those of fewer samples."""
    LIKELY = "likely"
    """When the leading answer stays ahead with a probability of 1 - LIKELY_ERROR."""


class Stopped(StrEnum):
    """Why no further sample was drawn."""

    ALL_DRAWN = "all_drawn"
    DECISION_SETTLED = "decision_settled"
    VOTE_SETTLED = "vote_settled"
    VOTE_LIKELY = "vote_likely_settled"
    NO_MORE = "writer_has_no_more"
    """It gave fewer than it was asked for; a greedy one, at temperature 0, has one sample alone."""
    FAILED = "generator_down"
    """It failed after the first round."""


SAYS: Mapping[StopRule, Stopped] = {
    StopRule.NEVER: Stopped.ALL_DRAWN,
    StopRule.DECISION: Stopped.DECISION_SETTLED,
    StopRule.VOTE: Stopped.VOTE_SETTLED,
    StopRule.LIKELY: Stopped.VOTE_LIKELY,
}


def next_round(leader: int, others: int, left: int, rule: StopRule) -> int:
    """Return the fewest samples that could settle the vote if all of them gave the leading answer; at most `left`.

    Args:
        leader: Samples of the largest class.
        others: All other samples that voted.
        left: Samples that may still be drawn, at least 1.
        rule: Under `never` all of them.
    """
    if rule is StopRule.NEVER:
        return left
    settles: Callable[[int, int, int], bool] = _is_likely if rule is StopRule.LIKELY else _is_ahead
    return next((n for n in range(1, left) if settles(leader + n, others, left - n)), left)


def _is_ahead(leader: int, others: int, left: int) -> bool:
    return leader > others + left


def _is_likely(leader: int, others: int, left: int) -> bool:
    return chance_of_change(leader, others, left) <= LIKELY_ERROR


def chance_of_change(leader: int, others: int, left: int) -> float:
    """Probability that the leading answer is not ahead of all others together, once the rest is drawn.

    With a uniform prior on its share, X of the rest give it: X ~ BetaBinomial(left, leader, others + 1); the sample
    that first named the answer is no evidence for it. The others are counted as if they were of one mind.

    Args:
        leader: Samples of the leading answer.
        others: All other samples.
        left: Samples not yet drawn.

    Returns:
        P(leader + X <= others + left - X); 1 without a leader.

    Source:
        After Aggarwal et al. 2023, "Let's Sample Step by Step", arXiv:2305.11860, which looks at infinitely many more.
    """
    if leader == 0:
        return 1.0
    few_enough = (others + left - leader) // 2
    return math.fsum(_beta_binomial(x, left, leader, others + 1) for x in range(min(few_enough, left) + 1))


def _beta_binomial(x: int, n: int, a: int, b: int) -> float:
    def log_beta(p: int, q: int) -> float:
        return math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q)

    return math.comb(n, x) * math.exp(log_beta(x + a, n - x + b) - log_beta(a, b))


def is_vote_settled(answers: Sequence[str | None], stated: str | None, equivalent: Equivalence, left: int) -> bool:
    """Whether no further samples can change if the stated answer is the modal one.

    Certain, not likely, and no assumption is made on how later answers compare: one text never comes apart, two
    answers that differ are never merged, and every other class may still break up or be joined. It is settled where
    one text is ahead of the most that can become another class, and of all that can stand against it in its own.

    Args:
        answers: Of the samples that voted; None for a missing one.
        stated: The answer of the trace; where there is none the vote has nothing to say of it.
        equivalent: Three-valued equivalence of two answers.
        left: Samples not yet drawn.
    """
    if stated is None or left == 0:
        return True
    sizes = Counter(answer for answer in answers if answer is not None)
    return any(_stays_ahead(leader, sizes, stated, equivalent, left) for leader in sizes)


def _stays_ahead(leader: str, sizes: Mapping[str, int], stated: str, equivalent: Equivalence, left: int) -> bool:
    said = same_answer(stated, leader, equivalent)
    if said is Truth.UNKNOWN or sizes[leader] <= left:
        return False
    rivals = [text for text in sizes if text != leader]
    opposite = Truth.FALSE if said is Truth.TRUE else Truth.TRUE
    merged = (
        sum(sizes[b] for b in rivals if a == b or same_answer(a, b, equivalent) is not Truth.FALSE) for a in rivals
    )
    against = sum(
        sizes[a]
        for a in rivals
        if same_answer(stated, a, equivalent) is opposite and same_answer(leader, a, equivalent) is not Truth.FALSE
    )
    return sizes[leader] > left + max(against, *merged, 0)


def consensus_bounds(answers: Sequence[str | None], equivalent: Equivalence, left: int) -> tuple[float, float] | None:
    """Return the smallest and the largest C that all samples together may have, whatever the rest says.

    Smallest where the rest are answers of their own and every class breaks up into its texts; largest where the rest
    join the largest class, and answers not known to differ turn out to be the same. Any number of the rest may be cut.

    Args:
        answers: Of the samples that voted; None for a missing one.
        equivalent: Three-valued equivalence of two answers.
        left: Samples not yet drawn.

    Returns:
        None where fewer than 2 samples would vote.
    """
    texts = [answer for answer in answers if answer is not None]
    missing = [n] if (n := len(answers) - len(texts)) else []
    sizes = Counter(texts)
    finest = [*sizes.values(), *missing]
    coarsest = sorted([*_merged(sizes, equivalent), *missing], reverse=True) or [0]
    now = [*map(len, group_answers(texts, equivalent)), *missing]
    ends = [consensus_value(now)] if len(answers) > 1 else []
    for n in range(max(1, 2 - len(answers)), left + 1):
        ends += [consensus_value([*finest, *[1] * n]), consensus_value([coarsest[0] + n, *coarsest[1:]])]
    return (min(ends), max(ends)) if ends else None


def _merged(sizes: Mapping[str, int], equivalent: Equivalence) -> list[int]:
    """Return the sizes of the classes where whatever is not known to differ is the same."""
    group_of = {text: {text} for text in sizes}
    for a, b in combinations(sizes, 2):
        if group_of[a] is not group_of[b] and same_answer(a, b, equivalent) is not Truth.FALSE:
            group_of[a] |= group_of[b]
            for text in group_of[b]:
                group_of[text] = group_of[a]
    return [sum(sizes[text] for text in group) for group in {id(group): group for group in group_of.values()}.values()]
