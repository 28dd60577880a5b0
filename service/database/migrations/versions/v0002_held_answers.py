"""Answers that are held for review."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "held_answers",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("held_at", sa.BigInteger, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("problem", sa.String, nullable=False),
        sa.Column("answer", sa.String, nullable=False),
        sa.Column("decision", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_held_answers"),
    )
    op.create_index("ix_held_answers_held_at", "held_answers", ["held_at"])
    op.create_index("ix_held_answers_tenant_held_at", "held_answers", ["tenant", "held_at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("held_answers")
