"""Checking the key of a request: one look into the database every few seconds, for any number of requests."""

import asyncio
import hmac
import time
from collections.abc import Callable
from functools import partial

from cachetools import TTLCache

from service.keys.secret import digest_of, id_of
from service.keys.store import KeyStore, StoredKey

CACHE_S = 5.0
"""How long a checked key is taken without looking again: by then a revocation holds in every process."""
MAX_CACHED = 10_000
"""Keys, and as many wrong ones apart from them, so that wrong ones push out no right one."""
NOBODY = bytes(32)
"""What the digest of an unknown key is compared with, so that unknown and wrong take the same way."""


class KeyVerifier:
    """Tells whose a key is. For one event loop."""

    def __init__(self, store: KeyStore, timer: Callable[[], float] = time.monotonic) -> None:
        """Keep the store.

        Args:
            store: The keys.
            timer: Seconds that only grow.
        """
        self._store = store
        self._right: TTLCache[bytes, StoredKey] = TTLCache(MAX_CACHED, CACHE_S, timer)
        self._wrong: TTLCache[bytes, None] = TTLCache(MAX_CACHED, CACHE_S, timer)
        self._asked: dict[bytes, asyncio.Future[StoredKey | None]] = {}

    async def verify(self, key: str) -> StoredKey | None:
        """Return what is kept of a key, None where there is no such key; expiry and revocation are the caller's.

        Raises:
            BackendError: The database failed.
        """
        key_id = id_of(key)
        if key_id is None:
            return None
        digest = digest_of(key)
        if digest in self._right:
            return self._right[digest]
        if digest in self._wrong:
            return None
        # Requests that come together ask together; a caller who leaves takes the answer from nobody.
        asked = self._asked.get(digest)
        if asked is None:
            asked = self._asked[digest] = asyncio.ensure_future(self._look_up(key_id, digest))
            asked.add_done_callback(partial(self._answered, digest))
        return await asyncio.shield(asked)

    def forget(self) -> None:
        """Look at every key again at its next use."""
        self._right.clear()

    def _answered(self, digest: bytes, asked: asyncio.Future[StoredKey | None]) -> None:
        del self._asked[digest]
        if not asked.cancelled():
            asked.exception()  # seen, also where every caller has left

    async def _look_up(self, key_id: str, digest: bytes) -> StoredKey | None:
        stored = await self._store.find(key_id)
        is_right = hmac.compare_digest(digest, NOBODY if stored is None else stored.digest)
        if stored is None or not is_right:
            self._wrong[digest] = None
            return None
        self._right[digest] = stored
        return stored
