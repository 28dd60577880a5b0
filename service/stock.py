"""Models, built from what the registry says of them: with wiring.py, all that names concrete classes."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from rafs.contracts import Editor, Embedder, Generator, Nli, StepProber, Verifier
from rafs.engines.embeddings import SentenceEmbedder
from rafs.engines.model_editor import ModelEditor
from rafs.engines.nli import EmbeddingNli
from rafs.engines.prompt_tokens import PartTokenizer, load_tokenizer
from rafs.engines.remembered_pairs import RememberingNli
from rafs.engines.remembered_probes import RememberingProber
from rafs.engines.remembered_rewards import RememberingRewarder
from rafs.engines.remembered_vectors import RememberingEmbedder
from rafs.engines.sequence_nli import SequenceClassifierNli
from rafs.engines.server_connection import DEADLINE_S, ServerConnection, ServerSettings
from rafs.engines.server_generator import ServerGenerator
from rafs.engines.server_nli import ServerNli
from rafs.engines.server_prober import ServerProber
from rafs.engines.server_rewarder import ServerRewarder
from rafs.engines.step_reader import TransformersStepReader
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.engines.transformers_lm import TransformersProber
from rafs.engines.transformers_prm import TransformersRewarder
from rafs.engines.vllm_engine import VllmEngine
from rafs.engines.vllm_local import VllmGenerator, VllmProber
from rafs.engines.vllm_prm import VllmRewarder
from rafs.engines.weights import locate
from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry, Role, SourceKind
from rafs.registry import Registry
from rafs.types import ModelIdentity
from service.identity import identity_of
from service.settings import PULL
from verifiers.judge import JudgeVerifier
from verifiers.prm import PrmVerifier
from verifiers.trained.artefacts import check_base, load_head
from verifiers.trained.head import StepHead
from verifiers.trained.verifier import TrainedVerifier

Built = TypeVar("Built")


class HasThread(Protocol):
    """An engine with an inference thread."""

    def close(self) -> None:
        """End the thread."""
        ...


Engine = TypeVar("Engine", bound=HasThread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One model to build: what the registry says of it, and what the machine offers."""

    entry: ModelEntry
    identity: ModelIdentity
    cache: Path
    threads: int
    pull: str
    """The command that fetches weights."""
    fence_key: bytes
    """Marks off the judged text in prompts."""
    engines: dict[str, VllmEngine]
    """Those running in this process, by the model's id."""
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
            base_url=self.entry.location,
            model=self.entry.model or self.entry.id,
            api_key_env=self.entry.api_key_env,
            deadline_s=self.entry.timeout_s or DEADLINE_S,
        )
        connection = ServerConnection(settings)
        self.closing.push_async_callback(connection.close)
        return connection

    def keep(self, engine: Engine) -> Engine:
        """Return the engine, after noting that its inference thread ends with the process.

        A thread that is computing ends with its slice, for which the event loop does not stand still.
        """
        self.closing.push_async_callback(asyncio.to_thread, engine.close)
        return engine

    def start_vllm(self) -> tuple[VllmEngine, PartTokenizer]:
        """Return the vLLM engine of the model, which its roles share, and its tokenizer."""
        name = self.entry.id
        if name not in self.engines:
            engine = VllmEngine.start(self.folder, name, dtype=self.entry.dtype or "float32")
            self.engines[name] = engine
            self.closing.callback(engine.close)
        return self.engines[name], load_tokenizer(self.folder)

    @property
    def is_served(self) -> bool:
        """Whether it runs on a server instead of in this process."""
        return self.entry.kind is SourceKind.ENDPOINT

    @property
    def is_on_vllm(self) -> bool:
        """Whether vLLM runs it in this process."""
        return self.entry.engine == "vllm"


def build_judge(order: Order) -> JudgeVerifier:
    """Return the model as a judge of steps."""
    return JudgeVerifier(RememberingProber(build_prober(order)), fence_key=order.fence_key)


def build_prober(order: Order) -> StepProber:
    """Return the engine of a judge."""
    chat = order.entry.chat
    if order.is_served:
        return ServerProber(order.connect(), order.identity, chat=chat)
    if order.is_on_vllm:
        return VllmProber(*order.start_vllm(), order.identity, chat=chat)
    dtype = order.entry.dtype or "float32"
    return order.keep(
        TransformersProber.load(order.folder, order.identity, threads=order.threads, dtype=dtype, chat=chat)
    )


def build_prm(order: Order) -> Verifier:
    """Return the model as a process reward model."""
    if order.entry.trained is not None:
        return build_trained(order)
    assert order.entry.prm is not None  # the registry sees to it
    layout = order.entry.prm.to_layout()
    if order.is_served:
        return PrmVerifier(RememberingRewarder(ServerRewarder(order.connect(), order.identity, layout)))
    dtype = order.entry.dtype or "float32"
    if order.is_on_vllm:
        on_vllm = VllmRewarder.load(order.folder, order.identity, layout, dtype=dtype)
        order.closing.callback(on_vllm.close)
        return PrmVerifier(RememberingRewarder(on_vllm))
    rewarder = TransformersRewarder.load(order.folder, order.identity, layout, threads=order.threads, dtype=dtype)
    return PrmVerifier(RememberingRewarder(order.keep(rewarder)))


def build_trained(order: Order) -> TrainedVerifier:
    """Return a trained head on the model."""
    reader, head = load_trained(order.entry, order.folder, order.identity, order.threads)
    return TrainedVerifier(order.keep(reader), head)


