"""A process reward model in this process: every step's score from one causal pass."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rafs.engines.batching import MicroBatcher
from rafs.engines.loading import DEFAULT_THREADS, Precision, load_model, window_tokens
from rafs.engines.prm_heads import ScoreHead, load_head
from rafs.engines.prm_layouts import HeadSpec, LaidOut, PrmLayout, StepLayout, TokenPair, read_verdicts, written
from rafs.engines.prompt_tokens import PartTokenizer, load_tokenizer
from rafs.errors import BackendError
from rafs.types import Abstained, ModelIdentity, Verdict, Why
from rafs.usage import Meter

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

STAGE = "verify"
MAX_WINDOW_TOKENS = 4096
"""Bound of one trace, for memory and time, where a model's own window is larger; later steps are beyond it."""
QUEUE_TOKENS = 65_536


class TransformersRewarder:
    """A `StepRewarder` on a model of this process; traces run one by one, unpadded, so that none changes another."""

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

        Raises:
            ConfigError: The layout does not fit the tokenizer.
        """
        self._model = model
        self._identity = identity
        self._layout = StepLayout(layout, tokenizer, identity.id)
        self._head = head
        self._pair: list[int] = []
        if isinstance(layout.score, TokenPair):
            texts = {"tokens.good": layout.score.good, "tokens.bad": layout.score.bad}
            self._pair = [self._layout.single_id(text, key, identity.id) for key, text in texts.items()]
        self._window = min(window_tokens(model), window)
        self._batcher: MicroBatcher[LaidOut, list[float]] = MicroBatcher(
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
        model = load_model(folder, "AutoModel" if has_head else "AutoModelForCausalLM", threads=threads, dtype=dtype)
        width = int(model.config.get_text_config().hidden_size)
        head = load_head(folder, layout.score, width, model.device) if isinstance(layout.score, HeadSpec) else None
        return cls(model, load_tokenizer(folder), identity, layout, head, window=window)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """See `StepRewarder.reward`. Costs P + T(s + 1) tokens up to the last asked step, one pass for all."""
        steps = steps[: max(ask, default=-1) + 1]
        laid = self._layout.lay_out(problem, [steps[t] for t in written(steps)], self._window)
        if laid is None:
            unclear = Abstained(why=Why.UNPARSED, detail="the trace spells the mark that ends a step of this model")
            return read_verdicts(steps, ask, [], unclear)
        reads = tuple(read for read in laid.reads if read < self._window)
        scores: list[float] = []
        if reads:
            ids = laid.ids[: reads[-1] + 1]
            (scores,) = await self._batcher.run([(LaidOut(ids=ids, reads=reads), len(ids))], meter.caller)
            meter.add(STAGE, calls=1, tokens=len(ids))
        too_long = Abstained(why=Why.TOO_LONG, detail=f"the trace passes {self._window} tokens")
        return read_verdicts(steps, ask, scores, too_long)

    def _run(self, traces: Sequence[LaidOut]) -> list[list[float]]:
        return [self._scores(trace) for trace in traces]

    def _scores(self, trace: LaidOut) -> list[float]:
        import torch

        device = self._model.device
        ids, reads = torch.tensor([trace.ids], device=device), torch.tensor(trace.reads, device=device)  # (1, N), (T,)
        with torch.inference_mode():
            scores = self._from_pair(ids, reads) if self._head is None else self._from_head(self._head, ids, reads)
        found: list[float] = scores.tolist()
        if len(found) != len(trace.reads) or not all(math.isfinite(score) for score in found):
            raise BackendError(f"{self._identity.id}: {len(trace.reads)} steps gave the scores {found[:3]}...")
        return found

    def _from_head(self, head: ScoreHead, ids: "torch.Tensor", reads: "torch.Tensor") -> "torch.Tensor":
        hidden = self._model(input_ids=ids, use_cache=False).last_hidden_state[0]  # (N, d)
        return head.scores(hidden[reads])  # (T,)

    def _from_pair(self, ids: "torch.Tensor", reads: "torch.Tensor") -> "torch.Tensor":
        logits: torch.Tensor = self._model(input_ids=ids, use_cache=False, logits_to_keep=reads).logits[0]  # (T, V)
        return logits[:, self._pair].float().softmax(dim=-1)[:, 0]  # (T,)
