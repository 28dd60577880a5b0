"""C: do independent samples agree on the answer?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rafs.outcomes import Component, Measured, Unmeasured
from rafs.types import Truth

Equivalence = Callable[[str, str], Truth]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """The vote of K samples."""

    component: Component
    classes: tuple[tuple[int, ...], ...]
    """Sample indices by answer class, largest first; the samples without an answer, if any, form the last one."""
    missing: tuple[int, ...]
    """Samples without an answer: a class of its own in the entropy, never the modal one."""
    modal: tuple[int, ...] | None
    """The strictly largest class of samples with an answer; None on a tie or where nothing was answered."""
    share_of_stated: float | None
    """Share of the samples whose answer is the stated one; None where none is stated or nothing was sampled."""
    answer_is_modal: bool | None
    """Whether the stated answer is the modal one; None where there is no modal class or no stated answer."""


def group_answers(answers: Sequence[str], equivalent: Equivalence) -> list[list[int]]:
    """Group answers by mathematical equivalence.

    Two classes merge only over Truth.TRUE in both argument orders; UNKNOWN never merges. Each answer is compared with
    the representatives of the classes so far, so identical texts cost nothing.

    Returns:
        Classes of indices, in order of first appearance.
    """
    by_text: dict[str, list[int]] = {}
    classes: list[tuple[str, list[int]]] = []
    for index, answer in enumerate(answers):
        if answer in by_text:
            by_text[answer].append(index)
            continue
        for representative, members in classes:
            if equivalent(representative, answer) is Truth.TRUE and equivalent(answer, representative) is Truth.TRUE:
                by_text[answer] = members
                members.append(index)
                break
        else:
            classes.append((answer, [index]))
            by_text[answer] = classes[-1][1]
    return [members for _, members in classes]


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
    entropy = -sum(size / k * math.log(size / k) for size in class_sizes)
    return min(1.0, max(0.0, 1 - entropy / math.log(k)))


def answer_consensus(answers: Sequence[str | None], stated: str | None, equivalent: Equivalence) -> Consensus:
    """Vote of the samples' answers.

    Args:
        answers: One per sample; None where a sample states no answer.
        stated: The answer of the trace under scrutiny.
        equivalent: Three-valued equivalence of two answers.

    Returns:
        The vote; its component is Unmeasured for K < 2 and where no sample has an answer.
    """
    answered = [index for index, answer in enumerate(answers) if answer is not None]
    missing = tuple(index for index, answer in enumerate(answers) if answer is None)
    texts = [answer for answer in answers if answer is not None]
    groups = [tuple(answered[i] for i in members) for members in group_answers(texts, equivalent)]
    groups.sort(key=lambda members: (-len(members), members))
    classes = (*groups, missing) if missing else tuple(groups)
    tie = len(groups) > 1 and len(groups[0]) == len(groups[1])
    modal = groups[0] if groups and not tie else None
    agreeing = None if stated is None else _class_of(stated, groups, answers, equivalent)
    return Consensus(
        component=_component(len(answers), groups, classes),
        classes=classes,
        missing=missing,
        modal=modal,
        share_of_stated=None if agreeing is None or not answers else len(agreeing) / len(answers),
        answer_is_modal=None if agreeing is None or modal is None else agreeing == modal,
    )


def _component(k: int, groups: Sequence[Sequence[int]], classes: Sequence[Sequence[int]]) -> Component:
    if k < 2:
        return Unmeasured(reason="too_few_samples", detail=f"{k} samples, at least 2 are needed")
    if not groups:
        return Unmeasured(reason="no_sample_has_an_answer", detail=f"{k} samples, none with a readable answer")
    return Measured(value=consensus_value([len(members) for members in classes]), coverage=1.0)


def _class_of(
    stated: str, groups: Sequence[tuple[int, ...]], answers: Sequence[str | None], equivalent: Equivalence
) -> tuple[int, ...]:
    for members in groups:
        representative = answers[members[0]]
        if (
            representative is not None
            and equivalent(stated, representative) is Truth.TRUE
            and equivalent(representative, stated) is Truth.TRUE
        ):
            return members
    return ()
