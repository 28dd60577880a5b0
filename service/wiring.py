"""From settings and registry to a pipeline: the one file that names concrete classes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, TypeVar, cast

from counterfactuals.probe import CounterfactualProber
from rafs.algebra import AlgebraWorker
from rafs.calibration import DEFAULT_CALIBRATION, Calibration
from rafs.contracts import Algebra, Generator, Nli, Verifier
from rafs.engines.embeddings import SentenceEmbedder
from rafs.engines.nli import EmbeddingNli
from rafs.engines.scripted import ScriptedAlgebra, ScriptedGenerator, ScriptedNli
from rafs.engines.sequence_nli import SequenceClassifierNli
from rafs.engines.server_connection import ServerConnection, ServerSettings
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.engines.transformers_lm import TransformersProber
from rafs.engines.vllm_server import ServerGenerator, ServerProber
from rafs.engines.weights import locate
from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry, Role, SourceKind
from rafs.pipeline import Pipeline
from rafs.policy import Policy, Preset
from rafs.reading import read_text, settle_reading
from rafs.record import Record
from rafs.recording import to_script
from rafs.registry import Registry, load_registry
from rafs.request import ScoreRequest
from rafs.types import ModelIdentity, Reading, Truth
from service.scorer import Scorer, revision_of
from service.settings import PULL, Settings
from verifiers.ensemble import VerifierEnsemble
from verifiers.judge import JudgeVerifier
from verifiers.recorded import RecordedVerifier
from verifiers.symbolic import SymbolicVerifier

Built = TypeVar("Built")


class HasThread(Protocol):
    """An engine with an inference thread."""

    def close(self) -> None:
        """End the thread."""
        ...


Engine = TypeVar("Engine", bound=HasThread)

REPLAY_DEADLINE_S = 600.0
"""A replay reads and computes, and waits for nobody: what the record's own deadline cut off is on its tape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One model to build: what the registry says of it, and what the machine offers."""

    entry: ModelEntry
    identity: ModelIdentity
    cache: Path
    threads: int
    pull: str
    """The command that fetches weights."""
    closing: AsyncExitStack
    """Takes what must be closed with the process."""

    @property
    def folder(self) -> Path:
        """Where its weights lie.

        Raises:
            ConfigError: They do not lie there yet, or torch is not installed.
        """
        if find_spec("torch") is None:
            raise ConfigError(
                f"model {self.entry.id!r} runs on torch, which is not installed: pip install 'rafs[local]'"
            )
        source = self.entry.to_source()
        folder = None if source is None else locate(source, self.cache)
        if folder is None:
            raise ConfigError(f"the weights of {self.entry.id!r} are not on this machine: run `{self.pull}`")
        return folder

    def connect(self) -> ServerConnection:
        """Return a connection to the server of an endpoint model."""
        settings = ServerSettings(
            base_url=self.entry.location, model=self.entry.model or self.entry.id, api_key_env=self.entry.api_key_env
        )
        connection = ServerConnection(settings)
        self.closing.push_async_callback(connection.close)
        return connection

    def keep(self, engine: Engine) -> Engine:
        """Return the engine, after noting that its inference thread ends with the process."""
        self.closing.callback(engine.close)
        return engine

    @property
    def is_served(self) -> bool:
        """Whether it runs on a server instead of in this process."""
        return self.entry.kind is SourceKind.ENDPOINT


def build_judge(order: Order) -> Verifier:
    """Return the model as a judge of steps."""
    if order.is_served:
        return JudgeVerifier(ServerProber(order.connect(), order.identity))
    dtype = order.entry.dtype or "float32"
    prober = TransformersProber.load(order.folder, order.identity, threads=order.threads, dtype=dtype)
    return JudgeVerifier(order.keep(prober))


def build_nli(order: Order) -> Nli:
    """Return the model as a validator: a three-way classifier, or an embedder with exact checks on top."""
    if order.is_served:
        raise ConfigError(f"model {order.entry.id!r}: a validator runs in this process, not behind an endpoint")
    if Role.EMBEDDER in order.entry.roles:
        return EmbeddingNli(order.keep(SentenceEmbedder.load(order.folder, order.identity, threads=order.threads)))
    return order.keep(SequenceClassifierNli.load(order.folder, order.identity, threads=order.threads))


def build_generator(order: Order) -> Generator:
    """Return the model as the writer of traces."""
    if order.is_served:
        return ServerGenerator(order.connect(), order.identity)
    dtype = order.entry.dtype or "float32"
    return order.keep(TransformersGenerator.load(order.folder, order.identity, threads=order.threads, dtype=dtype))


