"""One vLLM engine of this process: requests go in as token ids, vLLM batches them and shares their prefixes.

vLLM computes in processes of its own, which import the main module again: a program that starts one needs the
`if __name__ == "__main__"` guard. It pins its own torch: install `rafs[vllm]` in an environment of its own.
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rafs.engines.loading import MAX_WINDOW_TOKENS, Precision
from rafs.errors import BackendError, ConfigError, OverloadedError
from rafs.usage import Caller

if TYPE_CHECKING:
    import torch
    from vllm.v1.engine.async_llm import AsyncLLM

Runner = Literal["generate", "pooling"]

QUEUE_TOKENS = 262_144
"""Bound of prompt tokens waiting for one engine; batch work waits longer than a screen."""
RETRY_AFTER_S = 5.0
"""vLLM does not say when its queue will have room; it works off some thousand tokens in that time."""
CPU_BLOCK_TOKENS = 32
"""The smallest block that vLLM's attention takes on a CPU; prefixes are shared in whole blocks, so small is exact."""
CUDA_BLOCK_TOKENS = 16
CPU_CACHE_GIB = "2"
"""Of keys and values; vLLM's own choice grows with the machine's memory, which others use too."""
CPU_BATCH_TOKENS = 4096
"""Of all prompts in one step on a CPU, where the window is smaller: vLLM's own choice there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """What came after one prompt."""

    ids: tuple[int, ...]
    ended: bool
    """Whether the model ended the text; else it was cut."""
    tokens: int
    """Prompt and new tokens that ran, less those found in the prefix cache."""
    logprobs: Mapping[int, float]
    """Natural log-probability of the first new token being each of those asked for."""
    logprob: float | None = None
    """Of all new tokens, at temperature 1; None where some of the first one were asked for instead."""


class VllmEngine:
    """Runs one model; used from one event loop."""

    def __init__(self, engine: "AsyncLLM", name: str) -> None:
        """Take over a running engine; `name` stands in messages."""
        self._engine = engine
        self._name = name
        self._numbers = count()

    @classmethod
    def start(
        cls,
        folder: Path,
        name: str,
        *,
        dtype: Precision = "float32",
        runner: Runner = "generate",
        window: int = MAX_WINDOW_TOKENS,
    ) -> "VllmEngine":
        """Load the model of a local folder and wait until its processes are ready: 15 to 60 s on a CPU.

        Args:
            folder: Holds config.json and safetensors.
            name: Of the model, for messages.
            dtype: Precision of weights and activations.
            runner: `generate` for a causal language model, `pooling` for one that is read token by token.
            window: Bound of prompt and new tokens, where the model's own window is larger.

        Raises:
            ConfigError: vLLM is not installed here.
            BackendError: It cannot run this model.
        """
        if find_spec("vllm") is None:
            raise ConfigError(
                f"model {name!r}: got engine: vllm, but vllm is not installed: pip install 'rafs[vllm]' in an "
                "environment of its own, since it pins its own torch"
            )
        _set_environment()
        from vllm.v1.engine.async_llm import AsyncLLM

        try:
            engine = AsyncLLM.from_engine_args(_arguments(folder, dtype, runner, window))
        except (OSError, ValueError, KeyError, RuntimeError, MemoryError) as error:
            raise BackendError(f"vLLM cannot run the model {name!r} in {str(folder)!r}: {error}") from error
        return cls(engine, name)

    @property
    def window(self) -> int:
        """Prompt and new tokens that one request may have."""
        return int(self._engine.model_config.max_model_len)

    @property
    def fingerprint(self) -> str:
        """Version and precision."""
        from vllm import __version__

        return f"vllm {__version__} {self._engine.model_config.dtype}"

    @property
    def waiting(self) -> int:
        """Requests that wait or run."""
        return int(self._engine.get_num_unfinished_requests())

    def close(self) -> None:
        """End its processes."""
        self._engine.shutdown()
        del self._engine  # it shuts down once more when it goes, and at the interpreter's end that fails loudly

    async def complete(
        self,
        prompt: Sequence[int],
        caller: Caller,
        *,
        max_new_tokens: int = 1,
        temperature: float = 0.0,
        top_p: float = 1.0,
        stop: Sequence[str] = (),
        seed: int | None = None,
        logprob_ids: Sequence[int] = (),
    ) -> Completed:
        """Return what comes after `prompt`.

        Args:
            prompt: Token ids; with the new tokens they fit `window`.
            caller: Whose it is: prefixes are not shared between tenants, and the more urgent runs first.
            max_new_tokens: Bound of the text.
            temperature: 0 is greedy.
            top_p: Tokens are drawn from the fewest likeliest ones with this probability together.
            stop: Texts that end it; its token ids go on to the end of the stop.
            seed: Of the draw.
            logprob_ids: Tokens whose log-probability as the first new one is asked for.

        Raises:
            BackendError: The engine failed.
            OverloadedError: Its queue is full.
        """
        from vllm import SamplingParams

        parameters = SamplingParams(
            max_tokens=max_new_tokens,
            temperature=temperature,
            top_p=top_p,
            stop=list(stop) or None,
            seed=seed,
            logprobs=None if logprob_ids else 0,  # 0 is the drawn token's own
            logprob_token_ids=list(logprob_ids) or None,
            detokenize=bool(stop),
        )
        requested = self._engine.generate(
            _prompt(prompt, caller), parameters, self._next_id(), priority=int(caller.priority)
        )
        reply = await self._last(requested)
        output = reply.outputs[0]
        first = output.logprobs[0] if output.logprobs else {}
        logprobs = {index: float(found.logprob) for index, found in first.items()}
        if any(isnan(logprobs.get(index, nan)) for index in logprob_ids):
            raise BackendError(f"{self._name}: vLLM gave no log-probability of some tokens asked for")
        return Completed(
            ids=tuple(output.token_ids),
            ended=output.finish_reason == "stop",
            tokens=len(prompt) + len(output.token_ids) - (reply.num_cached_tokens or 0),
            logprobs=logprobs,
            logprob=None if logprob_ids else output.cumulative_logprob,
        )

    async def classify_tokens(self, prompt: Sequence[int], caller: Caller) -> "torch.Tensor":
        """Return the logits of the model's head at every token of `prompt`, shape (N, classes), fp32.

        Args:
            prompt: Token ids that fit `window`.
            caller: Whose it is.

        Raises:
            BackendError: The engine failed.
            OverloadedError: Its queue is full.
        """
        from vllm import PoolingParams

        parameters: Any = PoolingParams(task="token_classify", use_activation=False)
        requested = self._engine.encode(
            _prompt(prompt, caller), parameters, self._next_id(), priority=int(caller.priority)
        )
        rows: torch.Tensor = (await self._last(requested)).outputs.data
        return rows.float()

    async def _last(self, replies: AsyncIterator[Any]) -> Any:
        """Return the last reply; vLLM drops the request where the caller is cancelled."""
        from vllm.exceptions import MaxQueuedTokensError, QueueOverflowError, VLLMError

        last: Any = None
        try:
            async for reply in replies:
                last = reply
        except (QueueOverflowError, MaxQueuedTokensError) as error:
            raise OverloadedError(f"{self._name}: vLLM's queue is full", retry_after_s=RETRY_AFTER_S) from error
        except (VLLMError, ValueError) as error:
            raise BackendError(f"{self._name}: vLLM failed: {error}") from error
        if last is None:
            raise BackendError(f"{self._name}: vLLM gave no reply")
        return last

    def _next_id(self) -> str:
        return f"rafs-{next(self._numbers)}"


def _arguments(folder: Path, dtype: Precision, runner: Runner, window: int) -> Any:
    """Return vLLM's arguments for one model.

    On a CPU a prompt is read in one step, so a step takes the longest one: where a prompt was cut into chunks, vLLM
    winds back the generator of a seeded draw, which PyTorch's generator for CPUs cannot do, and the engine dies.
    """
    from transformers import AutoConfig
    from vllm import AsyncEngineArgs
    from vllm.config import PoolerConfig
    from vllm.platforms import current_platform

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    own_window = getattr(config.get_text_config(), "max_position_embeddings", None) or window
    on_cpu = current_platform.is_cpu()
    n_window = min(int(own_window), window)
    return AsyncEngineArgs(
        model=str(folder),
        dtype=dtype,
        runner=runner,
        # All tokens: where a step ends is for the layout to say, not for the model's class.
        pooler_config=PoolerConfig(tok_pooling_type="ALL") if runner == "pooling" else None,
        max_model_len=n_window,
        enable_chunked_prefill=False if on_cpu else None,  # None is vLLM's own choice
        max_num_batched_tokens=max(n_window, CPU_BATCH_TOKENS) if on_cpu else None,
        block_size=CPU_BLOCK_TOKENS if on_cpu else CUDA_BLOCK_TOKENS,
        enable_prefix_caching=runner == "generate",  # every token's state is asked of a reward model
        max_num_queued_tokens=QUEUE_TOKENS,
        scheduling_policy="priority",
        enforce_eager=on_cpu,  # compiling takes longer there than a batch of traces
        load_format="safetensors",
        trust_remote_code=False,
        disable_log_stats=True,
    )


def _prompt(ids: Sequence[int], caller: Caller) -> Any:
    """Return a prompt whose prefix is shared within the tenant alone; vLLM takes no empty salt."""
    return {"prompt_token_ids": list(ids), **({"cache_salt": caller.tenant} if caller.tenant else {})}


def _set_environment() -> None:
    """Set what vLLM reads at import and in its processes, where the operator has not."""
    for name, value in {
        "VLLM_NO_USAGE_STATS": "1",  # it would report every start to its makers
        "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # stdout belongs to the command's result
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_CPU_KVCACHE_SPACE": CPU_CACHE_GIB,
    }.items():
        os.environ.setdefault(name, value)
