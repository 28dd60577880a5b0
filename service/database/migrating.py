"""Bringing the tables up to date."""

from pathlib import Path

from sqlalchemy import Connection

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(connection: Connection) -> None:
    """Run what is missing of the migrations, inside the transaction of the connection."""
    from alembic import command  # slow to import, and only the start of a process needs it
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
