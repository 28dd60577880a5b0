"""A generator and a step prober on a vLLM engine of this process, for batch work."""

from collections.abc import Sequence
from math import exp

from rafs.contracts import PromptPart
from rafs.engines.label_mass import Labels, label_ids, opinion
from rafs.engines.prompt_tokens import PartTokenizer
from rafs.engines.server_connection import run_together
from rafs.engines.solve_prompt import solve_parts
from rafs.engines.transformers_generator import EDIT_STAGE, before_stop, row_seed, sample_indices
from rafs.engines.vllm_engine import Completed, VllmEngine
from rafs.errors import ConfigError
from rafs.types import Abstained, LabelMass, ModelIdentity, Sampled, Why
from rafs.usage import Caller, Meter

VERIFY_STAGE = "verify"
SAMPLE_STAGE = "sample"
CONTINUE_STAGE = "counterfactual"
MAX_NEW_TOKENS = 1024
TEMPERATURE = 0.7


class VllmProber:
    """A `StepProber`: one request per probe, all at once, and vLLM's prefix cache shares the trunk."""

    def __init__(
        self,
        engine: VllmEngine,
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        *,
        labels: Labels = ("Yes", "No"),
        chat: bool = False,
    ) -> None:
        """Keep the engine, which may be shared.

        Args:
            engine: Of a causal language model.
            tokenizer: Of that model.
            identity: What the response names.
            labels: The two replies, summed over their spellings of one token.
            chat: Put the model's own chat template around the prompt, as one user message.

        Raises:
            ConfigError: No spelling of a label is one token, or `chat` without a chat template.
        """
        self._engine = engine
        self._tokenizer = tokenizer
        self._identity = identity
        frame = tokenizer.chat_frame() if chat else tokenizer.plain_frame()
        if frame is None:
            raise ConfigError(f"model {identity.id!r} has no chat template to put its prompts in")
        self._frame = frame
        self._yes_ids = label_ids(tokenizer, labels[0])
        self._no_ids = label_ids(tokenizer, labels[1])

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`."""
        return f"{self._engine.fingerprint} {self._yes_ids} {self._no_ids} {self._frame} window={self._engine.window}"

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        """See `StepProber.probe`.

        Costs P + T(s + q) tokens, and what of each prefix lies past its last whole block: half a block on average.
        """
        trunk = self._tokenizer.join([self._frame.before, *head])
        question = self._tokenizer.join([*tail, self._frame.after])
        prompts: dict[int, list[int]] = {}
        for t, step in enumerate(steps[: max(ask, default=-1) + 1]):
            if len(trunk) < self._engine.window:  # What lies beyond the window is not worth tokenising.
                trunk = [*trunk, *self._tokenizer.join(step)]
            prompts[t] = [*trunk, *question]
        # Shortest first: what a prompt shares with the one before counts as cached once that one is scheduled.
        asked = [t for t in sorted(set(ask)) if len(prompts[t]) < self._engine.window]
        done = await run_together([self._ask(prompts[t], meter.caller) for t in asked])
        meter.add(VERIFY_STAGE, calls=len(done), tokens=sum(each.tokens for each in done))
        found = {t: self._opinion(each) for t, each in zip(asked, done, strict=True)}
        return [found.get(t) or self._too_long(len(prompts[t])) for t in ask]

    async def _ask(self, prompt: Sequence[int], caller: Caller) -> Completed:
        return await self._engine.complete(prompt, caller, logprob_ids=(*self._yes_ids, *self._no_ids))

    def _opinion(self, reply: Completed) -> LabelMass | Abstained:
        yes, no = (sum(exp(reply.logprobs[index]) for index in ids) for ids in (self._yes_ids, self._no_ids))
        return opinion(LabelMass(yes=yes, no=no))

    def _too_long(self, n_tokens: int) -> Abstained:
        return Abstained(why=Why.TOO_LONG, detail=f"{n_tokens} tokens or more, below {self._engine.window} are taken")


class VllmGenerator:
    """A `Generator`: one request per text, all at once; vLLM batches them and runs what their prompts share once."""

    def __init__(
        self,
        engine: VllmEngine,
        tokenizer: PartTokenizer,
        identity: ModelIdentity,
        *,
        temperature: float = TEMPERATURE,
        top_p: float = 1.0,
        max_new_tokens: int = MAX_NEW_TOKENS,
        stop: Sequence[str] = (),
    ) -> None:
        """Keep the engine, which may be shared.

        Args:
            engine: Of a causal language model.
            tokenizer: Of that model; its chat template, where it has one, frames the problem.
            identity: What the response names.
            temperature: 0 is greedy: then there is one sample.
            top_p: Tokens are drawn from the fewest likeliest ones with this probability together.
            max_new_tokens: Bound of one sample; longer ones are cut and flagged.
            stop: Texts that end a sample, and are no part of it.
        """
        self._engine = engine
        self._tokenizer = tokenizer
        self._identity = identity
        self._chat, self._plain = tokenizer.chat_frame(), tokenizer.plain_frame()
        self._temperature = temperature
        self._top_p = top_p
        self._max_new_tokens = max_new_tokens
        self._stop = stop

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        """See `Generator.sample`. A problem that fills the window gives empty, truncated samples.

        Sample i has its own request and seed, so it depends on (seed, i) alone, up to the last digits of the logits,
        in which vLLM's batches differ.
        """
        prompt = self._tokenizer.join(solve_parts(problem, self._chat, self._plain))
        seeds = [row_seed(seed, 0, i) for i in sample_indices(first, n, self._temperature)]
        return await run_together([self._draw(prompt, each, SAMPLE_STAGE, meter) for each in seeds])

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        """See `Generator.continue_trace`."""
        opening = self._tokenizer.join(solve_parts(problem, self._chat, self._plain))
        prompts = [[*opening, *self._tokenizer.ids(PromptPart(text=prefix))] for prefix in prefixes]
        return await self._draw_each(prompts, n, seed, CONTINUE_STAGE, meter, max_tokens)

    async def reply(
        self, tasks: Sequence[Sequence[PromptPart]], n: int, seed: int, meter: Meter, max_new_tokens: int
    ) -> Sequence[Sequence[Sampled]]:
        """See `Instructed.reply`."""
        frame = self._chat or self._plain
        prompts = [self._tokenizer.join([frame.before, *task, frame.after]) for task in tasks]
        return await self._draw_each(prompts, n, seed, EDIT_STAGE, meter, max_new_tokens)

    async def _draw_each(
        self, prompts: Sequence[Sequence[int]], n: int, seed: int, stage: str, meter: Meter, max_new_tokens: int | None
    ) -> list[list[Sampled]]:
        rows = [(prompt, row_seed(seed, j, i)) for j, prompt in enumerate(prompts) for i in range(n)]
        drawn = await run_together([self._draw(prompt, each, stage, meter, max_new_tokens) for prompt, each in rows])
        return [drawn[j * n : (j + 1) * n] for j in range(len(prompts))]

    async def _draw(
        self, prompt: Sequence[int], seed: int, stage: str, meter: Meter, max_new_tokens: int | None = None
    ) -> Sampled:
        most = min(self._max_new_tokens, max_new_tokens or self._max_new_tokens)
        room = min(most, self._engine.window - len(prompt))
        if room <= 0:
            return Sampled(text="", truncated=True)
        reply = await self._engine.complete(
            prompt,
            meter.caller,
            max_new_tokens=room,
            temperature=self._temperature,
            top_p=self._top_p,
            stop=self._stop,
            seed=seed,
        )
        meter.add(stage, calls=1, tokens=reply.tokens)
        text = before_stop(self._tokenizer.text(reply.ids), self._stop)
        return Sampled(text=text, truncated=not reply.ended, logprob=reply.logprob, n_tokens=len(reply.ids))
