"""The whole flow: one trace in, one decision out."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from rafs.agreement import count_votes, measure_agreement
from rafs.ballot import SampleReader
from rafs.bounds import is_out_of_reach
from rafs.calibration import Calibration
from rafs.conclusion import can_accept, conclude, is_settled, least_consensus
from rafs.contracts import Algebra, AnswerJudge, Editor, Embedder, Ensemble, Generator, Nli, Prober
from rafs.following import ask_whether_follows
from rafs.independence import choose_independent, refuse_kin
from rafs.interventions import NO_INTERVENTIONS, Interventions, ProbeLimits
from rafs.outcomes import ComponentName, Unmeasured
from rafs.policy import NOT_EVALUATED, OUT_OF_REACH, Policy, Preset
from rafs.probes import silent_probes
from rafs.reading import read_text, settle_reading
from rafs.result import Evidence, Observer, ScoreInput, ScoreResult, begin_evidence, unobserved
from rafs.rounds import StopRule
from rafs.sampling import Samples, gather_samples
from rafs.threads import in_thread
from rafs.usage import Meter, Stage


class Pipeline:
    """Scores traces with one preset; holds models and constants, never anything of a request."""

    def __init__(
        self,
        *,
        policy: Policy,
        preset: Preset,
        algebra: Algebra,
        ensemble: Ensemble,
        generators: Mapping[str, Generator],
        validators: Sequence[Nli],
        editors: Sequence[Editor],
        embedders: Sequence[Embedder],
        answer_judges: Sequence[AnswerJudge],
        prober: Prober,
        calibration: Calibration,
    ) -> None:
        self._policy = policy
        self._preset = preset
        self._algebra = algebra
        self._ensemble = ensemble
        self._generators = generators
        self._validators = validators
        self._editors = editors
        self._embedders = embedders
        self._answer_judges = answer_judges
        self._prober = prober
        self._calibration = calibration

    async def score(self, job: ScoreInput, meter: Meter, observe: Observer = unobserved) -> ScoreResult:
        """Score one trace; past the deadline or the token budget, conclude from what is known by then.

        Args:
            job: What to score.
            meter: Where cost is counted, and how much is allowed.
            observe: Told whenever a stage has added to the evidence.

        Raises:
            InputError: The trace or a sample has too many steps.
            OverloadedError: A model's bounded queue is full.
        """
        override = self._policy.independence_override
        refused = refuse_kin(self._ensemble.models, job.writer, override=override)
        writer = self._generators.get((job.writer.model or "").casefold())
        seconds = min(self._preset.deadline_s, job.deadline_s or math.inf)
        deadline = asyncio.get_running_loop().time() + seconds
        with meter.timed("read"):
            reading = await in_thread(read_text, job.problem, job.trace, job.stated)  # the loop stays free
        evidence = begin_evidence(reading, refused, self._ensemble.models, writer.identity if writer else None)
        try:
            async with asyncio.timeout_at(deadline), asyncio.TaskGroup() as group:
                await self._check(evidence, meter)
                observe(evidence)
                rule = self._stop_rule(job, evidence)
                verified = group.create_task(self._verify(evidence, job, deadline, meter))
                if self._preset.stop_when_settled:  # a cascade: nobody is asked before it is known to be needed
                    await verified
                agreed = group.create_task(self._agree(evidence, job, writer, rule, meter))
                agreed.add_done_callback(lambda _: observe(evidence))
                await verified
                observe(evidence)
                limits = ProbeLimits(
                    ends_at=deadline,
                    is_settled=partial(self._is_settled, evidence, job, agreed),
                    n_tried=job.n_tried,
                )
                await self._intervene(evidence, job, writer, limits, meter)
        except TimeoutError:
            pass  # what the deadline cut off is named in the evidence, and so is what the token budget did
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return conclude(job, evidence, self._policy, self._preset, meter)

    async def _check(self, evidence: Evidence, meter: Meter) -> None:
        """Settle the claims and hear the checkers; a refuted step may settle the decision without any model."""
        with meter.timed("read"):
            evidence.reading = await settle_reading(evidence.reading, self._algebra)
        with meter.timed(Stage.VERIFY):
            evidence.verdicts = await self._ensemble.check(evidence.reading.blind(), evidence.refused, meter)
        self._stop_where_settled(evidence)

    def _stop_where_settled(self, evidence: Evidence) -> None:
        if self._preset.stop_when_settled:
            if evidence.verdicts.refutes:
                evidence.settle(NOT_EVALUATED)
            elif is_out_of_reach(evidence, self._policy, self._preset):
                evidence.settle(OUT_OF_REACH)

    async def _verify(self, evidence: Evidence, job: ScoreInput, deadline: float, meter: Meter) -> None:
        if evidence.settled or Stage.VERIFY in job.cut_off or (meter.is_spent and self._ensemble.models):
            return
        with meter.timed(Stage.VERIFY):
            evidence.verdicts = await self._ensemble.verify(
                evidence.reading.blind(), evidence.verdicts, evidence.refused, deadline, meter
            )
        evidence.cut_off.discard(Stage.VERIFY)
        self._stop_where_settled(evidence)

    def _stop_rule(self, job: ScoreInput, evidence: Evidence) -> StopRule:
        """Return when to stop drawing samples; by what the checkers said alone, however fast the models are.

        Where D is required, samples that are left out may be what measures it: then the decision hangs on all of them.
        """
        rule = self._preset.stop_sampling
        if rule is not StopRule.DECISION:
            return rule
        needs_all = ComponentName.STABILITY in self._preset.required
        may_accept = can_accept(job, evidence, self._policy, self._preset)
        return StopRule.NEVER if needs_all or may_accept else rule

    async def _agree(
        self, evidence: Evidence, job: ScoreInput, writer: Generator | None, rule: StopRule, meter: Meter
    ) -> None:
        if Stage.AGREE in job.cut_off:
            return
        with meter.timed(Stage.AGREE):
            if evidence.settled:
                evidence.agreement = await count_votes(evidence.reading, job.samples, evidence.settled)
            else:
                reader = SampleReader(evidence.reading)
                samples = job.drawn or await self._gather(job, writer, reader, rule, meter)
                validator = self._validator_for(job)
                if meter.is_spent and (validator is not None or samples.is_unfinished):
                    return
                evidence.agreement = await measure_agreement(
                    evidence.reading, samples, validator, meter, reader, self._embedder_for(job)
                )
        evidence.cut_off.discard(Stage.AGREE)

    async def _gather(
        self, job: ScoreInput, writer: Generator | None, reader: SampleReader, rule: StopRule, meter: Meter
    ) -> Samples:
        n, least = self._preset.n_samples, least_consensus(self._policy) if rule is StopRule.VOTE else None
        plan = partial(reader.plan, n, rule, least)
        return await gather_samples(job.problem, job.samples, writer, n, job.seed, meter, plan)

    async def _intervene(
        self, evidence: Evidence, job: ScoreInput, writer: Generator | None, limits: ProbeLimits, meter: Meter
    ) -> None:
        """Edit and observe; what time ran out for is named, and what was observed by then stays."""
        if evidence.settled == NOT_EVALUATED or (Stage.INTERVENE in job.cut_off and job.n_tried is None):
            return
        asked = None if evidence.settled else writer  # a replay takes no model
        if meter.is_spent and self._can_ask(asked):
            return
        with meter.timed(Stage.INTERVENE):
            evidence.interventions = await self._observe(evidence, job, asked, limits, meter)
        if not evidence.interventions.late:
            evidence.cut_off.discard(Stage.INTERVENE)

    async def _observe(
        self, evidence: Evidence, job: ScoreInput, writer: Generator | None, limits: ProbeLimits, meter: Meter
    ) -> Interventions:
        """Let the writer go on, or replay where it is known which result the answer hangs on."""
        link, can_ask = evidence.link, self._can_ask(writer)
        if link.target is None and not link.is_absent and not can_ask:
            missing, silent = Unmeasured(reason="answer_not_traced_to_a_claim"), Unmeasured(reason="no_generator")
            probes = silent_probes(self._preset.probes, silent)
            return replace(NO_INTERVENTIONS, missing=missing, probes=probes)
        if can_ask and isinstance(link.entailment, Unmeasured):
            override = self._policy.independence_override
            judges = [one for one in self._answer_judges if override or not job.writer.is_kin_of(one.identity)]
            evidence.followed = await ask_whether_follows(
                evidence.reading, self._validator_for(job), judges, self._calibration, meter
            )
        return await self._prober.probe(
            evidence.reading,
            link.target,
            evidence.verdicts.combined,
            writer,
            job.edit_seed,
            meter,
            limits,
            editor=choose_independent(self._editors, job.writer, override=False),
            validator=self._validator_for(job),
        )

    async def _is_settled(
        self, evidence: Evidence, job: ScoreInput, agreed: asyncio.Task[None], so_far: Interventions
    ) -> bool:
        """Wait for the agreement, without which nothing is settled; what a record's deadline cut off never was."""
        if Stage.INTERVENE in job.cut_off:
            return False
        await asyncio.wait({agreed})
        return is_settled(job, evidence, so_far, self._policy, self._preset)

    def _can_ask(self, writer: Generator | None) -> bool:
        return writer is not None and self._preset.n_continuations > 0

    def _embedder_for(self, job: ScoreInput) -> Embedder | None:
        return choose_independent(self._embedders, job.writer, override=False)

    def _validator_for(self, job: ScoreInput) -> Nli | None:
        return choose_independent(self._validators, job.writer, override=self._policy.independence_override)
