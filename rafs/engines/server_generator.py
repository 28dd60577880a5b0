"""A generator behind an OpenAI-compatible server, as vLLM is one."""

from collections.abc import Mapping, Sequence

from rafs.engines.control_tokens import defuse
from rafs.engines.known_server import REFUSALS, KnownServer, choices_of, is_too_long, message_of, tokens_run
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.engines.solve_prompt import SOLVE_INSTRUCTION
from rafs.errors import BackendError
from rafs.types import ModelIdentity, Sampled
from rafs.usage import Meter

SAMPLE_STAGE = "sample"
CONTINUE_STAGE = "counterfactual"
MAX_NEW_TOKENS = 1024
TEMPERATURE = 0.7
ENDED = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence"})
"""Why a text may end by itself, as servers call it; any other reason, and none, is a cut."""
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
        max_new_tokens: int = MAX_NEW_TOKENS,
        stop: Sequence[str] = (),
    ) -> None:
        """Keep the settings.

        Args:
            connection: To the server; may be shared.
            identity: What the response names.
            temperature: Of sampling.
            max_new_tokens: Bound of one sample; longer ones come back cut and flagged.
            stop: Texts that end a sample.
        """
        self._server = KnownServer(connection)
        self._identity = identity
        self._drawing: dict[str, Json] = {"temperature": temperature, "max_tokens": max_new_tokens}
        if stop:
            self._drawing["stop"] = list(stop)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    async def sample(self, problem: str, n: int, seed: int, meter: Meter) -> Sequence[Sampled]:
        """See `Generator.sample`. Sample i is drawn with seed + i, where the server takes seeds."""
        return await self._draw({"messages": [_task(problem)]}, n, seed, SAMPLE_STAGE, meter)

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[Sampled]]:
        """See `Generator.continue_trace`. The prefix is an assistant message that the server is told to go on with.

        Raises:
            BackendError: Nothing was generated, or the server answers such a message anew instead of going on.
        """
        if prefixes:
            await self._require_going_on(meter)
        requests = [
            {**GOING_ON, "messages": [_task(problem), {"role": "assistant", "content": defuse(prefix)}]}
            for prefix in prefixes
        ]
        return await run_together(
            [self._draw(request, n, seed + place, CONTINUE_STAGE, meter) for place, request in enumerate(requests)]
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
        body: dict[str, Json] = {**request, **self._drawing}
        if n > 1:
            body["n"] = n
        reply = await self._server.post("/v1/chat/completions", body, {"seed": seed}, meter.caller)
        choices = choices_of(reply)[:n]
        meter.add(stage, calls=len(choices), tokens=tokens_run(reply))
        return [_sampled(choice) for choice in choices]


def _task(problem: str) -> Mapping[str, Json]:
    return {"role": "user", "content": f"{defuse(problem)}\n\n{SOLVE_INSTRUCTION}"}


def _sampled(choice: Mapping[str, Json]) -> Sampled:
    """Return the text of a choice; a reasoning channel that the server took apart is put back before it."""
    reasoning, content = message_of(choice)
    text = f"<think>{reasoning}</think>\n{content}" if reasoning else content
    return Sampled(text=text, truncated=choice.get("finish_reason") not in ENDED)
