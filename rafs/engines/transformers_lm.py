"""Step probes on a local transformers model: all verdicts of a trace in one forward pass."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rafs.contracts import PromptPart
from rafs.engines.batching import MicroBatcher
from rafs.engines.exactness import PackingPlan, plan_packing
from rafs.engines.known_trunks import KNOWN_BYTES, KnownTrunks
from rafs.engines.label_mass import Labels, label_ids, opinion
from rafs.engines.loading import DEFAULT_THREADS, Precision, load_model, onto_device, window_tokens
from rafs.engines.packed import Branch, Packed
from rafs.engines.prompt_tokens import ChatFrame, PartTokenizer, load_tokenizer
from rafs.engines.strategies import last_logits
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, LabelMass, ModelIdentity, Why
from rafs.usage import Meter

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

STAGE = "verify"
MAX_JOB_TOKENS = 1024
"""Bound of one trace with all its questions, 3 seconds of one core for a 135 M model; later steps are beyond it."""
QUEUE_TOKENS = 65_536
"""About a minute of work for a 135 M model on one core; more waiting helps nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeJob:
    """The prompts of one trace, and whose they are."""

    tenant: str
    packed: Packed


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOutcome:
    """What one job gave: a mass for each of its branches, and what it cost."""

    masses: tuple[LabelMass, ...]
    tokens: int
    passes: int