class Stock:
    """Builds each model once, however many presets use it."""

    def __init__(self, registry: Registry, cache: Path, threads: int, pull: str = PULL) -> None:
        self._registry = registry
        self._pull = pull
        self._cache = cache
        self._threads = threads
        self.closing = AsyncExitStack()
        self._built: dict[tuple[str, Role], object] = {}

    def judges(self, preset: str) -> list[Verifier]:
        """Return the judges of a preset, in order of preference."""
        return [self._take(entry, Role.JUDGE, build_judge) for entry in self._registry.candidates(preset, Role.JUDGE)]

    def validators(self, preset: str) -> list[Nli]:
        """Return the validators of a preset, in order of preference."""
        return [self._take(entry, Role.NLI, build_nli) for entry in self._registry.candidates(preset, Role.NLI)]

    def generators(self, preset: str) -> dict[str, Generator]:
        """Return the generators of a preset, by id and by the name under which they are served."""
        found: dict[str, Generator] = {}
        for entry in self._registry.candidates(preset, Role.GENERATOR):
            generator = self._take(entry, Role.GENERATOR, build_generator)
            found |= {name: generator for name in (entry.id, entry.model) if name}
        return found

    def _take(self, entry: ModelEntry, role: Role, build: Callable[[Order], Built]) -> Built:
        identity = ModelIdentity(
            id=entry.id,
            family=entry.family,
            revision=revision_of(entry),
            kin=tuple(sorted(self._registry.families_of_entry(entry) - {entry.family})),
        )
        order = Order(
            entry=entry,
            identity=identity,
            cache=self._cache,
            threads=self._threads,
            pull=self._pull,
            closing=self.closing,
        )
        key = (entry.id, role)
        if key not in self._built:
            self._built[key] = build(order)
        return cast(Built, self._built[key])


def assemble(
    policy: Policy,
    preset: Preset,
    calibration: Calibration,
    *,
    algebra: Algebra,
    checkers: Sequence[Verifier],
    models: Sequence[Verifier],
    validators: Sequence[Nli],
    generators: Mapping[str, Generator],
) -> Pipeline:
    """Put a pipeline together from its parts; scoring and replay share it."""
    return Pipeline(
        policy=policy,
        preset=preset,
        algebra=algebra,
        ensemble=VerifierEnsemble(checkers, models, calibration, policy.q_refuted),
        generators=generators,
        validators=validators,
        prober=CounterfactualProber(n_edits=preset.n_edits, n_continuations=preset.n_continuations, m_min=policy.m_min),
    )


def refuse_unbuilt_roles(registry: Registry) -> None:
    """Refuse a preset that asks for what this version cannot do, instead of leaving it out silently.

    Raises:
        ConfigError: A preset names a process reward model.
    """
    for name in registry.presets.by_name():
        if registry.candidates(name, Role.PRM):
            raise ConfigError(
                f"presets.{name}.models.prm: got a model, allowed nothing: no PRM verifier in this version"
            )


async def read_alone(request: ScoreRequest) -> Reading:
    """Read the trace of a request: steps, claims and graph, without any model.

    Raises:
        InputError: The trace has too many steps, or one of them is too long.
    """
    algebra = AlgebraWorker()
    try:
        reading = read_text(request.problem, request.trace_text(), request.answer)
        return await settle_reading(reading, algebra)
    finally:
        await algebra.close()


def build_scorer(settings: Settings) -> Scorer:
    """Return the scorer of this process; models are loaded when they are first needed.

    Raises:
        ConfigError: models.yaml is wrong, or names something that this version cannot do.
    """
    registry = load_registry(settings.models_file)
    if settings.preset not in registry.presets.by_name():
        allowed = ", ".join(registry.presets.by_name())
        raise ConfigError(f"RAFS_PRESET: got {settings.preset!r}, allowed {allowed}")
    refuse_unbuilt_roles(registry)
    stock = Stock(registry, settings.cache_dir, settings.torch_threads, settings.pull_command)
    algebra = AlgebraWorker()
    stock.closing.push_async_callback(algebra.close)

    def build_pipeline(name: str) -> Pipeline:
        return assemble(
            registry.policy.to_policy(),
            registry.presets.by_name()[name].to_preset(name),
            DEFAULT_CALIBRATION,
            algebra=algebra,
            checkers=[SymbolicVerifier(DEFAULT_CALIBRATION.checker)],
            models=stock.judges(name),
            validators=stock.validators(name),
            generators=stock.generators(name),
        )

    def is_ready(entry: ModelEntry) -> bool:
        source = entry.to_source()
        return source is None or locate(source, settings.cache_dir) is not None

    return Scorer(
        registry=registry,
        build_pipeline=build_pipeline,
        is_ready=is_ready,
        close=stock.closing.aclose,
        calibration=DEFAULT_CALIBRATION,
        default_preset=settings.preset,
        edit_secret=settings.edit_secret.get_secret_value(),
    )


def build_replay(record: Record) -> Pipeline:
    """Return a pipeline on the tape and the constants of a record; it holds no model."""
    tape = record.tape
    script = to_script(record)
    recorded = [RecordedVerifier(member) for member in tape.members]
    return assemble(
        record.policy,
        replace(record.preset, deadline_s=REPLAY_DEADLINE_S),
        record.calibration,
        algebra=ScriptedAlgebra(
            {(left, right): truth for left, right, truth in tape.algebra if truth is not Truth.UNKNOWN}
        ),
        checkers=[verifier for verifier in recorded if verifier.identity is None],
        models=[verifier for verifier in recorded if verifier.identity is not None],
        validators=[] if tape.validator is None else [ScriptedNli(script, tape.validator)],
        generators={}
        if tape.generator is None
        else {record.writer_model or "": ScriptedGenerator(script, tape.generator)},
    )
