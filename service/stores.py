"""What of the service stands on the database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from rafs.record import ProvenanceOut
from service.auth import Doorkeeper
from service.database.engine import Database, open_database
from service.gate.held import HeldStore
from service.idempotency import Idempotency
from service.keys.store import KeyStore
from service.result_cache import ResultCache
from service.settings import Settings
from service.upkeep import prune_forever


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The database and what reads it; not connected to before the first use."""

    database: Database
    keys: KeyStore
    doorkeeper: Doorkeeper
    idempotency: Idempotency
    cache: ResultCache

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Bring the tables up to date, forget what is over as long as the block runs, and close the connections.

        Raises:
            BackendError: The database does not answer.
        """
        await self.database.prepare()
        held = HeldStore(self.database)
        prunes = [self.idempotency.prune, self.cache.prune, self.doorkeeper.prune, held.prune]
        pruning = asyncio.create_task(prune_forever(prunes))
        try:
            yield
        finally:
            pruning.cancel()
            with suppress(asyncio.CancelledError):
                await pruning
            await self.database.close()


def open_stores(settings: Settings, would_use: Callable[[str, int], ProvenanceOut]) -> Stores:
    """Return the stores of a service.

    Args:
        settings: Where the database is, and how long what is kept.
        would_use: Where the numbers of a preset come from.

    Raises:
        ConfigError: The address of the database, or the file of citations, cannot serve.
    """
    database = open_database(settings.database.get_secret_value())
    return Stores(
        database=database,
        keys=KeyStore(database),
        doorkeeper=Doorkeeper(settings, database),
        idempotency=Idempotency(database, settings.idempotency_s),
        cache=ResultCache(database, settings, would_use),
    )
