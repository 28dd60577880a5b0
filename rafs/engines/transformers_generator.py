"""A generator on a local transformers model: samples and continuations decoded together."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rafs.contracts import PromptPart
from rafs.engines.batching import MicroBatcher
from rafs.engines.decoding import Decoded, DecodeJob, Decoding, Row, decode
from rafs.engines.exactness import checked_tokens, plan_packing, plan_prefill
from rafs.engines.loading import DEFAULT_THREADS, Precision, load_model, onto_device, window_tokens
from rafs.engines.prompt_tokens import PartTokenizer, load_tokenizer
from rafs.engines.row_cache import Prefill, cache_token_bytes, cut_rows, prefill_tokens
from rafs.engines.solve_prompt import solve_parts
from rafs.types import ModelIdentity, Sampled
from rafs.usage import Meter

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SAMPLE_STAGE = "sample"
CONTINUE_STAGE = "counterfactual"
EDIT_STAGE = "edit"
BATCH_ROWS = 16
"""Rows decoded together; measured on a 246 M model, 10 -> 49 tokens/s from one row to 16."""
MAX_NEW_TOKENS = 512
TEMPERATURE = 0.7
QUEUE_TOKENS = 262_144
CACHE_BYTES = 2 * 2**30
"""Of the keys and values of the rows decoded together: 16 rows of 2800 tokens of a 135 M model in fp32. While rows of
several jobs are joined, both copies exist; two or three rows run as four. One row that is larger is decoded alone, as
long as the window."""


class TransformersGenerator:
    """A `Generator` on a causal language model of this process."""

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        *,
        dtype: Precision = "float32",
        temperature: float = TEMPERATURE,
        top_p: float = 1.0,
        max_new_tokens: int = MAX_NEW_TOKENS,
        stop: Sequence[str] = (),
        queue_tokens: int = QUEUE_TOKENS,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """Check how prompts may share a prefill (in fp32), then cast and take the model over.

        Args:
            model: In fp32, in evaluation mode.
            tokenizer: Of that model; its chat template, where it has one, frames the problem.
            identity: What the response names.
            dtype: bfloat16 is faster where the CPU has AMX.
            temperature: 0 is greedy: then there is one sample.
            top_p: Tokens are drawn from the fewest likeliest ones with this probability together.
            max_new_tokens: Bound of one sample; longer ones are cut and flagged.
            stop: Texts that end a sample, and are no part of it.
            queue_tokens: Bound of prompt and new tokens waiting for this model.
            cache_bytes: Bound of the keys and values of rows decoded together; long rows are fewer at once.
        """
        self._identity, self._model, self._tokenizer = identity, model, tokenizer
        self._chat, self._plain = tokenizer.chat_frame(), tokenizer.plain_frame()
        self._max_new_tokens = max_new_tokens
        self._stop = stop
        self._window = window_tokens(model)
        packing = plan_packing(model, identity.id, self._window)
        prefill = plan_prefill(model, identity.id, packing, self._window)
        self._checked = checked_tokens(model, self._window)
        if dtype == "bfloat16":
            model.bfloat16()
        self._cache_tokens = cache_bytes // cache_token_bytes(model, model.dtype.itemsize)
        self._batcher: MicroBatcher[DecodeJob, Decoded] = MicroBatcher(
            self._run,
            name=identity.id,
            batch_tokens=BATCH_ROWS * max_new_tokens,  # A row costs its prompt besides: these are BATCH_ROWS at most.
            queue_tokens=queue_tokens,
            slice_tokens=BATCH_ROWS * max_new_tokens,  # Decoding gives way after every token.
        )
        self._decoding = Decoding(
            temperature=temperature,
            end_ids=_end_ids(model, tokenizer),
            top_p=top_p,
            is_stopped=partial(_has_stop, tokenizer, stop) if stop else None,
            prefill=prefill,
            give_way=self._batcher.give_way,
        )

    @classmethod
    def load(
        cls, folder: Path, identity: ModelIdentity, *, threads: int = DEFAULT_THREADS, **settings: Any
    ) -> "TransformersGenerator":
        """Load the model and tokenizer of a local folder; `settings` as in the constructor.

        Raises:
            BackendError: The folder cannot be loaded.
        """
        model = onto_device(load_model(folder, "AutoModelForCausalLM", threads=threads))
        return cls(model, load_tokenizer(folder), identity, **settings)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def prefill(self) -> Prefill:
        """How prompts come into the cache, by the load-time check; row by row where a text is longer than it tells."""
        return self._decoding.prefill

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        """See `Generator.sample`. A problem that fills the window gives empty, truncated samples.

        Sample i depends on (seed, i) alone, up to the last digits of the logits; see `decode`.
        """
        prompt = tuple(self._tokenizer.join(solve_parts(problem, self._chat, self._plain)))
        indices = sample_indices(first, n, self._decoding.temperature)
        return await self._draw([prompt] * len(indices), [row_seed(seed, 0, i) for i in indices], SAMPLE_STAGE, meter)

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        """See `Generator.continue_trace`. What the prefixes share is run once."""
        opening = self._tokenizer.join(solve_parts(problem, self._chat, self._plain))
        prompts = [(*opening, *self._tokenizer.ids(PromptPart(text=prefix))) for prefix in prefixes]
        return await self._draw_each(prompts, n, seed, CONTINUE_STAGE, meter, max_tokens)

    async def reply(
        self, tasks: Sequence[Sequence[PromptPart]], n: int, seed: int, meter: Meter, max_new_tokens: int
    ) -> Sequence[Sequence[Sampled]]:
        """See `Instructed.reply`."""
        frame = self._chat or self._plain
        prompts = [tuple(self._tokenizer.join([frame.before, *task, frame.after])) for task in tasks]
        return await self._draw_each(prompts, n, seed, EDIT_STAGE, meter, max_new_tokens)

    async def _draw_each(
        self,
        prompts: Sequence[tuple[int, ...]],
        n: int,
        seed: int,
        stage: str,
        meter: Meter,
        max_new_tokens: int | None,
    ) -> list[list[Sampled]]:
        rows = [prompt for prompt in prompts for _ in range(n)]
        seeds = [row_seed(seed, j, i) for j in range(len(prompts)) for i in range(n)]
        drawn = await self._draw(rows, seeds, stage, meter, max_new_tokens)
        return [drawn[j * n : (j + 1) * n] for j in range(len(prompts))]

    async def _draw(
        self,
        prompts: Sequence[tuple[int, ...]],
        seeds: Sequence[int],
        stage: str,
        meter: Meter,
        max_new_tokens: int | None = None,
    ) -> list[Sampled]:
        most = min(self._max_new_tokens, max_new_tokens or self._max_new_tokens)
        room = [min(most, self._window - len(prompt)) for prompt in prompts]
        fitting = [place for place, left in enumerate(room) if left > 0]
        rows = [Row(prompt=prompts[at], seed=seeds[at], max_new_tokens=room[at]) for at in fitting]
        cuts = cut_rows([(1, row.n_tokens) for row in rows], BATCH_ROWS, self._cache_tokens)
        jobs = [DecodeJob(rows=tuple(rows[cut])) for cut in cuts]
        try:
            decoded = await self._batcher.run([(job, self._cost(job)) for job in jobs], meter.caller)
        except asyncio.CancelledError:
            for job in jobs:
                job.abandoned.set()
            raise
        meter.add(stage, calls=len(rows), tokens=sum(each.tokens for each in decoded))
        texts = [
            Sampled(
                text=before_stop(self._tokenizer.text(ids), self._stop),
                truncated=not ended,
                logprob=logprob,
                n_tokens=length,
            )
            for each in decoded
            for ids, ended, logprob, length in zip(each.rows, each.ended, each.logprobs, each.lengths, strict=True)
        ]
        found = dict(zip(fitting, texts, strict=True))
        return [found.get(at, Sampled(text="", truncated=True)) for at in range(len(prompts))]

    def _run(self, jobs: Sequence[DecodeJob]) -> list[Decoded]:
        cuts = cut_rows([job.size for job in jobs], BATCH_ROWS, self._cache_tokens)
        return [drawn for cut in cuts for drawn in self._decode(jobs[cut])]

    def _decode(self, jobs: Sequence[DecodeJob]) -> list[Decoded]:
        longest = max(job.size[1] for job in jobs)
        return decode(self._model, jobs, replace(self._decoding, prefill=self._prefill_of(longest)))

    def _prefill_of(self, n_tokens: int) -> Prefill:
        return self.prefill if n_tokens <= self._checked else Prefill.ALONE

    def _cost(self, job: DecodeJob) -> int:
        prompts = prefill_tokens([row.prompt for row in job.rows], self._prefill_of(job.size[1]))
        return prompts + sum(row.max_new_tokens for row in job.rows)


def sample_indices(first: int, n: int, temperature: float) -> range:
    """Return which samples there are of first to first + n - 1: all, or of greedy decoding sample 0 alone."""
    return range(first, first + n if temperature > 0 else min(first + n, 1))


def before_stop(text: str, stop: Sequence[str]) -> str:
    """Return the text up to the first of the stops in it."""
    return text[: min((at for one in stop if (at := text.find(one)) >= 0), default=len(text))]


def _has_stop(tokenizer: PartTokenizer, stop: Sequence[str], ids: Sequence[int]) -> bool:
    """Whether the last token ended a stop; no token is less than a byte, so that few of the last ones hold it."""
    tail = tokenizer.text(ids[-1 - max(len(one.encode()) for one in stop) :])
    return any(one in tail for one in stop)


def row_seed(seed: int, prefix: int, sample: int) -> int:
    """Return the seed of one row; a string seed of `random.Random` mixes all three."""
    return random.Random(f"{seed}/{prefix}/{sample}").getrandbits(63)


def _end_ids(model: "PreTrainedModel", tokenizer: PartTokenizer) -> frozenset[int]:
    """Return the tokens that end a text: the model's own list and the tokenizer's."""
    configured: Any = getattr(model.generation_config, "eos_token_id", None)
    listed = configured if isinstance(configured, list) else [configured]
    ids = {*listed, tokenizer.tokenizer.eos_token_id}
    return frozenset(int(each) for each in ids if each is not None)
