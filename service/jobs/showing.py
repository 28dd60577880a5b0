"""A batch as its tenant sees it."""

import json
from typing import Any

from sqlalchemy import Row

from rafs.batch_wire import BatchCounts, BatchStatus, WebhookOut


def to_status(row: Row[Any], now: int, secret: str | None = None) -> BatchStatus:
    """Return how far a batch is.

    Args:
        row: Of the table of batches.
        now: The time, in milliseconds since the epoch.
        secret: Of its webhook, where it was just made.
    """
    done = row.n_scored + row.n_failed
    waiting = row.n_rows - done
    is_over = row.finished_at is not None
    spent_s = 0.0 if row.started_at is None else max(0.0, ((row.finished_at or now) - row.started_at) / 1000)
    rate = done / spent_s if done and spent_s else None
    return BatchStatus(
        id=row.id,
        status=row.status,
        preset=row.preset,
        counts=BatchCounts(
            total=row.n_rows,
            distinct=row.n_distinct,
            left_out=row.n_left_out,
            scored=row.n_scored,
            failed=row.n_failed,
            waiting=waiting,
        ),
        progress=done / row.n_rows if row.n_rows else 1.0,
        rows_per_second=None if rate is None else round(rate, 3),
        seconds_left=None if rate is None or is_over else round(waiting / rate, 1),
        tokens=row.tokens,
        failure=row.failure,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        expires_at=row.expires_at,
        metadata=json.loads(row.details),
        webhook=None if row.webhook_url is None else _webhook(row, secret),
    )


def _webhook(row: Row[Any], secret: str | None) -> WebhookOut:
    return WebhookOut(
        url=row.webhook_url,
        state=row.webhook_state,
        attempts=row.webhook_attempts,
        error=row.webhook_error,
        secret=secret,
    )
