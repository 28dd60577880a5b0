"""Opening the database: SQLite in a file unless an address of PostgreSQL is given."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from sqlalchemy import URL, Table, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from tenacity import AsyncRetrying, RetryError, retry_if_exception_type, stop_after_delay, wait_random_exponential

from rafs.errors import BackendError, ConfigError
from service.database.migrating import upgrade

VARIABLE = "RAFS_DATABASE"
ALLOWED = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"
FILE_NAME = "rafs.db"
BUSY_MS = 5_000
"""How long SQLite waits for another process that writes; a write here takes a millisecond."""
POOL_SIZE = 8
POOL_PATIENCE_S = 10.0
CONNECT_S = 5
STATEMENT_MS = 30_000
"""PostgreSQL ends what takes longer; ours take milliseconds."""
START_PATIENCE_S = 10.0
"""A database that starts together with the service is waited for."""
LOCK_ID = 7_238_517_001
"""Of PostgreSQL's advisory locks, the one under which the tables are brought up to date."""
Insert = postgresql.Insert | sqlite.Insert


class Database:
    """Connections to one database, whose tables are brought up to date before the first use. For one event loop."""

    def __init__(self, url: URL) -> None:
        """Keep the address; nothing is opened yet.

        Args:
            url: With an asynchronous driver.
        """
        self._url = url
        self._engine = _make_engine(url)
        self._preparing = asyncio.Lock()
        self._is_prepared = False
        self._writing = nullcontext() if self.is_postgres else asyncio.Lock()
        self._before_close: list[Callable[[], Awaitable[None]]] = []

    @property
    def is_postgres(self) -> bool:
        """Whether it is PostgreSQL; SQLite otherwise."""
        return self._url.get_backend_name() == "postgresql"

    @property
    def sync_url(self) -> str:
        """The address for libraries that open the database themselves, without asyncio. It holds the password."""
        driver = "postgresql+psycopg" if self.is_postgres else "sqlite"
        return self._url.set(drivername=driver).render_as_string(hide_password=False)

    def __str__(self) -> str:
        """Return the address without its password."""
        return self._url.set(drivername=self._url.get_backend_name()).render_as_string(hide_password=True)

    def insert(self, table: Table) -> Insert:
        """Return an insert that knows `on_conflict_do_update` and `on_conflict_do_nothing`."""
        return postgresql.insert(table) if self.is_postgres else sqlite.insert(table)

    async def prepare(self) -> None:
        """Bring the tables up to date, once; of several processes that start together, one does it.

        Raises:
            ConfigError: The file cannot be written.
            BackendError: The database does not answer, or not before `START_PATIENCE_S` have passed.
        """
        async with self._preparing:
            if self._is_prepared:
                return
            if not self.is_postgres:
                _make_file(Path(self._url.database or ""))
            attempts = AsyncRetrying(
                retry=retry_if_exception_type(OperationalError),
                stop=stop_after_delay(START_PATIENCE_S),
                wait=wait_random_exponential(multiplier=0.1, max=1.0),
            )
            try:
                async for attempt in attempts:
                    with attempt:
                        await self._upgrade()
            except RetryError as error:
                raise BackendError(f"the database {self} does not answer") from error
            except SQLAlchemyError as error:
                raise _failed(error) from error
            self._is_prepared = True

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that may write; it is committed where the block ends well.

        Raises:
            BackendError: The database failed.
        """
        await self.prepare()
        try:
            # SQLite has one writer: ours stand in a line here, instead of in its loop that tries and sleeps.
            async with self._writing, self._engine.connect() as connection:
                await connection.execution_options(rafs_writes=True)
                async with connection.begin():
                    yield connection
        except SQLAlchemyError as error:
            raise _failed(error) from error

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection that reads; each statement sees what is newest, and none may write.

        Raises:
            BackendError: The database failed.
        """
        await self.prepare()
        try:
            async with self._engine.connect() as connection:
                if self.is_postgres:  # one way to the server for a statement, where a transaction takes three
                    await connection.execution_options(isolation_level="AUTOCOMMIT", postgresql_readonly=True)
                yield connection
        except SQLAlchemyError as error:
            raise _failed(error) from error

    def before_close(self, act: Callable[[], Awaitable[None]]) -> None:
        """Have `act` called before the connections are closed, such as to write what waits."""
        self._before_close.append(act)

    async def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        try:
            for act in self._before_close:
                await act()
        finally:
            await self._engine.dispose()

    async def _upgrade(self) -> None:
        async with self._engine.connect() as connection:
            await connection.execution_options(rafs_writes=True)
            async with connection.begin():  # SQLite: the lock of the one writer
                if self.is_postgres:
                    await connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # another may be at it
                    await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK_ID})")
                await connection.run_sync(upgrade)


def open_database(url: str = "") -> Database:
    """Return the database at an address; it is not connected to yet.

    Args:
        url: `sqlite:///FILE` or `postgresql://...`; empty for a file in the user's data folder.

    Raises:
        ConfigError: The address is none of these, or the driver is not installed.
    """
    if not url:
        url = f"sqlite:///{user_data_path('rafs') / FILE_NAME}"
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # neither may quote the address, which can hold a password
        raise ConfigError(f"{VARIABLE}: this is no address of a database, allowed {ALLOWED}") from None
    match parsed.get_backend_name():
        case "sqlite":
            return Database(_sqlite_url(parsed))
        case "postgresql" | "postgres":
            if find_spec("psycopg") is None:
                raise ConfigError(f"{VARIABLE}: PostgreSQL needs its driver: pip install 'rafs[postgres]'")
            return Database(parsed.set(drivername="postgresql+psycopg"))
        case other:
            raise ConfigError(f"{VARIABLE}: got a database of the kind {other!r}, allowed {ALLOWED}")


def _sqlite_url(url: URL) -> URL:
    if url.database is None or url.database in ("", ":memory:"):
        raise ConfigError(f"{VARIABLE}: got SQLite without a file, allowed sqlite:///FILE")
    return url.set(drivername="sqlite+aiosqlite")


def _make_file(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # answers quote traces: for the owner's eyes
    except OSError as error:
        raise ConfigError(f"{VARIABLE}: {path} cannot be written: {(error.strerror or str(error)).lower()}") from error


def _make_engine(url: URL) -> AsyncEngine:
    is_postgres = url.get_backend_name() == "postgresql"
    engine = create_async_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=POOL_PATIENCE_S,
        pool_pre_ping=is_postgres,  # a server may have been started anew since
        hide_parameters=True,  # they hold traces
        connect_args={"connect_timeout": CONNECT_S} if is_postgres else {"timeout": BUSY_MS / 1000},
    )
    if is_postgres:
        event.listen(engine.sync_engine, "connect", _configure_postgres)
    else:
        event.listen(engine.sync_engine, "connect", _configure_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _configure_postgres(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET statement_timeout = {STATEMENT_MS}")
    cursor.close()
    connection.commit()


def _configure_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says, not where the driver guesses
    cursor = connection.cursor()
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Any) -> None:
    # A transaction that reads first and writes later fails at once where another has written between.
    if connection.get_execution_options().get("rafs_writes", False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _failed(error: SQLAlchemyError) -> BackendError:
    return BackendError(f"the database failed ({type(error).__name__})")
