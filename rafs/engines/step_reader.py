"""What a frozen causal model holds of every step of a trace, from one pass: hidden states and surprisal."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rafs.engines.batching import MicroBatcher
from rafs.engines.loading import DEFAULT_THREADS, Precision, load_model, onto_device, window_tokens
from rafs.engines.packed import SLICE_TOKENS, Packed, Pass, pass_inputs, with_cache
from rafs.engines.prm_layouts import LaidOut, StepLayout, written
from rafs.engines.prompt_tokens import PartTokenizer, load_tokenizer
from rafs.engines.reading_layout import READING_LAYOUT
from rafs.engines.surprisal import read_kinds, step_surprisal, token_surprisal
from rafs.engines.token_pooler import N_SIGNS, TokenStates, Weights, read_signs, score
from rafs.engines.trace_reads import sliced_limit
from rafs.step_reading import StepReading
from rafs.types import Abstained, ModelIdentity, Why
from rafs.usage import Meter, Stage

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

MAX_WINDOW_TOKENS = 4096
"""Bound of one trace, for memory and time; later steps are beyond it."""
QUEUE_TOKENS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJob:
    """One trace."""

    trace: Packed
    body: int
    """Where the first step starts."""
    ends: tuple[int, ...]
    """Where the mark of each step stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutcome:
    """The readings of all steps, the tokens that they were read off, and how many passes that took."""

    readings: tuple[StepReading, ...]
    tokens: TokenStates
    passes: int


