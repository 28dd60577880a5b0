"""C: do independent samples agree on the answer?"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rafs.answers.equivalence import is_no_answer
from rafs.outcomes import Component, Measured, Unmeasured
from rafs.types import Truth

Equivalence = Callable[[str, str], Truth]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """The vote of K samples."""

    component: Component
    """C, of the voters; its coverage is their share of those that would vote, had none been cut."""
    classes: tuple[tuple[int, ...], ...]
    """Sample indices by answer class, largest first; the samples without an answer, if any, form the last one."""
    missing: tuple[int, ...]
    """Samples without an answer: a class of its own in the entropy, never the modal one."""
    modal: tuple[int, ...] | None
    """The strictly largest class of samples with an answer; None on a tie or where nothing was answered."""
    share_of_stated: float | None
    """Share of the samples whose answer is the stated one; None where none is stated, sampled or comparable."""
    answer_is_modal: bool | None
    """Whether the stated answer is the modal one; None where there is none of either, or they cannot be compared."""
    standing: tuple[Truth, ...] = ()
    """Whether each class with an answer holds the stated one; empty where none is stated, or nobody voted."""

    @property
    def mostly_unanswered(self) -> bool:
        """Whether more samples have no answer than have the most frequent one."""
        return len(self.missing) > max((len(one) for one in self.classes if one != self.missing), default=0)


def group_answers(answers: Sequence[str], equivalent: Equivalence) -> list[list[int]]:
    """Group answers by mathematical equivalence: the transitive closure over Truth.TRUE in both argument orders.

    UNKNOWN never merges by itself, and nothing merges what is FALSE: an answer that agrees with two different ones, as
    `5` does with `5 kg` and `5 g`, decides for neither and stays apart. The classes do not depend on the order of the
    answers.

    Returns:
        Classes of indices, in order of first appearance.
    """
    texts = sorted(set(answers))
    truths = {frozenset(pair): same_answer(*pair, equivalent) for pair in combinations(texts, 2)}
    class_of = {text: name for name, members in enumerate(_classes(texts, truths)) for text in members}
    classes: dict[int, list[int]] = {}
    for index, answer in enumerate(answers):
        classes.setdefault(class_of[answer], []).append(index)
    return list(classes.values())


def _classes(texts: Sequence[str], truths: Mapping[frozenset[str], Truth]) -> list[list[str]]:
    """Return the connected classes of TRUE; one that holds a FALSE falls into what its bridges leave, else apart."""
    done: list[list[str]] = []
    for members in _connected(texts, truths):
        if all(truths[frozenset(pair)] is not Truth.FALSE for pair in combinations(members, 2)):
            done.append(members)
            continue
        bridges = [text for text in members if _is_bridge(text, members, truths)]
        if 0 < len(bridges) < len(members):
            done += _classes([text for text in members if text not in bridges], truths)
            done += _classes(bridges, truths)
        else:
            done += [[text] for text in members]
    return done


def _connected(texts: Sequence[str], truths: Mapping[frozenset[str], Truth]) -> list[list[str]]:
    left, classes = list(texts), []
    while left:
        members = [left.pop(0)]
        for member in members:
            joined = [text for text in left if truths[frozenset((member, text))] is Truth.TRUE]
            members += joined
            left = [text for text in left if text not in joined]
        classes.append(sorted(members))
    return classes


def _is_bridge(text: str, members: Sequence[str], truths: Mapping[frozenset[str], Truth]) -> bool:
    """Say whether two answers that are known to differ both agree with this one."""
    agreeing = [one for one in members if one != text and truths[frozenset((text, one))] is Truth.TRUE]
    return any(truths[frozenset(pair)] is Truth.FALSE for pair in combinations(agreeing, 2))


def same_answer(one: str, other: str, equivalent: Equivalence) -> Truth:
    """Compare in both argument orders; TRUE or FALSE only where they agree."""
    forward, backward = equivalent(one, other), equivalent(other, one)
    return forward if forward is backward else Truth.UNKNOWN


def entropy(shares: Sequence[float]) -> float:
    """H(p) = -sum p log p with the natural logarithm, in nats; shares sum to 1, and one of 0 adds nothing."""
    return max(0.0, -math.fsum(share * math.log(share) for share in shares if share > 0))


def consensus_value(class_sizes: Sequence[int]) -> float:
    """C_A = 1 - H(p) / log K with the natural logarithm, p the class shares and K >= 2 the number of samples.

    Args:
        class_sizes: Positive sizes of the answer classes, a class of missing answers included; they sum to K.

    Returns:
        1 when all agree, 0 when all differ.

    Source:
        Shukla et al. 2026, arXiv:2607.26102.
    """
    k = sum(class_sizes)
    return agreement_of([size / k for size in class_sizes], k)


def agreement_of(shares: Sequence[float], k: int) -> float:
    """Return 1 - H(p) / log k, in [0, 1], to 15 digits: of k that all differ it is 0, not 2e-16."""
    return min(1.0, max(0.0, round(1 - entropy(shares) / math.log(k), 15)))


def answer_consensus(
    answers: Sequence[str | None],
    stated: str | None,
    equivalent: Equivalence,
    *,
    voters: Sequence[int] | None = None,
    n_cut: int = 0,
) -> Consensus:
    """Vote of the samples' answers.

    Args:
        answers: One per sample; None where a sample states no answer, and so does `n/a`.
        stated: The answer of the trace under scrutiny.
        equivalent: Three-valued equivalence of two answers.
        voters: Indices of the samples that vote, ascending; None is all.
        n_cut: Samples that would vote, had their text not been cut; they lower the coverage.

    Returns:
        The vote; its component is Unmeasured for K < 2 voters and where none of them has an answer.
    """
    voters = range(len(answers)) if voters is None else voters
    given = {i: answer for i in voters if (answer := answers[i]) is not None and not is_no_answer(answer)}
    missing = tuple(i for i in voters if i not in given)
    places = list(given)
    groups = [tuple(places[i] for i in members) for members in group_answers(list(given.values()), equivalent)]
    groups.sort(key=lambda members: (-len(members), members))
    classes = (*groups, missing) if missing else tuple(groups)
    tie = len(groups) > 1 and len(groups[0]) == len(groups[1])
    modal = groups[0] if groups and not tie else None
    component = _component(len(voters), n_cut, groups, classes)
    is_vote = not isinstance(component, Unmeasured)  # one sample is none
    standing = None if stated is None or not is_vote else _compare(stated, groups, given, equivalent)
    return Consensus(
        component=component,
        classes=classes,
        missing=missing,
        modal=modal,
        share_of_stated=_share(standing, groups, len(voters)),
        answer_is_modal=None if standing is None or modal is None else _is_true(standing[0]),
        standing=() if standing is None else tuple(standing),
    )


def _component(k: int, n_cut: int, groups: Sequence[Sequence[int]], classes: Sequence[Sequence[int]]) -> Component:
    if k < 2:
        return Unmeasured(reason="too_few_samples", detail=f"{k} that can vote, at least 2 are needed")
    if not groups:
        return Unmeasured(reason="no_sample_has_an_answer", detail=f"{k} samples, none with a readable answer")
    return Measured(value=consensus_value([len(members) for members in classes]), coverage=k / (k + n_cut))


def _compare(
    stated: str, groups: Sequence[Sequence[int]], given: Mapping[int, str], equivalent: Equivalence
) -> list[Truth]:
    """Whether the stated answer belongs to each class: as most of its samples say that can be compared with it."""
    standing = []
    for members in groups:
        said = [same_answer(stated, given[i], equivalent) for i in members]
        lead = said.count(Truth.TRUE) - said.count(Truth.FALSE)
        standing.append(Truth.TRUE if lead > 0 else Truth.FALSE if lead < 0 else Truth.UNKNOWN)
    return standing


def _share(standing: Sequence[Truth] | None, groups: Sequence[Sequence[int]], k: int) -> float | None:
    if standing is None or k == 0:
        return None
    agreeing = [members for truth, members in zip(standing, groups, strict=True) if truth is Truth.TRUE]
    if not agreeing and Truth.UNKNOWN in standing:
        return None
    return sum(map(len, agreeing)) / k


def _is_true(truth: Truth) -> bool | None:
    return None if truth is Truth.UNKNOWN else truth is Truth.TRUE
