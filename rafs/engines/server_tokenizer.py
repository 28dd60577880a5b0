"""Token ids of prompt parts, made by the server that serves the model: vLLM's `/tokenize`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from rafs.contracts import PromptPart
from rafs.engines.control_tokens import LOOKS_CONTROL, break_up
from rafs.engines.known_server import ABSENCES, REFUSALS
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.usage import Priority

MAX_KEPT = 1024
"""Trusted parts whose ids are remembered; prompts have a handful."""
_SPACE_MARKS = "Ġ▁Ċ "
_SLOTS = ("alpha", "7")
"""Put in the place of a prompt to see what the server puts around it; they share no token."""

Token = tuple[int, str]
"""Id, and its spelling in the vocabulary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFrame:
    """What the server puts around a prompt that it is sent as text."""

    before: tuple[int, ...]
    after: tuple[int, ...]


class NoTokenizerError(Exception):
    """The server has no tokenizer to ask, or one that does not spell its tokens."""


class ServerTokenizer:
    """Tokenises each part apart, as `PartTokenizer` does: ids are joined, untrusted text holds no control token.

    Which tokens are control tokens the server does not say. So every token of an untrusted part that is spelled like
    one is taken for one: a space is put after the first character of that spelling, the text is read again, and what
    still comes out as one is left out.
    """

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._trusted: LRUCache[tuple[int, str], list[Token]] = LRUCache(MAX_KEPT)
        self._frames: dict[bool, tuple[int, ServedFrame]] = {}
        self._window: int | None = None

    @property
    def window(self) -> int | None:
        """Tokens of prompt and reply that the model takes; None before the first answer."""
        return self._window

    async def encode(self, parts: Sequence[PromptPart], priority: Priority) -> Mapping[PromptPart, list[int]]:
        """Return the ids of every part, of which there is one at least; no beginning-of-text token is added.

        Raises:
            NoTokenizerError: The server cannot say.
            BackendError: See `ServerConnection.post`.
        """
        first, *others = dict.fromkeys(parts)
        encoded = [await self._ids(first, priority)]  # alone: a server that cannot is asked once
        encoded += await run_together([self._ids(part, priority) for part in others])
        return dict(zip([first, *others], encoded, strict=True))

    async def frame(self, chat: bool, priority: Priority) -> ServedFrame:
        """Return what stands around a prompt: of a chat its template, else what starts a text, such as `<s>`.

        Raises:
            NoTokenizerError: The server cannot say, or has no template, or its tokens reach over the prompt's ends.
            BackendError: See `ServerConnection.post`.
        """
        era = self._connection.times_lost
        if chat not in self._frames or self._frames[chat][0] != era:
            bare = [await self._ids(PromptPart(text=slot, trusted=True), priority) for slot in _SLOTS]
            asked: list[dict[str, Json]] = [
                {"messages": [{"role": "user", "content": slot}], "add_generation_prompt": True}
                if chat
                else {"prompt": slot, "add_special_tokens": True}
                for slot in _SLOTS
            ]
            framed = [[index for index, _ in await self._ask(body, priority)] for body in asked]
            self._frames[chat] = era, _find_frame(framed, bare)
        return self._frames[chat][1]

    async def _ids(self, part: PromptPart, priority: Priority) -> list[int]:
        if part.trusted:
            key = (self._connection.times_lost, part.text)
            if key not in self._trusted:
                self._trusted[key] = await self._tokens(part.text, priority)
            return [index for index, _ in self._trusted[key]]
        tokens = await self._tokens(part.text, priority)
        spelled = {spelling for _, spelling in tokens if LOOKS_CONTROL.fullmatch(spelling)}
        if spelled:
            tokens = await self._tokens(break_up(part.text, spelled), priority)
        return [index for index, spelling in tokens if not LOOKS_CONTROL.fullmatch(spelling)]

    async def _tokens(self, text: str, priority: Priority) -> list[Token]:
        if not text:
            return []
        return await self._ask({"prompt": text, "add_special_tokens": False}, priority)

    async def _ask(self, body: Mapping[str, Json], priority: Priority) -> list[Token]:
        try:
            reply = await self._connection.post("/tokenize", {**body, "return_token_strs": True}, priority)
        except RejectedError as error:
            if error.status in ABSENCES | REFUSALS:
                raise NoTokenizerError from error
            raise
        ids, spellings, window = reply.get("tokens"), reply.get("token_strs"), reply.get("max_model_len")
        if not isinstance(ids, list) or not isinstance(spellings, list) or len(ids) != len(spellings):
            raise NoTokenizerError
        tokens = [(index, str(spelling).strip(_SPACE_MARKS)) for index, spelling in zip(ids, spellings, strict=True)]
        if not tokens or not all(type(index) is int and index >= 0 for index, _ in tokens):
            raise NoTokenizerError
        if type(window) is int and window > 0:
            self._window = window
        return tokens


def _find_frame(framed: Sequence[list[int]], bare: Sequence[list[int]]) -> ServedFrame:
    """Return what is around each of the prompts alike.

    Raises:
        NoTokenizerError: Nothing is.
    """
    for start in range(len(framed[0])):
        ends = [start + len(ids) for ids in bare]
        inside = [ids[start:end] for ids, end in zip(framed, ends, strict=True)]
        around = {(tuple(ids[:start]), tuple(ids[end:])) for ids, end in zip(framed, ends, strict=True)}
        if inside == list(bare) and len(around) == 1:
            before, after = around.pop()
            return ServedFrame(before=before, after=after)
    raise NoTokenizerError
