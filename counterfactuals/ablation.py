"""What the writer answers when a step is left out: the influence of steps whose words no graph can weigh."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from counterfactuals.pivotal import by_weight
from counterfactuals.probes import FORCED, answers_at_once, as_lines, steps_before_answer
from rafs.contracts import Generator
from rafs.errors import BackendError
from rafs.interventions import Continued, Pivot, PivotReason
from rafs.types import Sampled, Trace
from rafs.usage import Meter

logger = logging.getLogger(__name__)

ANSWER_TOKENS = 24
"""Of an answer that is asked for at once, which is read up to its line's end (ours)."""
SHARE_OF_TIME = 0.25
"""Share of the time left that finding the pivots may take from editing them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablated:
    """Pivots in words, weighed as far as that was possible, and what the writer said."""

    pivots: Sequence[Pivot]
    """The heaviest first."""
    continued: tuple[Continued, ...] = ()


async def ablate(
    pivots: Sequence[Pivot], trace: Trace, writer: Generator, n: int, seed: int, ends_at: float, meter: Meter
) -> Ablated:
    """Weigh pivots by what the writer answers at once from the derivation without them.

    The derivation ends before the step that first mentions the answer. With the share y of readable answers that are
    the stated one, the influence of step t is y(all of it) - y(all but t). It stays unknown where step t comes later,
    where an answer could not be read, and where the writer does not come to the stated answer from all of it.

    Args:
        pivots: Steps without claims.
        trace: Their trace.
        writer: The model that wrote it; it is asked once, for all of them together.
        n: Answers for each.
        seed: Of the draws.
        ends_at: Time of the event loop at which the stage ends; finding pivots ends earlier.
        meter: Where cost is counted.
    """
    texts = steps_before_answer(trace)
    places = {step.index: at for at, step in enumerate(trace.derivation())}
    without = {
        pivot.step: as_lines([*texts[:at], *texts[at + 1 :]]) + FORCED
        for pivot in pivots
        if (at := places[pivot.step]) < len(texts)
    }
    if not without or trace.answer is None:
        return Ablated(pivots=pivots)
    whole = as_lines(texts) + FORCED
    prefixes = list(dict.fromkeys([whole, *without.values()]))
    now = asyncio.get_running_loop().time()
    try:
        meter.end_if_spent()
        async with asyncio.timeout_at(now + SHARE_OF_TIME * (ends_at - now)):
            drawn = await writer.continue_trace(trace.problem, prefixes, n, seed, meter, ANSWER_TOKENS)
    except (TimeoutError, BackendError) as error:
        logger.warning("steps without claims are not weighed: %r", error)
        return Ablated(pivots=pivots)
    share = {prefix: _share_stated(said, trace) for prefix, said in zip(prefixes, drawn, strict=True)}
    weighed = (_weighed(pivot, share[whole], share.get(without.get(pivot.step, ""))) for pivot in pivots)
    continued = tuple(
        Continued(prefix=prefix, n=n, seed=seed, texts=tuple(said))
        for prefix, said in zip(prefixes, drawn, strict=True)
    )
    return Ablated(pivots=sorted(weighed, key=by_weight), continued=continued)


def _share_stated(said: Sequence[Sampled], trace: Trace) -> float | None:
    read = [stays for one in said if (stays := answers_at_once(one, trace)) is not None]
    return sum(read) / len(read) if read else None


def _weighed(pivot: Pivot, whole: float | None, without: float | None) -> Pivot:
    if not whole or without is None:
        return pivot
    return replace(pivot, influence=whole - without, reason=PivotReason.ABLATION)
