"""A request in, a response out: the flow behind HTTP and command line alike."""

import asyncio
import hashlib
import hmac
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from rafs import __version__
from rafs.calibration import Calibration
from rafs.calibration_file import Artefact
from rafs.engines.edit_prompt import EDIT_PROMPT_VERSION
from rafs.engines.solve_prompt import SOLVE_PROMPT_VERSION
from rafs.errors import InputError
from rafs.grammar.measures import load_units
from rafs.independence import Writer
from rafs.model_entry import ModelEntry
from rafs.pipeline import Pipeline
from rafs.policy import Policy
from rafs.record import ModelOut, ProvenanceOut, Record
from rafs.recording import make_tape
from rafs.registry import Registry, config_hash
from rafs.request import GeneratorInfo, ScoreRequest
from rafs.response import to_response
from rafs.result import Observer, ScoreInput, ScoreResult, unobserved
from rafs.sampling import Samples
from rafs.threads import in_thread
from rafs.usage import Caller, Meter, Priority, Stage
from rafs.wire import ModelStatus, ScoreResponse
from service.identity import revision_of
from service.instructed import rules_of, with_instructions
from service.progress import Narrator, Tell
from service.terms import DEFAULT_TERMS, Terms
from service.tracing import TracedMeter
from service.used_models import models_used
from verifiers.judge_prompt import ANSWER_PROMPT_VERSION, PROMPT_VERSION

PROMPTS = {
    "judge": PROMPT_VERSION,
    "answer_judge": ANSWER_PROMPT_VERSION,
    "generator": SOLVE_PROMPT_VERSION,
    "editor": EDIT_PROMPT_VERSION,
}
"""Version of the prompt of each role that has one."""


class Scorer:
    """Scores requests with the pipelines of a registry, each built when it is first needed."""

    def __init__(
        self,
        *,
        registry: Registry,
        build_pipeline: Callable[[str], Pipeline],
        is_ready: Callable[[ModelEntry], bool],
        close: Callable[[], Awaitable[None]],
        calibration: Calibration,
        default_preset: str,
        edit_secret: str,
        artefacts: Mapping[str, Artefact] | None = None,
        audits: Mapping[str, str] | None = None,
    ) -> None:
        """Keep what builds the parts; nothing is loaded yet.

        Args:
            registry: The operator's models, presets and policy.
            build_pipeline: Builds the pipeline of a preset, loading its models; blocking.
            is_ready: Whether a model's weights are on this machine.
            close: Ends what the pipelines share.
            calibration: Numbers from data, for presets without an artefact.
            default_preset: Used where a request names none.
            edit_secret: Mixed into the seed of the counterfactual edits.
            artefacts: Calibrations by the preset that each was made for.
            audits: What audits found of the judges, by model id.
        """
        self._registry = registry
        self._config_hash = config_hash(registry)
        self._build_pipeline = build_pipeline
        self._is_ready = is_ready
        self._close = close
        self._calibration = calibration
        self._artefacts = artefacts or {}
        self._audits = audits or {}
        self._default_preset = default_preset
        self._edit_secret = edit_secret
        self._pipelines: dict[str, Pipeline] = {}
        self._building = asyncio.Lock()

    async def warm(self, preset: str | None = None) -> None:
        """Load the models of a preset, the default one if none is named, and the unit library.

        Raises:
            ConfigError: Weights or libraries are missing; the message says what to do.
            BackendError: A model cannot be loaded.
        """
        await asyncio.to_thread(load_units)
        await self._pipeline(preset or self._default_preset)

    def not_ready(self) -> list[str]:
        """Return what is still missing before the default preset can score."""
        if self._default_preset in self._pipelines:
            return []
        return [f"the models of preset {self._default_preset!r} are not loaded yet"]

    def models(self) -> list[ModelStatus]:
        """Return the models of the registry, in its order."""
        return [
            ModelStatus(
                id=entry.id,
                family=entry.family,
                roles=[role.value for role in entry.roles],
                source=entry.source,
                licence=entry.licence,
                revision=revision_of(entry),
                ready=self._is_ready(entry),
            )
            for entry in self._registry.models
        ]

    @property
    def policy(self) -> Policy:
        """Constants of the score and of the decision."""
        return self._registry.policy.to_policy()

    def policy_of(self, preset: str) -> Policy:
        """Return the constants with the thresholds of the preset's calibration."""
        artefact = self._artefacts.get(preset)
        return self.policy if artefact is None else artefact.to_policy(self.policy)

    def calibration_of(self, preset: str) -> Calibration:
        """Return the numbers from data that a preset uses."""
        artefact = self._artefacts.get(preset)
        return self._calibration if artefact is None else artefact.to_calibration()

    async def close(self) -> None:
        """End worker processes and inference threads."""
        await self._close()

    async def _pipeline(self, preset: str) -> Pipeline:
        async with self._building:
            if preset not in self._pipelines:
                self._pipelines[preset] = await asyncio.to_thread(self._build_pipeline, preset)
            return self._pipelines[preset]

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        """Score one request.

        Args:
            request: Its own deadline and token budget are part of the terms already.
            terms: How urgent it is, for whom, and within what bounds.
            tell: Told what is known before the response is there.

        Raises:
            InputError: The preset is not one of the registry's, or the trace has too many steps.
            OverloadedError: A model's bounded queue is full.
        """
        name = self._preset_of(request)
        rules_of(request)  # what is wrong with them is said before a model is asked
        observe = unobserved if tell is None else Narrator(tell, self.policy_of(name))
        result = await self._run(name, request, _as_urgent(terms, name), observe)
        job = result.input
        provenance = self._provenance(name, request.seed, models_used(result))
        record = Record(
            request=request,
            writer_model=job.writer.model,
            writer_families=sorted(job.writer.families),
            edit_seed=job.edit_seed,
            policy=self.policy_of(name),
            preset=self._registry.presets.by_name()[name].to_preset(name),
            calibration=self.calibration_of(name),
            provenance=provenance,
            tape=make_tape(result),
        )
        response = to_response(result, str(uuid.uuid4()), provenance, request.include, record)
        return await in_thread(with_instructions, response, request)

    async def measure(self, request: ScoreRequest) -> ScoreResult:
        """Score one request behind all others, and return everything that was found out; errors as of `score`."""
        return await self._run(self._preset_of(request), request, Terms(priority=Priority.BATCH), unobserved)

    def would_use(self, preset: str, seed: int) -> ProvenanceOut:
        """Say where the numbers of a preset come from, with all models that it may ask.

        Raises:
            InputError: There is no such preset.
        """
        self._check_preset(preset)
        roles = self._registry.presets.by_name()[preset].models
        models = [
            ModelOut(id=entry.id, family=entry.family, revision=revision_of(entry), role=role.value)
            for role in sorted(roles)
            for entry in self._registry.candidates(preset, role)
        ]
        return self._provenance(preset, seed, models)

    def _preset_of(self, request: ScoreRequest) -> str:
        name = request.preset or self._default_preset
        self._check_preset(name)
        return name

    def _check_preset(self, name: str) -> None:
        presets = self._registry.presets.by_name()
        if name not in presets:
            allowed = ", ".join(presets)
            raise InputError("there is no such preset", field="preset", got=repr(name), allowed=allowed)

    async def _run(self, preset: str, request: ScoreRequest, terms: Terms, observe: Observer) -> ScoreResult:
        pipeline = await self._pipeline(preset)
        writer = self._writer(request.generator or GeneratorInfo())
        job = to_input(request, writer, draw_seed(self._edit_secret, request))
        caller = Caller(tenant=terms.tenant, priority=terms.priority)
        meter = TracedMeter(caller=caller, token_budget=terms.token_budget)
        return await pipeline.score(replace(job, deadline_s=terms.deadline_s), meter, observe)

    def _provenance(self, preset: str, seed: int, models: list[ModelOut]) -> ProvenanceOut:
        return ProvenanceOut(
            rafs_version=__version__,
            config_hash=self._config_hash,
            calibration=self.calibration_of(preset).id,
            preset=preset,
            seed=seed,
            prompts={role: PROMPTS[role] for role in sorted({model.role for model in models} & PROMPTS.keys())},
            models=models,
            audits={model.id: self._audits[model.id] for model in models if model.id in self._audits},
        )

    def _writer(self, generator: GeneratorInfo) -> Writer:
        """Find the writer's families: those its id and its declared family name, and those of the registry's entry."""
        named = [name for name in (generator.model, generator.family) if name is not None]
        families = frozenset[str]().union(*map(self._registry.families_of, named))
        declared = (generator.family or "").casefold()
        if declared in self._registry.families:
            families |= {declared}
        name = (generator.model or "").casefold()
        for entry in self._registry.models:
            if name and name in map(str.casefold, entry.names):
                families |= self._registry.families_of_entry(entry)
        return Writer(model=generator.model, families=families)


