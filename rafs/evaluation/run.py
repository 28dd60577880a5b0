"""Scoring labelled traces, a bounded number at a time, each once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from rafs.errors import BackendError, InputError
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import ItemRecord, NamedFlaw, record_failure, record_result
from rafs.outcomes import Unmeasured
from rafs.result import ScoreResult
from rafs.types import Abstained, Why

Measure = Callable[[LabelledTrace], Awaitable[ScoreResult]]
Grade = Callable[[LabelledTrace, ScoreResult], Awaitable[tuple[NamedFlaw, ...]]]

OUTAGES = frozenset({Why.BACKEND_DOWN, Why.OVERLOADED})
GENERATOR_DOWN = "generator_down"
"""Reason of a component that a generator was to be asked for."""


async def score_traces(
    traces: Sequence[LabelledTrace],
    finished: Mapping[str, ItemRecord],
    measure: Measure,
    keep: Callable[[ItemRecord], None],
    *,
    concurrency: int,
    grade: Grade | None = None,
) -> list[ItemRecord]:
    """Score what is not finished yet.

    A trace that cannot be scored, such as one with too many steps, is kept as a failure with its reason. A model that
    is down ends the run, for what RAFS says without it would pass for what RAFS says: what is kept stays, and the rest
    is scored when the run is started again.

    Args:
        traces: All of them, each with an id of its own.
        finished: Records of earlier, by id; those of other traces are left alone.
        measure: Scores one trace.
        keep: Called with every new record, before the next trace is taken.
        concurrency: Traces scored at a time.
        grade: Says of each flaw that experts described whether it was named; None asks nobody.

    Returns:
        One record for every trace, in their order.

    Raises:
        RafsError: A model failed, its queue is full, or it is not configured.
    """
    records = {trace.id: finished[trace.id] for trace in traces if trace.id in finished}
    waiting = iter([trace for trace in traces if trace.id not in records])

    async def work() -> None:
        for trace in waiting:
            try:
                result = await measure(trace)
                _refuse_outage(result)
                record = record_result(trace, result)
                if grade is not None:
                    record = replace(record, flaws=await grade(trace, result))
            except InputError as error:
                record = record_failure(trace, str(error))
            records[trace.id] = record
            keep(record)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [records[trace.id] for trace in traces]


def _refuse_outage(result: ScoreResult) -> None:
    """Refuse a result that lacks a model which is part of the run; one that was too slow is measured as it is."""
    members = ((row.member, verdict) for row in result.evidence.verdicts.members for verdict in row.verdicts)
    down = [(name, one.why) for name, one in members if isinstance(one, Abstained) and one.why in OUTAGES]
    parts = [part.reason for part in result.components.values() if isinstance(part, Unmeasured)]
    if down or GENERATOR_DOWN in parts:
        name, why = down[0] if down else ("generator", GENERATOR_DOWN)
        raise BackendError(f"{name} could not be asked: {why}")
