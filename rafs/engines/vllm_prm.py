"""A process reward model on a vLLM engine of this process, for batch work."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rafs.engines.loading import Precision
from rafs.engines.prm_heads import ScoreHead
from rafs.engines.prm_layouts import HeadSpec, LaidOut, PrmLayout, StepLayout
from rafs.engines.prompt_tokens import PartTokenizer, load_tokenizer
from rafs.engines.server_connection import run_together
from rafs.engines.transformers_prm import MAX_WINDOW_TOKENS, STAGE
from rafs.engines.vllm_engine import Runner, VllmEngine
from rafs.errors import BackendError, ConfigError
from rafs.types import ModelIdentity, Verdict
from rafs.usage import Meter

HEADS: Mapping[str, tuple[str, ...]] = {"Qwen2ForProcessRewardModel": ("score.0", "score.2")}
"""Architectures whose score head vLLM runs, and the head's layers; of others it refuses to load the weights."""


class VllmRewarder:
    """A `StepRewarder`.

    A head is read from one pooling request for the whole trace. Two tokens are read from one request for each step,
    all at once, whose prefixes vLLM shares.
    """

    def __init__(
        self,
        engine: VllmEngine,
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        layout: PrmLayout,
    ) -> None:
        """Keep the engine.

        Args:
            engine: Of the model: pooling where the layout's score is a head, else generating.
            tokenizer: Of its model.
            identity: What the response names.
            layout: How the model reads a trace.

        Raises:
            ConfigError: The layout does not fit the tokenizer.
        """
        self._engine = engine
        self._identity = identity
        self._layout = StepLayout(layout, tokenizer, identity.id)
        # vLLM gives the logits of its last layer; what they mean is left.
        self._head = ScoreHead(spec=layout.score, layers=()) if isinstance(layout.score, HeadSpec) else None

    @classmethod
    def load(
        cls,
        folder: Path,
        identity: ModelIdentity,
        layout: PrmLayout,
        *,
        dtype: Precision = "float32",
        window: int = MAX_WINDOW_TOKENS,
    ) -> "VllmRewarder":
        """Start an engine on a local folder.

        Raises:
            BackendError: vLLM cannot run it.
            ConfigError: vLLM is not installed here, it does not run this head, or see the constructor.
        """
        runner: Runner = "generate"
        if isinstance(layout.score, HeadSpec):
            runner = "pooling"
            _check_head(folder, layout.score, identity.id)
        engine = VllmEngine.start(folder, identity.id, dtype=dtype, runner=runner, window=window)
        try:
            return cls(engine, load_tokenizer(folder), identity, layout)
        except BaseException:  # Whatever it was, its processes must not outlive it.
            engine.close()
            raise

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`."""
        return f"{self._engine.fingerprint} {self._layout.layout} window={self._engine.window}"

    def close(self) -> None:
        """End the engine."""
        self._engine.close()

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """See `StepRewarder.reward`."""
        window = self._engine.window - 1  # vLLM wants room for a new token, also where none is asked for

        async def score(trace: LaidOut) -> list[float]:
            if self._head is None:
                return await self._from_pair(trace, meter)
            return await self._from_head(self._head, trace, meter)

        return await self._layout.judge(problem, steps, ask, window, score)

    async def _from_head(self, head: ScoreHead, trace: LaidOut, meter: Meter) -> list[float]:
        rows = await self._engine.classify_tokens(trace.ids, meter.caller)  # (N, classes)
        meter.add(STAGE, calls=1, tokens=len(trace.ids))
        if len(rows) != len(trace.ids):
            raise BackendError(f"{self._identity.id}: {len(trace.ids)} tokens gave {len(rows)} rows")
        found: list[float] = head.scores(rows[list(trace.reads)]).tolist()
        return found

    async def _from_pair(self, trace: LaidOut, meter: Meter) -> list[float]:
        good, bad = self._layout.pair
        prompts = [trace.ids[: read + 1] for read in trace.reads]
        replies = await run_together(
            [self._engine.complete(prompt, meter.caller, logprob_ids=self._layout.pair) for prompt in prompts]
        )
        meter.add(STAGE, calls=len(replies), tokens=sum(reply.tokens for reply in replies))
        # Softmax over the two: the sigmoid of the difference of their log-probabilities, which are finite.
        return [1 / (1 + math.exp(min(reply.logprobs[bad] - reply.logprobs[good], 700.0))) for reply in replies]


def _check_head(folder: Path, spec: HeadSpec, name: str) -> None:
    """Refuse a head before the engine starts, which would say less clearly that it does not know it."""
    try:
        (architecture,) = json.loads((folder / "config.json").read_text("utf-8"))["architectures"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BackendError(f"{name}: {str(folder)!r} has no config.json that names one architecture") from error
    if HEADS.get(architecture) != spec.layers:
        allowed = "; ".join(f"{known} with {', '.join(layers)}" for known, layers in HEADS.items())
        raise ConfigError(
            f"model {name!r}: engine: got vllm for {architecture} with the head {', '.join(spec.layers)}, "
            f"allowed {allowed}; set engine: transformers"
        )
