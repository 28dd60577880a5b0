"""Contracts that answer from a record: to replay a request without a model, and to test without one.

A `Script` holds what the models said during one request; the `Scripted...` engines read one and refuse whatever is
not on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rafs.contracts import PromptPart
from rafs.errors import BackendError
from rafs.types import Abstained, Entailment, LabelMass, ModelIdentity, Sampled, Truth, Why
from rafs.usage import Meter

Key = TypeVar("Key")
Value = TypeVar("Value")

ProbeKey = tuple[str, ...]
"""The prompt of one probe, as the texts of its parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleKey:
    """One request for samples (`prefix` is None) or for continuations of a prefix."""

    problem: str
    prefix: str | None
    n: int
    seed: int
    first: int = 0
    """Index of the first of the samples."""


@dataclass(slots=True, kw_only=True)
class Script:
    """What models said, by what they were asked."""

    probes: dict[ProbeKey, LabelMass | Abstained] = field(default_factory=dict)
    samples: dict[SampleKey, tuple[Sampled, ...]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], Entailment | Abstained] = field(default_factory=dict)
    vectors: dict[str, tuple[float, ...]] = field(default_factory=dict)
    proposals: dict[tuple[str, int], tuple[str | Abstained, ...]] = field(default_factory=dict)
    """By sentence and seed."""
    is_cut: bool = False
    """The deadline had cut the continuations off: what is not on the script came too late."""
    is_choice: bool = False
    """The pairs were chosen among others, which were not needed."""


SCRIPTED = ModelIdentity(id="scripted", family="scripted", revision="1")


def probe_key(
    head: Sequence[PromptPart], steps: Sequence[Sequence[PromptPart]], tail: Sequence[PromptPart], t: int
) -> ProbeKey:
    """Return the prompt of the probe after step t."""
    return tuple(part.text for part in (*head, *(part for step in steps[: t + 1] for part in step), *tail))


class ScriptedProber:
    """A `StepProber` that answers from a script."""

    def __init__(self, script: Script, identity: ModelIdentity = SCRIPTED) -> None:
        self._script = script
        self._identity = identity

    @property
    def identity(self) -> ModelIdentity:
        """Of the engine that was recorded."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`."""
        return "scripted"

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        """See `StepProber.probe`. Costs nothing; a prompt that is not on the script raises BackendError."""
        return [_find(self._script.probes, probe_key(head, steps, tail, t), "probe") for t in ask]


class ScriptedGenerator:
    """A `Generator` that answers from a script."""

    def __init__(self, script: Script, identity: ModelIdentity = SCRIPTED) -> None:
        self._script = script
        self._identity = identity

    @property
    def identity(self) -> ModelIdentity:
        """Of the engine that was recorded."""
        return self._identity

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        """See `Generator.sample`. A request that is not on the script raises BackendError."""
        key = SampleKey(problem=problem, prefix=None, n=n, seed=seed, first=first)
        return _find(self._script.samples, key, "sample")

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        """See `Generator.continue_trace`.

        A request that is not on the script raises BackendError, or TimeoutError where the script was cut.
        """
        keys = [SampleKey(problem=problem, prefix=prefix, n=n, seed=seed) for prefix in prefixes]
        if self._script.is_cut and not self._script.samples.keys() >= set(keys):
            raise TimeoutError
        return [_find(self._script.samples, key, "continuation") for key in keys]


class ScriptedEditor:
    """An `Editor` that answers from a script."""

    def __init__(self, script: Script, identity: ModelIdentity = SCRIPTED) -> None:
        self._script = script
        self._identity = identity

    @property
    def identity(self) -> ModelIdentity:
        """Of the engine that was recorded."""
        return self._identity

    async def propose(
        self, sentences: Sequence[str], k: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[str | Abstained]]:
        """See `Editor.propose`. A sentence that is not on the script raises BackendError."""
        return [_find(self._script.proposals, (sentence, seed), "proposal") for sentence in sentences]


class ScriptedNli:
    """An `Nli` that answers from a script."""

    def __init__(self, script: Script, identity: ModelIdentity = SCRIPTED) -> None:
        self._script = script
        self._identity = identity

    @property
    def identity(self) -> ModelIdentity:
        """Of the engine that was recorded."""
        return self._identity

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        """See `Nli.classify`. A pair that is not on the script raises BackendError, or was not needed."""
        if self._script.is_choice:
            return [self._script.pairs.get(pair, Abstained(why=Why.NOT_NEEDED)) for pair in pairs]
        return [_find(self._script.pairs, pair, "pair") for pair in pairs]


class ScriptedEmbedder:
    """An `Embedder` that answers from a script."""

    def __init__(self, script: Script, identity: ModelIdentity = SCRIPTED) -> None:
        self._script = script
        self._identity = identity

    @property
    def identity(self) -> ModelIdentity:
        """Of the engine that was recorded."""
        return self._identity

    async def embed(self, texts: Sequence[str], meter: Meter) -> NDArray[np.float32]:
        """See `Embedder.embed`. A text that is not on the script raises BackendError."""
        rows = [_find(self._script.vectors, text, "text") for text in texts]
        width = len(next(iter(self._script.vectors.values()), ()))
        return np.array(rows, dtype=np.float32).reshape(len(texts), width)  # (n_texts, d)


class ScriptedAlgebra:
    """An `Algebra` that repeats what was settled; what was not asked then is unknown now."""

    def __init__(self, settled: Mapping[tuple[str, str], Truth]) -> None:
        self._settled = settled

    async def compare(self, left: str, right: str) -> Truth:
        """See `Algebra.compare`."""
        return self._settled.get((left, right), Truth.UNKNOWN)


def _find(recorded: Mapping[Key, Value], key: Key, what: str) -> Value:
    try:
        return recorded[key]
    except KeyError:
        raise BackendError(f"this {what} was not recorded: {str(key)[:120]!r}") from None
