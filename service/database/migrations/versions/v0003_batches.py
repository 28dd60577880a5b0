"""Batches that are jobs of the service."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables."""
    _create_batches()
    op.create_table(
        "batch_rows",
        sa.Column("batch", sa.String, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("custom_id", sa.String),
        sa.Column("item", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("batch", "number", name="pk_batch_rows"),
    )
    op.create_table(
        "batch_items",
        sa.Column("batch", sa.String, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("request", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("batch", "number", name="pk_batch_items"),
    )
    op.create_table(
        "batch_results",
        sa.Column("batch", sa.String, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("problem", sa.String),
        sa.Column("body", sa.String, nullable=False),
        sa.Column("response", sa.LargeBinary),
        sa.Column("ms", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("batch", "number", name="pk_batch_results"),
    )
    op.create_table(
        "batch_workers",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_batch_workers"),
    )
    op.create_index("ix_batches_expires_at", "batches", ["expires_at"])
    op.create_index("ix_batches_status", "batches", ["status"])
    op.create_index("ix_batches_webhook_state", "batches", ["webhook_state"])
    op.create_index("ix_batches_tenant_created_at", "batches", ["tenant", "created_at"])
    op.create_index("ix_batch_rows_batch_item", "batch_rows", ["batch", "item"])
    op.create_index("ix_batch_items_batch_digest", "batch_items", ["batch", "digest"], unique=True)


def _create_batches() -> None:
    counts = ("n_rows", "n_distinct", "n_left_out", "n_scored", "n_failed", "tokens")
    op.create_table(
        "batches",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("preset", sa.String, nullable=False),
        sa.Column("details", sa.String, nullable=False),
        sa.Column("is_full", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in counts),
        sa.Column("failure", sa.String),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("webhook_url", sa.String),
        sa.Column("webhook_secret", sa.String),
        sa.Column("webhook_state", sa.String),
        sa.Column("webhook_attempts", sa.Integer, nullable=False),
        sa.Column("webhook_error", sa.String),
        sa.PrimaryKeyConstraint("id", name="pk_batches"),
    )


def downgrade() -> None:
    """Drop them."""
    for table in ("batch_workers", "batch_results", "batch_items", "batch_rows", "batches"):
        op.drop_table(table)