class TransformersStepReader:
    """A `StepReader` on a causal model of this process; traces run one by one, so that none changes another.

    Every token runs once: P + T(s + 1) of them, in slices where the load-time check finds that exact for the model,
    more urgent work between them; else in one pass.
    """

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        layers: Sequence[int],
        *,
        pooler: Weights | None = None,
        window: int = MAX_WINDOW_TOKENS,
        queue_tokens: int = QUEUE_TOKENS,
    ) -> None:
        """Take over a loaded model.

        Args:
            model: A causal language model in evaluation mode.
            tokenizer: Of that model, with a chat template.
            identity: What the response names.
            layers: Whose output is read; 0 is the embedding.
            pooler: Weights of a network that reads the tokens' states of the last of these layers.
            window: Bound of the tokens of one trace.
            queue_tokens: Bound of the tokens waiting for this model.

        Raises:
            ConfigError: The tokenizer has no chat template, or a line feed is not one token of it.
        """
        self._model = model
        self._identity = identity
        self._layers = tuple(layers)
        self._pooler = pooler
        self._layout = StepLayout(READING_LAYOUT, tokenizer, identity.id)
        self._kinds = read_kinds(tokenizer.tokenizer)
        self._window = min(window_tokens(model), window)
        self._sliced_limit = sliced_limit(model, self._window)
        self._batcher: MicroBatcher[ReadJob, ReadOutcome] = MicroBatcher(
            self._run, name=identity.id, batch_tokens=1, queue_tokens=queue_tokens
        )

    @classmethod
    def load(
        cls,
        folder: Path,
        identity: ModelIdentity,
        layers: Sequence[int] | Callable[[int], Sequence[int]],
        *,
        threads: int = DEFAULT_THREADS,
        dtype: Precision = "bfloat16",
        pooler: Weights | None = None,
        window: int = MAX_WINDOW_TOKENS,
    ) -> "TransformersStepReader":
        """Load model and tokenizer from a local folder, without running any code from there.

        Args:
            folder: Holds the model.
            identity: What the response names.
            layers: Whose output is read, or what names them, given how many there are.
            threads: For torch, process-wide.
            dtype: Precision of the weights.
            pooler: See the constructor.
            window: Bound of the tokens of one trace.

        Raises:
            BackendError: The folder cannot be loaded.
            ConfigError: See the constructor.
        """
        model = onto_device(load_model(folder, "AutoModelForCausalLM", threads=threads, dtype=dtype))
        chosen = layers(int(model.config.get_text_config().num_hidden_layers)) if callable(layers) else layers
        return cls(model, load_tokenizer(folder), identity, chosen, pooler=pooler, window=window)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`."""
        return f"transformers {self._model.dtype} layers={self._layers} window={self._window}"

    @property
    def layers(self) -> tuple[int, ...]:
        """Layers whose output is read."""
        return self._layers

    def weights_sha256(self) -> str:
        """Return a hash of names, shapes and values of all weights, the same for a copy in another file."""
        import torch

        digest = hashlib.sha256()
        for name, weights in sorted(self._model.state_dict().items()):
            digest.update(f"{name} {tuple(weights.shape)} {weights.dtype}\n".encode())
            digest.update(memoryview(weights.contiguous().cpu().view(torch.uint8).numpy()))
        return digest.hexdigest()

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def read(
        self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter
    ) -> Sequence[StepReading | Abstained]:
        """See `StepReader.read`."""
        kept = written(steps[: max(ask, default=-1) + 1])
        laid = self._layout.lay_out(problem, [steps[t] for t in kept], self._window)
        if laid is None:
            unclear = Abstained(why=Why.UNPARSED, detail="the trace spells the mark that ends a step of this model")
            return [unclear] * len(ask)
        outcome = await self._wait_for(laid, meter)
        found = dict(zip(kept, outcome.readings if outcome else (), strict=False))
        blank = Abstained(why=Why.NOT_APPLICABLE, detail="the step is blank")
        too_long = Abstained(why=Why.TOO_LONG, detail=f"the trace passes {self._window} tokens")
        return [found.get(t, too_long if steps[t].strip() else blank) for t in ask]

    async def read_tokens(
        self, problem: str, steps: Sequence[str], meter: Meter
    ) -> tuple[Sequence[StepReading], TokenStates] | None:
        """Read what training needs beside the readings: the states of all tokens.

        Args:
            problem: The problem.
            steps: Its steps; those behind a blank one, or past the model's window, are left out.
            meter: Where cost is counted.

        Returns:
            None where not even the first step can be read.

        Raises:
            BackendError: The model failed.
        """
        whole = list(takewhile(str.strip, steps))
        laid = self._layout.lay_out(problem, whole, self._window)
        outcome = None if laid is None else await self._wait_for(laid, meter)
        return None if outcome is None else (outcome.readings, outcome.tokens)

    async def _wait_for(self, laid: LaidOut, meter: Meter) -> ReadOutcome | None:
        """Run a trace up to the last step within the window; None where there is none."""
        ends = [end for end in laid.reads if end < self._window]
        if not ends:
            return None
        ids = laid.ids[: ends[-1] + 1]
        trace = Packed(trunk=ids, branches=(), give_way=self._batcher.give_way)
        job = ReadJob(trace=trace, body=laid.body, ends=tuple(ends))
        try:
            (outcome,) = await self._batcher.run([(job, len(ids))], meter.caller)
        except asyncio.CancelledError:
            trace.abandoned.set()
            raise
        meter.add(Stage.VERIFY, calls=outcome.passes, tokens=len(ids))
        return outcome

    def _run(self, jobs: Sequence[ReadJob]) -> list[ReadOutcome]:
        return [self._run_one(job) for job in jobs]

    def _run_one(self, job: ReadJob) -> ReadOutcome:
        import torch
        from transformers import DynamicCache

        ids, device = torch.tensor(job.trace.trunk, device=self._model.device), self._model.device
        is_sliced = len(ids) <= self._sliced_limit
        width = SLICE_TOKENS if is_sliced else len(ids)
        cache = DynamicCache()
        states: list[torch.Tensor] = []
        log_p, entropy = (torch.zeros(len(ids) - job.body, device=device) for _ in range(2))
        starts = range(0, len(ids), width)
        with torch.inference_mode():
            for start in starts:
                job.trace.pause()
                stop = min(start + width, len(ids))
                first, last = max(start, job.body - 1), min(stop, len(ids) - 1)  # whose next token belongs to a step
                wanted = torch.arange(first - start, max(last, first) - start, device=device)
                found = self._forward(job.trace.trunk, start, stop, wanted, cache if is_sliced else None)
                states.append(torch.stack([found.hidden_states[layer][0] for layer in self._layers]))  # (L, Q, d)
                if len(wanted):
                    place = slice(first + 1 - job.body, last + 1 - job.body)
                    log_p[place], entropy[place] = token_surprisal(found.logits[0], ids[first + 1 : last + 1])
        found_states, surprise = torch.cat(states, dim=1), (log_p.cpu().numpy(), entropy.cpu().numpy())
        tokens = self._tokens(job, found_states[-1], *surprise)
        readings = self._readings(job, found_states, *surprise, self._pooled(tokens))
        return ReadOutcome(readings=readings, tokens=tokens, passes=len(starts))

    def _forward(self, trunk: Sequence[int], start: int, stop: int, wanted: "torch.Tensor", cache: Any) -> Any:
        """Return the model's output on `trunk[start:stop]`, logits at `wanted` alone; the first where it is empty."""
        import torch

        keep = wanted if len(wanted) else torch.zeros(1, dtype=torch.long, device=self._model.device)
        if cache is None:
            inputs: dict[str, Any] = {"input_ids": torch.tensor([trunk], device=self._model.device), "use_cache": False}
        else:
            inputs = pass_inputs(self._model, trunk, Pass(start=start, stop=stop, branches=()))
            inputs |= with_cache(self._model, cache)
        return self._model(**{**inputs, "logits_to_keep": keep, "output_hidden_states": True})

    def _readings(
        self,
        job: ReadJob,
        states: "torch.Tensor",
        log_p: NDArray[np.float32],
        entropy: NDArray[np.float32],
        pooled: Sequence[float],
    ) -> tuple[StepReading, ...]:
        """Read off each step: states (L, T, d) at its mark and their mean over its tokens, and its surprisal."""
        import torch

        starts = [job.body, *(end + 1 for end in job.ends[:-1])]
        spans = [
            states[:, start : max(end, start + 1)].float().mean(dim=1)
            for start, end in zip(starts, job.ends, strict=True)
        ]
        both = torch.stack([states[:, list(job.ends)].float(), torch.stack(spans, dim=1)], dim=2)  # (L, n, 2, d)
        kinds = self._kinds.of(job.trace.trunk[job.body :])
        statistics = step_surprisal(log_p, entropy, kinds, [end - job.body for end in job.ends])
        rows = both.transpose(0, 1).cpu().numpy()  # (n, L, 2, d)
        return tuple(
            StepReading(states=rows[t], surprisal=statistics[t], pooled=pooled[t]) for t in range(len(job.ends))
        )

    def _tokens(
        self, job: ReadJob, states: "torch.Tensor", log_p: NDArray[np.float32], entropy: NDArray[np.float32]
    ) -> TokenStates:
        signs = read_signs(log_p, entropy, self._kinds.of(job.trace.trunk[job.body :]).is_digit)
        return TokenStates(
            states=states.half().cpu().numpy(),
            signs=np.concatenate([np.zeros((job.body, N_SIGNS), dtype=np.float32), signs]),
            body=job.body,
            ends=np.array(job.ends, dtype=np.int32),
        )

    def _pooled(self, tokens: TokenStates) -> Sequence[float]:
        return [0.0] * len(tokens.ends) if self._pooler is None else score(self._pooler, tokens)
