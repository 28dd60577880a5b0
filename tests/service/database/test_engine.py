import asyncio
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, func, inspect, select

from rafs.errors import BackendError, ConfigError
from service.database.engine import Database, open_database
from service.database.tables import COUNTERS, METADATA

COUNT_UP = """
import asyncio, sys
from service.database.engine import open_database
from service.database.tables import COUNTERS

async def main() -> None:
    database = open_database(sys.argv[1])
    for _ in range(20):
        async with database.begin() as connection:
            row = database.insert(COUNTERS).values(key="k", count=1, expires_at=1)
            more = {"count": COUNTERS.c.count + 1}
            await connection.execute(row.on_conflict_do_update(index_elements=[COUNTERS.c.key], set_=more))
    await database.close()

asyncio.run(main())
"""


async def count_rows(database: Database) -> int:
    async with database.connect() as connection:
        return (await connection.execute(select(func.count()).select_from(COUNTERS))).scalar_one()


async def test_the_migrations_make_exactly_the_tables_that_the_code_uses(database: Database) -> None:
    await database.prepare()
    engine = create_engine(database.sync_url)
    found = inspect(engine)
    made = {name: {column["name"] for column in found.get_columns(name)} for name in METADATA.tables}
    indexes = {name: {index["name"] for index in found.get_indexes(name)} for name in METADATA.tables}
    engine.dispose()
    assert made == {name: set(table.columns.keys()) for name, table in METADATA.tables.items()}
    assert indexes == {name: {index.name for index in table.indexes} for name, table in METADATA.tables.items()}


def test_processes_that_start_together_share_one_new_database(database_url: str) -> None:
    command = [sys.executable, "-W", "error", "-c", COUNT_UP, database_url]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    outcomes = [(process.communicate(timeout=100)[1], process.returncode) for process in running]
    assert outcomes == [("", 0)] * 4

    async def read() -> int:
        database = open_database(database_url)
        async with database.connect() as connection:
            total: int = (await connection.execute(select(COUNTERS.c.count))).scalar_one()
        await database.close()
        return total

    assert asyncio.run(read()) == 4 * 20


async def test_writers_of_one_process_stand_in_a_line(database: Database) -> None:
    async def write(key: int) -> None:
        async with database.begin() as connection:
            await connection.execute(COUNTERS.insert().values(key=str(key), count=1, expires_at=1))

    await asyncio.gather(*(write(key) for key in range(100)))
    assert await count_rows(database) == 100


async def test_a_block_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.begin() as connection:
            await connection.execute(COUNTERS.insert().values(key="k", count=1, expires_at=1))
            raise ZeroDivisionError
    assert await count_rows(database) == 0


async def test_a_writer_that_is_cancelled_leaves_the_database_to_others(database: Database) -> None:
    inside = asyncio.Event()

    async def write() -> None:
        async with database.begin() as connection:
            await connection.execute(COUNTERS.insert().values(key="k", count=1, expires_at=1))
            inside.set()
            await asyncio.sleep(60)

    task = asyncio.ensure_future(write())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with database.begin() as connection:
        await connection.execute(COUNTERS.insert().values(key="k", count=1, expires_at=1))
    assert await count_rows(database) == 1


async def test_what_the_database_refuses_is_told_without_its_text(database: Database) -> None:
    with pytest.raises(BackendError) as caught:
        async with database.begin() as connection:
            for _ in range(2):
                await connection.execute(COUNTERS.insert().values(key="secret trace", count=1, expires_at=1))
    assert str(caught.value) == "the database failed (IntegrityError)"


async def test_a_lost_connection_is_opened_again(postgres_server: str) -> None:
    database = open_database(postgres_server)
    async with database.connect() as connection:
        pid = (await connection.exec_driver_sql("SELECT pg_backend_pid()")).scalar_one()
    other = create_engine(database.sync_url)
    with other.connect() as connection:
        connection.exec_driver_sql("SELECT pg_terminate_backend(%s)", (pid,))
    other.dispose()
    assert await count_rows(database) == 0
    await database.close()


async def test_a_statement_that_hangs_is_ended(postgres_server: str) -> None:
    database = open_database(postgres_server)
    async with database.connect() as connection:
        limit = (await connection.exec_driver_sql("SHOW statement_timeout")).scalar_one()
    with pytest.raises(BackendError, match=r"^the database failed \(OperationalError\)$"):
        async with database.begin() as connection:
            await connection.exec_driver_sql("SET LOCAL statement_timeout = 50")
            await connection.exec_driver_sql("SELECT pg_sleep(100)")
    await database.close()
    assert limit == "30s"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("hush", "no address of a database"),
        ("sqlite://", "SQLite without a file"),
        ("sqlite:///:memory:", "SQLite without a file"),
        ("mysql://u:hush@h/d", "got a database of the kind 'mysql', allowed sqlite:///FILE or postgresql://"),
    ],
)
def test_an_address_that_cannot_serve_is_named_by_its_variable(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        open_database(url)
    assert str(caught.value).startswith("RAFS_DATABASE: ")
    assert "hush" not in str(caught.value)


async def test_a_file_that_cannot_be_written_is_named_by_its_variable() -> None:
    with pytest.raises(ConfigError, match=r"^RAFS_DATABASE: /proc/none/rafs\.db cannot be written: "):
        await open_database("sqlite:////proc/none/rafs.db").prepare()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+asyncpg", "postgresql+psycopg2"])
def test_every_name_of_postgresql_takes_the_one_driver_and_hides_the_password(scheme: str) -> None:
    database = open_database(f"{scheme}://u:hush@h:5/d")
    assert database.sync_url == "postgresql+psycopg://u:hush@h:5/d"
    assert str(database) == "postgresql://u:***@h:5/d"


async def test_a_file_is_for_its_owner_alone_and_opened_as_it_should_be(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rafs.db"
    database = open_database(f"sqlite:///{path}")
    async with database.connect() as connection:
        modes = [
            (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous")
        ]
        log_mode = stat.S_IMODE(path.with_name("rafs.db-wal").stat().st_mode)
    await database.close()
    assert modes == ["wal", 1]
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode), log_mode) == (
        0o600,
        0o700,
        0o600,
    )


async def test_a_file_that_is_no_database_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "rafs.db"
    path.write_text("no database at all, but long enough to be read as one" * 100)
    database = open_database(f"sqlite:///{path}")
    with pytest.raises(BackendError, match=r"^the database failed \(DatabaseError\)$"):
        await database.prepare()
    await database.close()


def test_opening_makes_nothing(tmp_path: Path) -> None:
    open_database(f"sqlite:///{tmp_path / 'none' / 'rafs.db'}")
    assert list(tmp_path.iterdir()) == []


async def test_reading_waits_for_no_writer(database: Database) -> None:
    await database.prepare()
    async with database.begin() as writing:
        await writing.execute(COUNTERS.insert().values(key="k", count=1, expires_at=1))
        assert await count_rows(database) == 0
    assert await count_rows(database) == 1
