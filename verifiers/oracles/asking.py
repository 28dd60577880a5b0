"""Putting the items of an audit to a judge, just as steps and answers are put to it in scoring."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from rafs.contracts import AnswerJudge, Verifier
from rafs.evaluation.audit import AuditRecord
from rafs.evaluation.audit_biases import PairRecord
from rafs.types import Abstained, Judged, Verdict, Why
from rafs.usage import Meter
from verifiers.oracles.audit_items import AuditItem, AuditPair
from verifiers.pairwise import PairwiseJudge

AT_ONCE = 8
"""Questions on their way at a time: enough for a batch of a model in this process, and little for a server's queue."""

Asked = TypeVar("Asked")
Said = TypeVar("Said")
Advance = Callable[[], None]


async def ask_items(
    steps: Verifier,
    answers: AnswerJudge,
    items: Sequence[AuditItem],
    is_own: Callable[[str | None], bool | None],
    advance: Advance,
) -> list[AuditRecord]:
    """Return what a judge says of every item, in order.

    Args:
        steps: The judge, asked whether a step is right.
        answers: The same judge, asked whether an answer follows.
        items: What is asked.
        is_own: Whether a model is of the judge's family; None where that is not known.
        advance: Called after every item.

    Raises:
        BackendError: The model failed; an audit is whole or none.
        OverloadedError: The model's bounded queue is full.
    """

    async def ask(item: AuditItem) -> AuditRecord:
        if item.answer is not None:
            verdict = await answers.follows(item.trace, item.answer, Meter())
        else:
            said = await steps.verify(item.trace, [item.ask], Meter())
            verdict = said[0] if len(said) == 1 else Abstained(why=Why.INVALID)
        advance()
        return AuditRecord(
            id=item.id,
            domain=item.domain,
            question=item.question,
            natural=item.natural,
            right=item.right,
            p_correct=_usable(verdict),
            own=is_own(item.generator),
            why=verdict.why if isinstance(verdict, Abstained) else "",
        )

    return await _in_order(ask, items)


async def ask_pairs(judge: PairwiseJudge, pairs: Sequence[AuditPair], advance: Advance) -> list[PairRecord]:
    """Return what a judge chooses of every pair, in both orders; the errors are those of `ask_items`."""

    async def ask(pair: AuditPair) -> PairRecord:
        right_first = await judge.prefers_first(pair.problem, pair.right, pair.wrong, Meter())
        wrong_first = await judge.prefers_first(pair.problem, pair.wrong, pair.right, Meter())
        advance()
        return PairRecord(
            question=pair.question, domain=pair.domain, p_first=(_usable(right_first), _usable(wrong_first))
        )

    return await _in_order(ask, pairs)


def _usable(verdict: Verdict) -> float | None:
    """Return the probability, where it is one."""
    return verdict.p_correct if isinstance(verdict, Judged) and 0 <= verdict.p_correct <= 1 else None


async def _in_order(ask: Callable[[Asked], Awaitable[Said]], questions: Sequence[Asked]) -> list[Said]:
    said: list[Said] = []
    for part in _parts(questions):
        said += await asyncio.gather(*map(ask, part))
    return said


def _parts(questions: Sequence[Asked]) -> Iterable[Sequence[Asked]]:
    return (questions[start : start + AT_ONCE] for start in range(0, len(questions), AT_ONCE))
