"""API keys, counters of quotas, idempotency keys and scored traces."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("scopes", sa.String, nullable=False),
        sa.Column("requests_per_minute", sa.Integer),
        sa.Column("traces_per_day", sa.Integer),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    op.create_table(
        "counters",
        sa.Column("key", sa.String, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_counters"),
    )
    _create_answers()
    op.create_index("ix_counters_expires_at", "counters", ["expires_at"])
    op.create_index("ix_idempotency_expires_at", "idempotency", ["expires_at"])
    op.create_index("ix_idempotency_tenant_created_at", "idempotency", ["tenant", "created_at"])
    op.create_index("ix_results_created_at", "results", ["created_at"])
    op.create_index("ix_results_expires_at", "results", ["expires_at"])


def _create_answers() -> None:
    op.create_table(
        "idempotency",
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("key_digest", sa.LargeBinary, nullable=False),
        sa.Column("body_digest", sa.LargeBinary, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("leased_until", sa.BigInteger),
        sa.Column("status", sa.Integer),
        sa.Column("media_type", sa.String),
        sa.Column("body", sa.LargeBinary),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key_digest", name="pk_idempotency"),
    )
    op.create_table(
        "results",
        sa.Column("key_digest", sa.LargeBinary, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key_digest", name="pk_results"),
    )


def downgrade() -> None:
    """Drop them."""
    for table in ("results", "idempotency", "counters", "api_keys"):
        op.drop_table(table)
