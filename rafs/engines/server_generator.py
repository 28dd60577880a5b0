"""A generator behind an OpenAI-compatible server, as vLLM is one."""

from collections.abc import Mapping, Sequence
from math import fsum

from rafs.channels import ENDED
from rafs.contracts import PromptPart
from rafs.engines.control_tokens import defuse
from rafs.engines.known_server import REFUSALS, KnownServer, choices_of, is_too_long, message_of, tokens_run
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.engines.solve_prompt import SOLVE_INSTRUCTION
from rafs.engines.transformers_generator import row_seed, sample_indices
from rafs.errors import BackendError
from rafs.types import ModelIdentity, Sampled
from rafs.usage import Meter

SAMPLE_STAGE = "sample"
CONTINUE_STAGE = "counterfactual"
EDIT_STAGE = "edit"
MAX_NEW_TOKENS = 1024
TEMPERATURE = 0.7
MAX_SERVER_SEED = 2**30
"""Servers take 32 bits at least, some of them with a sign."""
GOING_ON: Mapping[str, Json] = {"add_generation_prompt": False, "continue_final_message": True}
_TRIAL = ({"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two,"})


class ServerGenerator:
    """A `Generator` by chat completions; the server applies the chat template."""

    def __init__(
        self,
        connection: ServerConnection,
        identity: ModelIdentity,
        *,
        temperature: float = TEMPERATURE,
        top_p: float = 1.0,
        max_new_tokens: int = MAX_NEW_TOKENS,
        stop: Sequence[str] = (),
    ) -> None:
        """Keep the settings.

        Args:
            connection: To the server; may be shared.
            identity: What the response names.
            temperature: Of sampling; 0 is greedy: then there is one sample.
            top_p: Tokens are drawn from the fewest likeliest ones with this probability together.
            max_new_tokens: Bound of one sample; longer ones come back cut and flagged.
            stop: Texts that end a sample.
        """
        self._server = KnownServer(connection)
        self._identity = identity
        self._max_new_tokens = max_new_tokens
        self._temperature = temperature
        self._drawing: dict[str, Json] = {"temperature": temperature, "max_tokens": max_new_tokens}
        if top_p < 1:
            self._drawing["top_p"] = top_p
        if stop:
            self._drawing["stop"] = list(stop)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        """See `Generator.sample`.

        Sample i is asked for with the server's seed s + i, s being drawn from `seed`: in one request of seed s + first,
        which vLLM reads as the seeds s + first + 0, 1, ..., or by itself where the server gives one at a time. With
        vLLM and such servers it depends on (seed, i) alone, up to the last digits of the logits; with one that reads
        the seed of several samples otherwise, also on how many were drawn before and with it; and with one that takes
        no seeds on nothing that is known. Log-probabilities are what the server tells; vLLM tells the model's own, at
        temperature 1.
        """
        indices = sample_indices(first, n, self._temperature)
        at = row_seed(seed, 0, 0) % MAX_SERVER_SEED + first
        return await self._draw({"messages": [_task(problem)]}, len(indices), at, SAMPLE_STAGE, meter)

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        """See `Generator.continue_trace`. The prefix is an assistant message that the server is told to go on with.

        Raises:
            BackendError: Nothing was generated, or the server answers such a message anew instead of going on.
        """
        if prefixes:
            await self._require_going_on(meter)
        requests: list[Mapping[str, Json]] = [
            {**GOING_ON, "messages": [_task(problem), {"role": "assistant", "content": defuse(prefix)}]}
            for prefix in prefixes
        ]
        return await self._draw_each(requests, n, seed, CONTINUE_STAGE, meter, max_tokens)

    async def reply(
        self, tasks: Sequence[Sequence[PromptPart]], n: int, seed: int, meter: Meter, max_new_tokens: int
    ) -> Sequence[Sequence[Sampled]]:
        """See `Instructed.reply`."""
        texts = ["".join(part.text if part.trusted else defuse(part.text) for part in task) for task in tasks]
        requests: list[Mapping[str, Json]] = [{"messages": [{"role": "user", "content": text}]} for text in texts]
        return await self._draw_each(requests, n, seed, EDIT_STAGE, meter, max_new_tokens)

    async def _draw_each(
        self,
        requests: Sequence[Mapping[str, Json]],
        n: int,
        seed: int,
        stage: str,
        meter: Meter,
        max_new_tokens: int | None,
    ) -> list[list[Sampled]]:
        most = min(self._max_new_tokens, max_new_tokens or self._max_new_tokens)
        return await run_together(
            [
                self._draw({**request, "max_tokens": most}, n, seed + place, stage, meter)
                for place, request in enumerate(requests)
            ]
        )

    async def _require_going_on(self, meter: Meter) -> None:
        """Find out, once, whether the server goes on with a message.

        A server that does leaves the end of the message and the opening of the next one out of the prompt, which then
        has fewer tokens; one that ignores the request counts the same both times.
        """
        features = self._server.features
        if features.continues is None:
            try:
                open_ended, closed = [await self._prompt_tokens(fields, meter) for fields in (GOING_ON, {})]
                features.continues = None not in (open_ended, closed) and open_ended != closed
            except RejectedError as error:
                if error.status not in REFUSALS:
                    raise
                features.continues = False
        if not features.continues:
            name = self._server.connection.settings.model
            raise BackendError(
                f"the server of {name!r} was not seen to go on with an assistant's message: it answers anew"
            )

    async def _prompt_tokens(self, fields: Mapping[str, Json], meter: Meter) -> int | None:
        body: dict[str, Json] = {**fields, "messages": list(_TRIAL), "max_tokens": 1, "temperature": 0}
        reply = await self._server.post("/v1/chat/completions", body, {}, meter.caller)
        meter.add(CONTINUE_STAGE, calls=1, tokens=tokens_run(reply))
        usage = reply.get("usage")
        counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return counted if isinstance(counted, int) else None

    async def _draw(self, request: Mapping[str, Json], n: int, seed: int, stage: str, meter: Meter) -> list[Sampled]:
        features = self._server.features
        drawn: list[Sampled] = []
        if n > 1 and features.takes_n:
            try:
                drawn = await self._drawn(request, n, seed, stage, meter)
            except RejectedError as error:
                if error.status not in REFUSALS or is_too_long(error):
                    raise
            # Refused together, and then drawn one by one, or ignored: the others have their own seeds.
        left = range(len(drawn), n)
        singles = await run_together([self._drawn(request, 1, seed + place, stage, meter) for place in left])
        if left and n > 1:
            features.takes_n = False
        return [*drawn, *(sample for single in singles for sample in single)][:n]

    async def _drawn(self, request: Mapping[str, Json], n: int, seed: int, stage: str, meter: Meter) -> list[Sampled]:
        """Draw n samples in one request; a server that ignores `n` gives fewer."""
        body: dict[str, Json] = {**self._drawing, **request}
        if n > 1:
            body["n"] = n
        optional: dict[str, Json] = {"seed": seed, **({"logprobs": True} if stage == SAMPLE_STAGE else {})}
        reply = await self._server.post("/v1/chat/completions", body, optional, meter.caller)
        choices = choices_of(reply)[:n]
        meter.add(stage, calls=len(choices), tokens=tokens_run(reply))
        return [_sampled(choice) for choice in choices]


def _task(problem: str) -> Mapping[str, Json]:
    return {"role": "user", "content": f"{defuse(problem)}\n\n{SOLVE_INSTRUCTION}"}


def _sampled(choice: Mapping[str, Json]) -> Sampled:
    """Return the text of a choice; a reasoning channel that the server took apart is put back before it."""
    reasoning, content = message_of(choice)
    text = f"<think>{reasoning}</think>\n{content}" if reasoning else content
    logprobs = _logprobs(choice)
    return Sampled(
        text=text,
        truncated=choice.get("finish_reason") not in ENDED,
        logprob=None if logprobs is None else fsum(logprobs),
        n_tokens=None if logprobs is None else len(logprobs),
    )


def _logprobs(choice: Mapping[str, Json]) -> list[float] | None:
    """Return the log-probability of every token of a choice; None where the server did not give that of each."""
    said = choice.get("logprobs")
    tokens = said.get("content") if isinstance(said, dict) else None
    given = (
        [one.get("logprob") if isinstance(one, dict) else None for one in tokens] if isinstance(tokens, list) else []
    )
    known = [float(one) for one in given if isinstance(one, int | float) and not isinstance(one, bool) and one <= 1e-3]
    return known if known and len(known) == len(given) else None
