"""One answer to a request that is sent again: the header `idempotency-key`."""

import asyncio
import hashlib
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy import ColumnElement, Executable, Row, and_, delete, func, or_, select, update

from rafs.errors import BackendError, InputError
from service.auth import Principal
from service.database.engine import Database
from service.database.packed import pack, unpack
from service.database.tables import IDEMPOTENCY
from service.errors import Problem
from service.observability import logger
from service.visible import show_text

HEADER = "idempotency-key"
REPLAYED = "idempotency-replayed"
MAX_KEY_CHARS = 255
LEASE_S = 30
"""A process that dies over a request blocks its key for so long."""
RENEW_S = 10
RETRY_S = 1
"""Most traces are scored in seconds."""
MAX_STORED_BYTES = 8 << 20
"""A longer answer is given once, and not again from memory."""
MAX_ROWS_OF_TENANT = 10_000
NOT_YET = b""
"""In place of the digest of a body that is still arriving."""
ORDERS = ("rafs-policy", "rafs-fail", "rafs-samples")
"""Headers that say what is to become of an answer: the same body under another order is another request."""
PARAMETER = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "Chosen by the client, best a UUID. The same key with the same body gets the stored answer again, "
    f"with the header `{REPLAYED}: true`; with another body, or another order in a header, 422; "
    "and 409 while the first is being worked on.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": "^[\\x21-\\x7e]+$"},
}
"""Description of the header, for the OpenAPI document."""


