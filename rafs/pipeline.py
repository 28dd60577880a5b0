"""The whole flow: one trace in, one decision out."""

import asyncio
from collections.abc import Mapping, Sequence

from rafs.agreement import count_votes, measure_agreement
from rafs.conclusion import conclude
from rafs.contracts import Algebra, Ensemble, Generator, Nli, Prober
from rafs.derivation import link_answer
from rafs.independence import choose_validator, refuse_kin
from rafs.interventions import EffectMethod, Interventions
from rafs.outcomes import Unmeasured
from rafs.policy import Policy, Preset
from rafs.reading import read_text, settle_reading
from rafs.result import Evidence, ScoreInput, ScoreResult, begin_evidence
from rafs.sampling import gather_samples
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
        prober: Prober,
    ) -> None:
        self._policy = policy
        self._preset = preset
        self._algebra = algebra
        self._ensemble = ensemble
        self._generators = generators
        self._validators = validators
        self._prober = prober

    async def score(self, job: ScoreInput, meter: Meter) -> ScoreResult:
        """Score one trace; past the preset's deadline, conclude from what is known by then.

        Raises:
            InputError: The trace or a sample has too many steps.
            OverloadedError: A model's bounded queue is full.
        """
        override = self._policy.independence_override
        refused = refuse_kin(self._ensemble.models, job.writer, override=override)
        writer = self._generators.get(job.writer.model or "")
        deadline = asyncio.get_running_loop().time() + self._preset.deadline_s
        with meter.timed("read"):
            reading = await asyncio.to_thread(read_text, job.problem, job.trace, job.stated)  # the loop stays free
        evidence = begin_evidence(reading, refused, self._ensemble.models, writer.identity if writer else None)
        try:
            async with asyncio.timeout_at(deadline), asyncio.TaskGroup() as group:
                await self._check(evidence, meter)
                group.create_task(self._agree(evidence, job, writer, meter))
                await self._verify(evidence, job, deadline, meter)
                await self._intervene(evidence, job, writer, meter)
        except TimeoutError:
            pass  # what the deadline cut off is named in the evidence
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return conclude(job, evidence, self._policy, self._preset, meter)

    async def _check(self, evidence: Evidence, meter: Meter) -> None:
        """Settle the claims and hear the checkers; a refuted step may settle the decision without any model."""
        with meter.timed("read"):
            evidence.reading = await settle_reading(evidence.reading, self._algebra)
            evidence.link = link_answer(evidence.reading.trace, evidence.reading.graph)
        with meter.timed(Stage.VERIFY):
            evidence.verdicts = await self._ensemble.check(evidence.reading.blind(), evidence.refused, meter)
        if self._preset.stop_when_settled and evidence.verdicts.refutes:
            evidence.settle()

    async def _verify(self, evidence: Evidence, job: ScoreInput, deadline: float, meter: Meter) -> None:
        if evidence.settled or Stage.VERIFY in job.cut_off:
            return
        with meter.timed(Stage.VERIFY):
            evidence.verdicts = await self._ensemble.verify(
                evidence.reading.blind(), evidence.verdicts, evidence.refused, deadline, meter
            )
        evidence.cut_off.discard(Stage.VERIFY)

    async def _agree(self, evidence: Evidence, job: ScoreInput, writer: Generator | None, meter: Meter) -> None:
        if Stage.AGREE in job.cut_off:
            return
        with meter.timed(Stage.AGREE):
            if evidence.settled:
                evidence.agreement = await count_votes(evidence.reading, job.samples)
            else:
                validator = choose_validator(self._validators, job.writer, override=self._policy.independence_override)
                samples = await gather_samples(
                    job.problem, job.samples, writer, self._preset.n_samples, job.seed, meter
                )
                evidence.agreement = await measure_agreement(evidence.reading, samples, validator, meter)
        evidence.cut_off.discard(Stage.AGREE)

    async def _intervene(self, evidence: Evidence, job: ScoreInput, writer: Generator | None, meter: Meter) -> None:
        if evidence.settled or Stage.INTERVENE in job.cut_off:
            return
        with meter.timed(Stage.INTERVENE):
            evidence.interventions = await self._observe(evidence, job, writer, meter)
        evidence.cut_off.discard(Stage.INTERVENE)

    async def _observe(
        self, evidence: Evidence, job: ScoreInput, writer: Generator | None, meter: Meter
    ) -> Interventions:
        """Edit and observe, unless it is not known which claim the answer hangs on."""
        link = evidence.link
        if link.target is None and not link.is_absent:
            missing = Unmeasured(reason="answer_not_traced_to_a_claim")
            return Interventions(effects=(), discarded=(), method=EffectMethod.NONE, missing=missing)
        return await self._prober.probe(
            evidence.reading, link.target, evidence.verdicts.combined, writer, job.edit_seed, meter
        )
