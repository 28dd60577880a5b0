"""Step probes on a local transformers model: all verdicts of a trace in one forward pass."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rafs.contracts import PromptPart
from rafs.engines.batching import MicroBatcher
from rafs.engines.exactness import PackingPlan, plan_packing
from rafs.engines.label_mass import Labels, label_ids, opinion
from rafs.engines.loading import DEFAULT_THREADS, Precision, load_model
from rafs.engines.packed import Branch, Packed, last_logits
from rafs.engines.prompt_tokens import ChatFrame, PartTokenizer, load_tokenizer
from rafs.errors import ConfigError
from rafs.types import Abstained, LabelMass, ModelIdentity, Why
from rafs.usage import Meter

if TYPE_CHECKING:
    from transformers import PreTrainedModel

STAGE = "verify"
MAX_WINDOW_TOKENS = 8192
"""Bound of one prompt, for memory, where a model's own window is larger."""
MAX_JOB_TOKENS = 1024
"""Bound of one trace with all its questions, 3 seconds of one core for a 135 M model; later steps are beyond it."""
QUEUE_TOKENS = 65_536
"""About a minute of work for a 135 M model on one core; more waiting helps nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOutcome:
    """What one packed job gave: the masses, and what it cost."""

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
    ) -> None:
        """Check which packing is exact for this model (in fp32), then cast and take it over.

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

        Raises:
            ConfigError: No spelling of a label is one token, or `chat` without a chat template.
        """
        self._identity = identity
        self._tokenizer = tokenizer
        self._model = model
        self._frame = _chat_frame(tokenizer, identity.id) if chat else None
        self._yes_ids = label_ids(tokenizer, labels[0])
        self._no_ids = label_ids(tokenizer, labels[1])
        self._window = min(int(model.config.get_text_config().max_position_embeddings), MAX_WINDOW_TOKENS)
        self._job_tokens = job_tokens
        self._plan = plan_packing(model, identity.id)
        if dtype == "bfloat16":
            model.bfloat16()
        self._batcher: MicroBatcher[Packed, ProbeOutcome] = MicroBatcher(
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
        model = load_model(folder, "AutoModelForCausalLM", threads=threads)
        return cls(model, load_tokenizer(folder), identity, **settings)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def plan(self) -> PackingPlan:
        """What the load-time check found exact."""
        return self._plan

    @property
    def strategy(self) -> str:
        """The best exact strategy; a long or sliding-window prompt may use a lower one."""
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
        """See `StepProber.probe`. Costs P + (steps up to the last asked) + len(ask) x q tokens."""
        if not ask:
            return []
        packed, fits = self._pack(head, steps[: max(ask) + 1], tail, ask)
        masses: tuple[LabelMass, ...] = ()
        if packed.branches:
            try:
                (outcome,) = await self._batcher.run([(packed, packed.n_tokens)])
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
        if self._frame is not None:
            head, tail = [self._frame.before, *head], [*tail, self._frame.after]
        trunk, question = self._tokenizer.join(head), tuple(self._tokenizer.join(tail))
        ends: list[int] = []
        for step in steps:
            if len(trunk) <= self._window:  # What lies beyond the window is not worth tokenising.
                trunk += self._tokenizer.join(step)
            ends.append(len(trunk))
        fits = [
            ends[t] + len(question) <= self._window and ends[t] + (rank + 1) * len(question) <= self._job_tokens
            for rank, t in enumerate(ask)
        ]
        leaves = [ends[t] for t, fit in zip(ask, fits, strict=True) if fit]
        branches = tuple(Branch(leaves_at=end, ids=question) for end in leaves)
        return Packed(trunk=tuple(trunk[: max(leaves, default=0)]), branches=branches), fits

    def _run(self, jobs: Sequence[Packed]) -> list[ProbeOutcome]:
        return [self._run_one(job) for job in jobs]

    def _run_one(self, packed: Packed) -> ProbeOutcome:
        strategy = self._plan.choose(packed)
        result = last_logits(self._model, packed, strategy)
        p = result.logits.softmax(dim=-1)  # (n_branches, V)
        yes = p[:, list(self._yes_ids)].sum(dim=-1).tolist()
        no = p[:, list(self._no_ids)].sum(dim=-1).tolist()
        masses = tuple(LabelMass(yes=y, no=n) for y, n in zip(yes, no, strict=True))
        return ProbeOutcome(masses=masses, tokens=result.tokens, passes=result.passes)

    def _too_long(self) -> Abstained:
        limits = f"the window of {self._window} tokens or the {self._job_tokens} tokens that a trace may cost"
        return Abstained(why=Why.TOO_LONG, detail=f"the prompt passes {limits}")


def _chat_frame(tokenizer: PartTokenizer, name: str) -> ChatFrame:
    frame = tokenizer.chat_frame()
    if frame is None:
        raise ConfigError(f"model {name!r} has no chat template; set `chat: false` for it in models.yaml")
    return frame