def load_trained(
    entry: ModelEntry, folder: Path, identity: ModelIdentity, threads: int
) -> tuple[TransformersStepReader, StepHead]:
    """Load a base and its trained head, after a look at whether they belong together.

    Raises:
        ConfigError: They do not.
        BackendError: One of them cannot be loaded.
    """
    path, dtype = Path(entry.trained or ""), entry.dtype or "float32"
    head, needed = load_head(path)
    if dtype != needed.dtype:
        raise ConfigError(f"model {entry.id!r}: dtype: got {dtype}, allowed {needed.dtype}, as its head was trained")
    reader = TransformersStepReader.load(
        folder, identity, needed.layers, threads=threads, dtype=dtype, pooler=head.pooler
    )
    check_base(path, needed, reader.weights_sha256())
    return reader, head


def build_nli(order: Order) -> Nli:
    """Return the model as a validator: a three-way classifier."""
    if order.is_served:
        return RememberingNli(ServerNli(order.connect(), order.identity))
    if order.is_on_vllm:
        raise ConfigError(f"model {order.entry.id!r}: engine: got vllm, allowed transformers for a validator")
    dtype = order.entry.dtype or "float32"
    classifier = SequenceClassifierNli.load(order.folder, order.identity, threads=order.threads, dtype=dtype)
    return RememberingNli(order.keep(classifier))


def build_embedder(order: Order) -> Embedder:
    """Return the model as an embedder, which a validator may stand on and a prefilter share."""
    if order.is_served or order.is_on_vllm:
        raise ConfigError(f"model {order.entry.id!r}: an embedder runs in this process, on transformers")
    embedder = SentenceEmbedder.load(order.folder, order.identity, threads=order.threads)
    return RememberingEmbedder(order.keep(embedder))


def build_generator(order: Order) -> ServerGenerator | VllmGenerator | TransformersGenerator:
    """Return the model as the writer of traces."""
    sampling = order.entry.sampling
    settings: dict[str, Any] = {} if sampling is None else sampling.model_dump(exclude_none=True)
    if order.is_served:
        return ServerGenerator(order.connect(), order.identity, **settings)
    if order.is_on_vllm:
        return VllmGenerator(*order.start_vllm(), order.identity, **settings)
    dtype = order.entry.dtype or "float32"
    return order.keep(
        TransformersGenerator.load(order.folder, order.identity, threads=order.threads, dtype=dtype, **settings)
    )


class Stock:
    """Builds each model once, however many presets use it."""

    def __init__(self, registry: Registry, cache: Path, threads: int, pull: str = PULL, fence_key: bytes = b"") -> None:
        self._registry = registry
        self._fence_key = fence_key
        self._pull = pull
        self._cache = cache
        self._threads = threads
        self.closing = AsyncExitStack()
        self._engines: dict[str, VllmEngine] = {}
        self._built: dict[tuple[str, Role], object] = {}

    def judges(self, preset: str) -> list[JudgeVerifier]:
        """Return the judges of a preset, in order of preference."""
        return [self._take(entry, Role.JUDGE, build_judge) for entry in self._registry.candidates(preset, Role.JUDGE)]

    def prms(self, preset: str) -> list[Verifier]:
        """Return the process reward models of a preset, in order of preference."""
        return [self._take(entry, Role.PRM, build_prm) for entry in self._registry.candidates(preset, Role.PRM)]

    def validators(self, preset: str) -> list[Nli]:
        """Return the validators of a preset, in order of preference."""
        return [self._validator(entry) for entry in self._registry.candidates(preset, Role.NLI)]

    def _validator(self, entry: ModelEntry) -> Nli:
        """Return a three-way classifier, or exact checks on top of an embedder."""
        if Role.EMBEDDER in entry.roles:
            return EmbeddingNli(self._take(entry, Role.EMBEDDER, build_embedder))
        return self._take(entry, Role.NLI, build_nli)

    def embedders(self, preset: str) -> list[Embedder]:
        """Return the embedders that choose what the validators of a preset are asked, in order of preference."""
        return [
            self._take(entry, Role.EMBEDDER, build_embedder)
            for entry in self._registry.candidates(preset, Role.EMBEDDER)
        ]

    def generators(self, preset: str) -> dict[str, Generator]:
        """Return the generators of a preset, by everything that they are called, in lower case."""
        found: dict[str, Generator] = {}
        for entry in self._registry.candidates(preset, Role.GENERATOR):
            generator = self._take(entry, Role.GENERATOR, build_generator)
            found |= {name.casefold(): generator for name in entry.names if name}
        return found

    def editors(self, preset: str) -> list[Editor]:
        """Return the editors of a preset, in order of preference; one that also writes traces is loaded once."""
        return [
            ModelEditor(self._take(entry, Role.GENERATOR, build_generator), fence_key=self._fence_key)
            for entry in self._registry.candidates(preset, Role.EDITOR)
        ]

    def _take(self, entry: ModelEntry, role: Role, build: Callable[[Order], Built]) -> Built:
        identity = identity_of(entry, self._registry)
        order = Order(
            entry=entry,
            identity=identity,
            cache=self._cache,
            threads=self._threads,
            pull=self._pull,
            fence_key=self._fence_key,
            engines=self._engines,
            closing=self.closing,
        )
        key = (entry.id, role)
        if key not in self._built:
            self._built[key] = build(order)
        return cast(Built, self._built[key])
