"""A generator and a step prober behind an OpenAI-compatible server, as vLLM is one."""

import re
from collections.abc import Mapping, Sequence

from rafs.contracts import PromptPart
from rafs.engines.label_mass import Labels, label_ids, read_label_mass
from rafs.engines.prompt_tokens import ChatFrame, PartTokenizer
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.engines.solve_prompt import SOLVE_INSTRUCTION
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, LabelMass, ModelIdentity, Sampled, Why
from rafs.usage import Meter

VERIFY_STAGE = "verify"
SAMPLE_STAGE = "sample"
CONTINUE_STAGE = "counterfactual"
MAX_NEW_TOKENS = 1024
TEMPERATURE = 0.7
TOP_LOGPROBS = 20
"""The most that vLLM gives by default."""
_CONTROL = re.compile(r"<(?=[|｜/!A-Za-z_])|\[(?=/?(?:INST|TOOL|SYSTEM))")


class ServerGenerator:
    """A `Generator` by chat completions; the server applies the chat template."""

    def __init__(
        self,
        connection: ServerConnection,
        identity: ModelIdentity,
        *,
        temperature: float = TEMPERATURE,
        max_new_tokens: int = MAX_NEW_TOKENS,
    ) -> None:
        """Keep the settings.

        Args:
            connection: To the server; may be shared.
            identity: What the response names.
            temperature: Of sampling.
            max_new_tokens: Bound of one sample; longer ones come back cut and flagged.
        """
        self._connection = connection
        self._identity = identity
        self._temperature = temperature
        self._max_new_tokens = max_new_tokens

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    async def sample(self, problem: str, n: int, seed: int, meter: Meter) -> Sequence[Sampled]:
        """See `Generator.sample`. vLLM derives one seed per sample from the request's; other servers may not."""
        return await self._draw({"messages": [_task(problem)]}, n, seed, SAMPLE_STAGE, meter)

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[Sampled]]:
        """See `Generator.continue_trace`. The prefix is an assistant message that the server is told to go on with."""
        going_on: dict[str, Json] = {"add_generation_prompt": False, "continue_final_message": True}
        requests = [
            {**going_on, "messages": [_task(problem), {"role": "assistant", "content": defuse(prefix)}]}
            for prefix in prefixes
        ]
        return await run_together(
            [self._draw(request, n, seed + place, CONTINUE_STAGE, meter) for place, request in enumerate(requests)]
        )

    async def _draw(
        self,
        request: Mapping[str, Json],
        n: int,
        seed: int,
        stage: str,
        meter: Meter,
    ) -> list[Sampled]:
        drawn: list[Sampled] = []
        while len(drawn) < n:  # Again only for servers that ignore `n`; each round brings at least one.
            body: dict[str, Json] = {
                **request,
                "n": n - len(drawn),
                "seed": seed + len(drawn),
                "temperature": self._temperature,
                "max_tokens": self._max_new_tokens,
            }
            reply = await self._connection.post("/v1/chat/completions", body)
            choices = _choices(reply)
            drawn += [_sampled(choice) for choice in choices]
            meter.add(stage, calls=len(choices), tokens=_tokens_run(reply))
        return drawn[:n]


