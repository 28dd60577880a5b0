"""A process reward model in this process: every step's score from one reading of the trace."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rafs.engines.batching import MicroBatcher
from rafs.engines.known_trunks import KNOWN_BYTES, KnownTrunks
from rafs.engines.loading import DEFAULT_THREADS, Precision, load_model, onto_device, window_tokens
from rafs.engines.packed import Packed
from rafs.engines.prm_heads import ScoreHead, load_head
from rafs.engines.prm_layouts import HeadSpec, LaidOut, PrmLayout, StepLayout
from rafs.engines.prompt_tokens import PartTokenizer, load_tokenizer
from rafs.engines.trace_reads import TraceReads, read_sliced, read_whole, sliced_limit
from rafs.types import ModelIdentity, Verdict
from rafs.usage import Meter

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

STAGE = "verify"
MAX_WINDOW_TOKENS = 4096
"""Bound of one trace, for memory and time, where a model's own window is larger; later steps are beyond it."""
QUEUE_TOKENS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardJob:
    """One trace, and whose it is."""

    tenant: str
    trace: Packed
    reads: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardOutcome:
    """Scores at the places read, and what they cost."""

    scores: tuple[float, ...]
    tokens: int
    passes: int


class TransformersRewarder:
    """A `StepRewarder` on a model of this process; traces run one by one, unpadded, so that none changes another.

    Where the load-time check finds it exact for the model, a trace runs in slices, more urgent work between them, and
    goes on from what is known of it. Else it is one pass each time, which nothing interrupts.
    """

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        layout: PrmLayout,
        head: ScoreHead | None = None,
        *,
        window: int = MAX_WINDOW_TOKENS,
        queue_tokens: int = QUEUE_TOKENS,
        known_bytes: int = KNOWN_BYTES,
    ) -> None:
        """Take over a loaded model.

        Args:
            model: In evaluation mode: a causal language model where the score is read from two tokens, else the
                model without a language model head.
            tokenizer: Of that model.
            identity: What the response names.
            layout: How it reads a trace.
            head: Where the layout's score is a head.
            window: Bound of the tokens of one trace.
            queue_tokens: Bound of the tokens waiting for this model.
            known_bytes: Bound of what is kept of judged traces, so that only what is new in them runs; 0 keeps nothing.

        Raises:
            ConfigError: The layout does not fit the tokenizer.
        """
        self._model = model
        self._identity = identity
        self._layout = StepLayout(layout, tokenizer, identity.id)
        self._head = head
        self._window = min(window_tokens(model), window)
        self._sliced_limit = sliced_limit(model, self._window)
        self._known = KnownTrunks(known_bytes)
        self._batcher: MicroBatcher[RewardJob, RewardOutcome] = MicroBatcher(
            self._run, name=identity.id, batch_tokens=1, queue_tokens=queue_tokens
        )

    @classmethod
    def load(
        cls,
        folder: Path,
        identity: ModelIdentity,
        layout: PrmLayout,
        *,
        threads: int = DEFAULT_THREADS,
        dtype: Precision = "float32",
        window: int = MAX_WINDOW_TOKENS,
    ) -> "TransformersRewarder":
        """Load the model, its head and its tokenizer from a local folder, without running any code from there.

        Raises:
            BackendError: The folder cannot be loaded, or weights are missing or of the wrong shape.
            ConfigError: See the constructor.
        """
        has_head = isinstance(layout.score, HeadSpec)
        auto_class = "AutoModel" if has_head else "AutoModelForCausalLM"
        model = onto_device(load_model(folder, auto_class, threads=threads, dtype=dtype))
        width = int(model.config.get_text_config().hidden_size)
        head = load_head(folder, layout.score, width, model.device) if isinstance(layout.score, HeadSpec) else None
        return cls(model, load_tokenizer(folder), identity, layout, head, window=window)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`."""
        return f"transformers {self._model.dtype} {self._layout.layout} window={self._window}"

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """See `StepRewarder.reward`.

        Costs P + T(s + 1) tokens up to the last asked step, less what is known before the first asked one: the step
        that was appended to a trace of the same tenant costs s + 1.
        """

        async def score(trace: LaidOut) -> Sequence[float]:
            packed = Packed(trunk=trace.ids, branches=(), give_way=self._batcher.give_way)
            job = RewardJob(tenant=meter.caller.tenant, trace=packed, reads=trace.reads)
            try:
                (outcome,) = await self._batcher.run([(job, len(trace.ids))], meter.caller)
            except asyncio.CancelledError:
                packed.abandoned.set()
                raise
            meter.add(STAGE, calls=outcome.passes, tokens=outcome.tokens)
            return outcome.scores

        return await self._layout.judge(problem, steps, ask, self._window, score)

    def _run(self, jobs: Sequence[RewardJob]) -> list[RewardOutcome]:
        try:
            return [self._run_one(job) for job in jobs]
        except (RuntimeError, MemoryError):  # Out of memory, most likely: the batch fails, and what is kept makes room.
            self._known.clear()
            raise

    def _run_one(self, job: RewardJob) -> RewardOutcome:
        found = self._read(job)
        if found.cache is not None:
            self._known.keep(job.tenant, job.trace.trunk, found.cache)
        scores = self._scores(found.rows)
        return RewardOutcome(scores=tuple(scores.tolist()), tokens=found.tokens, passes=found.passes)

    def _read(self, job: RewardJob) -> TraceReads:
        if len(job.trace.trunk) > self._sliced_limit:
            return read_whole(self._model, job.trace, job.reads)
        known = self._known.head(job.tenant, job.trace.trunk[: job.reads[0]])
        return read_sliced(self._model, job.trace, job.reads, known=known)

    def _scores(self, rows: "torch.Tensor") -> "torch.Tensor":
        """Return P(correct), (T,), from logits (T, V) or hidden states (T, d)."""
        if self._head is None:
            return rows[:, self._layout.pair].float().softmax(dim=-1)[:, 0]
        return self._head.scores(rows)