async def replay(record: Record, build_replay: Callable[[Record], Pipeline]) -> ScoreResponse:
    """Score a record again with no model: engines that repeat what was said.

    Args:
        record: From a response that included it.
        build_replay: Builds a pipeline on the record's tape and constants.
    """
    writer = Writer(model=record.writer_model, families=frozenset(record.writer_families))
    job = _as_recorded(to_input(record.request, writer, record.edit_seed), record)
    result = await build_replay(record).score(job, Meter())
    response = to_response(result, str(uuid.uuid4()), record.provenance, record.request.include, record)
    return with_instructions(response, record.request)


def to_input(request: ScoreRequest, writer: Writer, edit_seed: int) -> ScoreInput:
    """Return the request as the flow takes it."""
    return ScoreInput(
        problem=request.problem,
        trace=request.trace_text(),
        stated=request.answer,
        samples=request.sampled(),
        writer=writer,
        seed=request.seed,
        edit_seed=edit_seed,
    )


def _as_recorded(job: ScoreInput, record: Record) -> ScoreInput:
    """Return the input with what the tape says of the deadline and of the samples that were drawn."""
    tape, drawn = record.tape, None
    if tape.samples is not None:
        n = record.preset.n_samples
        drawn = Samples(texts=tuple(tape.samples), drawn=True, n_planned=n, stopped=tape.stopped)
    n_tried = tape.n_tried if Stage.INTERVENE in tape.cut_off else None
    return replace(job, drawn=drawn, cut_off=frozenset(tape.cut_off), n_tried=n_tried)


def _as_urgent(terms: Terms, preset: str) -> Terms:
    """Return the terms of a request: a gate's decision is waited for, whichever path asks for it."""
    is_waited_for = preset == "gate" and terms.priority is Priority.SCORE
    return replace(terms, priority=Priority.GATE) if is_waited_for else terms


def draw_seed(secret: str, request: ScoreRequest) -> int:
    """Mix secret, problem and trace into the seed, so that one revealed seed foretells the edits of no other trace."""
    message = request.model_dump_json(include={"problem", "trace", "seed"}).encode()
    digest = hmac.new(secret.encode(), message, hashlib.sha256).digest()
    return int.from_bytes(digest[:6], "big")
