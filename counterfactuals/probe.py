"""Edits pivotal steps, keeps the valid edits, and observes what the answer does."""

from collections.abc import Sequence

from counterfactuals.constraints import broken_constraint
from counterfactuals.edits import draw_edits
from counterfactuals.effects import continuation_effect, replay_effect
from counterfactuals.pivotal import Pivot, choose_pivots
from rafs.contracts import Generator
from rafs.errors import BackendError
from rafs.interventions import Edit, Effect, EffectMethod, Interventions
from rafs.outcomes import Unmeasured
from rafs.types import Judged, Reading, StepKind, Trace, Verdict
from rafs.usage import Meter

STAGE = "intervene"


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
        pivots = choose_pivots(reading.graph, target, q_by_step, self._n_edits, seed)
        is_read = writer is not None and self._n_continuations > 0
        edits, discarded = self._valid_edits(reading, target, pivots, seed, is_read=is_read)
        if not edits:
            return Interventions(effects=(), discarded=discarded, method=EffectMethod.NONE)
        if writer is None or not is_read:
            before = None if target is None else reading.graph.claims[target].result
            effects = tuple(replay_effect(edit, before) for edit in edits)
            return Interventions(effects=effects, discarded=discarded, method=EffectMethod.REPLAY)
        try:
            effects = await self._continue(writer, reading.trace, edits, seed, meter)
        except BackendError as error:
            missing = Unmeasured(reason="generator_down", detail=str(error))
            return Interventions(effects=(), discarded=discarded, method=EffectMethod.CONTINUATION, missing=missing)
        return Interventions(effects=effects, discarded=discarded, method=EffectMethod.CONTINUATION)

    def _valid_edits(
        self, reading: Reading, target: int | None, pivots: Sequence[Pivot], seed: int, *, is_read: bool
    ) -> tuple[list[Edit], tuple[tuple[int, str], ...]]:
        """One valid edit a pivot; several of different families where pivots are too few for a measurement."""
        per_pivot = 1 if len(pivots) >= self._m_min else self._m_min
        edits: list[Edit] = []
        discarded: list[tuple[int, str]] = []
        for rank, pivot in enumerate(pivots):
            text = reading.trace.steps[reading.graph.claims[pivot.claim].step].blind_text
            candidates = draw_edits(reading.graph, pivot.claim, target, text, seed + rank)
            broken = [broken_constraint(edit, reading, is_read=is_read) for edit in candidates]
            valid = [edit for edit, code in zip(candidates, broken, strict=True) if code is None]
            edits += valid[:per_pivot]
            discarded += [(edit.step, code) for edit, code in zip(candidates, broken, strict=True) if code is not None]
        return edits, tuple(discarded)

    async def _continue(
        self, writer: Generator, trace: Trace, edits: Sequence[Edit], seed: int, meter: Meter
    ) -> tuple[Effect, ...]:
        stated = None if trace.answer is None else trace.answer.text
        prefixes = [_edited_prefix(trace, edit) for edit in edits]
        continuations = await writer.continue_trace(trace.problem, prefixes, self._n_continuations, seed, meter)
        return tuple(
            continuation_effect(edit, prefix, stated, texts)
            for edit, prefix, texts in zip(edits, prefixes, continuations, strict=True)
        )


def _edited_prefix(trace: Trace, edit: Edit) -> str:
    """Every step before the edited one as it was, without statements of the answer, then the edited step."""
    kept = [step.text for step in trace.steps[: edit.step] if step.kind is not StepKind.ANSWER]
    return "".join([*kept, edit.text])
