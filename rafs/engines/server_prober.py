"""A step prober behind an OpenAI-compatible server, as vLLM is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rafs.contracts import PromptPart
from rafs.engines.control_tokens import defuse
from rafs.engines.known_server import (
    ABSENCES,
    REFUSALS,
    KnownServer,
    Way,
    is_refusal_of,
    is_too_long,
    tokens_run,
)
from rafs.engines.label_mass import Labels, label_ids, label_spellings
from rafs.engines.prompt_tokens import ChatFrame, PartTokenizer
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.engines.server_logprobs import chat_logprobs, completion_logprobs, read_listed_mass
from rafs.engines.server_tokenizer import NoTokenizerError, ServerTokenizer
from rafs.engines.server_words import ask_in_words
from rafs.errors import ConfigError
from rafs.types import Abstained, LabelMass, ModelIdentity, Why
from rafs.usage import Caller, Meter, Priority, Stage

TOP_LOGPROBS = {Way.COMPLETION: 20, Way.SHORT_LIST: 5, Way.CHAT: 20}
"""The most that vLLM gives by default, that older servers give, and that chats give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    """Token ids of what prompts are made of."""

    before: Sequence[int]
    parts: Mapping[PromptPart, list[int]]
    after: Sequence[int]

    def join(self, parts: Sequence[PromptPart]) -> list[int]:
        return [*self.before, *(index for part in parts for index in self.parts[part]), *self.after]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """One prompt, in the form that the server takes."""

    parts: Sequence[PromptPart]
    ids: list[int] | None
    """Of all, what stands around them included; None where nobody can tell them."""

    @property
    def text(self) -> str:
        """What the server frames itself; what looks like a control token is broken up."""
        return "".join(part.text if part.trusted else defuse(part.text) for part in self.parts)


