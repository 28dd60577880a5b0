"""What every path that scores shares: who asks, whether there is room, the body, and the end when the client leaves."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from fastapi import Request
from fastapi.responses import Response

from rafs.errors import BackendError, InputError, RafsError
from rafs.limits import MAX_DEADLINE_S, MAX_TOKEN_BUDGET
from rafs.usage import Priority
from service.admission import Admission, BodyTooLarge, Place, discard_body, read_body, until_disconnect
from service.auth import OPEN, Doorkeeper, Principal, Scope
from service.errors import Problem, stopping, too_large, too_slow, wrong_encoding, wrong_media_type
from service.idempotency import Idempotency
from service.settings import Settings
from service.terms import Terms
from service.visible import show_text

DEADLINE_HEADER = "rafs-deadline-ms"
BUDGET_HEADER = "rafs-token-budget"
MAX_DEADLINE_MS = int(MAX_DEADLINE_S * 1000)
TERMS_PARAMETERS = [
    {
        "name": DEADLINE_HEADER,
        "in": "header",
        "required": False,
        "description": "Milliseconds from arrival after which no model is waited for. The smallest of this, "
        "`deadline_s` of the body and the preset's deadline holds.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_DEADLINE_MS},
    },
    {
        "name": BUDGET_HEADER,
        "in": "header",
        "required": False,
        "description": "When so many tokens went through models, no model is asked any more. The smaller of this and "
        "`token_budget` of the body holds.",
        "schema": {"type": "integer", "minimum": 0, "maximum": MAX_TOKEN_BUDGET},
    },
]
"""Description of the headers, for the OpenAPI document of every path that takes them."""


class Demand(Protocol):
    """What a parsed body asks of the models."""

    @property
    def deadline_s(self) -> float | None:
        """Seconds from arrival, or None."""
        ...

    @property
    def token_budget(self) -> int | None:
        """Tokens, or None."""
        ...

    def estimate_tokens(self) -> int:
        """Return about how many tokens will go through models."""
        ...


@dataclass(slots=True, kw_only=True)
class Visit:
    """One request that was let in, with its body."""

    principal: Principal
    body: bytes
    _terms: Terms
    _place: Place
    _arrived: float
    _doorkeeper: Doorkeeper | None

    @property
    def is_hurried(self) -> bool:
        """Whether the caller's headers bound its time or tokens."""
        return self._terms.deadline_s is not None or self._terms.token_budget is not None

    @asynccontextmanager
    async def charged(self, n_traces: int) -> AsyncIterator[None]:
        """Charge the quota of the key before what costs the operator; given back where the block fails.

        A model that takes too long has cost what it was asked for, and a caller can make it: that is not given back.

        Raises:
            Problem: The quota is used up; the block is not entered.
            BackendError: The database failed.
        """
        if self._doorkeeper is None:
            yield
            return
        await self._doorkeeper.charge(self.principal, n_traces)
        try:
            yield
        except Exception as error:  # no client that leaves: that has cost what it asked for, too
            if not (isinstance(error, BackendError) and error.timed_out):
                await self._doorkeeper.give_back(self.principal, n_traces)
            raise

    @asynccontextmanager
    async def working(self, demand: Demand, *, n_traces: int = 1) -> AsyncIterator[Terms]:
        """Hold room for the tokens of one piece of work, and yield the terms that are left for it.

        What is answered from memory does not enter here, so it takes neither room nor quota.

        Args:
            demand: What the body asks for.
            n_traces: Charged to the key's quota; 0 where that was done before.

        Raises:
            OverloadedError: There is no room for so many tokens; nothing was charged.
            Problem: The quota of the key is used up.
        """
        with self._place.hold(demand.estimate_tokens()):
            if self._doorkeeper is not None and n_traces:
                await self._doorkeeper.charge(self.principal, n_traces)
            terms = self._terms.within(demand.deadline_s, demand.token_budget)
            yield terms.after(perf_counter() - self._arrived)


