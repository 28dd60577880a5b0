"""Likelihoods of replies on a local transformers model: one pass for each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rafs.contracts import PromptPart
from rafs.engines.batching import MicroBatcher
from rafs.engines.likelihood import STAGE
from rafs.engines.loading import window_tokens
from rafs.engines.prompt_tokens import PartTokenizer
from rafs.engines.surprisal import token_surprisal
from rafs.types import Abstained, ModelIdentity, Why
from rafs.usage import Meter

if TYPE_CHECKING:
    from transformers import PreTrainedModel

QUEUE_TOKENS = 65_536
"""About a minute of work for a 135 M model on one core."""

Read = tuple[tuple[int, ...], int]
"""Token ids of a task and a reply, and how many of them are the reply's."""


class TransformersLikelihood:
    """A `Likelihood` on a causal language model of this process."""

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        *,
        queue_tokens: int = QUEUE_TOKENS,
    ) -> None:
        """Take a model in evaluation mode, which may be that of a generator, its tokenizer, and what it is called."""
        self._model, self._tokenizer, self._identity = model, tokenizer, identity
        self._frame = tokenizer.chat_frame() or tokenizer.plain_frame()
        self._window = window_tokens(model)
        self._batcher: MicroBatcher[Read, float] = MicroBatcher(
            self._run, name=identity.id, batch_tokens=1, queue_tokens=queue_tokens
        )

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def logprobs(
        self, task: Sequence[PromptPart], replies: Sequence[str], meter: Meter
    ) -> Sequence[float | Abstained]:
        """See `Likelihood.logprobs`."""
        before = self._tokenizer.join([self._frame.before, *task, self._frame.after])
        read: list[Read | Abstained] = [self._read(before, reply) for reply in replies]
        asked = [(one, len(one[0])) for one in read if not isinstance(one, Abstained)]
        found = iter(await self._batcher.run(asked, meter.caller) if asked else ())
        meter.add(STAGE, calls=len(asked), tokens=sum(size for _, size in asked))
        return [one if isinstance(one, Abstained) else next(found) for one in read]

    def _read(self, before: list[int], reply: str) -> Read | Abstained:
        own = self._tokenizer.ids(PromptPart(text=reply.strip()))
        if not own:
            return Abstained(why=Why.NOT_APPLICABLE, detail="the reply is blank")
        if len(before) + len(own) > self._window:
            return Abstained(why=Why.TOO_LONG, detail=f"task and reply pass the window of {self._window} tokens")
        return (*before, *own), len(own)

    def _run(self, batch: Sequence[Read]) -> list[float]:
        import torch

        sums: list[float] = []
        with torch.inference_mode():
            for ids, n_reply in batch:
                given = torch.tensor([ids], device=self._model.device)
                logits = self._model(input_ids=given, use_cache=False, logits_to_keep=n_reply + 1).logits  # (1, R+1, V)
                log_p, _ = token_surprisal(logits[0, :-1], given[0, -n_reply:])  # (R,)
                sums.append(float(log_p.sum()))
        return sums
