"""Who asks, and whether they may: API keys in the header `authorization`."""

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from fastapi import Request

from service.database.engine import Database
from service.errors import Problem
from service.keys.scope import Scope
from service.keys.secret import PREFIX
from service.keys.store import KeyStore, StoredKey
from service.keys.verifying import KeyVerifier
from service.moments import show_moment
from service.observability import EXTRA_HEADERS
from service.quotas import NO_QUOTA, Quota, Quotas
from service.settings import Settings

__all__ = ["OPEN", "Doorkeeper", "Principal", "Scope", "needs_key"]

NOT_BEARER = "send the key as `authorization: Bearer rafs_...`"
WHERE_FROM = "make one with `rafs keys create`, or ask whoever runs the service"
OPEN_ID = "open"
"""What requests without a key are counted under; no key has this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who a request comes from."""

    tenant: str
    """Nothing that was computed for one tenant is seen by another; empty without a key."""
    key_id: str | None
    """None where no key was asked for."""
    scopes: frozenset[Scope]
    quota: Quota = NO_QUOTA


OPEN = Principal(tenant="", key_id=None, scopes=frozenset(Scope))
"""Whoever reaches a service that asks for no key."""


class Doorkeeper:
    """Lets requests in by their keys, and counts what each key asks."""

    def __init__(self, settings: Settings, database: Database, clock: Callable[[], float] = time.time) -> None:
        """Keep the parts.

        Args:
            settings: Whether a key is needed, and what a key may ask that has no limits of its own.
            database: Where keys and counts are; an open service asks it only about keys that it is sent.
            clock: Seconds since the epoch.
        """
        self._needs_key = needs_key(settings)
        self._quota = Quota(requests_per_minute=settings.requests_per_minute, traces_per_day=settings.traces_per_day)
        self._verifier = KeyVerifier(KeyStore(database, clock))
        self._quotas = Quotas(database, clock)
        self._clock = clock
        self._is_local = is_loopback(settings.host) and not settings.allow_remote

    async def admit(self, request: Request, scope: Scope) -> Principal:
        """Say who a request comes from, and count it. What is left of the rate becomes headers of the response.

        An open service ignores a bearer token that is none of our keys: clients of other services send their own.

        Args:
            request: Its body is not read.
            scope: What it asks for.

        Raises:
            Problem: 401 without a valid key, 403 where the key lacks the scope, 429 beyond its rate.
            BackendError: The database failed.
        """
        principal = await self._identify(request)
        if scope not in principal.scopes:
            raise _forbidden(scope, principal)
        headers = await self._quotas.count_request(principal.key_id or OPEN_ID, principal.quota)
        request.scope.setdefault(EXTRA_HEADERS, {}).update(headers)
        return principal

    async def charge(self, principal: Principal, n_traces: int) -> None:
        """Count traces that are about to be scored.

        Raises:
            Problem: 429, fewer are left of the day's.
            BackendError: The database failed.
        """
        await self._quotas.count_traces(principal.key_id or OPEN_ID, principal.quota, n_traces)

    async def give_back(self, principal: Principal, n_traces: int) -> None:
        """Take back the charge for traces that came to nothing.

        Raises:
            BackendError: The database failed.
        """
        await self._quotas.give_back(principal.key_id or OPEN_ID, principal.quota, n_traces)

    async def prune(self) -> int:
        """Forget counts whose window has ended; return how many.

        Raises:
            BackendError: The database failed.
        """
        return await self._quotas.prune()

    def forget_keys(self) -> None:
        """Look at every key again at its next use, because one was changed."""
        self._verifier.forget()

    async def _identify(self, request: Request) -> Principal:
        sent = request.headers.getlist("authorization")
        if not sent:
            return self._open(request, "this service asks for a key")
        kind, _, token = sent[0].partition(" ")
        token = token.strip(" ")
        if len(sent) > 1 or kind.lower() != "bearer" or not token.startswith(PREFIX):
            return self._open(request, "the header `authorization` holds no key of this service")
        stored = await self._verifier.verify(token)
        if stored is None:
            raise unauthenticated("there is no such key", is_sent=True)
        if stored.revoked_at is not None:
            raise unauthenticated("this key was revoked", is_sent=True)
        if stored.expires_at is not None and stored.expires_at <= datetime.fromtimestamp(self._clock(), UTC):
            raise unauthenticated(f"this key ended at {show_moment(stored.expires_at)}", is_sent=True)
        return self._principal(stored)

    def _open(self, request: Request, why: str) -> Principal:
        if self._needs_key:
            raise unauthenticated(f"{why}; {NOT_BEARER}", is_sent=False)
        if _is_of_another_site(request, is_local=self._is_local):
            detail = "a page of another site sends this, and an open service answers none; send a key"
            raise Problem(status=403, slug="cross-site", title="Request of another site", detail=detail)
        return replace(OPEN, quota=self._quota)

    def _principal(self, stored: StoredKey) -> Principal:
        quota = Quota(
            requests_per_minute=_own(stored.requests_per_minute, self._quota.requests_per_minute),
            traces_per_day=_own(stored.traces_per_day, self._quota.traces_per_day),
        )
        return Principal(tenant=stored.tenant, key_id=stored.id, scopes=stored.scopes, quota=quota)


def needs_key(settings: Settings) -> bool:
    """Say whether a service with these settings answers only those who have a key."""
    return settings.auth == "required" or not (settings.allow_remote or is_loopback(settings.host))


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def unauthenticated(detail: str, *, is_sent: bool) -> Problem:
    """Return the problem of a request without a valid key.

    Args:
        detail: What is missing or wrong; never the key.
        is_sent: Whether a key was sent.
    """
    challenge = 'Bearer realm="rafs"' + (', error="invalid_token"' if is_sent else "")
    return Problem(
        status=401,
        slug="unauthenticated",
        title="No valid key",
        detail=f"{detail}; {WHERE_FROM}",
        headers={"WWW-Authenticate": challenge},
    )


def _forbidden(scope: Scope, principal: Principal) -> Problem:
    has = ", ".join(sorted(principal.scopes)) or "none"
    return Problem(
        status=403,
        slug="scope-missing",
        title="Scope missing",
        detail=f"this needs a key with the scope {scope.value!r}; this key has {has}",
        headers={"WWW-Authenticate": f'Bearer realm="rafs", error="insufficient_scope", scope="{scope.value}"'},
    )


def _is_of_another_site(request: Request, *, is_local: bool) -> bool:
    """Whether a web page of another site asks: its browser says so, or was led here under that site's name.

    Only browsers send the header. A page that rebinds its own name to the loopback still asks for that name.
    """
    if request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
        return True
    host = request.url.hostname or ""
    is_named = "." in host and not (host.endswith(".localhost") or _is_address(host))
    return is_local and is_named


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _own(of_key: int | None, of_service: int | None) -> int | None:
    """Return a key's own limit; 0 lifts the service's."""
    return of_service if of_key is None else of_key or None