class Intake:
    """The way in of every path that scores; one for the whole application."""

    def __init__(
        self, settings: Settings, *, doorkeeper: Doorkeeper | None = None, idempotency: Idempotency | None = None
    ) -> None:
        """Keep the parts.

        Args:
            settings: Bounds of bodies and of what is let in.
            doorkeeper: Asks who they are; None lets everybody in.
            idempotency: Answers a repeated request again; None works on each.
        """
        self._settings = settings
        self._doorkeeper = doorkeeper
        self._idempotency = idempotency
        self.admission = Admission(settings.max_in_flight, settings.max_queued_tokens)
        self.is_stopping = False
        self._priorities: dict[str, Priority] = {}

    def not_ready(self) -> list[str]:
        """Return why nothing is let in; empty when it is."""
        return ["the service is stopping"] if self.is_stopping else []

    async def run(
        self, request: Request, scope: Scope, priority: Priority, work: Callable[[Visit], Awaitable[Response]]
    ) -> Response:
        """Let a request in and return what `work` makes of it; `work` is cancelled when the client leaves.

        Raises:
            Problem: The caller may not, or the body cannot be read, or the service stops.
            InputError: A header is wrong.
            OverloadedError: There is no room.
            ClientDisconnect: The client left.
        """
        async with self.enter(request, scope, priority) as visit:

            async def answer() -> Response:
                return await work(visit)

            return await self.answer(request, visit, answer)

    async def answer(
        self, request: Request, visit: Visit, work: Callable[[], Coroutine[Any, Any, Response]]
    ) -> Response:
        """Return what `work` makes of a request that was let in, or made of it before. Errors are those of `run`."""
        if self._idempotency is None:
            return await until_disconnect(request, work())
        return await until_disconnect(request, self._idempotency.answer(request, visit.principal, visit.body, work))

    @asynccontextmanager
    async def enter(self, request: Request, scope: Scope, priority: Priority) -> AsyncIterator[Visit]:
        """Hold a place and read the body; for answers that outlast the path's function. Errors are those of `run`."""
        arrived = perf_counter()
        self._learn(request, priority)
        try:
            principal = await self.identify(request, scope)
            terms = read_terms(request, priority, principal.tenant)
            with self.admission.enter(priority) as place:
                body = await _read(request, self._settings)
                yield Visit(
                    principal=principal,
                    body=body,
                    _terms=terms,
                    _place=place,
                    _arrived=arrived,
                    _doorkeeper=self._doorkeeper,
                )
        except Exception:
            await discard_body(request)
            raise

    def refusal(self, path: str) -> RafsError | Problem | None:
        """Return why a request to a path would be refused now, whoever sends it; None where that is not known."""
        priority = self._priorities.get(path)
        if priority is None:
            return None
        return stopping() if self.is_stopping else self.admission.refusal(priority)

    def _learn(self, request: Request, priority: Priority) -> None:
        """Remember how urgent a path is; of paths with parts that a caller chooses, there is no end."""
        path = request.scope["path"]
        if getattr(request.scope.get("route"), "path", None) == path:
            self._priorities[path] = min(priority, self._priorities.get(path, priority))

    async def identify(self, request: Request, scope: Scope, *, while_stopping: bool = False) -> Principal:
        """Return who asks; also for paths that score nothing.

        Args:
            request: Its body is not read.
            scope: What it asks for.
            while_stopping: Whether it is answered also when the service has been told to stop.

        Raises:
            Problem: They may not, or the service stops.
        """
        if self.is_stopping and not while_stopping:
            raise stopping()
        return OPEN if self._doorkeeper is None else await self._doorkeeper.admit(request, scope)


def read_terms(request: Request, priority: Priority, tenant: str) -> Terms:
    """Return the terms that the headers of a request ask for.

    Raises:
        InputError: A header is not a number in its range.
    """
    deadline_ms = _read_header(request, DEADLINE_HEADER, 1, MAX_DEADLINE_MS)
    return Terms(
        priority=priority,
        tenant=tenant,
        deadline_s=None if deadline_ms is None else deadline_ms / 1000,
        token_budget=_read_header(request, BUDGET_HEADER, 0, MAX_TOKEN_BUDGET),
    )


def _read_header(request: Request, name: str, least: int, most: int) -> int | None:
    sent = request.headers.get(name)
    if sent is None:
        return None
    is_number = sent.isascii() and sent.isdecimal() and len(sent) <= len(str(most))
    number = int(sent) if is_number else -1
    if not least <= number <= most:
        allowed = f"an integer from {least} to {most}"
        got = show_text(sent) or "an empty text"
        field = f"header {name}"
        raise InputError(f"{field}: got {got}, allowed: {allowed}", field=field, got=got, allowed=allowed)
    return number


async def _read(request: Request, settings: Settings) -> bytes:
    media_type = request.headers.get("content-type", "application/json")
    if not _is_json(media_type):
        raise wrong_media_type(media_type)
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.strip().lower() != "identity":
        raise wrong_encoding(encoding)
    try:
        return await read_body(request, settings.max_body_bytes, settings.body_timeout_s)
    except BodyTooLarge:
        raise too_large(settings.max_body_bytes) from None
    except TimeoutError:
        raise too_slow(settings.body_timeout_s) from None


def _is_json(media_type: str) -> bool:
    essence = media_type.partition(";")[0].strip().lower()
    return essence == "application/json" or (essence.startswith("application/") and essence.endswith("+json"))