class Arriving(Protocol):
    """A body that is not held."""

    async def digest(self) -> bytes:
        """Read what has not been read of it, and return what stands for the whole."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    tenant: str
    key_digest: bytes
    owner: str

    @property
    def key(self) -> ColumnElement[bool]:
        return and_(IDEMPOTENCY.c.tenant == self.tenant, IDEMPOTENCY.c.key_digest == self.key_digest)

    @property
    def held(self) -> ColumnElement[bool]:
        return and_(self.key, IDEMPOTENCY.c.owner == self.owner)


class Idempotency:
    """Remembers answers by tenant, path and key. Keys and bodies are kept as digests only."""

    def __init__(
        self,
        database: Database,
        ttl_s: int,
        *,
        max_rows_of_tenant: int = MAX_ROWS_OF_TENANT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Keep the parts.

        Args:
            database: Where the answers are, for all processes.
            ttl_s: How long each is kept, in seconds.
            max_rows_of_tenant: Beyond it a tenant's oldest keys are forgotten before their time.
            clock: Seconds since the epoch.
        """
        self._database = database
        self._ttl_ms = ttl_s * 1000
        self._max_rows = max_rows_of_tenant
        self._clock = clock
        self._freeing: set[asyncio.Future[None]] = set()

    async def answer(
        self, request: Request, principal: Principal, body: bytes | Arriving, work: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Return the stored answer, or what `work` makes, which is stored if it is a good one (status 2xx).

        Work that fails, is cancelled or gives another status leaves the key free for the next try. Whether a body that
        is not held is the one of before is known when all of it has come: it is read to its end then, and thrown away.

        Args:
            request: Its headers and path.
            principal: Who asks; tenants do not see each other's keys.
            body: What the key stands for. One that arrives is read by `work`, or here.
            work: Called at most once.

        Raises:
            InputError: The key is empty, too long, or not of visible ASCII.
            Problem: 422, the key was used with another body; 409, it is being worked on; or what reading the body
                raises.
            BackendError: The database failed, so that nothing can be promised; nothing was done.
        """
        sent = request.headers.getlist(HEADER)
        if not sent:
            return await work()
        claim = _Claim(
            tenant=principal.tenant,
            key_digest=_digest_key(request, _check_key(sent)),
            owner=uuid.uuid4().hex,
        )

        async def digest() -> bytes:
            return _digest_body(request, body if isinstance(body, bytes) else await body.digest())

        taken = await self._claim(claim, await digest() if isinstance(body, bytes) else NOT_YET)
        return await self._work(claim, work, digest) if taken is None else await _replay(taken, digest)

    async def prune(self) -> int:
        """Forget what is over, and beyond the bound of a tenant what is oldest; return how many.

        Raises:
            BackendError: The database failed.
        """
        rows = IDEMPOTENCY.c
        over = delete(IDEMPOTENCY).where(rows.expires_at <= self._now())
        crowded = select(rows.tenant).group_by(rows.tenant).having(func.count() > self._max_rows)
        async with self._database.begin() as connection:
            n_pruned = int((await connection.execute(over)).rowcount)
            for tenant in (await connection.execute(crowded)).scalars().all():
                oldest = select(rows.created_at).where(rows.tenant == tenant).order_by(rows.created_at.desc())
                limit = (await connection.execute(oldest.offset(self._max_rows).limit(1))).scalar_one_or_none()
                if limit is not None:
                    beyond = delete(IDEMPOTENCY).where(rows.tenant == tenant, rows.created_at <= limit)
                    n_pruned += int((await connection.execute(beyond.where(rows.leased_until.is_(None)))).rowcount)
        return n_pruned

    async def _claim(self, claim: _Claim, body_digest: bytes) -> Row[tuple[object, ...]] | None:
        """Return whose the key is, or None where it is now ours to work on."""
        now = self._now()
        values = {
            "body_digest": body_digest,
            "owner": claim.owner,
            "leased_until": now + LEASE_S * 1000,
            "created_at": now,
            "expires_at": now + self._ttl_ms,
        }
        free = or_(IDEMPOTENCY.c.expires_at <= now, IDEMPOTENCY.c.leased_until <= now)
        insert = self._database.insert(IDEMPOTENCY).values(tenant=claim.tenant, key_digest=claim.key_digest, **values)
        taking = insert.on_conflict_do_update(
            index_elements=[IDEMPOTENCY.c.tenant, IDEMPOTENCY.c.key_digest],
            set_={**values, "status": None, "media_type": None, "body": None},
            where=free,
        ).returning(IDEMPOTENCY.c.owner)
        async with self._database.begin() as connection:
            if (await connection.execute(taking)).first() is not None:
                return None
            row = (await connection.execute(select(IDEMPOTENCY).where(claim.key))).one_or_none()
        if row is None:  # freed since
            raise _in_progress()
        return row

    async def _work(
        self, claim: _Claim, work: Callable[[], Awaitable[Response]], digest: Callable[[], Awaitable[bytes]]
    ) -> Response:
        renewing = asyncio.ensure_future(self._renew(claim))
        is_stored = False
        try:
            response = await work()
            is_stored = await self._store(claim, response, digest)
            return response
        finally:
            renewing.cancel()
            if not is_stored:
                # On its own, so that whoever cancels this does not leave the key taken.
                freeing = asyncio.ensure_future(self._free(claim))
                self._freeing.add(freeing)
                freeing.add_done_callback(self._freeing.discard)
                await asyncio.shield(freeing)

    async def _store(self, claim: _Claim, response: Response, digest: Callable[[], Awaitable[bytes]]) -> bool:
        body = getattr(response, "body", None)  # what is streamed has none
        if not (200 <= response.status_code < 300) or body is None or len(body) > MAX_STORED_BYTES:
            return False
        values = {
            "body_digest": await digest(),
            "leased_until": None,
            "status": response.status_code,
            "media_type": response.media_type,
            "body": await pack(bytes(body)),
        }
        await self._try(update(IDEMPOTENCY).where(claim.held).values(values))
        return True

    async def _free(self, claim: _Claim) -> None:
        await self._try(delete(IDEMPOTENCY).where(claim.held))

    async def _renew(self, claim: _Claim) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            await self._try(update(IDEMPOTENCY).where(claim.held).values(leased_until=self._now() + LEASE_S * 1000))

    async def _try(self, statement: Executable) -> None:
        """Execute what the answer does not hang on: without it the lease ends by itself."""
        try:
            async with self._database.begin() as connection:
                await connection.execute(statement)
        except BackendError as error:
            logger.warning("an idempotency key was left to its lease", reason=str(error))

    def _now(self) -> int:
        return round(self._clock() * 1000)


def _check_key(sent: list[str]) -> str:
    key = sent[0]
    is_visible = key.isascii() and key.isprintable() and " " not in key
    if len(sent) == 1 and is_visible and 1 <= len(key) <= MAX_KEY_CHARS:
        return key
    got = f"{len(sent)} of them" if len(sent) > 1 else f"{len(key)} characters: {show_text(key)}" if key else "nothing"
    allowed = f"once, 1 to {MAX_KEY_CHARS} visible ASCII characters"
    raise InputError(
        f"header {HEADER}: got {got}, allowed: {allowed}", field=f"header {HEADER}", got=got, allowed=allowed
    )


def _digest_key(request: Request, key: str) -> bytes:
    return hashlib.sha256(f"{request.method} {request.url.path}\n{key}".encode()).digest()


def _digest_body(request: Request, body: bytes) -> bytes:
    digest = hashlib.sha256(body)
    for name in ORDERS:
        for sent in request.headers.getlist(name):
            digest.update(f"\n{name}: {sent}".encode())
    return digest.digest()


async def _replay(row: Row[tuple[object, ...]], digest: Callable[[], Awaitable[bytes]]) -> Response:
    if row.body_digest == NOT_YET:
        raise _in_progress()
    if row.body_digest != await digest():
        raise Problem(
            status=422,
            slug="idempotency-key-reused",
            title="Idempotency key used for another request",
            detail=f"the header `{HEADER}` names a request with another body or order; send this one under a new key",
        )
    if row.status is None:
        raise _in_progress()
    return Response(unpack(row.body), status_code=row.status, media_type=row.media_type, headers={REPLAYED: "true"})


def _in_progress() -> Problem:
    return Problem(
        status=409,
        slug="idempotency-in-progress",
        title="Still being worked on",
        detail="the first request with this idempotency key is still being worked on; ask again",
        headers={"Retry-After": str(RETRY_S)},
    )
