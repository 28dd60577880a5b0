"""The end of a batch, told to an address of the caller's: signed as Standard Webhooks says, again until it is taken."""

import base64
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
from sqlalchemy import Row

from rafs import __version__
from service.jobs.addresses import AddressGuard, PinnedTransport, RefusedAddressError
from service.jobs.ledger import Ledger
from service.observability import logger

GONE = 410
"""The receiver wants no more of it."""
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How an attempt went."""

    state: str
    """`pending` where another attempt may help."""
    error: str | None = None


class WebhookSender:
    """Tells the ends of batches."""

    def __init__(
        self,
        ledger: Ledger,
        guard: AddressGuard,
        *,
        timeout_s: float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Open no connection yet.

        Args:
            ledger: Knows the batches.
            guard: Knows where webhooks may go.
            timeout_s: For one delivery, and for each part of it.
            transport: Connects to checked addresses; None is the real one.
        """
        self._ledger = ledger
        inner = transport or httpx.AsyncHTTPTransport(trust_env=False)
        self._client = httpx.AsyncClient(
            transport=PinnedTransport(guard, inner),
            timeout=timeout_s,
            follow_redirects=False,
            trust_env=False,
            headers={"User-Agent": f"rafs/{__version__}", "Content-Type": "application/json"},
        )

    async def attempt(self, batch: str, attempt: int, *, is_last: bool) -> bool:
        """Tell the end of a batch once more, and note how it went.

        Args:
            batch: Whose end.
            attempt: Counted from 1.
            is_last: Whether no other follows.

        Returns:
            Whether it is settled: told, given up, or not to be told any more.

        Raises:
            BackendError: The database failed; the attempt may have been made.
        """
        row = await self._ledger.read(batch)
        if row is None or row.webhook_state != "pending" or row.webhook_secret is None:
            return True
        delivery = await self._deliver(row)
        state = "failed" if is_last and delivery.state == "pending" else delivery.state
        await self._ledger.note_delivery(batch, attempt, state, delivery.error)
        logger.info("told the end of a batch", batch=batch, attempt=attempt, state=state, error=delivery.error)
        return state != "pending"

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _deliver(self, row: Row[Any]) -> Delivery:
        content = message_of(row)
        headers = sign(row.webhook_secret, f"msg_{row.id}", datetime.now(UTC), content)
        try:
            async with self._client.stream("POST", row.webhook_url, content=content, headers=headers) as response:
                status = response.status_code  # what the body says is not read
        except RefusedAddressError as error:
            return Delivery(state="failed", error=str(error))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Delivery(state="pending", error=type(error).__name__)
        if 200 <= status < 300:
            return Delivery(state="delivered")
        return Delivery(state="failed" if status == GONE else "pending", error=f"status {status}")


def message_of(row: Row[Any]) -> str:
    """Return what is told of a batch that is over; its results are behind the API."""
    return json.dumps(
        {
            "type": f"batch.{row.status}",
            "timestamp": datetime.fromtimestamp(row.finished_at / 1000, UTC).isoformat(timespec="milliseconds"),
            "data": {
                "id": row.id,
                "status": row.status,
                "counts": {
                    "total": row.n_rows,
                    "distinct": row.n_distinct,
                    "left_out": row.n_left_out,
                    "scored": row.n_scored,
                    "failed": row.n_failed,
                    "waiting": row.n_rows - row.n_scored - row.n_failed,
                },
                "failure": row.failure,
                "metadata": json.loads(row.details),
            },
        },
        separators=(",", ":"),
    )


def sign(secret: str, message_id: str, at: datetime, content: str) -> dict[str, str]:
    """Return the headers that sign a message.

    Args:
        secret: `whsec_` with base64.
        message_id: The same for every attempt, so that a receiver can tell a repeated message.
        at: When it is sent.
        content: The body.
    """
    from standardwebhooks import Webhook  # of the extra `jobs`

    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(message_id, at, content),
    }


def make_secret() -> str:
    """Return a new secret for signatures."""
    return f"whsec_{base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"
