"""How large every held answer is."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
TEXTS = ("problem", "answer", "decision")


def upgrade() -> None:
    """Add the column, and count what is held already."""
    op.add_column("held_answers", sa.Column("n_bytes", sa.BigInteger, nullable=False, server_default="0"))
    is_postgres = op.get_bind().dialect.name == "postgresql"
    each = "octet_length({})" if is_postgres else "length(CAST({} AS BLOB))"
    op.execute(f"UPDATE held_answers SET n_bytes = {' + '.join(map(each.format, TEXTS))}")
    op.create_index("ix_held_answers_sizes", "held_answers", ["tenant", "held_at", "id", "n_bytes"])


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_held_answers_sizes", "held_answers")
    op.drop_column("held_answers", "n_bytes")
