"""The tables, as SQLAlchemy Core; a change here needs a migration beside it.

Times are integers, milliseconds since the epoch: both databases compare them alike, and no time zone can be lost.
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)

API_KEYS = Table(
    "api_keys",
    METADATA,
    Column("id", String, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("name", String, nullable=False),
    Column("tenant", String, nullable=False),
    Column("scopes", String, nullable=False),
    Column("requests_per_minute", Integer),
    Column("traces_per_day", Integer),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
)
"""Keys by the part that is no secret; of the secret only a SHA-256, and scopes joined by spaces."""

COUNTERS = Table(
    "counters",
    METADATA,
    Column("key", String, primary_key=True),
    Column("count", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False, index=True),
)
"""What a quota has counted in its window."""

IDEMPOTENCY = Table(
    "idempotency",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("key_digest", LargeBinary, primary_key=True),
    Column("body_digest", LargeBinary, nullable=False),
    Column("owner", String, nullable=False),
    Column("leased_until", BigInteger),
    Column("status", Integer),
    Column("media_type", String),
    Column("body", LargeBinary),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False, index=True),
    Index("ix_idempotency_tenant_created_at", "tenant", "created_at"),
)
"""Requests with an idempotency key; `leased_until` is null exactly where there is a stored answer."""

RESULTS = Table(
    "results",
    METADATA,
    Column("key_digest", LargeBinary, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False, index=True),
    Column("expires_at", BigInteger, nullable=False, index=True),
)
"""Scored traces by the digest of all that made the score."""

HELD_ANSWERS = Table(
    "held_answers",
    METADATA,
    Column("id", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("held_at", BigInteger, nullable=False, index=True),
    Column("model", String, nullable=False),
    Column("problem", String, nullable=False),
    Column("answer", String, nullable=False),
    Column("decision", String, nullable=False),
    Column("n_bytes", BigInteger, nullable=False),
    Index("ix_held_answers_tenant_held_at", "tenant", "held_at"),
    Index("ix_held_answers_sizes", "tenant", "held_at", "id", "n_bytes"),  # SQLite would read every text for its size
)
"""Answers of models that wait for a person; `answer` and `decision` are JSON, `n_bytes` is the size of the texts."""

BATCHES = Table(
    "batches",
    METADATA,
    Column("id", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("status", String, nullable=False),
    Column("preset", String, nullable=False),
    Column("details", String, nullable=False),
    Column("is_full", Boolean, nullable=False),
    Column("n_rows", BigInteger, nullable=False),
    Column("n_distinct", BigInteger, nullable=False),
    Column("n_left_out", BigInteger, nullable=False),
    Column("n_scored", BigInteger, nullable=False),
    Column("n_failed", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("failure", String),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("changed_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("expires_at", BigInteger, nullable=False, index=True),
    Column("webhook_url", String),
    Column("webhook_secret", String),
    Column("webhook_state", String),
    Column("webhook_attempts", Integer, nullable=False),
    Column("webhook_error", String),
    Index("ix_batches_status", "status"),
    Index("ix_batches_webhook_state", "webhook_state"),
    Index("ix_batches_tenant_created_at", "tenant", "created_at"),
)
"""Jobs; `details` is the caller's metadata as JSON, counts are of rows, and a settled webhook has no secret."""

BATCH_ROWS = Table(
    "batch_rows",
    METADATA,
    Column("batch", String, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("custom_id", String),
    Column("item", BigInteger, nullable=False),
    Index("ix_batch_rows_batch_item", "batch", "item"),
)
"""Rows as they came, 1-based; `item` is the first row that asks the same."""

BATCH_ITEMS = Table(
    "batch_items",
    METADATA,
    Column("batch", String, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("request", LargeBinary, nullable=False),
    Index("ix_batch_items_batch_digest", "batch", "digest", unique=True),
)
"""The different requests of a batch, each in its canonical form, compressed."""

BATCH_RESULTS = Table(
    "batch_results",
    METADATA,
    Column("batch", String, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("problem", String),
    Column("body", String, nullable=False),
    Column("response", LargeBinary),
    Column("ms", Float, nullable=False),
)
"""What became of an item, written once; `problem` is null where `body` is the record of a score as JSON."""

BATCH_WORKERS = Table(
    "batch_workers",
    METADATA,
    Column("id", String, primary_key=True),
    Column("seen_at", BigInteger, nullable=False),
)
"""Processes that work on batches, and when each was last heard of."""
