"""A process reward model behind a vLLM server: `/pooling` for heads, log-probabilities for token pairs.

The server tokenises, so untrusted text is made harmless as text: what spells a control token or the separator gets a
space after its first character.
"""

import math
from collections.abc import Mapping, Sequence

from rafs.engines.control_tokens import defuse
from rafs.engines.known_server import KnownServer, is_too_long, outline, tokens_run
from rafs.engines.prm_layouts import HeadSpec, PrmLayout, TokenPair, read_verdicts, written
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.engines.server_logprobs import chat_logprobs, completion_logprobs, read_listed_mass
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, LabelMass, ModelIdentity, Verdict, Why
from rafs.usage import Meter

STAGE = "verify"
TOP_LOGPROBS = 20
"""The most that vLLM lists by default."""
SUM_TOLERANCE = 0.02
"""By which the classes of a softmax in half precision may miss 1; raw logits miss it by far."""

_TOO_LONG = Abstained(why=Why.TOO_LONG, detail="the trace passes the server's window")


class ServerRewarder:
    """A `StepRewarder` on a server.

    A head is served with the pooling type STEP, as vLLM sets it for its reward models: one row of class probabilities
    per separator, all in one request. A token pair is served as a language model: one request per step, shortest
    first; the server's prefix cache shares what they have in common. Both spellings of a token, with and without a
    space before, are summed.
    """

    def __init__(self, connection: ServerConnection, identity: ModelIdentity, layout: PrmLayout) -> None:
        """Keep the settings.

        Raises:
            ConfigError: The layout's scores cannot be told apart by step at a server.
        """
        self._server = KnownServer(connection)
        self._identity = identity
        self._layout = layout
        name = f"model {identity.id!r}: prm"
        if layout.has_blank_separator:
            raise ConfigError(
                f"{name}.separator: got white space, which a server cannot count; load it in this process"
            )
        if isinstance(layout.score, HeadSpec) and (layout.score.output != "softmax" or layout.framing == "turns"):
            allowed = "output 'softmax' with framing 'plain' or 'chat' behind an endpoint"
            raise ConfigError(
                f"{name}: got output {layout.score.output!r}, framing {layout.framing!r}; allowed {allowed}"
            )
        if isinstance(layout.score, TokenPair) and layout.framing == "chat":
            raise ConfigError(f"{name}.framing: got 'chat', allowed 'plain' or 'turns' for tokens behind an endpoint")

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`; another one after the connection broke, behind which weights may change."""
        connection = self._server.connection
        where = f"{connection.settings.base_url} {connection.settings.model} {connection.times_lost}"
        return f"server {where} {self._layout}"

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """See `StepRewarder.reward`."""
        kept = written(steps[: max(ask, default=-1) + 1])
        if not set(kept).intersection(ask):
            return read_verdicts(steps, ask, [], _TOO_LONG)
        opening = self._quiet(self._layout.write_opening(problem))
        texts = [self._quiet(self._layout.write_step(steps[t], place)) for place, t in enumerate(kept)]
        found: Sequence[Verdict | float]
        if isinstance(self._layout.score, HeadSpec):
            found = await self._pooled(opening, texts, self._layout.score, meter)
        else:
            pair, asked = self._layout.score, [place for place, t in enumerate(kept) if t in ask]
            said = await run_together([self._next_token(opening, texts[: place + 1], pair, meter) for place in asked])
            by_place = dict(zip(asked, said, strict=True))
            found = [by_place.get(place, _TOO_LONG) for place in range(len(kept))]  # those not asked are not read
        return read_verdicts(steps, ask, found, _TOO_LONG)

    def _quiet(self, text: str) -> str:
        separator = self._layout.separator.strip()
        if self._layout.framing != "turns":
            text = text.replace(separator, f"{separator[0]} {separator[1:]}".strip())
        return defuse(text)

    async def _pooled(
        self, opening: str, texts: Sequence[str], head: HeadSpec, meter: Meter
    ) -> Sequence[Verdict | float]:
        """Return the scores of the steps, all from one request; past the server's window, of the first half of them."""
        try:
            reply = await self._server.post("/pooling", self._whole(opening, texts), {}, meter.caller)
        except RejectedError as error:
            half = texts[: len(texts) // 2]
            if not is_too_long(error):
                raise
            return await self._pooled(opening, half, head, meter) if half else []
        meter.add(STAGE, calls=1, tokens=tokens_run(reply))
        rows = _rows(reply)
        if len(rows) != len(texts):
            detail = f"the server gave {len(rows)} scores for {len(texts)} steps; serve it with pooling type STEP"
            return [Abstained(why=Why.UNPARSED, detail=detail)] * len(texts)
        return [_class_mass(row, head.classes) for row in rows]

    async def _next_token(self, opening: str, texts: Sequence[str], pair: TokenPair, meter: Meter) -> Verdict | float:
        """Return the score of the last of these steps."""
        in_turns = self._layout.framing == "turns"
        body = self._conversation(opening, texts) if in_turns else self._completion(opening, texts)
        path = "/v1/chat/completions" if in_turns else "/v1/completions"
        try:
            reply = await self._server.post(path, {**body, "max_tokens": 1, "temperature": 0}, {}, meter.caller)
        except RejectedError as error:
            if not is_too_long(error):
                raise
            return _TOO_LONG
        meter.add(STAGE, calls=1, tokens=tokens_run(reply))
        listed = chat_logprobs(reply) if in_turns else completion_logprobs(reply)
        mass = read_listed_mass(listed or {}, (pair.good, pair.bad), {})
        return mass.yes / (mass.yes + mass.no) if isinstance(mass, LabelMass) else mass

    def _whole(self, opening: str, texts: Sequence[str]) -> dict[str, Json]:
        ended = "".join(text + self._layout.separator for text in texts)
        if self._layout.framing == "plain":
            return {"task": "token_classify", "input": opening + ended, "add_special_tokens": self._layout.bos}
        system = [{"role": "system", "content": self._layout.system}] if self._layout.system is not None else []
        talk = [{"role": "user", "content": opening}, {"role": "assistant", "content": ended}]
        return {"task": "token_classify", "messages": [*system, *talk]}

    def _completion(self, opening: str, texts: Sequence[str]) -> dict[str, Json]:
        separator = self._layout.separator
        earlier = "".join(text + separator for text in texts[:-1])
        end = separator if self._layout.read == "at" else ""
        prompt = opening + earlier + texts[-1] + end
        return {"prompt": prompt, "add_special_tokens": self._layout.bos, "logprobs": TOP_LOGPROBS}

    def _conversation(self, opening: str, texts: Sequence[str]) -> dict[str, Json]:
        turns = [opening + texts[0], *texts[1:]]
        reply = {"role": "assistant", "content": self._layout.separator}
        messages = [message for turn in turns for message in ({"role": "user", "content": turn}, reply)]
        return {"messages": messages[:-1], "logprobs": True, "top_logprobs": TOP_LOGPROBS}


def _rows(reply: Mapping[str, Json]) -> list[Sequence[Json]]:
    """Return the rows of the one input of a `/pooling` request."""
    match reply.get("data"):
        case [{"data": [*rows]}] if all(isinstance(row, list) for row in rows):
            return [row for row in rows if isinstance(row, list)]
        case _:
            raise BackendError(f"the model server's reply has no rows under `data`: {outline(reply)}")


def _class_mass(row: Sequence[Json], classes: Sequence[int]) -> float:
    """Return the probability of the good classes; the server must have applied the softmax."""
    p = [each for each in row if isinstance(each, int | float) and 0 <= each <= 1 + SUM_TOLERANCE]
    is_distribution = len(p) == len(row) and abs(math.fsum(p) - 1) <= SUM_TOLERANCE
    if not is_distribution or max(classes) >= len(p):
        raise BackendError(
            f"the model server's {len(row)} scores of a step are no probabilities of {max(classes) + 1} or more classes"
        )
    return min(1.0, math.fsum(p[each] for each in classes))
