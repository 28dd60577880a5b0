"""Asking the writer to go on, in rounds: what the decision does not need is not asked."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from counterfactuals.effects import continuation_effect
from counterfactuals.planning import Plan
from counterfactuals.prefixes import edited_prefix
from counterfactuals.probes import Question, conclude_probes
from rafs.contracts import Generator
from rafs.errors import BackendError
from rafs.interventions import Continued, EffectMethod, Interventions, Response
from rafs.outcomes import Unmeasured
from rafs.probes import ProbeKind, silent_probes
from rafs.threads import in_thread
from rafs.types import Sampled, Trace
from rafs.usage import Meter

logger = logging.getLogger(__name__)

SEED_STRIDE = 1 << 16
"""Distance of the seeds of two rounds: servers count samples and prefixes up from one seed, fewer than this many."""


def round_sizes(n: int) -> list[int]:
    """Return how many continuations of every edit each round asks for: half of them, then the rest."""
    first = (n + 1) // 2
    return [size for size in (first, n - first) if size]


class Conversation:
    """All that the writer of one trace is asked, and what it said so far.

    The first round holds every edit and every probe, in one call; a later one the edits alone.
    """

    def __init__(
        self, trace: Trace, plan: Plan, questions: Sequence[Question], kinds: Sequence[ProbeKind], n: int, seed: int
    ) -> None:
        self._trace = trace
        self._plan = plan
        self._prefixes = [edited_prefix(trace, edit) for edit in plan.edits]
        self._questions = questions
        self._kinds = kinds
        self._n = n
        self._seed = seed
        self._said: list[Continued] = []
        self._settled = False
        self._missing: Unmeasured | None = None

    async def hold(
        self, writer: Generator, ends_at: float, is_settled: Callable[[Interventions], Awaitable[bool]], meter: Meter
    ) -> Interventions:
        """Ask until all is said, the decision is settled, the writer fails, or time is over; return what was observed.

        Args:
            writer: The model that wrote the trace.
            ends_at: Time of the event loop.
            is_settled: Whether nothing that is still to be said can change the decision.
            meter: Where cost is counted.
        """
        late, failed = self._plan.late, False
        try:
            async with asyncio.timeout_at(ends_at):
                await self._ask(writer, is_settled, meter)
        except TimeoutError:
            late = True
        except BackendError as error:
            logger.warning("generator %s failed: %s", writer.identity.id, error)
            failed = bool(self._said)
            self._missing = None if failed else Unmeasured(reason="generator_down")
        if late and not self._said:
            self._missing = self._missing or Unmeasured(reason="deadline")
        return replace(await in_thread(self._observed), late=late, writer_failed=failed)

    async def _ask(
        self, writer: Generator, is_settled: Callable[[Interventions], Awaitable[bool]], meter: Meter
    ) -> None:
        asked = [question.prefix for question in self._questions]
        for number, size in enumerate(round_sizes(self._n)):
            prefixes = list(dict.fromkeys([*self._prefixes, *asked]))
            if not prefixes:
                return
            if number and await is_settled(await in_thread(self._observed)):
                self._settled = True
                return
            meter.end_if_spent()
            seed = self._seed + number * SEED_STRIDE
            drawn = await writer.continue_trace(self._trace.problem, prefixes, size, seed, meter)
            self._said += [
                Continued(prefix=prefix, n=size, seed=seed, texts=tuple(texts))
                for prefix, texts in zip(prefixes, drawn, strict=True)
            ]
            asked = []

    def _observed(self) -> Interventions:
        """Return the effects by what was said so far; what was not said is `not_run`, or `not_needed`."""
        heard: dict[str, list[Sampled]] = {}
        for one in self._said:
            heard.setdefault(one.prefix, []).extend(one.texts)
        rest = Response.NOT_NEEDED if self._settled else Response.NOT_RUN
        stated = None if self._trace.answer is None else self._trace.answer.text
        effects = [
            continuation_effect(edit, stated, self._trace.problem, said, [rest] * (self._n - len(said)))
            for edit, prefix in zip(self._plan.edits, self._prefixes, strict=True)
            for said in [heard.get(prefix, [])]
        ]
        first = round_sizes(self._n)[0]
        return Interventions(
            effects=tuple(effects) if self._missing is None else (),
            discarded=tuple(self._plan.discarded),
            method=EffectMethod.CONTINUATION if self._plan.edits else EffectMethod.NONE,
            missing=self._missing,
            pivots=self._plan.pivots,
            continued=(*self._plan.ablated, *self._said),
            probes=conclude_probes(self._kinds, self._questions, heard, first, self._trace)
            if self._missing is None
            else silent_probes(self._kinds, self._missing),
            n_tried=self._plan.n_done,
            editing=self._plan.editing,
        )
