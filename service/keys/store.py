"""Where keys are kept."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import RowMapping, func, or_, select, update

from service.database.engine import Database
from service.database.tables import API_KEYS
from service.keys.scope import Scope
from service.keys.secret import digest_of, draw_key

MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """What is asked of a key that is to be made."""

    name: str
    tenant: str
    scopes: frozenset[Scope]
    expires_at: datetime | None = None
    requests_per_minute: int | None = None
    """None is the service's own; 0 is no limit."""
    traces_per_day: int | None = None
    """None is the service's own; 0 is no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key without its secret."""

    id: str
    name: str
    tenant: str
    scopes: frozenset[Scope]
    requests_per_minute: int | None
    traces_per_day: int | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    digest: bytes
    """SHA-256 of the key's text."""


class KeyStore:
    """The keys of all tenants."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def create(self, new: NewKey) -> tuple[StoredKey, str]:
        """Make a key.

        Returns:
            What is kept of it, and its text, which cannot be had again.

        Raises:
            BackendError: The database failed.
        """
        key_id, text = draw_key()
        row = {
            "id": key_id,
            "digest": digest_of(text),
            "name": new.name,
            "tenant": new.tenant,
            "scopes": " ".join(sorted(new.scopes)),
            "requests_per_minute": new.requests_per_minute,
            "traces_per_day": new.traces_per_day,
            "created_at": self._now(),
            "expires_at": None if new.expires_at is None else round(new.expires_at.timestamp() * 1000),
        }
        async with self._database.begin() as connection:
            made = await connection.execute(API_KEYS.insert().values(row).returning(*API_KEYS.c))
            return _stored(made.mappings().one()), text

    async def find(self, key_id: str) -> StoredKey | None:
        """Return the key with an id, expired and revoked ones too.

        Raises:
            BackendError: The database failed.
        """
        async with self._database.connect() as connection:
            found = await connection.execute(select(API_KEYS).where(API_KEYS.c.id == key_id))
            row = found.mappings().one_or_none()
            return None if row is None else _stored(row)

    async def list(self, tenant: str | None = None) -> list[StoredKey]:
        """Return the newest `MAX_LISTED` keys, those of one tenant or of all, newest first.

        Raises:
            BackendError: The database failed.
        """
        wanted = select(API_KEYS).order_by(API_KEYS.c.created_at.desc(), API_KEYS.c.id).limit(MAX_LISTED)
        if tenant is not None:
            wanted = wanted.where(API_KEYS.c.tenant == tenant)
        async with self._database.connect() as connection:
            return [_stored(row) for row in (await connection.execute(wanted)).mappings()]

    async def revoke(self, key_id: str) -> StoredKey | None:
        """End a key for good; one that has ended already stays as it is.

        Returns:
            The key, None where there is none with that id.

        Raises:
            BackendError: The database failed.
        """
        change = (
            update(API_KEYS)
            .where(API_KEYS.c.id == key_id)
            .values(revoked_at=func.coalesce(API_KEYS.c.revoked_at, self._now()))
            .returning(*API_KEYS.c)
        )
        async with self._database.begin() as connection:
            row = (await connection.execute(change)).mappings().one_or_none()
            return None if row is None else _stored(row)

    async def has_usable(self) -> bool:
        """Say whether any key is neither revoked nor expired.

        Raises:
            BackendError: The database failed.
        """
        lives = or_(API_KEYS.c.expires_at.is_(None), API_KEYS.c.expires_at > self._now())
        wanted = select(API_KEYS.c.id).where(API_KEYS.c.revoked_at.is_(None), lives).limit(1)
        async with self._database.connect() as connection:
            return (await connection.execute(wanted)).first() is not None

    def _now(self) -> int:
        return round(self._clock() * 1000)


def _stored(row: RowMapping) -> StoredKey:
    return StoredKey(
        id=row["id"],
        name=row["name"],
        tenant=row["tenant"],
        scopes=frozenset(map(Scope, row["scopes"].split())),
        requests_per_minute=row["requests_per_minute"],
        traces_per_day=row["traces_per_day"],
        created_at=_moment(row["created_at"]),
        expires_at=None if row["expires_at"] is None else _moment(row["expires_at"]),
        revoked_at=None if row["revoked_at"] is None else _moment(row["revoked_at"]),
        digest=row["digest"],
    )


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
