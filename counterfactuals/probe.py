"""Edits pivotal steps, keeps the valid edits, and observes what the answer does."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from counterfactuals.constraints import broken_constraint
from counterfactuals.edits import draw_edits
from counterfactuals.effects import continuation_effect, replay_effect
from counterfactuals.pivotal import rank_pivots
from counterfactuals.prefixes import edited_prefix, first_mentions
from rafs.contracts import Generator
from rafs.errors import BackendError
from rafs.interventions import Edit, Effect, EffectMethod, Interventions
from rafs.outcomes import Unmeasured
from rafs.types import Judged, Reading, Trace, Verdict
from rafs.usage import Meter

logger = logging.getLogger(__name__)

TRIED_PER_EDIT = 2
"""Pivots tried for each edit wanted: some have no valid edit, but a replay for every step would be quadratic."""


class CounterfactualProber:
    """By continuation where the writer of the trace can be asked, else by replay."""

    def __init__(self, *, n_edits: int, n_continuations: int, m_min: int) -> None:
        self._n_edits = n_edits
        self._n_continuations = n_continuations
        self._m_min = m_min

    async def probe(
        self,
        reading: Reading,
        target: int | None,
        verdicts: Sequence[Verdict],
        writer: Generator | None,
        seed: int,
        meter: Meter,
    ) -> Interventions:
        """Edit pivotal steps and return every effect; see `contracts.Prober`."""
        q_by_step = {
            step.index: verdict.p_correct
            for step, verdict in zip(reading.trace.derivation(), verdicts, strict=True)
            if isinstance(verdict, Judged)
        }
        is_read = writer is not None and self._n_continuations > 0
        edits, discarded = await asyncio.to_thread(self._plan, reading, target, q_by_step, seed, is_read=is_read)
        if not edits:
            return Interventions(effects=(), discarded=discarded, method=EffectMethod.NONE)
        if writer is None or not is_read:
            before = None if target is None else reading.graph.claims[target].result
            effects = tuple(replay_effect(edit, before) for edit in edits)
            return Interventions(effects=effects, discarded=discarded, method=EffectMethod.REPLAY)
        try:
            effects = await self._continue(writer, reading.trace, edits, seed, meter)
        except BackendError as error:
            logger.warning("generator %s failed: %s", writer.identity.id, error)
            missing = Unmeasured(reason="generator_down")
            return Interventions(effects=(), discarded=discarded, method=EffectMethod.CONTINUATION, missing=missing)
        return Interventions(effects=effects, discarded=discarded, method=EffectMethod.CONTINUATION)

    def _plan(
        self, reading: Reading, target: int | None, q_by_step: Mapping[int, float], seed: int, *, is_read: bool
    ) -> tuple[list[Edit], tuple[tuple[int, str], ...]]:
        """One valid edit a pivot; several of different families where pivots are too few for a measurement."""
        mentioned = first_mentions(reading.trace) if is_read else None
        discarded: list[tuple[int, str]] = []

        def valid_edits(claim: int, seed: int) -> Iterator[Edit]:
            text = reading.trace.steps[reading.graph.claims[claim].step].blind_text
            for edit in draw_edits(reading.graph, claim, target, text, seed):
                broken = broken_constraint(edit, reading, target, mentioned)
                if broken is None:
                    yield edit
                else:
                    discarded.append((edit.step, broken))

        pivots = rank_pivots(reading, target, q_by_step, seed)[: self._n_edits * TRIED_PER_EDIT]
        drawn = [valid_edits(claim, seed + rank) for rank, claim in enumerate(pivots)]
        firsts = (edit for one in drawn if (edit := next(one, None)) is not None)
        edits = list(islice(firsts, self._n_edits))
        edits += islice(chain.from_iterable(drawn), max(0, self._m_min - len(edits)))
        return edits, tuple(discarded)

    async def _continue(
        self, writer: Generator, trace: Trace, edits: Sequence[Edit], seed: int, meter: Meter
    ) -> tuple[Effect, ...]:
        stated = None if trace.answer is None else trace.answer.text
        prefixes = [edited_prefix(trace, edit) for edit in edits]
        continuations = await writer.continue_trace(trace.problem, prefixes, self._n_continuations, seed, meter)
        return tuple(
            continuation_effect(edit, prefix, stated, texts)
            for edit, prefix, texts in zip(edits, prefixes, continuations, strict=True)
        )
