"""Likelihoods of replies on an OpenAI-compatible server that echoes prompts with their log-probabilities, as vLLM."""

from collections.abc import Mapping, Sequence
from math import fsum

from rafs.contracts import PromptPart
from rafs.engines.known_server import ABSENCES, REFUSALS, KnownServer, choices_of, is_too_long, tokens_run
from rafs.engines.likelihood import STAGE
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.engines.server_tokenizer import NoTokenizerError, ServerTokenizer
from rafs.types import Abstained, ModelIdentity, Why
from rafs.usage import Meter

ROUNDING = 1e-3
"""By which servers that compute in half precision may pass a probability of 1."""


class ServerLikelihood:
    """A `Likelihood` by completions of one token, whose prompt is echoed.

    Where the reply begins is told by token ids: the server is asked to tokenise, and one that cannot gives no
    likelihoods, for a text that is cut elsewhere has another probability.
    """

    def __init__(self, connection: ServerConnection, identity: ModelIdentity, *, chat: bool = True) -> None:
        """Keep the settings.

        Args:
            connection: To the server; may be shared.
            identity: What is named.
            chat: Put the task into the model's chat template, as servers do when a model is told to reply.
        """
        self._server, self._identity, self._chat = KnownServer(connection), identity, chat
        self._tokenizer = ServerTokenizer(connection)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    async def logprobs(
        self, task: Sequence[PromptPart], replies: Sequence[str], meter: Meter
    ) -> Sequence[float | Abstained]:
        """See `Likelihood.logprobs`."""
        own = [PromptPart(text=reply.strip()) for reply in replies]
        try:
            ids = await self._tokenizer.encode([*task, *own], meter.caller.priority)
            frame = await self._tokenizer.frame(self._chat, meter.caller.priority)
        except NoTokenizerError:
            missing = Abstained(why=Why.NOT_APPLICABLE, detail="the server does not tokenise")
            return [missing] * len(replies)
        before = [*frame.before, *(index for part in task for index in ids[part]), *frame.after]
        return await run_together([self._ask(before, ids[part], meter) for part in own])

    async def _ask(self, before: list[int], reply: list[int], meter: Meter) -> float | Abstained:
        if not reply:
            return Abstained(why=Why.NOT_APPLICABLE, detail="the reply is blank")
        body: dict[str, Json] = {
            "prompt": [*before, *reply],
            "max_tokens": 1,
            "temperature": 0,
            "echo": True,
            "logprobs": 1,
        }
        try:
            said = await self._server.post("/v1/completions", body, {}, meter.caller)
        except RejectedError as error:
            if is_too_long(error):
                return Abstained(why=Why.TOO_LONG, detail="the server says that the prompt passes the model's window")
            if error.status not in REFUSALS | ABSENCES:
                raise
            return Abstained(why=Why.NOT_APPLICABLE, detail="the server gives no log-probabilities of a prompt")
        meter.add(STAGE, calls=1, tokens=tokens_run(said))
        return _sum_of(said, len(before), len(reply))


def _sum_of(said: Mapping[str, Json], n_before: int, n_reply: int) -> float | Abstained:
    """Return the sum over the reply's tokens, which stand in the echo behind those of the task."""
    given = choices_of(said)[0].get("logprobs")
    listed = given.get("token_logprobs") if isinstance(given, dict) else None
    # The echo, and one new token where the server counts it: fewer or more would be other tokens than were sent.
    if not isinstance(listed, list) or not 0 <= len(listed) - n_before - n_reply <= 1:
        return Abstained(why=Why.NOT_APPLICABLE, detail="the server did not echo the prompt with its log-probabilities")
    own = listed[n_before : n_before + n_reply]
    known = [min(0.0, float(one)) for one in own if isinstance(one, int | float) and one <= ROUNDING]
    if len(known) < n_reply:
        return Abstained(why=Why.NOT_APPLICABLE, detail="the server left out a log-probability")
    return fsum(known)
