"""Edits pivotal steps, keeps the valid edits, and observes what the answer does."""

import asyncio
from collections.abc import Sequence

from counterfactuals.conversation import Conversation
from counterfactuals.effects import replay_effect
from counterfactuals.planning import Plan, Planner
from counterfactuals.probes import ask_probes
from counterfactuals.targets import answer_of
from rafs.contracts import Generator
from rafs.interventions import EffectMethod, Interventions, ProbeLimits, Target
from rafs.outcomes import Unmeasured
from rafs.probes import ProbeKind, silent_probes
from rafs.types import Judged, Reading, Verdict
from rafs.usage import Meter

SHARE_OF_TIME = 0.9
"""Share of the time left that edits and continuations may take; the rest is for concluding from what was observed."""


class CounterfactualProber:
    """By continuation where the writer of the trace can be asked, else by replay."""

    def __init__(self, *, n_edits: int, n_continuations: int, m_min: int, probes: Sequence[ProbeKind] = ()) -> None:
        self._planner = Planner(n_edits=n_edits, m_min=m_min, with_mistakes=ProbeKind.ADDED_MISTAKE in probes)
        self._n_continuations = n_continuations
        self._probes = probes

    async def probe(
        self,
        reading: Reading,
        target: Target | None,
        verdicts: Sequence[Verdict],
        writer: Generator | None,
        seed: int,
        meter: Meter,
        limits: ProbeLimits,
    ) -> Interventions:
        """Edit pivotal steps and return every effect; see `contracts.Prober`."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + SHARE_OF_TIME * (limits.ends_at - loop.time())
        q_by_step = {
            step.index: verdict.p_correct
            for step, verdict in zip(reading.trace.derivation(), verdicts, strict=True)
            if isinstance(verdict, Judged)
        }

        def is_over(n_tried: int) -> bool:
            return loop.time() >= ends_at if limits.n_tried is None else n_tried >= limits.n_tried

        is_read = writer is not None and self._n_continuations > 0
        plan = await asyncio.to_thread(
            self._planner.plan, reading, target, q_by_step, seed, is_read=is_read, is_over=is_over
        )
        if writer is None or not is_read:
            return self._replayed(reading, target, plan)
        questions = await asyncio.to_thread(ask_probes, reading.trace, self._probes, plan.mistakes)
        conversation = Conversation(reading.trace, plan, questions, self._probes, self._n_continuations, seed)
        return await conversation.hold(writer, ends_at, limits.is_settled, meter)

    def _replayed(self, reading: Reading, target: Target | None, plan: Plan) -> Interventions:
        before = answer_of(reading.graph, target)
        return Interventions(
            effects=tuple(replay_effect(edit, before) for edit in plan.edits),
            discarded=tuple(plan.discarded),
            method=EffectMethod.REPLAY if plan.edits else EffectMethod.NONE,
            pivots=plan.pivots,
            probes=silent_probes(self._probes, Unmeasured(reason="no_generator")),
            late=plan.late,
            n_tried=plan.n_tried,
        )
