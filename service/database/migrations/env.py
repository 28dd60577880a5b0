"""Run by Alembic, on the connection that service/database/migrating.py gives it."""

from alembic import context

from service.database.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