class ServerProber:
    """A `StepProber` by one completion per probe; the server's prefix cache shares the trunk.

    What the server cannot do is found out with the first prompt: without completions a chat is asked for
    log-probabilities, and without those for a word, which is shown but is no probability.
    """

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
            tokenizer: Of the served model, from a local folder; without it the server is asked to tokenise. Either
                way token ids are sent: parts join exactly and untrusted text cannot become a control token. Only to
                servers that can do neither text is sent.
            labels: The two replies, summed over their spellings.
            chat: Put the model's chat template around the prompt, as one user message; where the server does not tell
                the template's tokens, it is asked for a chat. Else the prompt starts as the tokenizer starts a text.
            window: Tokens of a prompt that the server takes; None leaves it to the server to say or to refuse.

        Raises:
            ConfigError: `chat` with a tokenizer that has no chat template, or labels that are no tokens of it.
        """
        self._server = KnownServer(connection)
        self._identity = identity
        self._tokenizer = tokenizer
        self._served_tokenizer = ServerTokenizer(connection)
        self._labels = labels
        self._window = window
        self._chat = chat
        self._frame = None if tokenizer is None else _local_frame(tokenizer, chat, identity.id)
        if tokenizer is not None:
            for label in labels:
                label_ids(tokenizer, label)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    @property
    def fingerprint(self) -> str:
        """See `StepProber.fingerprint`; another one after the connection broke, behind which weights may change."""
        connection = self._server.connection
        where = f"{connection.settings.base_url} {connection.settings.model} {connection.times_lost}"
        local = f"ids={self._tokenizer is not None} {self._frame}"
        return f"server {where} {self._labels} chat={self._chat} {local} window={self._window}"

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        """See `StepProber.probe`. Shortest first, so that each prompt finds the one before it in the cache."""
        if not ask:
            return []
        order = sorted(set(ask))
        asked = [[*head, *(part for step in steps[: t + 1] for part in step), *tail] for t in order]
        encoded = await self._encode(asked[-1], meter.caller.priority)
        spellings = self._spellings(encoded)
        prompts = [_Prompt(parts=parts, ids=None if encoded is None else encoded.join(parts)) for parts in asked]
        # The first alone where the server is not known yet: it finds out for the others how to ask.
        alone = 0 if self._server.features.is_way_proven else 1
        masses = [await self._ask(prompt, spellings, meter) for prompt in prompts[:alone]]
        masses += await run_together([self._ask(prompt, spellings, meter) for prompt in prompts[alone:]])
        found = dict(zip(order, masses, strict=True))
        return [found[t] for t in ask]

    async def _encode(self, parts: Sequence[PromptPart], priority: Priority) -> _Encoded | None:
        """Return the ids of the parts, what stands around them and the labels' spellings; None to send text."""
        features = self._server.features
        if not features.takes_token_ids or features.way > Way.SHORT_LIST:
            return None
        wanted = [*parts, *self._label_parts()]
        if self._tokenizer is not None and self._frame is not None:
            before, after = (self._tokenizer.ids(part) for part in (self._frame.before, self._frame.after))
            return _Encoded(before=before, parts={part: self._tokenizer.ids(part) for part in set(wanted)}, after=after)
        try:
            ids = await self._served_tokenizer.encode(wanted, priority)
            frame = await self._served_tokenizer.frame(self._chat, priority)
        except NoTokenizerError:  # believed once text was answered: a gateway without its server knows no path either
            return None
        return _Encoded(before=frame.before, parts=ids, after=frame.after)

    def _label_parts(self) -> list[PromptPart]:
        return [PromptPart(text=text, trusted=True) for label in self._labels for text in label_spellings(label)]

    def _spellings(self, encoded: _Encoded | None) -> Mapping[int, str]:
        """Return id -> text of the tokens that spell a label alone."""
        if encoded is None:
            return {}
        ids = encoded.parts
        return {ids[part][0]: part.text for part in self._label_parts() if len(ids[part]) == 1}

    async def _ask(self, prompt: _Prompt, spellings: Mapping[int, str], meter: Meter) -> LabelMass | Abstained:
        window = self._window or (self._served_tokenizer.window or 0) - 1
        if prompt.ids is not None and 0 < window < len(prompt.ids):
            return _too_long(f"{len(prompt.ids)} tokens, at most {window} are taken")
        features = self._server.features
        first = Way.CHAT if self._chat and prompt.ids is None else Way.COMPLETION  # the server knows the template
        for way in [way for way in Way if way >= max(first, features.way)]:
            try:
                mass = await self._ask_by(way, prompt, spellings, meter)
            except RejectedError as error:
                if is_too_long(error):
                    return _too_long("the server says that the prompt passes the model's window")
                refuses_ids = self._chat and way < Way.CHAT and error.status in REFUSALS
                if way is Way.WORDS or not (refuses_ids or _is_lack(error)):
                    raise
                continue
            if mass is not None:
                features.way, features.is_way_proven = way, True
                return mass
            if features.is_way_proven and features.way is way:
                return Abstained(why=Why.UNPARSED, detail="the server listed no tokens this time")
        raise AssertionError("words are always read")

    async def _ask_by(
        self, way: Way, prompt: _Prompt, spellings: Mapping[int, str], meter: Meter
    ) -> LabelMass | Abstained | None:
        """Return what the server says when asked in this way; None where it gave no log-probabilities."""
        if way is Way.WORDS:
            return await ask_in_words(self._server, prompt.text, self._labels, meter)
        if way is Way.CHAT:
            reply = await self._converse(prompt.text, meter.caller)
            listed = chat_logprobs(reply)
        else:
            reply = await self._complete(prompt, TOP_LOGPROBS[way], spellings, meter.caller)
            listed = completion_logprobs(reply)
        meter.add(Stage.VERIFY, calls=1, tokens=tokens_run(reply))
        return None if listed is None else read_listed_mass(listed, self._labels, spellings)

    async def _complete(
        self, prompt: _Prompt, top: int, spellings: Mapping[int, str], caller: Caller
    ) -> Mapping[str, Json]:
        body: dict[str, Json] = {"max_tokens": 1, "temperature": 0, "logprobs": top}
        features = self._server.features
        if prompt.ids is not None and features.takes_token_ids:
            # The labels' mass whatever their rank, by id: two tokens may read the same.
            exact: dict[str, Json] = {"return_tokens_as_token_ids": True}
            if spellings:
                exact["logprob_token_ids"] = list(spellings)
            try:
                return await self._server.post("/v1/completions", {**body, "prompt": prompt.ids}, exact, caller)
            except RejectedError as error:
                if self._chat or error.status not in REFUSALS or is_too_long(error) or _is_lack(error):
                    raise
        reply = await self._server.post("/v1/completions", {**body, "prompt": prompt.text}, {}, caller)
        features.takes_token_ids = False
        return reply

    async def _converse(self, text: str, caller: Caller) -> Mapping[str, Json]:
        body: dict[str, Json] = {
            "messages": [{"role": "user", "content": text}],
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": TOP_LOGPROBS[Way.CHAT],
        }
        return await self._server.post("/v1/chat/completions", body, {}, caller)


def _local_frame(tokenizer: PartTokenizer, chat: bool, name: str) -> ChatFrame:
    frame = tokenizer.chat_frame() if chat else tokenizer.plain_frame()
    if frame is None:
        raise ConfigError(f"model {name!r} has no chat template to put its prompts in")
    return frame


def _is_lack(error: RejectedError) -> bool:
    """Whether the server has no such endpoint, or no log-probabilities there."""
    return error.status in ABSENCES or any(is_refusal_of(error, name) for name in ("logprobs", "top_logprobs"))


def _too_long(detail: str) -> Abstained:
    return Abstained(why=Why.TOO_LONG, detail=detail)