class TransformersProber:
    """A `StepProber` on a causal language model of this process."""

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        *,
        dtype: Precision = "float32",
        labels: Labels = ("Yes", "No"),
        chat: bool = False,
        job_tokens: int = MAX_JOB_TOKENS,
        queue_tokens: int = QUEUE_TOKENS,
        known_bytes: int = KNOWN_BYTES,
    ) -> None:
        """Check which strategy is exact for this model (in fp32), then cast and take it over.

        Args:
            model: In fp32, in evaluation mode.
            tokenizer: Of that model.
            identity: What the response names.
            dtype: bfloat16 is about three times faster where the CPU has AMX, and rounds the verdicts.
            labels: The two replies. Their mass is summed over spellings that are one token: as given, lower and
                upper case, with and without a space before.
            chat: Put the model's own chat template around head ... tail, as one user message.
            job_tokens: Bound of one trace with all its questions; later steps are TOO_LONG.
            queue_tokens: Bound of the tokens waiting for this model.
            known_bytes: Bound of what is kept of judged traces, so that only what is new in them runs; 0 keeps nothing.

        Raises:
            ConfigError: No spelling of a label is one token, or `chat` without a chat template.
        """
        self._identity = identity
        self._tokenizer = tokenizer
        self._model = model
        self._frame = _chat_frame(tokenizer, identity.id) if chat else tokenizer.plain_frame()
        self._yes_ids = label_ids(tokenizer, labels[0])
        self._no_ids = label_ids(tokenizer, labels[1])
        self._window = window_tokens(model)
        self._job_tokens = job_tokens
        self._plan = plan_packing(model, identity.id, min(self._window, job_tokens))
        self._known = KnownTrunks(known_bytes)
        if dtype == "bfloat16":
            model.bfloat16()
        self._batcher: MicroBatcher[ProbeJob, ProbeOutcome] = MicroBatcher(
            self._run, name=identity.id, batch_tokens=1, queue_tokens=queue_tokens
        )

    @classmethod
    def load(
        cls, folder: Path, identity: ModelIdentity, *, threads: int = DEFAULT_THREADS, **settings: Any
    ) -> "TransformersProber":
        """Load the model and tokenizer of a local folder; `settings` as in the constructor.

        Raises:
            BackendError: The folder cannot be loaded.
            ConfigError: See the constructor.
        """
        model = onto_device(load_model(folder, "AutoModelForCausalLM", threads=threads))
        return cls(model, load_tokenizer(folder), identity, **settings)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`."""
        limits = f"window={self._window} job={self._job_tokens}"
        return f"transformers {self._model.dtype} {self.strategy} {self._yes_ids} {self._no_ids} {self._frame} {limits}"

    @property
    def plan(self) -> PackingPlan:
        """What the load-time check found exact."""
        return self._plan

    @property
    def strategy(self) -> str:
        """The best exact strategy; a long trace may use the next."""
        return str(self._plan.exact[0])

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        """See `StepProber.probe`.

        Costs P + (steps up to the last asked) + len(ask) x q tokens, less what is known of the trunk: the step that
        was appended to a trace of the same tenant costs that step and its question.
        """
        if not ask:
            return []
        packed, fits = self._pack(head, steps[: max(ask) + 1], tail, ask)
        masses: tuple[LabelMass, ...] = ()
        if packed.branches:
            try:
                job = ProbeJob(tenant=meter.caller.tenant, packed=packed)
                (outcome,) = await self._batcher.run([(job, packed.n_tokens)], meter.caller)
            except asyncio.CancelledError:
                packed.abandoned.set()
                raise
            meter.add(STAGE, calls=outcome.passes, tokens=outcome.tokens)
            masses = outcome.masses
        found = iter(masses)
        return [opinion(next(found)) if fit else self._too_long() for fit in fits]

    def _pack(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
    ) -> tuple[Packed, list[bool]]:
        """Return the prompts that fit the window, and for each entry of `ask` whether it is one of them."""
        trunk = self._tokenizer.join([self._frame.before, *head])
        question = tuple(self._tokenizer.join([*tail, self._frame.after]))
        ends: list[int] = []
        for step in steps:
            if len(trunk) <= self._window:  # What lies beyond the window is not worth tokenising.
                trunk += self._tokenizer.join(step)
            ends.append(len(trunk))
        fits = [
            # Counted as if every step were asked, so that it does not matter which ones were known already.
            ends[t] + len(question) <= self._window and ends[t] + (t + 1) * len(question) <= self._job_tokens
            for t in ask
        ]
        leaves = [ends[t] for t, fit in zip(ask, fits, strict=True) if fit]
        branches = tuple(Branch(leaves_at=end, ids=question) for end in leaves)
        trunk_ids = tuple(trunk[: max(leaves, default=0)])
        return Packed(trunk=trunk_ids, branches=branches, give_way=self._batcher.give_way), fits

    def _run(self, jobs: Sequence[ProbeJob]) -> list[ProbeOutcome]:
        try:
            return [self._run_one(job.tenant, job.packed) for job in jobs]
        except (RuntimeError, MemoryError):  # Out of memory, most likely: the batch fails, and what is kept makes room.
            self._known.clear()
            raise

    def _run_one(self, tenant: str, packed: Packed) -> ProbeOutcome:
        """Run what is not known of the trunk, and every branch."""
        known = self._known.head(tenant, packed.trunk)
        n_known = 0 if known is None else known.get_seq_length()
        strategy = self._plan.choose(packed.n_tokens - n_known, packed.longest)
        result = last_logits(self._model, packed, strategy, known=known)
        if result.trunk_cache is not None:
            self._known.keep(tenant, packed.trunk, result.trunk_cache)
        masses = tuple(self._masses(result.logits))
        return ProbeOutcome(masses=masses, tokens=result.tokens, passes=result.passes)

    def _masses(self, logits: "torch.Tensor") -> list[LabelMass]:
        p = logits.softmax(dim=-1)  # (n_branches, V)
        yes = p[:, list(self._yes_ids)].sum(dim=-1).tolist()
        no = p[:, list(self._no_ids)].sum(dim=-1).tolist()
        if not all(map(math.isfinite, [*yes, *no])):
            raise BackendError(f"{self._identity.id}: the model's logits are no numbers")
        return [LabelMass(yes=y, no=n) for y, n in zip(yes, no, strict=True)]

    def _too_long(self) -> Abstained:
        limits = f"the window of {self._window} tokens or the {self._job_tokens} tokens that a trace may cost"
        return Abstained(why=Why.TOO_LONG, detail=f"the prompt passes {limits}")


def _chat_frame(tokenizer: PartTokenizer, name: str) -> ChatFrame:
    frame = tokenizer.chat_frame()
    if frame is None:
        raise ConfigError(f"model {name!r} has no chat template to put its prompts in")
    return frame
