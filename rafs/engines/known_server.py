"""What a server has shown that it can do: found out by asking, remembered until the connection breaks.

Servers ignore unknown fields silently, or refuse them; some have no log-probabilities, some only in chats. Nothing
is believed of a server that its replies do not show.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from rafs.engines.server_connection import Json, RejectedError, ServerConnection
from rafs.errors import BackendError
from rafs.usage import Caller

REFUSALS = frozenset({400, 422})
ABSENCES = frozenset({404, 405, 501})
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|prompt is too long|too many (?:input )?tokens", re.IGNORECASE
)


class Way(IntEnum):
    """How a server is asked for a verdict, best first."""

    COMPLETION = 0
    """Log-probabilities of a completion's first token."""
    SHORT_LIST = 1
    """The same, of the few tokens that older servers list."""
    CHAT = 2
    """Log-probabilities of a chat reply's first token."""
    WORDS = 3
    """What the reply says; no probability."""


@dataclass(slots=True)
class Features:
    """What is known of one server since its connection last broke."""

    era: int
    """`ServerConnection.times_lost` when it was learnt."""
    refused: set[str] = field(default_factory=set)
    """Optional fields that it does not take."""
    way: Way = Way.COMPLETION
    is_way_proven: bool = False
    """Once it gave log-probabilities, a reply without them is a fault and no lack."""
    takes_token_ids: bool = True
    takes_n: bool = True
    continues: bool | None = None
    """Whether it goes on with an assistant's message; None where nobody asked yet."""


class KnownServer:
    """A connection, and the features of the server behind it."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._features = Features(era=connection.times_lost)
        # Unpredictable, so that nobody who knows a tenant's name can look into its cache by timing.
        self._salt_key = secrets.token_bytes(32)

    @property
    def connection(self) -> ServerConnection:
        """As given."""
        return self._connection

    @property
    def features(self) -> Features:
        """What is known now; nothing, right after the connection broke."""
        if self._features.era != self._connection.times_lost:
            self._features = Features(era=self._connection.times_lost)
        return self._features

    async def post(
        self, path: str, body: Mapping[str, Json], optional: Mapping[str, Json], caller: Caller
    ) -> Mapping[str, Json]:
        """Post `body` with those optional fields that the server takes, and learn which it refuses.

        Raises:
            RejectedError: It refused the request for another reason.
            BackendError: See `ServerConnection.post`.
        """
        features = self.features
        wanted = {**optional, **self._standing(caller)}
        left = {name: value for name, value in wanted.items() if name not in features.refused}
        dropped: set[str] = set()
        while True:
            try:
                reply = await self._connection.post(path, {**body, **left}, caller.priority)
            except RejectedError as error:
                named = {name for name in left if is_refusal_of(error, name)}
                if not named:
                    raise
                dropped |= named
                left = {name: value for name, value in left.items() if name not in named}
            else:  # Only now: a message may quote the request, and name a field that was not at fault.
                features.refused |= dropped
                return reply

    def _standing(self, caller: Caller) -> dict[str, Json]:
        """Return whose cache is used and how urgent it is; nothing where the server's own defaults say the same."""
        fields: dict[str, Json] = {}
        if caller.priority:
            fields["priority"] = int(caller.priority)
        if caller.tenant:
            digest = hashlib.blake2b(caller.tenant.encode(errors="surrogatepass"), key=self._salt_key, digest_size=32)
            fields["cache_salt"] = digest.hexdigest()
        return fields


def is_refusal_of(error: RejectedError, name: str) -> bool:
    """Whether the server refused the request over this field."""
    return error.status in REFUSALS and re.search(rf"\b{name}\b", error.said) is not None


def is_too_long(error: RejectedError) -> bool:
    """Whether the server refused the prompt for its length."""
    return error.status in (400, 413, 422) and _TOO_LONG.search(error.said) is not None


def choices_of(reply: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """Return the choices of a completion or chat reply; at least one.

    Raises:
        BackendError: The reply is of another shape.
    """
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(each, dict) for each in choices):
        raise BackendError(f"the model server's reply has no list of `choices`: {outline(reply)}")
    return choices


def message_of(choice: Mapping[str, Json]) -> tuple[str, str]:
    """Return reasoning and content of a chat choice; either may be empty.

    Raises:
        BackendError: The choice is of another shape.
    """
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BackendError(f"a choice of the model server has no `message`: {outline(choice)}")
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    content = message.get("content") or ""
    if not isinstance(content, str) or not isinstance(reasoning, str):
        raise BackendError(f"a message of the model server is no text: {outline(message)}")
    return reasoning, content


def outline(value: Mapping[str, Json]) -> str:
    """Name the keys of an object without its contents, which may quote the request and so the key."""
    return f"an object with {', '.join(repr(key[:40]) for key in list(value)[:8]) or 'nothing in it'}"


def tokens_run(reply: Mapping[str, Json]) -> int:
    """Return prompt and new tokens less those found in the prefix cache; 0 where the server does not say."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return 0
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    total = usage.get("total_tokens")
    return max(0, (total if isinstance(total, int) else 0) - (cached if isinstance(cached, int) else 0))
