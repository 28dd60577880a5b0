"""Scoring labelled traces with the pipeline that serves, into the folder of a run, with progress."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pydantic import ValidationError
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from rafs.contracts import Verifier
from rafs.errors import BackendError, OverloadedError
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.named_flaws import Grading
from rafs.evaluation.records import ItemRecord, submitted
from rafs.evaluation.run import score_traces
from rafs.evaluation.run_folder import RunFacts, RunFolder
from rafs.evaluation.sighted import add_sighted
from rafs.request import GeneratorInfo, ScoreRequest
from rafs.result import ScoreResult
from service.request_body import to_request_error
from service.scorer import Scorer

DEADLINE_S = 600.0
"""For one trace, where no operator says otherwise: nobody waits for it, and a verifier that a busy machine kept from
answering would be measured as one that says nothing."""
N_LINES = 20
"""Lines of progress in a log, where no bar can be drawn."""

TracesFolder = RunFolder[RunFacts, ItemRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is asked beside the score; it enters none."""

    sighted: Callable[[str], Sequence[Verifier]] | None = None
    """Gives the judges of a preset that are asked once more with the answer in sight."""
    load_grading: Callable[[AsyncExitStack], Grading] | None = None
    """Loads the judge of equivalence; what it opens is closed with the stack. Blocking."""


NOTHING_BESIDE = Beside()


async def score_into(
    scorer: Scorer,
    traces: Sequence[LabelledTrace],
    finished: Mapping[str, ItemRecord],
    folder: TracesFolder,
    facts: RunFacts,
    concurrency: int,
    beside: Beside = NOTHING_BESIDE,
) -> list[ItemRecord]:
    """Score what a run has not finished yet, with progress; errors as of `score_traces`.

    Args:
        scorer: Closed at the end.
        traces: All of the run.
        finished: Records of earlier, by id.
        folder: Where new records go.
        facts: What runs.
        concurrency: Traces scored at a time.
        beside: What is asked beside the score.
    """
    source = facts.provenance
    n_finished = sum(trace.id in finished for trace in traces)
    grading: Grading | None = None

    async def measure(trace: LabelledTrace) -> ScoreResult:
        result = await scorer.measure(to_request(trace, source.preset, source.seed, facts.generator))
        if beside.sighted is not None:
            await add_sighted(result.evidence, beside.sighted(source.preset))
        return result

    async with AsyncExitStack() as closing:
        closing.push_async_callback(scorer.close)
        try:
            if n_finished < len(traces):
                await scorer.warm(source.preset)
                if beside.load_grading is not None:
                    grading = await asyncio.to_thread(beside.load_grading, closing)
            with progress() as bars:
                keep = _keeper(bars, folder, len(traces), n_finished)
                grade = None if grading is None else grading.grade
                return await score_traces(traces, finished, measure, keep, concurrency=concurrency, grade=grade)
        except (BackendError, OverloadedError) as error:
            kept = f"what is finished is kept in {folder.path}: start again to go on"
            raise BackendError(f"{error}; {kept}") from error


def _keeper(bars: Progress, folder: TracesFolder, total: int, completed: int) -> Callable[[ItemRecord], None]:
    """Return what keeps a record and shows that it is there."""
    bar = bars.add_task("scoring", total=total, completed=completed, rate="")

    def keep(record: ItemRecord) -> None:
        folder.append(record)
        advance(bars, bar)

    return keep


def advance(bars: Progress, bar: TaskID) -> None:
    """Show that one more is done: on a bar, or by a line now and then where none can be drawn."""
    task = next(one for one in bars.tasks if one.id == bar)
    rate = f"{task.speed * 60:.0f} a minute" if task.speed else ""
    bars.update(task.id, advance=1, rate=rate)
    n, total = round(task.completed), round(task.total or 1)
    if not bars.console.is_terminal and n * N_LINES // total > (n - 1) * N_LINES // total:
        bars.console.print(f"{n} of {total} done {rate}")


def progress() -> Progress:
    """Return a bar with rate and times, on standard error."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, markup=False, emoji=False, highlight=False),
    )


def to_request(trace: LabelledTrace, preset: str, seed: int, generator: str | None) -> ScoreRequest:
    """Return what a caller would send of a labelled trace: never the reference answer, nor any label.

    Raises:
        InputError: It breaks a bound of the service, such as that on steps.
    """
    writer = trace.generator or generator
    sent = submitted(trace)
    try:
        return ScoreRequest(
            problem=trace.problem,
            trace=sent if isinstance(sent, str) else list(sent),
            answer=trace.final_answer or None,
            generator=GeneratorInfo(model=writer) if writer else None,
            samples=list(trace.samples),
            preset=preset,
            seed=seed,
        )
    except ValidationError as error:
        raise to_request_error(error) from None