class ServerProber:
    """A `StepProber` by one completion per probe; the server's prefix cache shares the trunk."""

    def __init__(
        self,
        connection: ServerConnection,
        identity: ModelIdentity,
        *,
        tokenizer: PartTokenizer | None = None,
        labels: Labels = ("Yes", "No"),
        chat: bool = False,
        window: int | None = None,
    ) -> None:
        """Keep the settings.

        Args:
            connection: To the server; may be shared.
            identity: What the response names.
            tokenizer: Of the served model, from a local folder. With it, token ids are sent: parts join exactly
                and untrusted text cannot become a control token. Without it, text is sent and what looks like a
                control token in untrusted parts is broken up.
            labels: The two replies, summed over their spellings.
            chat: Put the chat template around the prompt; needs `tokenizer`.
            window: Tokens of a prompt that the server takes; None leaves it to the server to refuse.

        Raises:
            ConfigError: `chat` without a tokenizer that has a chat template.
        """
        self._connection = connection
        self._identity = identity
        self._tokenizer = tokenizer
        self._labels = labels
        self._window = window
        self._label_ids = [i for label in labels for i in label_ids(tokenizer, label)] if tokenizer else []
        self._takes_label_ids = tokenizer is not None
        self._frame = self._chat_frame() if chat else None

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        """See `StepProber.probe`. Shortest first, so that each prompt finds the one before it in the cache."""
        if self._frame is not None:
            head, tail = [self._frame.before, *head], [*tail, self._frame.after]
        order = sorted(set(ask))
        prompts = [[*head, *(part for step in steps[: t + 1] for part in step), *tail] for t in order]
        masses = await run_together([self._probe_one(parts, meter) for parts in prompts])
        found = dict(zip(order, masses, strict=True))
        return [found[t] for t in ask]

    async def _probe_one(self, parts: Sequence[PromptPart], meter: Meter) -> LabelMass | Abstained:
        prompt = self._prompt(parts)
        if self._window is not None and not isinstance(prompt, str) and len(prompt) > self._window:
            return _too_long(f"{len(prompt)} tokens, at most {self._window} are taken")
        try:
            reply = await self._complete(prompt)
        except RejectedError as error:
            if error.status in (400, 413) and "context length" in str(error):
                return _too_long(str(error))
            raise
        meter.add(VERIFY_STAGE, calls=1, tokens=_tokens_run(reply))
        return read_label_mass(_top_logprobs(reply), self._labels)

    async def _complete(self, prompt: str | list[int]) -> Mapping[str, Json]:
        body: dict[str, Json] = {"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": TOP_LOGPROBS}
        if self._takes_label_ids:
            try:
                # Exact mass of the labels whatever their rank; older servers ignore or refuse the field.
                return await self._connection.post("/v1/completions", {**body, "logprob_token_ids": self._label_ids})
            except RejectedError as error:
                if error.status not in (400, 422) or "logprob_token_ids" not in str(error):
                    raise
                self._takes_label_ids = False
        return await self._connection.post("/v1/completions", body)

    def _prompt(self, parts: Sequence[PromptPart]) -> str | list[int]:
        if self._tokenizer is not None:
            return self._tokenizer.join(parts)
        return "".join(part.text if part.trusted else defuse(part.text) for part in parts)

    def _chat_frame(self) -> ChatFrame:
        frame = self._tokenizer.chat_frame() if self._tokenizer is not None else None
        if frame is None:
            raise ConfigError(f"{self._identity.id!r}: `chat` needs a local tokenizer with a chat template")
        return frame


def defuse(text: str) -> str:
    """Break up whatever looks like a control token, such as `<|im_end|>` or `[INST]`, with a space."""
    return _CONTROL.sub(lambda match: f"{match.group()} ", text)


def _task(problem: str) -> Mapping[str, Json]:
    return {"role": "user", "content": f"{defuse(problem)}\n\n{SOLVE_INSTRUCTION}"}


def _too_long(detail: str) -> Abstained:
    return Abstained(why=Why.TOO_LONG, detail=detail)


def _choices(reply: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(each, dict) for each in choices):
        raise BackendError(f"the model server's reply has no list of `choices`: {_outline(reply)}")
    return choices


def _outline(value: Mapping[str, Json]) -> str:
    """Name the keys of an object without its contents, which may quote the request and so the key."""
    return f"an object with {', '.join(map(repr, list(value)[:8])) or 'nothing in it'}"


def _sampled(choice: Mapping[str, Json]) -> Sampled:
    """Return the text of a choice; a reasoning channel that the server took apart is put back before it."""
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BackendError(f"a choice of the model server has no `message`: {_outline(choice)}")
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    content = message.get("content") or ""
    if not isinstance(content, str) or not isinstance(reasoning, str | None):
        raise BackendError(f"a message of the model server is no text: {_outline(message)}")
    text = f"<think>{reasoning}</think>\n{content}" if reasoning else content
    return Sampled(text=text, truncated=choice.get("finish_reason") == "length")


def _top_logprobs(reply: Mapping[str, Json]) -> Mapping[str, float]:
    """Return token text -> log-probability of the first new token; empty where the server sent none."""
    logprobs = _choices(reply)[0].get("logprobs")
    listed = logprobs.get("top_logprobs") if isinstance(logprobs, dict) else None
    first = listed[0] if isinstance(listed, list) and listed else None
    if not isinstance(first, dict):
        return {}
    return {token: float(value) for token, value in first.items() if isinstance(value, int | float)}


def _tokens_run(reply: Mapping[str, Json]) -> int:
    """Return prompt and new tokens less those found in the prefix cache; 0 where the server does not say."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return 0
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    total = usage.get("total_tokens")
    return max(0, (total if isinstance(total, int) else 0) - (cached if isinstance(cached, int) else 0))
