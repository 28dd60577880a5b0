"""The whole flow: one trace in, one decision out."""

import asyncio
from collections.abc import Mapping, Sequence

from rafs.agreement import measure_agreement
from rafs.conclusion import conclude
from rafs.contracts import Algebra, Ensemble, Generator, Nli, Prober
from rafs.derivation import link_answer
from rafs.independence import choose_validator, judge_independence, refused
from rafs.policy import Policy, Preset
from rafs.reading import read_text, settle_reading
from rafs.result import Evidence, ScoreInput, ScoreResult, begin_evidence
from rafs.sampling import gather_samples
from rafs.usage import Meter


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
        independence = judge_independence(self._ensemble.models, job.writer, override=override)
        barred = refused(self._ensemble.models, job.writer, override=override)
        writer = self._generators.get(job.writer.model or "")
        with meter.timed("read"):
            reading = await asyncio.to_thread(read_text, job.problem, job.trace, job.stated)  # the loop stays free
        evidence = begin_evidence(reading, independence, barred, writer.identity if writer else None)
        try:
            async with asyncio.timeout(self._preset.deadline_s), asyncio.TaskGroup() as group:
                await self._settle(evidence, meter)
                verifying = group.create_task(self._verify(evidence, meter))
                group.create_task(self._agree(evidence, job, writer, meter))
                await verifying
                await self._intervene(evidence, job, writer, meter)
        except TimeoutError:
            evidence.deadline_passed = True
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return conclude(job, evidence, self._policy, self._preset, meter)

    async def _settle(self, evidence: Evidence, meter: Meter) -> None:
        with meter.timed("read"):
            evidence.reading = await settle_reading(evidence.reading, self._algebra)
            evidence.link = link_answer(evidence.reading.trace, evidence.reading.graph)

    async def _verify(self, evidence: Evidence, meter: Meter) -> None:
        with meter.timed("verify"):
            evidence.verdicts = await self._ensemble.verify(evidence.reading.blind(), evidence.barred, meter)

    async def _agree(self, evidence: Evidence, job: ScoreInput, writer: Generator | None, meter: Meter) -> None:
        with meter.timed("agree"):
            samples = await gather_samples(job.problem, job.samples, writer, self._preset.n_samples, job.seed, meter)
            validator = choose_validator(self._validators, job.writer, override=self._policy.independence_override)
            evidence.agreement = await measure_agreement(evidence.reading, samples, validator, meter)

    async def _intervene(self, evidence: Evidence, job: ScoreInput, writer: Generator | None, meter: Meter) -> None:
        with meter.timed("intervene"):
            evidence.interventions = await self._prober.probe(
                evidence.reading, evidence.link.target, evidence.verdicts.combined, writer, job.edit_seed, meter
            )
