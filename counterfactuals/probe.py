"""Edits pivotal steps, keeps the valid edits, and observes what the answer does."""

import asyncio
from collections.abc import Sequence

from counterfactuals.ablation import ablate
from counterfactuals.conversation import SEED_STRIDE, Conversation
from counterfactuals.effects import replay_effect
from counterfactuals.pivotal import by_weight
from counterfactuals.planning import Plan, Planner
from counterfactuals.probes import ask_probes
from counterfactuals.proposals import propose_edits
from counterfactuals.targets import answer_of
from rafs.contracts import Editor, Generator, Nli
from rafs.interventions import EffectMethod, Interventions, ProbeLimits, Target
from rafs.outcomes import Unmeasured
from rafs.probes import ProbeKind, silent_probes
from rafs.threads import in_thread
from rafs.types import Judged, Reading, Trace, Verdict
from rafs.usage import Meter

ABLATION_SEED, EDITOR_SEED = 2 * SEED_STRIDE, 3 * SEED_STRIDE
"""Added to the seed: beyond those of the rounds of continuations."""
SHARE_OF_TIME = 0.9
"""Share of the time left that edits and continuations may take; the rest is for concluding from what was observed."""


class CounterfactualProber:
    """By continuation where the writer of the trace can be asked, else by replay."""

    def __init__(
        self,
        *,
        n_edits: int,
        n_continuations: int,
        m_min: int,
        probes: Sequence[ProbeKind] = (),
        with_ablation: bool = True,
    ) -> None:
        """Keep the settings.

        Args:
            n_edits: Edits tried on a trace.
            n_continuations: Of each edit; 0 observes by replay alone.
            m_min: Fewest edits that measure something.
            probes: What else the writer is asked.
            with_ablation: Whether the writer is asked what hangs on steps without claims.
        """
        self._n_edits = n_edits
        self._with_ablation = with_ablation
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
        editor: Editor | None = None,
        validator: Nli | None = None,
    ) -> Interventions:
        """Edit pivotal steps and return every effect; see `contracts.Prober`."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + SHARE_OF_TIME * (limits.ends_at - loop.time())
        q_by_step = _q_by_step(reading.trace, verdicts)

        def is_over(n_tried: int) -> bool:
            return loop.time() >= ends_at if limits.n_tried is None else n_tried >= limits.n_tried

        is_read = writer is not None and self._n_continuations > 0
        plan = await in_thread(self._planner.rank, reading, target, q_by_step, seed, is_read=is_read, is_over=is_over)
        if writer is not None and is_read and self._with_ablation and not plan.late:
            await self._ablate(plan, reading.trace, writer, seed, ends_at, meter)
        await in_thread(self._planner.draw, plan, reading, target, seed, is_read=is_read, is_over=is_over)
        if writer is None or not is_read:
            return self._replayed(reading, target, plan)
        # A replay of what was cut off counts the same work as done, and has an editor only where one was asked.
        in_time = not plan.late or limits.n_tried is not None
        if editor is not None and validator is not None and in_time:
            await propose_edits(
                plan, reading, target, editor, validator, self._n_edits, seed + EDITOR_SEED, ends_at, meter
            )
        questions = await in_thread(ask_probes, reading.trace, self._probes, plan.mistakes, plan.edits)
        conversation = Conversation(reading.trace, plan, questions, self._probes, self._n_continuations, seed)
        return await conversation.hold(writer, ends_at, limits.is_settled, meter)

    async def _ablate(
        self, plan: Plan, trace: Trace, writer: Generator, seed: int, ends_at: float, meter: Meter
    ) -> None:
        """Weigh as many pivots in words as edits are wanted, those with the most doubt, and order them anew."""
        said = [pivot for pivot in plan.pivots if pivot.claim is None]
        if said:
            n = self._n_continuations
            found = await ablate(said[: self._n_edits], trace, writer, n, seed + ABLATION_SEED, ends_at, meter)
            claims = [pivot for pivot in plan.pivots if pivot.claim is not None]
            plan.pivots = (*claims, *sorted([*found.pivots, *said[self._n_edits :]], key=by_weight))
            plan.ablated = found.continued

    def _replayed(self, reading: Reading, target: Target | None, plan: Plan) -> Interventions:
        before = answer_of(reading.graph, target)
        return Interventions(
            effects=tuple(replay_effect(edit, before) for edit in plan.edits),
            discarded=tuple(plan.discarded),
            method=EffectMethod.REPLAY if plan.edits else EffectMethod.NONE,
            pivots=plan.pivots,
            probes=silent_probes(self._probes, Unmeasured(reason="no_generator")),
            late=plan.late,
            n_tried=plan.n_done,
        )


def _q_by_step(trace: Trace, verdicts: Sequence[Verdict]) -> dict[int, float]:
    judged = zip(trace.derivation(), verdicts, strict=True)
    return {step.index: verdict.p_correct for step, verdict in judged if isinstance(verdict, Judged)}
